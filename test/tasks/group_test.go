package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// wrapped is an error that says more than that the context has ended.
func wrapped(ctx context.Context) error { return fmt.Errorf("half done: %w", ctx.Err()) }

// An error that wraps that of the group's context is one of the errors.
func TestErrorsThatWrapTheContextsAreKept(t *testing.T) {
	p := filch.New(filch.WithWorkers(4))
	defer p.Close()
	for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}} {
		ctx, cancel := context.WithCancel(context.Background())
		g := p.Group(ctx, filch.CollectErrors(10))
		var started sync.WaitGroup
		started.Add(3)
		g.Go(func(context.Context) error { started.Done(); return rig.ErrBoom }, opts...)
		g.Go(func(ctx context.Context) error { started.Done(); <-ctx.Done(); return wrapped(ctx) }, opts...)
		g.Go(func(ctx context.Context) error { started.Done(); <-ctx.Done(); return ctx.Err() }, opts...)
		started.Wait()
		cancel()
		err := g.Wait()
		if !errors.Is(err, rig.ErrBoom) || !strings.Contains(err.Error(), "half done") || strings.Count(err.Error(), "\n") != 1 {
			t.Errorf("after the end of the context: %v", err)
		}

		g = p.Group(context.Background(), filch.CollectErrors(10))
		started.Add(3)
		g.Go(func(ctx context.Context) error { started.Done(); <-ctx.Done(); return wrapped(ctx) }, opts...)
		g.Go(func(ctx context.Context) error { started.Done(); <-ctx.Done(); return ctx.Err() }, opts...)
		g.Go(func(ctx context.Context) error { started.Done(); <-ctx.Done(); return context.Cause(ctx) }, opts...)
		started.Wait()
		if err := g.Stop(); err == nil || err.Error() != "half done: context canceled" {
			t.Errorf("after Stop: %v", err)
		}
	}
}

// That the context has ended is no error beside another, whichever came first.
func TestTheContextsOwnErrorGivesWay(t *testing.T) {
	p, release := rig.Held(t)
	for _, opts := range [][]filch.GroupOption{nil, {filch.CollectErrors(10)}} {
		ctx, cancel := context.WithCancelCause(context.Background())
		g := p.Group(ctx, opts...)
		cancel(rig.ErrBoom)
		g.Go(func(context.Context) error { t.Error("runs"); return nil })
		if err := g.Wait(); err != rig.ErrBoom && err.Error() != rig.ErrBoom.Error() {
			t.Errorf("no other: %v", err)
		}
		g = p.Group(ctx, opts...)
		g.Go(func(context.Context) error { t.Error("runs"); return nil })
		g.Go(func(context.Context) error { return nil }, filch.Within(-1))
		if err := g.Wait(); !strings.Contains(err.Error(), "Within") || errors.Is(err, rig.ErrBoom) {
			t.Errorf("another: %v", err)
		}
	}
	release()
}

// Without CollectErrors, the first error is that of Wait, and those that tell of
// the end that it has caused are not.
func TestTheFirstErrorWins(t *testing.T) {
	p := filch.New(filch.WithWorkers(4))
	defer p.Close()
	g := p.Group(context.Background())
	for range 3 {
		g.Go(func(ctx context.Context) error { <-ctx.Done(); return wrapped(ctx) })
	}
	g.Go(func(context.Context) error { return rig.ErrBoom })
	if err := g.Wait(); err != rig.ErrBoom {
		t.Error("g.Wait():", err)
	}
	g = p.Group(context.Background(), filch.CollectErrors(1))
	for range 3 {
		g.Go(func(context.Context) error { return rig.ErrBoom })
	}
	if err := g.Wait(); err != rig.ErrBoom {
		t.Errorf("CollectErrors(1): %v", err)
	}
}

// calls is an error whose method Is uses its group.
type calls struct{ g *filch.Group }

func (e calls) Error() string { return "calls" }

func (e calls) Is(error) bool {
	e.g.Go(func(context.Context) error { return nil })
	return e.g.Context().Err() == nil
}

// many is an error that cannot be compared.
type many []error

