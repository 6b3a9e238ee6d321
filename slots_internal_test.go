package filch

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch/internal/task"
)

// incomparable is an error that cannot be compared.
type incomparable []string

func (incomparable) Error() string { return "incomparable" }

// The end of a group's context is one error, however many tasks it keeps from running, also
// if errors cannot be compared.
func TestTheEndOfAGroupIsOneError(t *testing.T) {
	for name, opts := range map[string][]TaskOption{"plain": nil, "named": {Named("x")}} {
		synctest.Test(t, func(t *testing.T) {
			p := New(WithWorkers(1), WithStallTimeout(0))
			parent, cancel := context.WithCancelCause(context.Background())
			g := p.Group(parent, CollectErrors(10))
			p.Pause()
			for range 3 {
				g.Go(func(context.Context) error { t.Error("a task runs"); return nil }, opts...)
			}
			cancel(incomparable{"x"})
			p.Resume()
			synctest.Wait() // each is dropped at its turn
			if err := g.Wait(); reflect.TypeOf(err) != reflect.TypeOf(incomparable{}) {
				t.Errorf("g.Wait(): %s: %#v", name, err)
			}
			if s := p.Stats().Tasks; s.Cancelled != 3 || s.Failed != 0 {
				t.Errorf("p.Stats().Tasks: %s: %+v", name, s)
			}
			p.Close()
		})
	}
}

// A task that would run within the slot of another does not if the group has ended. The
// slot stays that of the other.
func TestNothingRunsWithinASlotAfterTheEnd(t *testing.T) {
	for name, opts := range map[string][]TaskOption{"plain": nil, "named": {Named("x")}} {
		synctest.Test(t, func(t *testing.T) {
			p := New(WithWorkers(1), WithTaskLimit(1, Block), WithStallTimeout(0))
			parent, cancel := context.WithCancelCause(context.Background())
			g := p.Group(parent, GroupLimit(1), CollectErrors(10))
			g.Go(func(ctx context.Context) error {
				cancel(incomparable{"x"})
				g.GoFrom(context.WithoutCancel(ctx), func(context.Context) error { t.Errorf("%s: a task runs", name); return nil }, opts...)
				if n, m := g.slots.Taken(), p.tasks.Slots.Taken(); n != 1 || m != 1 {
					t.Errorf("%s: %d slots of the group and %d of the pool are taken", name, n, m)
				}
				return nil
			})
			if err := g.Wait(); reflect.TypeOf(err) != reflect.TypeOf(incomparable{}) {
				t.Errorf("g.Wait(): %s: %#v", name, err)
			}
			synctest.Wait() // until the worker has counted its task
			if s := p.Stats().Tasks; s.Cancelled != 1 || s.Submitted != 2 || s.Done != 1 || s.Failed != 0 {
				t.Errorf("p.Stats().Tasks: %s: %+v", name, s)
			}
			if n, m := g.slots.Taken(), p.tasks.Slots.Taken(); n != 0 || m != 0 || g.tally.Left() != 0 {
				t.Errorf("%s: %d slots of the group and %d of the pool are taken, and %d tasks are left", name, n, m, g.tally.Left())
			}
			p.Close()
		})
	}
}

