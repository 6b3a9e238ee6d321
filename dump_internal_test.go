package filch

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/task"
)

// What a worker is at is packed into a word and told from it.
func TestDoingIsToldFromAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1))
		w := newWorker(p, 7)
		upper := engine.EntryOf(strings.ToUpper)
		odd := upper | 1 // inside of the same function
		const ms = time.Millisecond
		for _, c := range []struct {
			at    engine.Doing
			shown bool
			since time.Duration
			want  string
		}{
			{engine.Doing{Kind: engine.AtTasks, Other: -1, Entry: 0}, false, 0, ""},
			{engine.Doing{Kind: engine.AtDo, Other: -1, Entry: 0}, false, 0, "Do"},
			{engine.Doing{Kind: engine.AtDo, Other: -1, Entry: upper}, false, 0, "Do of strings.ToUpper"},
			{engine.Doing{Kind: engine.AtDo, Other: -1, Entry: upper}, true, 0, "Do of strings.ToUpper"},
			{engine.Doing{Kind: engine.AtDo, Other: -1, Entry: engine.EntryOf(bare)}, false, 0, "Do of Join"},
			{engine.Doing{Kind: engine.AtCall, Other: -1, Entry: upper}, false, 0, "Call of strings.ToUpper"},
			{engine.Doing{Kind: engine.AtCall, Other: -1, Entry: upper}, true, 0, ""},
			{engine.Doing{Kind: engine.AtFork, Other: 0, Entry: upper}, false, 0, "fork of strings.ToUpper from worker 0"},
			{engine.Doing{Kind: engine.AtFork, Other: 0, Entry: upper}, true, 0, "fork from worker 0"},
			{engine.Doing{Kind: engine.AtFork, Other: 0, Entry: odd}, false, 0, "fork of strings.ToUpper from worker 0"},
			{engine.Doing{Kind: engine.AtFork, Other: 1<<21 - 2, Entry: 0}, false, ms - 1, "fork from worker 2097150"},
			{engine.Doing{Kind: engine.AtFork, Other: 1<<21 - 2, Entry: odd}, false, ms, "fork of strings.ToUpper from worker 2097150, for 1ms"},
			{engine.Doing{Kind: engine.AtJoin, Other: -1, Entry: 0}, false, 0, "waits for a fork"},
			{engine.Doing{Kind: engine.AtJoin, Other: 0, Entry: 0}, false, 0, "waits for a fork that worker 0 has"},
			{engine.Doing{Kind: engine.AtSearch, Other: -1, Entry: 0}, false, 0, "searches"},
			{engine.Doing{Kind: engine.AtWay, Other: -1, Entry: 0}, false, 0, "has given way to tasks"},
		} {
			c.at.Since = clock.Now() - int64(c.since)
			if got := w.describeDoing(c.at, c.shown); got != c.want {
				t.Errorf("%+v, %t: %q, not %q", c.at, c.shown, got, c.want)
			}
			w.tasks.Engine.Hold.YieldPlace()
			want := strings.TrimPrefix(c.want+", without a place", ", ")
			if got := w.describeDoing(c.at, c.shown); got != want {
				t.Errorf("%+v, %t: %q, not %q", c.at, c.shown, got, want)
			}
			w.tasks.Engine.Hold.RetakePlace()
		}
	})
}

// A look at a worker tells what it is at and was shown, unless it is about to leave.
func TestLookAtAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(New(WithWorkers(1), WithOrder(LIFO)), 7)
		w.tasks.Engine.Note(engine.AtTasks, nil, 0)
		check := func(unused bool, want event.WorkerLook, used bool) {
			t.Helper()
			if got, is := w.look(unused, nil); got != want || is != used {
				t.Errorf("w.look(%t, nil): %+v, in use: %t; not %+v, %t", unused, got, is, want, used)
			}
		}
		check(true, event.WorkerLook{Worker: 7}, false)
		check(false, event.WorkerLook{Worker: 7}, true)
		w.Show(&Progress{Name: "sum"})
		check(false, event.WorkerLook{Worker: 7, Doing: "sum"}, true)
		w.tasks.Engine.Note(engine.AtSearch, nil, 0)
		check(false, event.WorkerLook{Worker: 7, Doing: "searches; sum"}, true)
		w.tasks.Engine.Hold.YieldPlace() // without one, it is about to leave
		check(false, event.WorkerLook{Worker: 7}, false)
		if got := task.Describe(plainTask(nil)); got != "a task without a name" {
			t.Error("task.Describe(plainTask(nil)):", got)
		}
	})
}

// A computation that is shown tells what it knows.
func TestProgressTellsWhatItKnows(t *testing.T) {
	for want, p := range map[string]*Progress{
		"sum":                                 {Name: "sum"},
		"sum of strings.ToUpper":              {Name: "sum", Func: engine.EntryOf(strings.ToUpper)},
		"sum, 0 of 1 done":                    {Name: "sum", Total: 1},
		"sum of strings.ToUpper, 0 of 9 done": {Name: "sum", Func: engine.EntryOf(strings.ToUpper), Total: 9},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// The head of Dump tells of a pause, of places that were added, and of what waits, if there is any.
func TestHeadOfDump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(2), WithName("pool"), WithStallTimeout(0))
		head := func(want string) {
			t.Helper()
			synctest.Wait()
			var b strings.Builder
			if err := p.Dump(&b); err != nil || b.String() != want {
				t.Errorf("%v:\n%swant\n%s", err, &b, want)
			}
		}
		const none = "0 submitted, 0 done (0 failed, 0 panicked), 0 cancelled, 0 rejected, 0 queued"
		head("pool: 2 workers, 0 extra; 0 places taken, 0 searching, 0 goroutines blocked\ntasks: " + none + "\n")
		p.Pause()
		p.Go(context.Background(), func(context.Context) {})
		p.tasks.Totals.Stalls.Store(1)
		p.tasks.Engine.SetExtra(3)
		head("pool: 2 workers, 3 extra since workers were blocked (1 time); 0 places taken, 0 searching, 0 goroutines blocked\n" +
			"tasks: 1 submitted, 0 done (0 failed, 0 panicked), 0 cancelled, 0 rejected, 1 queued (1 globally, the oldest for 0s), paused\n")
		p.tasks.Engine.SetExtra(0)
		p.Close()
		defer func() {
			if v := recover(); v != "filch: Dump: out is nil" {
				t.Error("recover():", v)
			}
		}()
		p.Dump(nil)
	})
}
