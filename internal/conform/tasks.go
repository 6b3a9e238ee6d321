package conform

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TaskExecutor is a pool of tasks, as far as such pools can have in common.
type TaskExecutor interface {
	// Submit queues f and returns at once; wait returns the task's error when it
	// has ended, or the one of its own context. f gets a context that ends when
	// ctx does, or the pool; if that is before f begins, f never does, and wait
	// returns an error.
	Submit(ctx context.Context, f func(ctx context.Context) error) (wait func(ctx context.Context) error)
	// Shutdown returns when all that was submitted is done; after that, Submit
	// fails. If ctx ends before, it drops what has not begun, and returns an error.
	Shutdown(ctx context.Context) error
	// Close drops what has not begun, ends the contexts of the rest, and waits.
	Close()
}

// TaskProperties are what pools of tasks may differ in.
type TaskProperties struct {
	Workers  int  // how many tasks run at once
	Waits    bool // a task may wait for another
	Contexts bool // contexts end tasks; without it there is no Close either
}

var errTest = errors.New("of a task")

// ExerciseTasks tests pools made by newExecutor, which have the properties p.
func ExerciseTasks(t *testing.T, newExecutor func() TaskExecutor, p TaskProperties) {
	for _, c := range []struct {
		name  string
		needs bool
		test  func(t *testing.T, e TaskExecutor, p TaskProperties)
	}{
		{"results arrive", true, resultsArrive},
		{"Shutdown runs what is queued", true, shutdownRuns},
		{"no more at once than there are workers", true, noMoreThanWorkers},
		{"no order of waiting deadlocks", p.Waits, anyOrderOfWaiting},
		{"what is cancelled never begins", p.Contexts, cancelledNeverBegins},
		{"contexts end what runs", p.Contexts, contextsEnd},
		{"Shutdown in a hurry drops the rest", p.Contexts, shutdownInAHurry},
		{"Close drops what is queued", p.Contexts, closeDrops},
		{"a waiter gives up in time", p.Contexts, waitingGivesUp},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.needs {
				t.Skip("not claimed")
			}
			e := newExecutor()
			c.test(t, e, p)
			if p.Contexts {
				e.Close()
			} else if err := e.Shutdown(background); err != nil {
				t.Error(err)
			}
		})
	}
}

func resultsArrive(t *testing.T, e TaskExecutor, p TaskProperties) {
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			var waits []func(context.Context) error
			for i := range 500 {
				waits = append(waits, e.Submit(background, func(context.Context) error {
					if i%3 == 0 {
						return errTest
					}
					return nil
				}))
			}
			for i, wait := range waits {
				for range 2 { // the second time, too
					if err := wait(background); (err == errTest) != (i%3 == 0) || err != nil && err != errTest {
						t.Errorf("task %d: %v", i, err)
					}
				}
			}
		})
	}
	users.Wait()
}

func shutdownRuns(t *testing.T, e TaskExecutor, p TaskProperties) {
	var ran atomic.Int32
	for range 1000 {
		e.Submit(background, func(context.Context) error { ran.Add(1); return nil })
	}
	if err := e.Shutdown(background); err != nil || ran.Load() != 1000 {
		t.Errorf("%v; %d ran", err, ran.Load())
	}
	if err := e.Submit(background, func(context.Context) error { ran.Add(1); return nil })(background); err == nil || ran.Load() != 1000 {
		t.Errorf("after Shutdown: %v; %d ran", err, ran.Load())
	}
}

func noMoreThanWorkers(t *testing.T, e TaskExecutor, p TaskProperties) {
	var now, most atomic.Int32
	var waits []func(context.Context) error
	for range 5 * p.Workers {
		waits = append(waits, e.Submit(background, func(context.Context) error {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(200 * time.Microsecond)
			now.Add(-1)
			return nil
		}))
	}
	for _, wait := range waits {
		wait(background)
	}
	if n := most.Load(); int(n) > p.Workers {
		t.Errorf("%d at once on %d workers", n, p.Workers)
	}
}

// anyOrderOfWaiting has tasks wait for those that were submitted after them.
func anyOrderOfWaiting(t *testing.T, e TaskExecutor, p TaskProperties) {
	const n = 100
	waits := make([]func(context.Context) error, n)
	submitted := make(chan bool)
	for i := range n {
		waits[i] = e.Submit(background, func(ctx context.Context) error {
			<-submitted
			if i == n-1 {
				return errTest
			}
			return waits[i+1](ctx)
		})
	}
	close(submitted)
	for i := range n {
		if err := waits[i](background); err != errTest {
			t.Fatalf("task %d: %v", i, err)
		}
	}
}

// hold keeps all workers busy until release is called.
func hold(e TaskExecutor, p TaskProperties) (release func()) {
	gate := make(chan bool)
	var busy sync.WaitGroup
	for range p.Workers {
		busy.Add(1)
		e.Submit(background, func(ctx context.Context) error {
			busy.Done()
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return nil
		})
	}
	busy.Wait()
	return sync.OnceFunc(func() { close(gate) })
}

func cancelledNeverBegins(t *testing.T, e TaskExecutor, p TaskProperties) {
	defer hold(e, p)()
	ctx, cancel := context.WithCancelCause(background)
	var waits []func(context.Context) error
	for range 100 {
		waits = append(waits, e.Submit(ctx, func(context.Context) error { t.Error("a cancelled task runs"); return nil }))
	}
	cancel(errTest)
	waits = append(waits, e.Submit(ctx, func(context.Context) error { t.Error("a cancelled task runs"); return nil }))
	for _, wait := range waits { // though the workers are busy
		if err := wait(background); err != errTest {
			t.Errorf("%v", err)
		}
	}
}

func contextsEnd(t *testing.T, e TaskExecutor, p TaskProperties) {
	ctx, cancel := context.WithCancelCause(background)
	begun := make(chan bool)
	wait := e.Submit(ctx, func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	<-begun
	cancel(errTest)
	if err := wait(background); err != errTest {
		t.Error(err)
	}
}

func shutdownInAHurry(t *testing.T, e TaskExecutor, p TaskProperties) {
	release := hold(e, p)
	defer release()
	wait := e.Submit(background, func(context.Context) error { t.Error("a dropped task runs"); return nil })
	ctx, cancel := context.WithTimeout(background, time.Millisecond)
	defer cancel()
	if err := e.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v", err)
	}
	if err := wait(background); err == nil {
		t.Error("a dropped task has no error")
	}
	release()
	if err := e.Shutdown(background); err != nil { // the rest
		t.Error(err)
	}
}

func closeDrops(t *testing.T, e TaskExecutor, p TaskProperties) {
	hold(e, p) // Close ends their contexts
	var waits []func(context.Context) error
	for range 100 {
		waits = append(waits, e.Submit(background, func(context.Context) error { t.Error("a dropped task runs"); return nil }))
	}
	e.Close()
	for _, wait := range waits {
		if err := wait(background); err == nil {
			t.Error("a dropped task has no error")
		}
	}
	e.Close() // again
}

func waitingGivesUp(t *testing.T, e TaskExecutor, p TaskProperties) {
	release := hold(e, p)
	wait := e.Submit(background, func(context.Context) error { return nil })
	ctx, cancel := context.WithTimeoutCause(background, time.Millisecond, errTest)
	defer cancel()
	if err := wait(ctx); err != errTest {
		t.Error(err)
	}
	release()
	if err := wait(background); err != nil {
		t.Error(err)
	}
}
