package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// changed is a report, edited, in a file.
func changed(t *testing.T, edit func(r *report)) string {
	t.Helper()
	r := someReport()
	edit(&r)
	return keep(t, r)
}

// slow makes rows of an executor take so many times as long.
func slow(r *report, executor string, times float64) {
	for _, x := range r.Rows {
		if x.Runs == 0 || x.Executor != executor && executor != "" {
			continue
		}
		for i := range x.Times {
			x.Times[i] = time.Duration(float64(x.Times[i]) * times)
		}
		x.summarize()
	}
}

// scatter makes the runs of an executor lie far apart, around where they are.
func scatter(r *report, executor string, by float64) {
	for _, x := range r.Rows {
		if x.Runs > 0 && x.Executor == executor {
			for i := range x.Times {
				x.Times[i] = time.Duration(float64(x.Times[i]) * (1 + by*float64(i-2)))
			}
			x.summarize()
		}
	}
}

// What is said of two files: changes only where chance seldom makes them, with the exit status that is asked for.
func TestChangesAreToldWhereChanceSeldomMakesThem(t *testing.T) {
	same := func(*report) {}
	for name, c := range map[string]struct {
		old, new func(r *report)
		flags    string
		status   int
		want     []string // in what is printed, with single spaces
		stderr   string
		never    string
	}{
		"nothing changed": {same, same, "--fail-if-slower 1", 0, []string{"fib 30 serial 1 102 ms 2% 102 ms 2% ~ 1.000 6+6", "Of 4 rows 0 got slower, 0 faster; 4 show no change"}, "", "lower +"},
		"filch is slower": {same, func(r *report) { slow(r, "filch", 1.2) }, "", 0, []string{"filch 1 122 ms 2% 147 ms 2% slower +20.0% 0.002 6+6", "filch 2 72.5 ms 3% 87.0 ms 3% slower +20.0%", "Of 4 rows 2 got slower, 0 faster; 2 show"}, "", "Another"},
		"that fails": {same, func(r *report) { slow(r, "filch", 1.2) }, "--fail-if-slower 19", 1, []string{"slower +20.0%"},
			"filch: slower: fib 30, filch on 1: +20.0%, p=0.002\nfilch: slower: fib 30, filch on 2: +20.0%, p=0.002\n", ""},
		"that is less than what fails": {same, func(r *report) { slow(r, "filch", 1.2) }, "--fail-if-slower 21", 0, []string{"slower +20.0%"}, "", ""},
		"filch is faster":              {same, func(r *report) { slow(r, "filch", 0.5) }, "--fail-if-slower 1", 0, []string{"faster -50.0%", "0 got slower, 2 faster"}, "", "slower +"},
		"by chance": {func(r *report) { scatter(r, "filch", 0.3) }, func(r *report) { scatter(r, "filch", 0.3); slow(r, "filch", 1.2) }, "--fail-if-slower 1", 0,
			[]string{"Of 4 rows 0 got slower"}, "", "slower +"},
		"a rival is slower":          {same, func(r *report) { slow(r, "goroutine", 2) }, "--fail-if-slower 1", 0, []string{"slower +100.0%"}, "", ""},
		"the machine is slower":      {same, func(r *report) { slow(r, "", 1.5) }, "", 0, []string{"The serial programs changed as well: fib 30 +50.0%", "4 got slower"}, "", ""},
		"and that is taken out":      {same, func(r *report) { slow(r, "", 1.5) }, "--over-serial --fail-if-slower 1", 0, []string{"old over serial", "filch 1 1.20 0% 1.20 0% ~", "Of 3 rows 0 got slower"}, "", "changed as well"},
		"only filch is, over serial": {same, func(r *report) { slow(r, "filch", 1.5); r.Machine.CPUs = 64 }, "--over-serial --fail-if-slower 40", 1, []string{"Another machine: CPUs: 2, then 64", "slower +50.0%"}, "filch: slower: fib 30, filch on 1: +50.0%", "say nothing"},
		"another machine":            {same, func(r *report) { r.Machine.CPU = "other"; r.Machine.OS = "plan9" }, "", 0, []string{"Another machine: system: linux/amd64, then plan9/amd64", "Another machine: processor: a processor, then other", "--over-serial compares them"}, "", "Another build"},
		"another build": {same, func(r *report) { r.Machine.Go, r.Machine.Profile = "go1.27", "default.pgo" }, "--fail-if-slower 1", 0,
			[]string{"Another build: Go: go1.26, then go1.27", "Another build: profile: none, then default.pgo"}, "", "Another machine"},
		"another rival": {func(r *report) { r.Machine.Versions = map[string]string{"ants": "v1"} }, func(r *report) { r.Machine.Versions = map[string]string{"ants": "v2"} }, "", 0, []string{"Another build: ants: v1, then v2"}, "", ""},
		"too few runs": {func(r *report) { few(r, 3) }, func(r *report) { few(r, 3); slow(r, "filch", 9) }, "--fail-if-slower 1", 0,
			[]string{"~ 0.100 3+3", "Too few runs: need >= 4 samples to detect a difference at alpha level 0.05", "∞"}, "", "slower +"},
		"does not run any more": {same, func(r *report) {
			x := r.Rows[2]
			x.Runs, x.Times, x.Note, x.Median, x.Max, x.Min = 0, nil, "deadlocks", 0, 0, 0
		}, "--fail-if-slower 1", 1,
			[]string{"No longer runs, or gives a wrong answer: fib 30, filch on 2"}, "filch: no longer runs, or gives a wrong answer: fib 30, filch on 2\n", ""},
		"a wrong answer": {same, func(r *report) { r.Rows[1].OK = false }, "--fail-if-slower 1", 1, []string{"No longer runs, or gives a wrong answer: fib 30, filch on 1"}, "filch: no longer runs", ""},
		"other rows": {same, func(r *report) { r.Rows[0].Size, r.Rows[1].Size = "31", "31" }, "", 0,
			[]string{"Only in the old file: fib 30, serial on 1, and 1 more", "Only in the new file: fib 31, serial on 1, and 1 more", "Of 2 rows"}, "", ""},
		"runs not kept": {func(r *report) { r.Rows[1].Times = nil }, same, "", 0, []string{"Not compared, since a file has no times of single runs: 1 rows", "Of 3 rows"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"bench", "--compare", changed(t, c.old), changed(t, c.new)}, strings.Fields(c.flags)...)
			status, stdout, stderr := invoke(t, args...)
			if status != c.status || !strings.HasPrefix(stderr, c.stderr) || c.stderr == "" && stderr != "" {
				t.Errorf("status %d, stderr %q", status, stderr)
			}
			words := strings.Join(strings.Fields(stdout), " ")
			for _, want := range c.want {
				if !strings.Contains(words, want) {
					t.Errorf("no %q in\n%s", want, stdout)
				}
			}
			if c.never != "" && strings.Contains(words, c.never) {
				t.Errorf("%q in\n%s", c.never, stdout)
			}
		})
	}
}

