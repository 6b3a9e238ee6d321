package filch

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/task"
)

// Each option takes the least and the greatest that it says, and tells of what is beyond.
func TestLimitsOfOptions(t *testing.T) {
	for name, c := range map[string]struct {
		make func(n int) func()
		good []int
		bad  []int
	}{
		"WithWorkers":      {func(n int) func() { return func() { New(WithWorkers(n)) } }, []int{1, 2, engine.MaxWorkers}, []int{0, -1, engine.MaxWorkers + 1}},
		"WithOrder":        {func(n int) func() { return func() { New(WithOrder(Order(n))) } }, []int{0, 1, 2}, []int{-1, 3}},
		"WithAgeing":       {func(n int) func() { return func() { New(WithOrder(ByPriority), WithAgeing(time.Duration(n))) } }, []int{1, 2}, []int{0, -1}},
		"WithStallTimeout": {func(n int) func() { return func() { New(WithStallTimeout(time.Duration(n))) } }, []int{0, 1}, []int{-1, -2}},
		"WithIdleTimeout":  {func(n int) func() { return func() { New(WithIdleTimeout(time.Duration(n))) } }, []int{0, 1}, []int{-1, -2}},
		"WithQueueLimit":   {func(n int) func() { return func() { New(WithQueueLimit(n, Block)) } }, []int{1, 2, math.MaxInt}, []int{0, -1}},
		"WithQueueLimit(1": {func(n int) func() { return func() { New(WithQueueLimit(1, Overflow(n))) } }, []int{0, 1, 2}, []int{-1, 3}},
		"WithTaskLimit":    {func(n int) func() { return func() { New(WithTaskLimit(n, Block)) } }, []int{1, 2, math.MaxInt}, []int{0, -1}},
		"WithTaskLimit(1":  {func(n int) func() { return func() { New(WithTaskLimit(1, Overflow(n))) } }, []int{0, 1, 2}, []int{-1, 3}},
		"GroupLimit":       {func(n int) func() { return func() { GroupLimit(n) } }, []int{1, 2}, []int{0, -1}},
		"CollectErrors":    {func(n int) func() { return func() { CollectErrors(n) } }, []int{1, 2}, []int{0, -1}},
	} {
		for _, n := range c.good {
			if s := recoveredFrom(c.make(n)); s != "" {
				t.Errorf("recoveredFrom(c.make(n)): %s, %d: %s", name, n, s)
			}
		}
		for _, n := range c.bad {
			if s := recoveredFrom(c.make(n)); !strings.Contains(s, name) {
				t.Errorf("recoveredFrom(c.make(n)): %s, %d: %q", name, n, s)
			}
		}
	}
	p := New()
	if p.tasks.StallAfter != 100*time.Millisecond {
		t.Errorf("by default, the pool looks after %v", p.tasks.StallAfter)
	}
	for opt, bad := range map[TaskOption]string{
		AtPriority(0): "", AtPriority(1): "AtPriority(1)", AtPriority(-1): "AtPriority(-1)", Within(1): "", Within(0): "Within(0s)", Within(-1): "Within(-1ns)",
	} {
		if err := p.optionsOf("Go", []TaskOption{opt}, &task.Options{}); fmt.Sprint(err) == "<nil>" && bad != "" || !strings.Contains(fmt.Sprint(err), bad) || bad == "" && err != nil {
			t.Errorf(`p.optionsOf("Go", …): %v: %v`, opt, err)
		}
	}
	for _, opts := range [][]TaskOption{{AtPriority(2), Within(0)}, {Named("x"), AtPriority(2), AtPriority(3), Fair()}} {
		if err := p.optionsOf("Go", opts, &task.Options{}); err == nil || !strings.Contains(err.Error(), "AtPriority(2)") {
			t.Errorf("not the first error: %v", err)
		}
	}
	var o task.Options
	err := New(WithOrder(ByPriority)).optionsOf("Go", []TaskOption{AtPriority(-7), Named("x"), LongRunning(), Fair()}, &o)
	if err != nil || o.Priority != -7 || o.Name != "x" || !o.LongRunning || !o.Fair || !o.Deadline.IsZero() {
		t.Errorf(`New(WithOrder(ByPriority)).optionsOf("Go", …): %+v, %v`, o, err)
	}
}

