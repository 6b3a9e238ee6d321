package filch

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch/internal/engine"
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
