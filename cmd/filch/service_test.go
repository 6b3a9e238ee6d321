package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/cmd/filch/servicebench"
	"github.com/filch-go/filch/internal/thorough"
)

// Each way is measured under each load, in a process of its own, and the figures are written.
func TestServiceIsMeasured(t *testing.T) {
	thorough.Only(t, "starts a service for each way and load")
	t.Setenv(asProgram, "filch")
	serviceShorter = 20
	defer func() { serviceShorter = 1 }()
	file := filepath.Join(t.TempDir(), "service.json")
	status, stdout, stderr := invoke(t, "bench", "service", "--runs", "1", "--workers", "2", "--bars", "--json", file)
	if status != 0 {
		t.Fatal("invoke(…):", status, stderr)
	}
	for _, want := range []string{"service, calm", "service, overloaded", "filch, par", "overloaded, p99 of urgent requests", "2.0 times what they can do"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %s", want, stdout)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil || len(r.Rows) != 12*len(servicebench.Names()) || len(r.Bars) != 8 {
		t.Errorf("%d rows, %d bars: %v", len(r.Rows), len(r.Bars), err)
	}
	for _, row := range r.Rows {
		if row.Median <= 0 && !strings.Contains(row.Size, "urgent") { // there may be none
			t.Errorf("%+v", row)
		}
	}
}

func TestServiceRefusesWhatCannotBe(t *testing.T) {
	for args, want := range map[string]string{
		"service fib":                     "apart from other workloads",
		"service --executors filch":       "service knows no --executors",
		"service --markdown":              "--markdown",
		"service --workers 1,2":           "--workers: service takes one number",
		"service --runs 0":                "--runs 0",
		"service --json /no/such/x":       "--json",
		"service --builds":                "service knows no --builds",
		"service --input .":               "--input",
		"service --svg .":                 "--svg",
		"service --size 7 --json /no/x.y": "--size",
	} {
		status, _, stderr := invoke(t, append([]string{"bench"}, strings.Fields(args)...)...)
		if status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d: %s", args, status, stderr)
		}
	}
	if status, _, stderr := invoke(t, serviceName, "x"); status != 2 || !strings.Contains(stderr, "x: not a number of workers") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// A service that does not start, or says nothing, or serves nothing, is an error.
func TestServicesThatFail(t *testing.T) {
	b := &serviceBench{ctx: context.Background(), out: io.Discard, workers: 1, runs: 1}
	l := servicebench.Load{Rate: 100, Lasts: time.Millisecond, Timeout: time.Second}
	for _, args := range [][]string{{"/no/such/program"}, {"true"}, {"echo", "127.0.0.1:1"}} {
		b.command = func(...string) *exec.Cmd { return exec.Command(args[0], args[1:]...) }
		if _, err := b.once(l, "filch"); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
