package main

import (
	"strings"
	"testing"
	"time"
)

// measured are rows of a machine on which all takes so many times as long.
func measured(slower time.Duration) []*row {
	var rows []*row
	add := func(workload, size, executor string, workers int, took, serial time.Duration, forks int64) {
		took, serial = took*slower, serial*slower
		r := &row{Workload: workload, Size: size, Executor: executor, Workers: workers, Runs: 3, Median: took, Serial: serial, Forks: forks}
		r.Times = []time.Duration{took, took, took}
		rows = append(rows, r)
	}
	ms := time.Millisecond
	add("fib", "38", "serial", 1, 150*ms, 150*ms, 60e6)
	add("fib", "38", "at-once", 2, 100*ms, 150*ms, 60e6) // each of two
	add("fib", "38", "filch", 1, 300*ms, 150*ms, 60e6)
	add("fib", "38", "filch", 2, 200*ms, 150*ms, 60e6)
	add("fib", "38", "filch-chain", 1, 180*ms, 150*ms, 60e6)
	add("treesum", "1023", "serial", 1, 1000, 1000, 511)
	add("treesum", "1023", "filch", 2, 1300, 1000, 511)
	return rows
}

// A goal is met or missed alike on a machine that does all in twice the time; the
// nanoseconds beside it are twice as many.
func TestBarsDoNotDependOnTheMachine(t *testing.T) {
	fast, slow := bars(measured(1), false), bars(measured(2), false)
	want := map[string]float64{
		"a fork and join more than a call, fib 38":               2,   // 2.5 ns where a call takes 1.25
		"the same in a chain":                                    0.4, // 0.5 ns
		"two workers against one, fib 38, filch":                 1,   // 1.5, as serial programs
		"a tree of 1,023 nodes against serial, filch, workers 2": 1.3,
	}
	found := 0
	for i, b := range fast {
		if goal, ok := want[b.What]; ok {
			found++
			if b.Got < goal-1e-9 || b.Got > goal+1e-9 || slow[i].Got != b.Got || slow[i].NS != 2*b.NS || b.NS <= 0 {
				t.Errorf("%+v and %+v, want %v", b, slow[i], goal)
			}
		}
	}
	if found != 4 {
		t.Errorf("%d of 4 goals: %+v", found, fast)
	}
	if ns := fast[0].NS; ns < 2.49 || ns > 2.51 {
		t.Errorf("a fork takes %v ns more", ns)
	}
	if guided := bars(measured(1), true); guided[0].Goal >= fast[0].Goal {
		t.Errorf("with a profile the goal is %v calls, without one %v", guided[0].Goal, fast[0].Goal)
	}
}

// The programs that run at once count one by one: two that take as long as one are twice as
// fast.
func TestProgramsAtOnceCountOneByOne(t *testing.T) {
	status, stdout, stderr := invoke(t, "bench", "fib", "quicksort", "--size", "fib=15,quicksort=100", "--executors", "at-once", "--workers", "1,2,64", "--runs", "1")
	if status != 0 || strings.Contains(stdout, "WRONG") {
		t.Fatalf("status %d: %s\n%s", status, stderr, stdout)
	}
	if !strings.Contains(stdout, "not run") { // quicksort has one array
		t.Error("invoke(…):", stdout)
	}
	if n := strings.Count(stdout, "at-once"); n != 4+1 { // one worker is the serial program; and the note
		t.Errorf("%d lines of it in\n%s", n, stdout)
	}
}

// What is printed ends with where it was measured, and how the command was built.
func TestTheBuildIsSaid(t *testing.T) {
	for want, m := range map[string]machine{
		"built with go1.26, GOAMD64=v3, no profile\n":                                         {Go: "go1.26", Level: "GOAMD64=v3"},
		"built with go1.26, guided by the profile x.pgo\n":                                    {Go: "go1.26", Profile: "x.pgo"},
		"built with go1.26, with no profile and, where it says +pgo, guided by default.pgo\n": {Go: "go1.26", Profile: bothBuilds},
	} {
		var out strings.Builder
		printClosing(&out, report{Machine: m}, true)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
}
