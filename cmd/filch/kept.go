package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
)

// A key says what a row measures. Within a report each is there once.
type key struct {
	workload, size, executor string
	workers                  int
}

func (r *row) key() key { return key{r.Workload, r.Size, r.Executor, r.Workers} }

func (k key) String() string {
	return fmt.Sprintf("%s %s, %s on %d", k.workload, k.size, k.executor, k.workers)
}

// mostKept is how large a report may be.
const mostKept = 64 << 20

// readReport reads what --json has written, and checks it: it may have been edited, or be something else.
func readReport(path string) (r report, err error) {
	file, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, mostKept+1))
	switch {
	case err != nil:
		return r, err
	case len(b) > mostKept:
		return r, fmt.Errorf("%s: is not what filch bench --json writes: it is larger than %d MB", path, mostKept>>20)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("%s: is not what filch bench --json writes: %w", path, err)
	}
	if err := r.check(); err != nil {
		return r, fmt.Errorf("%s: is not what filch bench --json writes: %w", path, err)
	}
	return r, nil
}

func (r report) check() error {
	if len(r.Rows) == 0 {
		return errors.New("it has no rows")
	}
	there := map[key]bool{}
	for i, x := range r.Rows {
		if x == nil {
			return fmt.Errorf("row %d is null", i+1)
		}
		if err := x.check(); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		if there[x.key()] {
			return fmt.Errorf("row %d: %s is there twice", i+1, x.key())
		}
		there[x.key()] = true
	}
	for _, s := range []string{r.Machine.OS, r.Machine.Arch, r.Machine.CPU, r.Machine.Go, r.Machine.Level, r.Machine.Profile, r.Machine.Revision} {
		if !drawable(s) {
			return fmt.Errorf("machine: %.40q is no name", s)
		}
	}
	return nil
}

func (r *row) check() error {
	for _, s := range []string{r.Workload, r.Executor} {
		if s == "" || !drawable(s) {
			return fmt.Errorf("%.40q is no name of a workload or an executor", s)
		}
	}
	short, _, _ := strings.Cut(r.Note, ":")
	switch {
	case !drawable(r.Size):
		return fmt.Errorf("%.40q is no size", r.Size)
	case r.Workers < 1 || r.Runs < 0:
		return fmt.Errorf("%s: %d workers, %d runs", r.key(), r.Workers, r.Runs)
	case r.Runs > 0 && (r.Min < 0 || r.Min > r.Median || r.Median > r.Max || r.Max == 0):
		return fmt.Errorf("%s: median %d ns is not between %d and %d", r.key(), r.Median, r.Min, r.Max)
	case len(r.Times) > 0 && len(r.Times) != r.Runs:
		return fmt.Errorf("%s: %d times of %d runs", r.key(), len(r.Times), r.Runs)
	case slices.ContainsFunc(r.Times, func(d time.Duration) bool { return d < r.Min || d > r.Max }):
		return fmt.Errorf("%s: the time of a run is not between the least and the greatest", r.key())
	case r.Serial < 0 || !sensible(r.Speedup) || !sensible(r.Overhead) || !sensible(r.NsPerFork):
		return fmt.Errorf("%s: a figure is negative, or no machine's", r.key())
	case r.Runs == 0 && !drawable(short):
		return fmt.Errorf("%s: %.40q is no reason", r.key(), short)
	}
	return nil
}

// sensible reports whether a figure is 0, for none, or between what an axis can have.
func sensible(v float64) bool { return v == 0 || v > 1e-15 && v < 1e15 }

// drawable reports whether s can stand in a picture, and is no essay.
func drawable(s string) bool {
	return len(s) <= 200 && !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) || c == unicode.ReplacementChar })
}

// notKept are the flags that say what to measure, which is done already where a kept report is read.
var notKept = []string{"executors", "workers", "runs", "size", "input", "json", "markdown", "builds", "cpuprofile", "parallelism", "list"}

// drawKept draws a report that was kept.
func drawKept(cmd *cobra.Command, args []string, o options) error {
	switch {
	case len(args) > 0:
		return fmt.Errorf("--from measures nothing: %s is one too many", strings.Join(args, " "))
	case o.html == "" && o.svg == "":
		return errors.New("--from: what should be drawn? Say --html or --svg")
	}
	if err := unknownTo(cmd, "--from", notKept...); err != nil {
		return err
	}
	r, err := readReport(o.from)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	out, err := newOutputs(o)
	if err != nil {
		return err
	}
	return out.write(r)
}

// unknownTo refuses flags that were given and mean nothing with another one.
func unknownTo(cmd *cobra.Command, flag string, others ...string) error {
	for _, name := range others {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("%s knows no --%s", flag, name)
		}
	}
	return nil
}