// A task that comes when those of its group were dropped is refused, and leaves nothing
// behind.
func TestAGroupThatEndsTakesNoMore(t *testing.T) {
	for name, opts := range map[string][]GroupOption{"no limit": nil, "a limit": {GroupLimit(9)}} {
		synctest.Test(t, func(t *testing.T) {
			p := New(WithWorkers(1), WithStallTimeout(0))
			parent, cancel := context.WithCancel(context.Background())
			g := p.Group(parent, opts...)
			gate := make(chan bool)
			g.Go(func(context.Context) error { <-gate; return nil }, LongRunning())
			p.Pause()
			never := func(context.Context) error { t.Error("a task runs"); return nil }
			g.Go(never)
			g.Go(never)
			done := make(chan error)
			go func() { done <- g.Wait() }()
			synctest.Wait()
			cancel()
			synctest.Wait()
			before := p.Stats().Tasks.Rejected
			g.Go(never)
			if n := p.Stats().Tasks.Rejected - before; n != 1 || g.tally.Left() != 1 || g.slots != nil && g.slots.Taken() != 1 {
				t.Errorf("%s: %d are refused, %d are left", name, n, g.tally.Left())
			}
			select {
			case err := <-done:
				t.Errorf("%s: Wait does not wait for the task that runs: %v", name, err)
			default:
			}
			close(gate)
			if err := <-done; err != context.Canceled {
				t.Errorf("<-done: %s: %v", name, err)
			}
			p.Close()
			if s := p.Stats().Tasks; g.tally.Left() != 0 || g.slots != nil && g.slots.Taken() != 0 || s.Submitted != 3 || s.Done != 1 || s.Cancelled != 2 || s.Rejected != 1 {
				t.Errorf("%s: %d are left; %+v", name, g.tally.Left(), s)
			}
		})
	}
}

// A task that its group has counted as over does not run.
func TestATaskOfAGroupBeginsOnce(t *testing.T) {
	p := New(WithTaskLimit(2, Reject))
	g := p.Group(context.Background(), GroupLimit(2))
	p.tasks.Slots.Take()
	over := &groupTask{group: g, f: func(context.Context) error { t.Error("it runs"); return nil }, begun: true}
	if over.Start(&p.tasks, task.Seat{}, context.Background(), false) {
		t.Error("it has run")
	}
	if n := p.outcomes.cancelled.Load(); n != 1 || p.tasks.Slots.Taken() != 0 || g.tally.Left() != 0 {
		t.Errorf("%d are cancelled, %d have a slot, %d are left", n, p.tasks.Slots.Taken(), g.tally.Left())
	}
}

// A task that runs on the goroutine that submits it has a slot if there is one, and gives it back;
// if the pool has ended, or the submitter's context, it is refused.
func TestSlotsOfTasksThatRunAtOnce(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	for name, c := range map[string]struct {
		before      func(p *Pool)
		ctx         context.Context
		err         error
		during      int64 // slots taken then
		after       int64
		ranRejected [2]int64
	}{
		"a free slot":   {func(*Pool) {}, context.Background(), nil, 1, 0, [2]int64{1, 0}},
		"no free slot":  {func(p *Pool) { p.tasks.Slots.Take() }, context.Background(), nil, 1, 1, [2]int64{1, 0}},
		"the end":       {func(*Pool) {}, ended, context.Canceled, 0, 0, [2]int64{0, 1}},
		"closed":        {func(p *Pool) { p.Close() }, context.Background(), ErrClosed, 0, 0, [2]int64{0, 1}},
		"closed by now": {func(p *Pool) { p.Close(); p.tasks.Phase.Store(task.Open) }, context.Background(), ErrClosed, 0, 0, [2]int64{0, 1}},
		"closed, no slot": {func(p *Pool) { p.tasks.Slots.Take(); p.Close(); p.tasks.Phase.Store(task.Open) }, context.Background(), ErrClosed,
			0, 1, [2]int64{0, 1}},
	} {
		p := New(WithWorkers(1), WithTaskLimit(1, CallerRuns))
		c.before(p)
		ran, begun := int64(0), int64(0)
		err := p.runNow(c.ctx, task.Task{Ctx: context.Background(), Body: plainTask(func(context.Context) {
			ran++
			if n := p.tasks.Slots.Taken(); n != c.during {
				t.Errorf("%s: %d slots are taken", name, n)
			}
		})}, 0, func() { begun++ })
		if err != c.err || ran != c.ranRejected[0] || begun != ran || p.outcomes.rejected.Load() != c.ranRejected[1] || p.tasks.Slots.Taken() != c.after {
			t.Errorf("%s: %v; %d ran, %d began, %d were refused, %d slots are taken", name, err, ran, begun, p.outcomes.rejected.Load(), p.tasks.Slots.Taken())
		}
	}
	p := New(WithWorkers(1)) // without a limit
	if err := p.runNow(context.Background(), task.Task{Ctx: context.Background(), Body: plainTask(func(context.Context) {})}, 0, func() {}); err != nil {
		t.Error("p.runNow(context.Background(), …, 0, …):", err)
	}
	p = New(WithWorkers(1), WithTaskLimit(1, CallerRuns))
	p.tasks.Slots.Take()
	p.Close()
	ran, err := p.takeSlot(context.Background(), task.Task{Ctx: context.Background(), Body: plainTask(func(context.Context) { t.Error("it runs") })}, false)
	if ran || err != ErrClosed || p.outcomes.rejected.Load() != 1 || p.tasks.Slots.Taken() != 1 {
		t.Errorf("no slot in a closed pool: %t, %v; %d refused", ran, err, p.outcomes.rejected.Load())
	}
}

