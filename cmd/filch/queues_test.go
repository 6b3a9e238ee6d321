package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

func TestBenchClusterRefusesWhatCannotBe(t *testing.T) {
	for args, want := range map[string]string{
		"cluster nonsense":                "no part \"nonsense\"",
		"cluster --size 7":                "--size 7",
		"cluster --size x":                "--size x",
		"cluster --size 1000,2000":        "one number of tasks",
		"cluster --executors filch":       "--executors",
		"cluster --runs 0":                "--runs 0",
		"cluster --workers 0":             "--workers 0",
		"cluster --cpuprofile x":          "--cpuprofile",
		"cluster latency --html x.html":   "--html",
		"cluster local --json /no/such/x": "--json",
	} {
		var out, errs bytes.Buffer
		if status := run(append([]string{"bench"}, strings.Fields(args)...), &out, &errs); status != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: status %d: %s", args, status, errs.String())
		}
	}
}

func TestClusterInParts(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	var out, errs bytes.Buffer
	if status := run(strings.Fields("bench cluster local --runs 1 --size 300 --markdown --bars"), &out, &errs); status != 0 {
		t.Fatal("run(…, &out, &errs):", status, errs.String())
	}
	for _, unit := range []string{"tasks a second", "kill"} {
		if strings.Contains(out.String(), unit) {
			t.Errorf("%q of another part: %s", unit, out.String())
		}
	}
	if text := out.String(); !strings.Contains(text, "| a task of LocalFirst more than Pool.Go |") {
		t.Error("out.String():", text)
	}
}

func TestRivalsAreReadAsTheyAreWritten(t *testing.T) {
	all, err := readRivals(exec.Command("echo", `{"system":"a","durable":"b","version":"v1","places":2,"tasks":3,"times_ns":[5]} {"system":"c","note":"is not installed"}`))
	if err != nil || len(all) != 2 || all[0].System != "a" || all[0].Times[0] != 5 || all[1].Note != "is not installed" {
		t.Error("readRivals(…):", all, err)
	}
	for _, text := range []string{"nonsense", `{"system":`} {
		if _, err := readRivals(exec.Command("echo", text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
