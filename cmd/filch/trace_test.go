package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace"
)

// formOf tells the form of a file by what is in it.
func formOf(b []byte) string {
	switch {
	case json.Valid(b):
		return "chrome"
	case bytes.Contains(b, []byte("worker 0   is called")):
		return "text"
	}
	return "none"
}

// The name of the file says in which form a run is written, or a flag does.
func TestTraceWritesTheFormOfTheName(t *testing.T) {
	for _, c := range []struct {
		name, flag, form string
	}{
		{"a.json", "", "chrome"},
		{"a.JSON", "", "chrome"},
		{"a.txt", "", "text"},
		{"a.txt", "--text", "text"},
		{"trace", "", "chrome"},
		{"trace.out", "--text", "text"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, c.name)
		args := []string{"trace", "fib", "--size", "20", "--workers", "2", "-o", file}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		status, stdout, stderr := invoke(t, args...)
		b, err := os.ReadFile(file)
		if status != 0 || stderr != "" || err != nil || formOf(b) != c.form {
			t.Errorf("%s %s: status %d, %v, %s; it is %s", c.name, c.flag, status, err, stderr, formOf(b))
		}
		for _, want := range []string{"fib 20, filch on 2 workers: took ", "recorded: ", " events, 0 lost\n", "wrote " + file + ", "} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s %s: there is no %q in\n%s", c.name, c.flag, want, stdout)
			}
		}
		onlyFile(t, dir, c.name)
	}
}

// onlyFile checks that there is nothing else in a folder: no file of which a part is written.
func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != 1 || all[0].Name() != name {
		t.Errorf("in the folder of %s there are %v, %v", name, all, err)
	}
}

// "-" is the standard output, which has nothing else.
func TestTraceWritesToTheStandardOutput(t *testing.T) {
	status, stdout, stderr := invoke(t, "trace", "spawns", "--size", "100", "--executor", "strand", "--workers", "1", "-o", "-", "--text")
	if status != 0 || formOf([]byte(stdout)) != "text" || strings.Contains(stdout, "recorded") || !strings.Contains(stderr, "strand on 1 worker: took") {
		t.Errorf("status %d: %s\n%s", status, stdout, stderr)
	}
	if status, stdout, _ := invoke(t, "trace", "fib", "-o", "-"); status != 0 || formOf([]byte(stdout)) != "chrome" {
		t.Errorf("status %d: %s", status, stdout)
	}
}

// What is lost is told.
func TestTraceTellsWhatIsLost(t *testing.T) {
	_, stdout, stderr := invoke(t, "trace", "pizza", "--size", "1/100", "--workers", "2", "--events", "1", "-o", filepath.Join(t.TempDir(), "a.json"))
	if !strings.Contains(stdout, " lost, the earliest; --events keeps more\n") {
		t.Error("invoke(…):", stdout, stderr)
	}
}

// A mistake is told in one line, and nothing runs or is written.
func TestAMistakeInTraceIsToldInOneLine(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.json")
	if err := os.WriteFile(kept, []byte("as it was"), 0o644); err != nil {
		t.Fatal(`os.WriteFile(kept, []byte("as it was"), 0o644):`, err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{`unknown workload "fob"; there are fib,`, []string{"fob", "-o", kept}},
		{`trace: name one workload, not 0;`, []string{"-o", kept}},
		{`trace: name one workload, not 2;`, []string{"fib", "pizza", "-o", kept}},
		{`--output: there must be a file`, []string{"fib"}},
		{`--output ` + dir + `: is a folder`, []string{"fib", "-o", dir}},
		{`no such file or directory`, []string{"fib", "-o", filepath.Join(dir, "x", "a.json")}},
		{`ends in .json has another form than that of --text`, []string{"fib", "-o", kept, "--text"}},
		{`unknown executor "filsh"; there are serial,`, []string{"fib", "-o", kept, "--executor", "filsh"}},
		{`--executor: serial is none of filch's`, []string{"fib", "-o", kept, "--executor", "serial"}},
		{`--executor: goroutine is none of filch's`, []string{"fib", "-o", kept, "--executor", "goroutine"}},
		{`pizza on filch-call: not run`, []string{"pizza", "-o", kept, "--executor", "filch-call"}},
		{`fib: size "x" is not a number`, []string{"fib", "-o", kept, "--size", "x"}},
		{`--workers 0: the number of workers must be from 1 to 10000`, []string{"fib", "-o", kept, "--workers", "0"}},
		{`--events 0: the number of events must be from 1 to 16777216`, []string{"fib", "-o", kept, "--events", "0"}},
		{`--last -1s: must be more than nothing`, []string{"fib", "-o", kept, "--last", "-1s"}},
		{`--input: only goparse reads a folder`, []string{"fib", "-o", kept, "--input", dir}},
		{`--input: open `, []string{"goparse", "-o", kept, "--input", filepath.Join(dir, "x")}},
		{`unknown flag --x`, []string{"fib", "-o", kept, "--x"}},
	} {
		status, stdout, stderr := invoke(t, append([]string{"trace"}, c.args...)...)
		if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "filch: ") || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d: %s%s", c.args, status, stdout, stderr)
		}
	}
	if b, err := os.ReadFile(kept); string(b) != "as it was" {
		t.Errorf("the file is %s now, %v", b, err)
	}
	onlyFile(t, dir, "kept.json")
}

// A form that fails leaves what was there.
func TestTraceLeavesTheFileIfItFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.json")
	if err := os.WriteFile(file, []byte("as it was"), 0o644); err != nil {
		t.Fatal(`os.WriteFile(file, []byte("as it was"), 0o644):`, err)
	}
	tr := newTestTracing(t, file)
	tr.form.write = func(_ *trace.Trace, w io.Writer) error {
		w.Write([]byte("a half"))
		return errors.New("no more")
	}
	if _, err := tr.write(tr.record.Snapshot()); err == nil || err.Error() != "--output "+file+": no more" {
		t.Error("tr.write(tr.record.Snapshot()):", err)
	}
	if b, _ := os.ReadFile(file); string(b) != "as it was" {
		t.Errorf("the file is %s now", b)
	}
	onlyFile(t, dir, "a.json")
}

// newTestTracing returns a tracing that records a pool on which a task has run.
func newTestTracing(t *testing.T, file string) *tracing {
	tr, err := newTracing("fib", traceOptions{output: file, workers: 1, events: 100, executor: "filch", last: 1 << 40}, &bytes.Buffer{}, &bytes.Buffer{})
	if err != nil {
		t.Fatal("newTracing(…):", err)
	}
	p := filch.New(filch.WithWorkers(1))
	t.Cleanup(func() { p.Close() })
	tr.record = trace.New(p)
	tr.record.Start()
	t.Cleanup(tr.record.Stop)
	p.Do(func(*filch.Worker) {})
	return tr
}
