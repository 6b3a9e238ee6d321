package filch

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
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
				if n, m := g.tasks.Slots.Taken(), p.tasks.Slots.Taken(); n != 1 || m != 1 {
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
			if n, m := g.tasks.Slots.Taken(), p.tasks.Slots.Taken(); n != 0 || m != 0 {
				t.Errorf("%s: %d slots of the group and %d of the pool are taken", name, n, m)
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
			if n := p.Stats().Tasks.Rejected - before; n != 1 || g.tasks.Slots != nil && g.tasks.Slots.Taken() != 1 {
				t.Errorf("%s: %d are refused", name, n)
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
			if s := p.Stats().Tasks; g.tasks.Slots != nil && g.tasks.Slots.Taken() != 0 || s.Submitted != 3 || s.Done != 1 || s.Cancelled != 2 || s.Rejected != 1 {
				t.Errorf("%s: %+v", name, s)
			}
		})
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
// without a slot.
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
