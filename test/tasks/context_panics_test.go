package tasks

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
)

// badContext is a context one of whose methods panics from some call on.
type badContext struct {
	context.Context
	done, err, value int // calls that return; negative for all
}

func (c *badContext) Done() <-chan struct{} {
	if c.done--; c.done == -1 {
		panic("Done")
	}
	return c.Context.Done()
}

func (c *badContext) Err() error {
	if c.err--; c.err == -1 {
		panic("Err")
	}
	return c.Context.Err()
}

func (c *badContext) Value(key any) any {
	if c.value--; c.value == -1 {
		panic("Value")
	}
	return c.Context.Value(key)
}

// badContexts calls f with contexts that panic at the first call of a method, at the
// second and so on, until nothing panics any more.
func badContexts(t *testing.T, f func(t *testing.T, wrap func(ctx context.Context) context.Context, panics func(f func()))) {
	for name, method := range map[string]func(c *badContext) *int{
		"Done":  func(c *badContext) *int { return &c.done },
		"Err":   func(c *badContext) *int { return &c.err },
		"Value": func(c *badContext) *int { return &c.value },
	} {
		t.Run(name, func(t *testing.T) {
			for calls, more := 0, true; more; calls++ {
				synctest.Test(t, func(t *testing.T) {
					f(t, func(ctx context.Context) context.Context {
						c := &badContext{ctx, -1 << 30, -1 << 30, -1 << 30}
						*method(c) = calls
						return c
					}, func(f func()) {
						defer func() { more = recover() != nil }()
						f()
					})
				})
			}
		})
	}
}

// A Wait with a context that panics keeps the place of the task that waits.
func TestWaitWithAContextThatPanicsKeepsThePlace(t *testing.T) {
	badContexts(t, func(t *testing.T, wrap func(ctx context.Context) context.Context, panics func(f func())) {
		p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0))
		defer p.Close()
		gate := make(chan bool)
		other := filch.Submit(t.Context(), p, func(context.Context) (int, error) { <-gate; return 0, nil })
		synctest.Wait()
		p.Go(t.Context(), func(ctx context.Context) {
			panics(func() {
				ctx := wrap(ctx)
				time.AfterFunc(time.Second, func() { close(gate) })
				other.Wait(ctx)
			})
			if s := p.Stats(); s.Blocked != 0 {
				t.Errorf("after the panic: %d count as blocked", s.Blocked)
			}
		})
		time.Sleep(2 * time.Second)
		if s := p.Stats(); s.Active != 0 || s.Blocked != 0 {
			t.Errorf("in the end: %d places are taken, and %d count as blocked", s.Active, s.Blocked)
		}
	})
}

// A submission that panics in its context, at whatever point, keeps neither a turn in a
// line, nor a slot, nor its group from ending.
func TestSubmissionsWithContextsThatPanicKeepNothing(t *testing.T) {
	empty := func(context.Context) {}
	for name, c := range map[string]struct {
		opts  []filch.Option
		group []filch.GroupOption
		slots int
	}{
		"queue limit":               {[]filch.Option{filch.WithQueueLimit(1, filch.Block)}, nil, 0},
		"task limit":                {[]filch.Option{filch.WithTaskLimit(2, filch.Block)}, nil, 2},
		"both":                      {[]filch.Option{filch.WithTaskLimit(3, filch.Block), filch.WithQueueLimit(1, filch.Block)}, nil, 3},
		"task limit and CallerRuns": {[]filch.Option{filch.WithTaskLimit(3, filch.Reject), filch.WithQueueLimit(1, filch.CallerRuns)}, nil, 3},
		"group":                     {nil, []filch.GroupOption{filch.GroupLimit(2)}, 0},
		"group, pool with a limit":  {[]filch.Option{filch.WithTaskLimit(2, filch.Block)}, []filch.GroupOption{filch.GroupLimit(9)}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			badContexts(t, func(t *testing.T, wrap func(ctx context.Context) context.Context, panics func(f func())) {
				ignore := filch.WithPanicHandler(func(*filch.PanicError) {}) // of a task that was accepted
				p := filch.New(append(c.opts, filch.WithWorkers(1), filch.WithStallTimeout(0), ignore)...)
				defer p.Close()
				g := p.Group(t.Context(), append(c.group, filch.CollectErrors(1))...)
				submit := func(ctx context.Context) {
					if c.group == nil {
						p.Go(ctx, empty)
						return
					}
					g.GoFrom(ctx, func(context.Context) error { return nil })
				}
				gate := make(chan bool)
				g.Go(func(context.Context) error { <-gate; return nil })
				synctest.Wait()
				submit(t.Context()) // as many as there is room for
				var ran atomic.Bool
				time.AfterFunc(time.Millisecond, func() { // in line behind
					submit(t.Context())
					ran.Store(true)
				})
				time.AfterFunc(time.Second, func() { close(gate) })
				panics(func() { submit(wrap(t.Context())) })
				g.Wait()
				time.Sleep(2 * time.Second)
				if !ran.Load() {
					t.Error("one that waits for its turn does not get it")
				}
				end := make(chan bool)
				defer close(end)
				for range c.slots { // all are free
					if err := p.TryGo(t.Context(), func(context.Context) { <-end }, filch.LongRunning()); err != nil {
						t.Error("p.TryGo(t.Context(), …, filch.LongRunning()):", err)
					}
				}
			})
		})
	}
}

// A task of a group that submits to it with a context that panics does not keep it from
// ending.
func TestSubmissionsInPlaceWithContextsThatPanic(t *testing.T) {
	for name, opts := range map[string][]filch.TaskOption{"plain": nil, "named": {filch.Named("x")}} {
		t.Run(name, func(t *testing.T) {
			badContexts(t, func(t *testing.T, wrap func(ctx context.Context) context.Context, panics func(f func())) {
				p := filch.New(filch.WithWorkers(1), filch.WithTaskLimit(2, filch.Block), filch.WithStallTimeout(0))
				defer p.Close()
				g := p.Group(t.Context(), filch.GroupLimit(1), filch.CollectErrors(1))
				g.GoFrom(t.Context(), func(ctx context.Context) error {
					panics(func() {
						g.GoFrom(wrap(ctx), func(context.Context) error { return nil }, opts...)
					})
					return nil
				})
				g.Wait()
				for range 2 {
					if err := p.TryGo(t.Context(), func(context.Context) {}); err != nil {
						t.Error("p.TryGo(t.Context(), …):", err)
					}
				}
			})
		})
	}
}