// Numbers that have no name are shown as numbers.
func TestNamesOfNumbers(t *testing.T) {
	for _, c := range []struct {
		v    fmt.Stringer
		want string
	}{
		{Order(-1), "Order(-1)"}, {LIFO, "LIFO"}, {FIFO, "FIFO"}, {ByPriority, "ByPriority"}, {Order(3), "Order(3)"},
		{Overflow(-1), "Overflow(-1)"}, {Block, "Block"}, {CallerRuns, "CallerRuns"}, {Overflow(3), "Overflow(3)"},
		{EventKind(-1), "EventKind(-1)"}, {TaskSubmitted, "TaskSubmitted"}, {TaskCancelled, "TaskCancelled"}, {EventKind(5), "EventKind(5)"},
	} {
		if got := c.v.String(); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
}

// The slots of tasks are free again, whichever goroutine runs them, and if there is no room.
func TestSlotsAreFreeWhereverTheyRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			o   Overflow
			try func(p *Pool, gate chan bool)
		}{
			"help":        {Block, func(p *Pool, _ chan bool) { p.Help(context.Background()) }},
			"caller runs": {CallerRuns, func(p *Pool, _ chan bool) { p.Go(context.Background(), func(context.Context) {}) }},
			"reject":      {Reject, func(p *Pool, _ chan bool) { p.Go(context.Background(), func(context.Context) {}) }},
			"full":        {Block, func(p *Pool, _ chan bool) { p.TryGo(context.Background(), func(context.Context) {}) }},
		} {
			p := New(WithWorkers(1), WithQueueLimit(1, c.o), WithTaskLimit(9, Block), WithStallTimeout(0))
			gate := make(chan bool)
			p.Go(context.Background(), func(context.Context) { <-gate })
			synctest.Wait()
			p.Go(context.Background(), func(context.Context) {})
			for range 3 {
				c.try(p, gate)
			}
			want := int64(2)
			if name == "help" {
				want = 1
			}
			if n := p.tasks.Slots.Taken(); n != want || p.tasks.Room.Taken() != want-1 {
				t.Errorf("%s: %d slots are taken, and room for %d", name, n, p.tasks.Room.Taken())
			}
			close(gate)
			p.Shutdown(context.Background())
			if n := p.tasks.Slots.Taken(); n != 0 || p.tasks.Room.Taken() != 0 {
				t.Errorf("%s: %d slots are taken, and room for %d", name, n, p.tasks.Room.Taken())
			}
		}
	})
}

// Help takes the newest of a task's own queue if the order is such, and else the oldest.
func TestWhatHelpTakes(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	for order, want := range map[Order]string{LIFO: "cbaxyz", FIFO: "abcxyz", ByPriority: "abcxyz"} {
		for _, own := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				p := New(WithWorkers(1), WithOrder(order), WithStallTimeout(0))
				var got strings.Builder
				put := func(ctx context.Context, names string) {
					for _, r := range names {
						p.Go(ctx, func(context.Context) { got.WriteRune(r) })
					}
				}
				Submit(context.Background(), p, func(ctx context.Context) (int, error) {
					put(context.Background(), "xyz")
					if !own {
						ctx = context.Background()
					} else {
						put(ctx, "abc")
					}
					for p.Help(ctx) {
					}
					return 0, nil
				}).Wait(context.Background())
				want := want
				if !own {
					want = "xyz"
				}
				if order != ByPriority && got.String() != want || len(want) != got.Len() {
					t.Errorf("%v, inside of a task: %t: %s, not %s", order, own, &got, want)
				}
				if n := p.Stats().Tasks.Helped; int(n) != len(want) {
					t.Errorf("%d of %d were helped", n, len(want))
				}
				p.Close()
			})
		}
	}
}

// The oldest task is not older than its submission.
func TestNothingIsOlderThanItsSubmission(t *testing.T) {
	p := New(WithWorkers(1), WithStallTimeout(0))
	gate, in := make(chan bool), make(chan bool)
	p.Go(context.Background(), func(ctx context.Context) { in <- true; p.Go(ctx, func(context.Context) {}); in <- true; <-gate })
	<-in
	begin := clock.Now()
	<-in
	if d := p.Stats().Tasks.Oldest; int64(d) > clock.Now()-begin {
		t.Errorf("one from a task is %v old, after %v", d, clock.Now()-begin)
	}
	p.Go(context.Background(), func(context.Context) {})
	if d := p.Stats().Tasks.Oldest; int64(d) > clock.Now()-begin {
		t.Errorf("one from outside is %v old, after %v", d, clock.Now()-begin)
	}
	close(gate)
	p.Shutdown(context.Background())
}

