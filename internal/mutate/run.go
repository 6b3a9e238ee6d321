package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// more are flags for the tests of a package.
var more = map[string][]string{"ordered": {"-stress=500ms"}}

// A verdict is what became of a mutant.
type verdict struct {
	how string // killed, deadlock, hung, survived, equivalent, or broken
	by  string // test, or reason
}

const (
	killed     = "killed"
	deadlock   = "deadlock" // a test died of a deadlock that the runtime saw: it is killed, too
	hung       = "hung"     // a test took too long: it is killed, by luck
	survived   = "survived"
	equal      = "equivalent"
	broken     = "broken" // it does not compile
	perPackage = 5 * time.Minute
)

// A runner judges mutants of the module in dir.
type runner struct {
	dir     string
	perTest time.Duration
	own     bool // only the tests of its own package
}

// sound returns an error if a test that is to judge ms fails without any of them.
func (r *runner) sound(ms []mutant) error {
	tmp, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	seen := map[tests]bool{}
	for _, m := range ms {
		for _, ts := range r.judges(m) {
			if seen[ts] {
				continue
			}
			seen[ts] = true
			if v, err := r.try(tmp, ts); err != nil || v.how != survived {
				return errors.Join(err, fmt.Errorf("without a change, the tests of %s end like this: %s: %s", ts, v.how, v.by))
			}
		}
	}
	return nil
}

// tests are those of a package.
type tests struct {
	pkg  string
	race bool // with the race detector
}

func (ts tests) String() string {
	if ts.race {
		return ts.pkg + " with the race detector"
	}
	return ts.pkg
}

// judge compiles and tests m.
func (r *runner) judge(m mutant) (verdict, error) {
	tmp, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return verdict{}, err
	}
	defer os.RemoveAll(tmp)
	overlay, err := r.overlay(tmp, m)
	if err != nil {
		return verdict{}, err
	}
	for _, ts := range r.judges(m) {
		if v, err := r.try(tmp, ts, "-overlay", overlay); err != nil || v.how != survived {
			return v, err
		}
	}
	return verdict{how: survived}, nil
}

// try compiles tests with these flags, and runs them.
func (r *runner) try(tmp string, ts tests, flags ...string) (verdict, error) {
	if ts.race {
		flags = append(flags, "-race")
	}
	bin := filepath.Join(tmp, "test.exe")
	build := exec.Command("go", slices.Concat([]string{"test", "-c", "-vet=off", "-o", bin}, flags, []string{"./" + ts.pkg})...)
	build.Dir = r.dir
	if out, err := build.CombinedOutput(); err != nil {
		return verdict{broken, firstLine(out)}, nil
	}
	return r.test(bin, ts.pkg, "")
}

// overlay writes what tells the go command to take m in place of its file.
func (r *runner) overlay(tmp string, m mutant) (string, error) {
	changed := filepath.Join(tmp, "mutant.go")
	if err := os.WriteFile(changed, m.source, 0o600); err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(r.dir, filepath.FromSlash(m.file)): changed}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(tmp, "overlay.json")
	return file, os.WriteFile(file, replace, 0o600)
}

// test runs the tests of pkg up to the first that fails: with a break, if one is named, and with flags.
func (r *runner) test(bin, pkg, broken string, flags ...string) (verdict, error) {
	ctx, cancel := context.WithTimeout(context.Background(), perPackage)
	defer cancel()
	args := slices.Concat([]string{"-test.short", "-test.failfast", "-test.v", "-test.timeout=0"}, more[pkg], flags)
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = filepath.Join(r.dir, filepath.FromSlash(pkg))
	cmd.Env = append(os.Environ(), breakEnv+"="+broken)
	cmd.WaitDelay = 5 * time.Second
	w := newWatch(r.perTest, cancel)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return verdict{}, err
	}
	err := cmd.Wait()
	return w.verdict(err != nil, ctx.Err() != nil), nil
}

// A watch reads what a test binary prints, and calls late if a test takes too long.
type watch struct {
	mu    sync.Mutex
	line  []byte
	test  string // that was begun last
	fails string // the first that failed
	dead  bool   // by a deadlock
	limit time.Duration
	timer *time.Timer
}

func newWatch(limit time.Duration, late func()) *watch {
	return &watch{limit: limit, timer: time.AfterFunc(limit, late)}
}

func (w *watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range p {
		if c != '\n' {
			w.line = append(w.line, c)
			continue
		}
		w.read(string(w.line))
		w.line = w.line[:0]
	}
	return len(p), nil
}

func (w *watch) read(line string) {
	line = strings.TrimLeft(line, " \x16")
	switch {
	case strings.HasPrefix(line, "=== RUN"), strings.HasPrefix(line, "=== CONT"), strings.HasPrefix(line, "=== NAME"):
		fields := strings.Fields(line)
		if w.test = fields[len(fields)-1]; w.fails == "" {
			w.timer.Reset(w.limit)
		}
	case strings.HasPrefix(line, "--- FAIL: "):
		if name := strings.Fields(line)[2]; strings.HasPrefix(name, w.fails) { // the part, if it is named after the whole
			w.fails = name
		}
	case strings.Contains(line, "deadlock!"), strings.Contains(line, "deadlock: "):
		w.dead = true
	}
}

func (w *watch) verdict(failed, late bool) verdict {
	w.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	by := w.fails
	if by == "" {
		by = w.test
	}
	switch {
	case !failed:
		return verdict{how: survived}
	case w.dead && !late:
		return verdict{deadlock, by}
	case late && w.fails == "":
		return verdict{hung, by}
	}
	return verdict{killed, by}
}

func firstLine(out []byte) string {
	s := bufio.NewScanner(io.LimitReader(bytes.NewReader(out), 1<<16))
	for s.Scan() {
		if line := s.Text(); !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return "no output"
}