// lateEnd is a context that ends when it is asked for the nth time.
type lateEnd struct {
	context.Context
	left atomic.Int32
}

func (c *lateEnd) Err() error {
	if c.left.Add(-1) <= 0 {
		return context.Canceled
	}
	return nil
}

// kinds is an Observer that keeps the kinds of events.
type kinds struct{ seen chan EventKind }

func (k kinds) Observe(e Event) { k.seen <- e.Kind }

// A task whose context ends at the last moment is cancelled for its observer as well.
func TestTheObserverSeesTheEndAtTheLastMoment(t *testing.T) {
	for n := int32(1); n <= 5; n++ {
		synctest.Test(t, func(t *testing.T) {
			o := kinds{make(chan EventKind, 9)}
			p := New(WithWorkers(1), WithObserver(o), WithStallTimeout(0))
			ctx := &lateEnd{Context: context.Background()}
			ctx.left.Store(n)
			ran := false
			err := p.Go(ctx, func(context.Context) { ran = true })
			p.Shutdown(context.Background())
			close(o.seen)
			var got []EventKind
			for k := range o.seen {
				got = append(got, k)
			}
			want := []EventKind{TaskSubmitted, TaskStarted, TaskDone}
			switch {
			case errors.Is(err, context.Canceled):
				want = []EventKind{TaskRejected}
			case !ran:
				want = []EventKind{TaskSubmitted, TaskCancelled}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the end at look %d: %v, not %v", n, got, want)
			}
			if s := p.Stats().Tasks; s.Cancelled+s.Done+s.Rejected != 1 || (s.Done == 1) != ran {
				t.Errorf("the end at look %d: %+v", n, s)
			}
		})
	}
}

// A goroutine that still uses a task's Scope when the task is over lets its worker go, with or
// without a place.
func TestAScopeThatIsLeftBehindIsUsedAgain(t *testing.T) {
	for _, lends := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := New(WithWorkers(1), WithStallTimeout(0))
			leave, back := make(chan bool), make(chan bool)
			p.Go(context.Background(), func(ctx context.Context) {
				in := make(chan bool, 2)
				go ScopeOf(ctx).Do(func(*Worker) { in <- true; <-leave })
				if lends {
					go Blocking(ctx, func() { in <- true; <-back })
					<-in
				}
				<-in
			})
			synctest.Wait()
			close(leave)
			synctest.Wait()
			close(back)
			synctest.Wait()
			s := p.Stats()
			unused := p.tasks.Engine.Unused()
			delete(unused, nil)
			free := len(unused)
			if s.Active != 0 || s.Blocked != 0 || free != len(*p.tasks.Engine.Workers.Load()) {
				t.Errorf("lends: %t; %+v; %d of %d workers are free", lends, s, free, len(*p.tasks.Engine.Workers.Load()))
			}
			for _, w := range *p.tasks.Engine.Workers.Load() {
				if h := w.Hold.Load(); !h.HasPlace() || !strings.Contains(h.String(), "scope: none") {
					t.Errorf("lends: %t; a worker is let go like this: %v", lends, h)
				}
			}
			p.Close()
		})
	}
}

// The default pool cannot be shut down.
func TestTheDefaultPoolIsNotShutDown(t *testing.T) {
	if err := Default().Shutdown(context.Background()); err == nil || Default().Closed() {
		t.Errorf("%v; closed: %t", err, Default().Closed())
	}
}