// A worker that is let go is as good as new.
func TestWorkersAreLetGoClean(t *testing.T) {
	p := New(WithWorkers(1), WithOrder(ByPriority), WithStallTimeout(0))
	p.tasks.Engine.TakePlace()
	w := asWorker(p.tasks.Engine.Hire())
	w.enterAsGuest()
	if !w.tasks.Guest || w.tasks.Engine.Level.Load() != 0 {
		t.Errorf("a guest: %t, level %d", w.tasks.Guest, w.tasks.Engine.Level.Load())
	}
	p.exit(w)
	if w.tasks.Guest || w.tasks.Engine.Level.Load() != engine.Nothing || !w.tasks.Engine.Hold.Load().HasPlace() {
		t.Errorf("asWorker(p.tasks.Engine.Hire()): %t, %d, %v", w.tasks.Guest, w.tasks.Engine.Level.Load(), w.tasks.Engine.Hold.Load())
	}
	if p.tasks.Engine.Hire() != &w.tasks.Engine || !w.tasks.Engine.Hold.YieldPlace() {
		t.Error("another worker is made")
	}
	if p.tasks.Engine.Fire(&w.tasks.Engine); !w.tasks.Engine.Hold.Load().HasPlace() {
		t.Error("one without a slot is let go")
	}
	if p.tasks.Engine.Hire() != &w.tasks.Engine {
		t.Error("another worker is made")
	}
	plain := New(WithWorkers(1))
	g := asWorker(plain.tasks.Engine.Hire())
	if g.enterAsGuest(); g.tasks.Engine.Level.Load() != engine.Nothing {
		t.Errorf("without priorities, a guest has the level %d", g.tasks.Engine.Level.Load())
	}
}

// A pool follows GOMAXPROCS where it has one place, and what is queued starts.
func TestOnePlaceFollows(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	procs := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(procs)
	synctest.Test(t, func(t *testing.T) {
		p := New(WithStallTimeout(0))
		gate, ran := make(chan bool), false
		p.Go(context.Background(), func(context.Context) { <-gate })
		p.Go(context.Background(), func(context.Context) { ran = true })
		synctest.Wait()
		runtime.GOMAXPROCS(2)
		if ran || p.tasks.Engine.Size() != 1 {
			t.Errorf("with one place, the second task ran: %t; %d places", ran, p.tasks.Engine.Size())
		}
		p.Do(func(*Worker) {})
		if synctest.Wait(); !ran || p.tasks.Engine.Size() != 2 {
			t.Errorf("with two, it ran: %t; %d places", ran, p.tasks.Engine.Size())
		}
		close(gate)
		p.Close()
	})
}

// The environment is asked for each pool: of a variable that was read before main, go test would not know, and
// show what it has kept of a run without. What it says is off, on or a mistake: it is never passed over.
func TestEnvironmentIsAskedForEachPool(t *testing.T) {
	for name, has := range map[string]func(p *Pool) bool{
		"FILCH_CHECKS": func(p *Pool) bool { return p.tasks.Checks.Strict() },
		"FILCH_RACES":  func(p *Pool) bool { return p.tasks.Engine.Logical.On },
	} {
		for _, c := range []struct {
			value string
			on    bool
		}{{"1", true}, {"", false}, {"true", true}, {"0", false}, {"all", true}, {"false", false}, {"1", true}} {
			t.Setenv(name, c.value)
			p := New()
			if want := c.on && (race.Enabled || name == "FILCH_CHECKS"); has(p) != want {
				t.Errorf("%s=%s: a new pool has it: %t; should be %t", name, c.value, has(p), want)
			}
			p.Close()
		}
		for _, value := range []string{"yes", "2", "none", "All", " "} {
			t.Setenv(name, value)
			want := "filch: " + name + "=" + strconv.Quote(value) + ": it must be 1, true or all, or, to turn it off, 0, false or empty"
			if s := recoveredFrom(func() { New() }); s != want {
				t.Errorf("New with %s=%s: panic %q; should be %q", name, value, s, want)
			}
		}
		t.Setenv(name, "")
	}
}
