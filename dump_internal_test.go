package filch

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/task"
)

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
		head("pool: 2 workers, 0 extra; 0 slots taken, 0 searching, 0 goroutines blocked\ntasks: " + none + "\n")
		p.Pause()
		p.Go(context.Background(), func(context.Context) {})
		p.tasks.Totals.Stalls.Store(1)
		p.tasks.Engine.SetExtra(3)
		head("pool: 2 workers, 3 extra since workers were blocked (1 time); 0 slots taken, 0 searching, 0 goroutines blocked\n" +
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

// Look tells what Dump does: what workers run and since when, what waits for what, and what is held.
func TestLookTellsWhatDumpDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(2), WithStallTimeout(0))
		defer p.Close()
		release := make(chan struct{})
		slow := Submit(t.Context(), p, func(context.Context) (int, error) { <-release; return 1, nil }, Named("slow"))
		synctest.Wait() // or the task below could find it queued, and run it instead of waiting
		Submit(t.Context(), p, func(ctx context.Context) (int, error) { return slow.Wait(ctx) }, Named("waits"))
		Submit(t.Context(), p, func(context.Context) (int, error) { return 2, nil }, Named("held"), After(slow))
		p.Go(t.Context(), func(context.Context) { <-release }, Named("long"), LongRunning())
		synctest.Wait()
		event.SourceOf(p).Look()
		time.Sleep(5 * time.Second)
		look := event.SourceOf(p).Look()

		var tasks []string
		for _, w := range look.Workers {
			if tasks = append(tasks, w.Task); w.Task == "task slow" && (w.For < 5*time.Second || !isAtTest(w.At, "chan receive at ")) {
				t.Errorf("it has run for %v, %s", w.For, w.At)
			}
		}
		if got := strings.Join(tasks, ", "); !strings.Contains(got, "task slow") || !strings.Contains(got, "task waits") {
			t.Errorf("the workers run %s", got)
		}
		if len(look.Waits) != 1 || look.Waits[0] != (event.WaitLook{By: "task waits", On: "task slow"}) || look.More != 0 || len(look.Circles) > 0 {
			t.Errorf("waits: %v, %d more, circles %v", look.Waits, look.More, look.Circles)
		}
		if len(look.Long) != 1 || look.Long[0].Task != "task long" || !isAtTest(look.Long[0].At, "chan receive at ") {
			t.Errorf("long running: %v", look.Long)
		}
		if len(look.Held) != 1 || look.Held[0].Task != "task held" || look.Held[0].Why != "comes after task slow" {
			t.Errorf("held: %v", look.Held)
		}
		close(release)
	})
}

// isAtTest reports whether at is a place in this file, after what is waited for there.
func isAtTest(at, waits string) bool {
	return strings.HasPrefix(at, waits) && strings.Contains(at, " dump_internal_test.go:")
}

// Look tells of tasks that run on no worker, and where: one without a name has that of its function.
func TestLookTellsWhatRunsInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), WithStallTimeout(0), WithQueueLimit(1, CallerRuns))
		defer p.Close()
		release := make(chan struct{})
		waits := func(context.Context) { <-release }
		p.Go(t.Context(), waits)
		synctest.Wait()
		p.Go(t.Context(), waits)
		go p.Go(t.Context(), waits) // there is no room: it runs here
		synctest.Wait()
		look := event.SourceOf(p).Look()
		if len(look.InPlace) != 1 || !strings.HasSuffix(look.InPlace[0].Task, ".TestLookTellsWhatRunsInPlace.func1.1") || !isAtTest(look.InPlace[0].At, "chan receive at ") {
			t.Errorf("in place: %q", look.InPlace)
		}
		close(release)
	})
}

// Of more goroutines than it may stop the world for, Look says nothing of places.
func TestLookStopsTheWorldForFewGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), WithStallTimeout(0))
		defer p.Close()
		release := make(chan struct{})
		defer close(release)
		p.Go(t.Context(), func(context.Context) { <-release })
		for range mostLookedAt {
			go func() { <-release }()
		}
		synctest.Wait()
		if look := event.SourceOf(p).Look(); len(look.Workers) != 1 || look.Workers[0].At != "" {
			t.Errorf("event.SourceOf(p).Look(): %+v", look.Workers)
		}
	})
}

// What stacks show of the functions that give up a place is written out, so that not every program carries these functions.
func TestWhatGivesUpAPlaceIsKnownByItsName(t *testing.T) {
	for _, f := range []any{Blocking, (*Worker).Blocking, (*task.Context).Blocking, (*task.Latch).Wait} {
		if name := engine.NameOf(f); !task.Lends(name) {
			t.Errorf("%s does not give up a place", name)
		}
	}
	for _, f := range []any{(*Worker).Poll, (*Worker).Pool, (*task.Latch).Release, (*engine.Worker).Suspend} {
		if name := engine.NameOf(f); task.Lends(name) {
			t.Errorf("%s gives up a place", name)
		}
	}
}