// few keeps the first runs only.
func few(r *report, n int) {
	for _, x := range r.Rows {
		if x.Runs > n {
			x.Runs, x.Times = n, x.Times[:n]
			x.summarize()
		}
	}
}

// Files that cannot be compared are told in one line.
func TestFilesThatCannotBeComparedAreTold(t *testing.T) {
	good := keep(t, someReport())
	unkept := changed(t, func(r *report) {
		for _, x := range r.Rows {
			x.Times = nil
		}
	})
	elsewhere := changed(t, func(r *report) { r.Machine.CPUs = 64 })
	other := changed(t, func(r *report) {
		for _, x := range r.Rows {
			x.Workload = "fab"
		}
	})
	noSerial := changed(t, func(r *report) { r.Rows = r.Rows[1:] })
	for _, c := range []struct{ want, args string }{
		{"--compare takes two files that --json has written, the old one first; here are 0", "--compare"},
		{"here are 1", "--compare " + good},
		{"here are 3", "--compare " + good + " " + good + " fib"},
		{"no such file", "--compare no.json " + good},
		{"no such file", "--compare " + good + " no.json"},
		{"is not what filch bench --json writes", "--compare " + good + " charts.go"},
		{"has no times of single runs (times_ns)", "--compare " + unkept + " " + good},
		{"has no times of single runs (times_ns)", "--compare " + good + " " + unkept},
		{"nothing that ran is in both files", "--compare " + good + " " + other},
		{"no program that ran in both has a serial program in both", "--compare --over-serial " + good + " " + noSerial},
		{"the machines differ (CPUs: 2, then 64); --over-serial can compare them", "--compare --fail-if-slower 5 " + good + " " + elsewhere},
		{"--fail-if-slower 0: not a number of percent above 0", "--compare --fail-if-slower 0 " + good + " " + good},
		{"--fail-if-slower NaN: not a number", "--compare --fail-if-slower NaN " + good + " " + good},
		{"--fail-if-slower -5: not a number", "--compare --fail-if-slower -5 " + good + " " + good},
		{"--compare knows no --html", "--compare --html x " + good + " " + good},
		{"--compare knows no --runs", "--compare --runs 3 " + good + " " + good},
		{"--fail-if-slower and --over-serial are for --compare", "fib --fail-if-slower 5"},
		{"--fail-if-slower and --over-serial are for --compare", "fib --over-serial"},
	} {
		status, stdout, stderr := invoke(t, append([]string{"bench"}, strings.Fields(c.args)...)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, stdout %q, stderr %q; want %q", c.args, status, stdout, stderr, c.want)
		}
	}
}

// A build with a profile is compared with its own serial program.
func TestCompareOverSerialOfTheSameBuild(t *testing.T) {
	edit := func(r *report) {
		for _, x := range r.Rows[:2] {
			y := *x
			y.Executor += withProfile
			y.Times = append([]time.Duration(nil), x.Times...)
			r.Rows = append(r.Rows, &y)
		}
		slow(r, "serial"+withProfile, 0.5)
	}
	status, stdout, stderr := invoke(t, "bench", "--compare", "--over-serial", changed(t, edit), changed(t, edit))
	if words := strings.Join(strings.Fields(stdout), " "); status != 0 || !strings.Contains(words, fmt.Sprintf("filch%s 1 2.39 0%% 2.39", withProfile)) {
		t.Errorf("status %d, %s\n%s", status, stderr, stdout)
	}
}
