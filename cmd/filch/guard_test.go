package main

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// A run in which nothing can run is a deadlock; one that is at work is slow, however
// long it takes.
func TestDeadlocksAreToldFromSlowRuns(t *testing.T) {
	soon := guard{quiet: time.Millisecond, every: time.Millisecond, still: 50, most: 200 * time.Millisecond}
	late := soon
	late.most = time.Hour

	var stop atomic.Bool
	ended := make(chan bool)
	slow := func() string {
		defer close(ended)
		for !stop.Load() {
			runtime.Gosched()
		}
		return ""
	}
	if got := soon.run(slow); got != "over 200ms" {
		t.Errorf("a run at work: %q", got)
	}
	stop.Store(true)
	<-ended

	if got := late.run(func() string { <-make(chan bool); return "" }); got != deadlocks {
		t.Errorf("a run that waits for nothing: %q", got)
	}
	if got := late.run(func() string { panic("no") }); got != panics {
		t.Errorf("a run that panics: %q", got)
	}
	if got := late.run(func() string { return "a note" }); got != "a note" {
		t.Errorf("a run that ends: %q", got)
	}
}

// A run that ends late, after the looks have begun, has its time all the same.
func TestSlowRunsAreWaitedFor(t *testing.T) {
	g := guard{quiet: time.Nanosecond, every: time.Millisecond, still: 1 << 30, most: time.Hour}
	looked := time.After(10 * g.every)
	if got := g.run(func() string { <-looked; return "late" }); got != "late" {
		t.Errorf("g.run(…): %q", got)
	}
}

// Each pool of the table that holds its workers while tasks wait is found out.
func TestNestedTasksDeadlock(t *testing.T) {
	if testing.Short() {
		t.Skip("pools that deadlock are waited for")
	}
	g := guard{quiet: time.Millisecond, every: 5 * time.Millisecond, still: 40, most: time.Hour}
	for _, p := range taskPools {
		switch p.name {
		case "filch", "filch-fifo", "goroutine":
		default:
			if note := g.run(func() string { return nested(6).run(func() running { return p.start(1) }, 1) }); note != deadlocks {
				t.Errorf("g.run(…): %s: %q", p.name, note)
			}
		}
	}
}
