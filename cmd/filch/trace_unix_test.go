//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// On SIGQUIT and SIGUSR1 the last seconds are written at once, again and again, and in the end the whole.
func TestTraceWritesOnSignals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txt")
	tr := newTestTracing(t, file)
	r, w := io.Pipe()
	tr.stderr = w
	stop := tr.onSignals()
	defer stop()
	said := bufio.NewReader(r)
	for _, s := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR1} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal("syscall.Kill(os.Getpid(), s):", err)
		}
		line, err := said.ReadString('\n')
		if want := ", of the last 18m19.511627776s, to " + file + "\n"; err != nil || !strings.HasPrefix(line, "filch: wrote ") || !strings.HasSuffix(line, want) {
			t.Errorf("said.ReadString('\\n'): %v: %q, %v", s, line, err)
		}
		b, err := os.ReadFile(file)
		if formOf(b) != "text" || err != nil {
			t.Errorf("%v: the file is %s, %v", s, b, err)
		}
		os.Remove(file)
	}
	if err := tr.tell("took", 0); err != nil {
		t.Error(`tr.tell("took", 0):`, err)
	}
	os.Remove(file)
	r.Close()
	tr.writeLast() // a signal that came meanwhile
	if _, err := os.Stat(file); err == nil {
		t.Error("a signal that is late overwrites the whole")
	}
}

// A disk that is full is told of with the flag.
func TestTraceToAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	status, stdout, stderr := invoke(t, "trace", "fib", "--size", "15", "--workers", "1", "-o", "/dev/full")
	if status == 0 || stdout != "" || stderr != "filch: --output /dev/full: no space left on device\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

// A run that is interrupted, or told to end, leaves the file with what was recorded until then.
func TestTraceWritesWhenInterrupted(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		file := filepath.Join(t.TempDir(), "a.json")
		var out bytes.Buffer
		tr, err := newTracing("pizza", traceOptions{output: file, size: "1/10", workers: 1, events: 100, executor: "filch", last: 1}, &out, io.Discard)
		if err != nil {
			t.Fatal(`newTracing("pizza", …, &out, io.Discard):`, err)
		}
		came := make(chan os.Signal, 1)
		signal.Notify(came, s) // one that comes before the run does not end the test
		ended := make(chan error, 1)
		go func() { ended <- tr.run(t.Context()) }()
		for err = nil; err == nil; {
			if err := syscall.Kill(os.Getpid(), s); err != nil {
				t.Fatal("syscall.Kill(os.Getpid(), s):", err)
			}
			<-came // before it is stopped
			select {
			case err = <-ended:
			default:
			}
		}
		signal.Stop(came)
		b, _ := os.ReadFile(file)
		if !errors.Is(err, errFailed) || formOf(b) != "chrome" || !strings.Contains(out.String(), "pizza 1/10, filch on 1 worker: interrupted after ") {
			t.Errorf("%v: %v, the file is %s; %s", s, err, formOf(b), &out)
		}
	}
}
