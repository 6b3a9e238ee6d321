package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

// The page is there while the workload runs, and all ends when it is interrupted.
func TestThePageIsThereWhileTheWorkloadRuns(t *testing.T) {
	o := liveOptions{address: "127.0.0.1:0", workers: 2, size: "20", executor: "filch", token: true}
	withPage(t, func(ctx context.Context, out io.Writer) error { return showLive(ctx, out, "fib", o) }, func(line string) {
		url, token, ok := strings.Cut(line, "#token=")
		if !ok || len(token) < 16 {
			t.Fatalf("the address is %q", line)
		}
		if status, page := fetch(t, url); status != http.StatusOK || !strings.HasPrefix(page, "<!doctype html>") {
			t.Errorf("fetch(t, url): %d, %.50q", status, page)
		}
		if status, _ := fetch(t, url+"events"); status != http.StatusUnauthorized {
			t.Errorf("without the token: %d", status)
		}
	})
}

// Without a workload something of all kinds runs.
func TestTheDemonstrationKeepsWorkersBusy(t *testing.T) {
	o := liveOptions{address: "127.0.0.1:0", workers: 2}
	withPage(t, func(ctx context.Context, out io.Writer) error { return showDemonstration(ctx, out, o) }, func(line string) {
		if status, page := fetch(t, strings.TrimSpace(line)); status != http.StatusOK || !strings.HasPrefix(page, "<!doctype html>") {
			t.Errorf("fetch(t, url): %d, %.50q", status, page)
		}
	})
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	manyTasks(t.Context(), p, 1)
	if s := p.Stats(); s.Tasks.Done < 32 || s.Tasks.Failed > 0 {
		t.Errorf("%d tasks done, %d failed", s.Tasks.Done, s.Tasks.Failed)
	}
	if n := tree.Call(p, branch{seed: 1, depth: 8, step: 1}); n < 4 {
		t.Errorf("the tree has %d leaves", n)
	}
}

// The address that is printed can be opened.
func TestTheAddressThatIsPrintedCanBeOpened(t *testing.T) {
	for _, test := range []struct {
		o     liveOptions
		host  string
		token bool
	}{
		{liveOptions{address: "127.0.0.1:0"}, "127.0.0.1", false},
		{liveOptions{address: "localhost:0", token: true}, "127.0.0.1", true},
		{liveOptions{address: ":0"}, "localhost", true},
		{liveOptions{address: "0.0.0.0:0"}, "localhost", true},
		{liveOptions{address: "0.0.0.0:0", hosts: []string{"build.example", "10.1.2.3"}}, "build.example", true},
	} {
		p := filch.New()
		var out bytes.Buffer
		stop, err := test.o.serve(&out, p)
		if err != nil {
			t.Fatalf("test.o.serve(&out, p): %s: %v", test.o.address, err)
		}
		url, token, _ := strings.Cut(strings.TrimSpace(out.String()), "#token=")
		asked, err := http.NewRequest("GET", url, nil)
		if err != nil || strings.TrimSuffix(asked.Host, ":"+asked.URL.Port()) != test.host || (token != "") != test.token {
			t.Fatalf(`http.NewRequest("GET", url, nil): %s, %v: %q, %v`, test.o.address, test.o.hosts, out.String(), err)
		}
		asked.URL.Host = "127.0.0.1:" + asked.URL.Port() // as by a name that leads here
		if status, _ := answerTo(t, asked); status != http.StatusOK {
			t.Errorf(`strings.Cut(…, "#token="): %s: %d`, url, status)
		}
		stop()
		p.Close()
	}
}

// What cannot be shown is told in a line, with status 2.
func TestLiveCalledWrongly(t *testing.T) {
	for args, want := range map[string]string{
		"--size 3":                      "live: --size is for a workload",
		"--workers 0":                   "--workers 0: the number of workers",
		"fib fft":                       "live: name one workload, not 2",
		"nothing":                       `unknown workload "nothing"`,
		"fib --size x":                  `fib: size "x" is not a number`,
		"fib --workers 0":               "--workers 0: the number of workers",
		"fib --executor x":              `unknown executor "x"`,
		"fib --executor goroutine":      "--executor: goroutine is none of filch's",
		"fib --input /":                 "--input: only goparse reads a folder",
		"fib --addr nowhere":            "--addr nowhere: ",
		"fib --addr 127.0.0.1:99999":    "--addr 127.0.0.1:99999: ",
		"fib --rest -1s":                "--rest -1s: must not be negative",
		"fib --host http://example.com": `--host "http://example.com": a host is`,
		"fib --host [::1]:80":           `--host "[::1]:80": a host is`,
		"fib --nothing":                 "unknown flag --nothing",
	} {
		var out, errs bytes.Buffer
		status := run(append([]string{"live"}, strings.Fields(args)...), &out, &errs)
		if status != 2 || out.Len() > 0 || !strings.HasPrefix(errs.String(), "filch: "+want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("filch live %s: status %d, %q, %q", args, status, out.String(), errs.String())
		}
	}
}

// An address without a port gets a free one; --host takes addresses as well.
func TestLiveAddressWithoutAPort(t *testing.T) {
	for address, want := range map[string]string{
		"localhost": "localhost:0", "127.0.0.1": "127.0.0.1:0", "::1": "[::1]:0", "[::1]": "[::1]:0",
		"[::1]:6061": "[::1]:6061", ":0": ":0", "nowhere": "nowhere", "localhost:1": "localhost:1",
	} {
		if got := withPort(address); got != want {
			t.Errorf("%s is %s, not %s", address, got, want)
		}
	}
	o := liveOptions{address: "127.0.0.1:0", workers: 1, size: "1", hosts: []string{"a.example", "::2", "[::3]"}}
	if _, err := o.job("fib"); err != nil {
		t.Error(`o.job("fib"):`, err)
	}
}
