package main

import (
	"fmt"
	"runtime/metrics"
	"time"
)

// What a run of tasks that has no time comes to. A run that takes longer than its guard
// allows is said to be over that time instead, by [guard.over].
const (
	deadlocks = "deadlocks"
	panics    = "panics"
)

// guard is how long a run is waited for. A run that does not end is a deadlock only if
// nothing in it can run; if something can, it is slow.
type guard struct {
	quiet time.Duration // until the first look: most runs have ended by then, undisturbed
	every time.Duration // between looks
	still int           // so many looks in a row at which no goroutine can run are a deadlock
	most  time.Duration // and so long a run is too slow to go on with
}

// taskGuard is that of the table. Two seconds without a step are ten times what a filch
// pool takes to add workers when all of them block where it cannot see it.
var taskGuard = guard{quiet: time.Second, every: 10 * time.Millisecond, still: 200, most: 20 * time.Second}

func (g guard) over() string { return fmt.Sprintf("over %v", g.most) }

// failed reports whether the note of a run says that it has no time.
func (g guard) failed(note string) bool {
	return note == deadlocks || note == panics || note == g.over()
}

// run runs f, which returns a note, and does not wait for ever. It returns f's note, or
// why there is none. What f has started is left behind then: blocked for good, or, if it
// is slow, at work.
func (g guard) run(f func() string) (note string) {
	done := make(chan string, 1)
	go func() {
		defer func() {
			if recover() != nil {
				done <- panics
			}
		}()
		done <- f()
	}()
	select {
	case note := <-done:
		return note
	case <-time.After(g.quiet):
	}
	look := time.NewTicker(g.every)
	defer look.Stop()
	most := time.After(g.most - g.quiet)
	for still := 0; still < g.still; still++ {
		select {
		case note := <-done:
			return note
		case <-most:
			return g.over()
		case <-look.C:
		}
		if canRun() {
			still = -1
		}
	}
	select {
	case note := <-done: // the last thing that ran
		return note
	default:
		return deadlocks
	}
}

// canRun reports whether a goroutine other than the caller's runs or could run. One that
// sleeps cannot; no task of the table does. Several looks must agree: the counts are not
// made at one moment.
func canRun() bool {
	counts := []metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}}
	metrics.Read(counts)
	return counts[0].Value.Uint64()+counts[1].Value.Uint64() > 1
}