func (m many) Error() string { return fmt.Sprint([]error(m)) }

// A group calls no methods of errors, and does not compare what cannot be compared.
func TestGroupsTakeAnyError(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, opts := range [][]filch.GroupOption{nil, {filch.CollectErrors(10)}} {
		ctx, cancel := context.WithCancelCause(context.Background())
		g := p.Group(ctx, opts...)
		started := make(chan bool, 2)
		for range 2 {
			g.Go(func(ctx context.Context) error { started <- true; <-ctx.Done(); return calls{g} })
		}
		<-started
		<-started
		cancel(many{rig.ErrBoom, rig.ErrBoom})
		if err := g.Wait(); err == nil || !strings.Contains(err.Error(), "calls") || strings.Contains(err.Error(), "boom") {
			t.Errorf("calls: %v", err)
		}

		ctx, cancel = context.WithCancelCause(context.Background())
		g = p.Group(ctx, opts...)
		cancel(many{rig.ErrBoom})
		g.Go(func(context.Context) error { t.Error("runs"); return nil })
		g.Go(func(context.Context) error { t.Error("runs"); return nil }, filch.Named("x"))
		if err := g.Wait(); err == nil || err.Error() != "[boom]" {
			t.Errorf("nothing ran: %v", err)
		}

		ctx, cancel = context.WithCancelCause(context.Background())
		g = p.Group(ctx, opts...)
		g.Go(func(ctx context.Context) error { started <- true; <-ctx.Done(); return many{rig.ErrBoom, nil} })
		<-started
		cancel(many{rig.ErrBoom})
		g.Go(func(context.Context) error { t.Error("runs"); return nil }, filch.Named("x"))
		if err := g.Wait(); err == nil || err.Error() != "[boom <nil>]" {
			t.Errorf("one ran: %v", err)
		}
	}
}

// What the tasks of a group submit by GoFrom goes to their worker's queue, and what
// they submit by Go to the queue of the task that made the group, or the global one.
func TestGoFromQueuesWhereTheTaskRuns(t *testing.T) {
	for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}} {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
		type key struct{}
		group := p.Group(context.WithValue(context.Background(), key{}, "group's"))
		results := filch.NewResultGroup[string](context.WithValue(context.Background(), key{}, "group's"), p)
		want := func(what string, global int) {
			if n := p.Stats().Tasks.Global; n != global {
				t.Errorf("%s: %d are queued globally, not %d", what, n, global)
			}
		}
		value := func(ctx context.Context) (string, error) { return ctx.Value(key{}).(string), nil }
		group.Go(func(ctx context.Context) error {
			other := context.WithValue(ctx, key{}, "caller's")
			for range 10 {
				group.GoFrom(other, func(ctx context.Context) error {
					if v, _ := value(ctx); v != "group's" {
						t.Errorf("called with the %s context", v)
					}
					return nil
				}, opts...)
				results.GoFrom(other, value, opts...)
			}
			want("GoFrom", 0)
			for range 10 {
				group.Go(func(ctx context.Context) error { return nil }, opts...)
				results.Go(value, opts...)
			}
			want("Go", 20)
			return nil
		})
		if err := group.Wait(); err != nil {
			t.Error("group.Wait():", err)
		}
		if got, err := results.Wait(); err != nil || len(got) != 20 || strings.Join(got, "") != strings.Repeat("group's", 20) {
			t.Error("results.Wait():", got, err)
		}
		p.Close()
	}
}

// A task that is submitted from a context that has ended is an error of the group.
func TestGoFromAContextThatHasEnded(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(rig.ErrBoom)
	g := p.Group(context.Background())
	g.GoFrom(ctx, func(context.Context) error { t.Error("runs"); return nil })
	if err := g.Wait(); err != rig.ErrBoom {
		t.Error("g.Wait():", err)
	}
}

func TestAnEmptyGroupHasNoError(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	if err := p.Group(context.Background()).Wait(); err != nil {
		t.Error("p.Group(background).Wait():", err)
	}
}

func TestAGroupHasItsFirstErrorAndTheOthersHearOfIt(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	g := p.Group(context.Background())
	g.Go(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	g.Go(func(ctx context.Context) error { return rig.ErrBoom })
	if err := g.Wait(); err != rig.ErrBoom {
		t.Error("g.Wait():", err)
	}
	if context.Cause(g.Context()) != rig.ErrBoom {
		t.Errorf("the context of the group ended because of %v, not of boom", context.Cause(g.Context()))
	}
	g.Go(func(context.Context) error { t.Error("runs"); return nil })
	g.Wait()
}

func TestAGroupHasAllErrorsUpToSome(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	g := p.Group(context.Background(), filch.CollectErrors(3))
	var ran atomic.Int32
	for i := range 10 {
		g.Go(func(context.Context) error { ran.Add(1); return fmt.Errorf("error %d", i%5) }, filch.Named("x"))
	}
	err := g.Wait()
	if err == nil || strings.Count(err.Error(), "error ") != 3 || !strings.Contains(err.Error(), "and 7 more errors") || ran.Load() != 10 {
		t.Errorf("%d ran: %v", ran.Load(), err)
	}
}

func TestStopEndsTheTasksOfAGroup(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	g := p.Group(context.Background())
	for range 4 {
		g.Go(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	}
	if err := g.Stop(); err != nil {
		t.Error("g.Stop():", err)
	}
}

func TestAGroupEndsWithItsContext(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	ctx, cancel := context.WithCancel(context.Background())
	g := p.Group(ctx)
	cancel()
	g.Go(func(context.Context) error { t.Error("runs"); return nil })
	if err := g.Wait(); err != context.Canceled {
		t.Error("g.Wait():", err)
	}
}

func TestGroupsNestOnOneWorker(t *testing.T) {
	one := filch.New(filch.WithWorkers(1))
	defer one.Close()
	var leaves atomic.Int32
	var tree func(ctx context.Context, depth int) error
	tree = func(ctx context.Context, depth int) error {
		if depth == 0 {
			leaves.Add(1)
			return nil
		}
		g := one.Group(ctx)
		for range 3 {
			g.Go(func(ctx context.Context) error { return tree(ctx, depth-1) })
		}
		return g.Wait()
	}
	if err := tree(context.Background(), 7); err != nil || leaves.Load() != 2187 {
		t.Errorf("%d leaves, %v", leaves.Load(), err)
	}
}

func TestResultsOfAGroupAreInOrder(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	g := filch.NewResultGroup[int](context.Background(), p)
	for i := range 100 {
		g.Go(func(context.Context) (int, error) { return i * i, nil })
	}
	got, err := g.Wait()
	if err != nil || len(got) != 100 {
		t.Fatalf("Wait of 100 tasks returns %v, %v", got, err)
	}
	for i, v := range got {
		if v != i*i {
			t.Errorf("result %d is %d, not %d", i, v, i*i)
		}
	}
}

// A group that is stopped is done when those of its tasks are that have begun,
// whatever else keeps the workers.
func TestStopDoesNotWaitForATurn(t *testing.T) {
	p, release := rig.Held(t)
	g := p.Group(context.Background())
	for i := range 100 {
		if i%2 == 0 {
			g.Go(func(context.Context) error { t.Error("a task runs after Stop"); return nil })
		} else {
			g.Go(func(context.Context) error { t.Error("a task runs after Stop"); return nil }, filch.Named("x"))
		}
	}
	if err := g.Stop(); err != nil {
		t.Error("g.Stop():", err)
	}
	g.Go(func(context.Context) error { t.Error("a task runs after Stop"); return nil })
	if err := g.Wait(); err != nil {
		t.Error("g.Wait():", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	g = p.Group(ctx)
	g.Go(func(context.Context) error { return nil })
	time.AfterFunc(time.Millisecond, func() { cancel(rig.ErrBoom) })
	if err := g.Wait(); err != rig.ErrBoom {
		t.Errorf("a group whose context ended: %v", err)
	}
	release()
	p.Shutdown(context.Background())
	if s := p.Stats().Tasks; s.Submitted != s.Done+s.Cancelled || s.Cancelled != 101 {
		t.Errorf("p.Stats().Tasks: %+v", s)
	}
}
