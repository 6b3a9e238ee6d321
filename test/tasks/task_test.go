package tasks

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
)

// Tasks wait for tasks, on any number of workers, one included.
func TestTasksWaitForTasks(t *testing.T) {
	for _, order := range rig.Orders {
		for _, workers := range []int{1, 2, 3, 8} {
			p := filch.New(filch.WithWorkers(workers), filch.WithOrder(order))
			n, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return rig.TaskFib(ctx, p, 20) }).Wait(context.Background())
			if n != 6765 || err != nil {
				t.Errorf("%v, %d workers: %d, %v", order, workers, n, err)
			}
			p.Close()
			if s := p.Stats().Tasks; s.Submitted != 10946 || s.Done != 10946 || s.Queued != 0 {
				t.Errorf("%v, %d workers: %+v", order, workers, s)
			}
		}
	}
}

// Every task runs once, whichever goroutine submits it.
func TestTasksRunExactlyOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		const submitters, each = 8, 20_000
		ran := make([]atomic.Int32, submitters*each)
		var wg sync.WaitGroup
		for s := range submitters {
			wg.Go(func() {
				for i := range each / 2 {
					i += s * each
					if err := p.Go(context.Background(), func(ctx context.Context) {
						ran[i].Add(1)
						p.Go(ctx, func(context.Context) { ran[i+each/2].Add(1) })
					}); err != nil {
						t.Error("p.Go(background, …):", err)
					}
				}
			})
		}
		wg.Wait()
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error("p.Shutdown(background):", err)
		}
		for i := range ran {
			if n := ran[i].Load(); n != 1 {
				t.Fatalf("%d workers: task %d ran %d times", workers, i, n)
			}
		}
		if s := p.Stats().Tasks; s.Done != submitters*each || s.Submitted != s.Done {
			t.Errorf("%d tasks of %d submitters: %+v", submitters*each, submitters, s)
		}
	}
}

// Values of the submitter's context reach the task, and the tasks it submits.
func TestContextReachesTheTask(t *testing.T) {
	type key struct{}
	type other struct{}
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, "value"))
	f := filch.Submit(ctx, p, func(ctx context.Context) (string, error) {
		ch := make(chan string)
		p.Go(context.WithValue(ctx, other{}, 1), func(ctx context.Context) { ch <- ctx.Value(key{}).(string) })
		s := ""
		filch.Blocking(ctx, func() { s = <-ch })
		cancel()
		<-ctx.Done()
		return s, ctx.Err()
	})
	if s, err := f.Wait(context.Background()); s != "value" || !errors.Is(err, context.Canceled) {
		t.Errorf("Wait returns %q, %v, not the value and the end of the context", s, err)
	}
}

// A task that was cancelled before it started never runs, and its Future says
// why, as soon as it is known.
func TestCancelledTasksDoNotRun(t *testing.T) {
	synctest.Test(t, cancelledTasksDoNotRun) // the time of Within passes in the queue, and not before
}

func cancelledTasksDoNotRun(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	p.Pause()
	ran := false
	run := func(context.Context) (int, error) { ran = true; return 1, nil }
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(context.Background())
	byContext := filch.Submit(ctx, p, run)
	waited := filch.Submit(ctx, p, run)
	byCancel := filch.Submit(context.Background(), p, run)
	inTime := filch.Submit(context.Background(), p, run, filch.Within(5*time.Millisecond))
	done := byContext.Done()
	byCancel.Cancel()
	byCancel.Cancel()
	cancel(why)
	<-done // though nothing runs
	if _, err := byContext.Wait(context.Background()); err != why {
		t.Errorf("context: %v", err)
	}
	if _, err := waited.Wait(context.Background()); err != why {
		t.Errorf("context: %v", err)
	}
	if _, err := byCancel.Wait(context.Background()); err != context.Canceled {
		t.Errorf("Cancel: %v", err)
	}
	if _, err := filch.Submit(ctx, p, run).Wait(context.Background()); err != why {
		t.Errorf("submitted too late: %v", err)
	}
	<-inTime.Done()
	if _, err := inTime.Wait(context.Background()); err != context.DeadlineExceeded {
		t.Errorf("Within: %v", err)
	}
	if err := p.Go(ctx, func(context.Context) { ran = true }); err != why {
		t.Errorf("Go: %v", err)
	}
	p.Resume()
	p.Shutdown(context.Background())
	if s := p.Stats().Tasks; ran || s.Cancelled != 4 || s.Rejected != 2 {
		t.Errorf("ran: %v, %+v", ran, s)
	}
}

// What runs is told by its context that it should end.
func TestRunningTasksAreCancelled(t *testing.T) {
	p := filch.New(filch.WithWorkers(4))
	wait := func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}
	runs := make(chan bool)
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		inner := filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
			close(runs)
			return wait(ctx)
		})
		return inner.Wait(context.WithoutCancel(ctx)) // the inner task hears of it too
	})
	<-runs
	f.Cancel()
	if _, err := f.Wait(context.Background()); err != context.Canceled {
		t.Errorf("Cancel: %v", err)
	}
	if _, err := filch.Submit(context.Background(), p, wait, filch.Within(time.Millisecond)).Wait(context.Background()); err != context.DeadlineExceeded {
		t.Errorf("Within: %v", err)
	}
	started := make(chan bool)
	f = filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		close(started)
		return wait(ctx)
	})
	g := make(chan error)
	p.Go(context.Background(), func(ctx context.Context) {
		g <- nil
		<-ctx.Done()
		g <- ctx.Err()
	})
	<-started
	<-g
	go p.Close()
	if _, err := f.Wait(context.Background()); err != filch.ErrClosed {
		t.Errorf("Close: %v", err)
	}
	if err := <-g; err != context.Canceled {
		t.Errorf("Close: %v", err)
	}
	p.Close()
}

// The end of a task is not the end of its context: what it submitted may go on.
func TestATaskMayOutliveTheOneThatSubmittedIt(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	ran := make(chan error, 2)
	filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		<-time.After(0)
		ctx.Done() // makes it a real one
		p.Go(ctx, func(ctx context.Context) { ran <- ctx.Err() })
		derived, cancel := context.WithTimeout(ctx, time.Hour)
		t.Cleanup(cancel)
		p.Go(derived, func(ctx context.Context) { ran <- ctx.Err() })
		return 0, nil
	}).Wait(context.Background())
	runtime.GC()
	for range 2 {
		if err := <-ran; err != nil {
			t.Error("<-ran:", err)
		}
	}
}

func TestPanicsAndGoexitOfTasks(t *testing.T) {
	var handled atomic.Pointer[filch.PanicError]
	p := filch.New(filch.WithWorkers(2), filch.WithPanicHandler(func(err *filch.PanicError) { handled.Store(err) }))
	defer p.Close()
	for _, inPlace := range []bool{false, true} {
		submit := func(f func(ctx context.Context) (int, error)) error {
			if !inPlace {
				_, err := filch.Submit(context.Background(), p, f).Wait(context.Background())
				return err
			}
			p.Resize(1)
			_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				inner := filch.Submit(ctx, p, f)
				inner.Wait(ctx)
				return inner.Wait(ctx)
			}).Wait(context.Background())
			p.Resize(2)
			return err
		}
		var pe *filch.PanicError
		if err := submit(func(context.Context) (int, error) { panic(rig.ErrBoom) }); !errors.As(err, &pe) || !errors.Is(err, rig.ErrBoom) || !bytes.Contains(pe.Stack, []byte("TestPanicsAndGoexitOfTasks")) {
			t.Errorf("a task that panics with boom ends with %v, not with a PanicError of boom that has its stack", err)
		}
		if err := submit(func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }); err != filch.ErrGoexit {
			t.Errorf("a task that calls Goexit ends with %v", err)
		}
		if err := submit(func(context.Context) (int, error) { return 0, rig.ErrBoom }); err != rig.ErrBoom {
			t.Errorf("a task that returns boom ends with %v", err)
		}
	}
	g := p.Group(context.Background())
	g.Go(func(context.Context) error { panic("in a group") })
	if err := g.Wait(); err == nil || !strings.Contains(err.Error(), "in a group") {
		t.Errorf("a group one of whose tasks panics with %q: Wait returns %v", "in a group", err)
	}
	for range 2 {
		handled.Store(nil)
		p.Go(context.Background(), func(context.Context) { panic("in Go") })
		for handled.Load() == nil {
			runtime.Gosched()
		}
		if handled.Load().Value != "in Go" {
			t.Errorf("the handler of panics got %v, not in Go", handled.Load())
		}
		handled.Store(nil)
		p.Go(context.Background(), func(context.Context) { panic("with a name") }, filch.Named("x"))
		for handled.Load() == nil {
			runtime.Gosched()
		}
	}
	for range 10 {
		p.Go(context.Background(), func(context.Context) { runtime.Goexit() })
	}
	// The pool lives on, with all its workers.
	var in sync.WaitGroup
	in.Add(2)
	for range 2 {
		p.Go(context.Background(), func(context.Context) { in.Done(); in.Wait() })
	}
	in.Wait()
}

// Tasks that block where the pool cannot see it, on what only a queued task
// does, are not waited for for ever.
func TestHiddenBlockingDoesNotDeadlock(t *testing.T) {
	n := 10_000
	if thorough.Sampled() || race.Enabled {
		n = 500
	}
	var log bytes.Buffer
	p := filch.New(filch.WithWorkers(2), filch.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), filch.WithStallTimeout(5*time.Millisecond))
	release := make(chan bool)
	var done atomic.Int32
	for range n {
		p.Go(context.Background(), func(context.Context) {
			<-release
			done.Add(1)
		})
	}
	p.Go(context.Background(), func(context.Context) { close(release) })
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error("p.Shutdown(background):", err)
	}
	s := p.Stats()
	if done.Load() != int32(n) || s.Tasks.Stalls == 0 || !strings.Contains(log.String(), "blocked") {
		t.Errorf("%d of %d, %+v", done.Load(), n, s)
	}
	poll.Patiently(t, "the places that were added are taken back", func() (bool, any) { s := p.Stats(); return s.Extra == 0, s })
}

// Without a watch for stalls the number of workers holds.
func TestStallTimeoutOfZeroAddsNoWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(3), filch.WithStallTimeout(0))
		var now, most atomic.Int32
		for range 12 {
			p.Go(context.Background(), func(context.Context) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Hour)
				now.Add(-1)
			})
		}
		start := time.Now()
		p.Shutdown(context.Background())
		if took := time.Since(start); most.Load() != 3 || took != 4*time.Hour {
			t.Errorf("%d at once, %v", most.Load(), took)
		}
	})
}

// Waits of tasks for tasks lend the place to others, and no more run at once
// than there are workers.
func TestWaitingTasksLendTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const nap1 = 2 * time.Millisecond
		p := filch.New(filch.WithWorkers(2))
		var now, most atomic.Int32
		nap := func(ctx context.Context) (int, error) {
			n := now.Add(1)
			most.Store(max(most.Load(), n))
			time.Sleep(nap1) // shorter than what passes for a stall
			now.Add(-1)
			return 1, nil
		}
		start := time.Now()
		g := p.Group(context.Background())
		for range 10 {
			g.Go(func(ctx context.Context) error {
				// Waits for a task that another worker has begun.
				f := filch.Submit(ctx, p, nap)
				<-time.After(time.Nanosecond)
				_, err := f.Wait(ctx)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Error("g.Wait():", err)
		}
		if took := time.Since(start); most.Load() > 2 || took > 6*nap1 {
			t.Errorf("%d at once, in %v", most.Load(), took)
		}
		p.Close()
	})
}

// Blocking says openly that a task blocks: others run meanwhile.
func TestOthersRunWhileATaskSaysThatItBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		start := time.Now()
		g := p.Group(context.Background())
		for range 100 {
			g.Go(func(ctx context.Context) error {
				filch.Blocking(ctx, func() { time.Sleep(rig.Leaf) })
				return nil
			})
		}
		g.Wait()
		if took := time.Since(start); took != rig.Leaf {
			t.Errorf("took %v", took)
		}
		p.Close()
	})
}

func TestLongRunningTasksTakeNoPlace(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	stop := make(chan bool)
	p.Go(context.Background(), func(context.Context) { <-stop }, filch.LongRunning())
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		return filch.Submit(ctx, p, func(context.Context) (int, error) { return 1, nil }).Wait(ctx)
	}, filch.LongRunning())
	if n, err := f.Wait(context.Background()); n != 1 || err != nil {
		t.Errorf("Wait of a long-running task returns %d, %v, not 1", n, err)
	}
	close(stop)
	p.Shutdown(context.Background())
}

// Close and Shutdown from inside a task say so, at once; from a task of another
// pool they do what they do elsewhere.
func TestCloseInsideATask(t *testing.T) {
	p, q := filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(1))
	for _, c := range []struct {
		name  string
		close func(ctx context.Context, p *filch.Pool) error
	}{
		{"Close", func(_ context.Context, p *filch.Pool) error { return p.Close() }},
		{"Shutdown", func(ctx context.Context, p *filch.Pool) error { return p.Shutdown(ctx) }},
		{"Shutdown without the context", func(_ context.Context, p *filch.Pool) error { return p.Shutdown(context.Background()) }},
	} {
		for _, opts := range [][]filch.TaskOption{nil, {filch.LongRunning()}} {
			p, q = filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(1))
			f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				if _, err := filch.Submit(ctx, q, rig.One).Wait(ctx); err != nil {
					t.Error("filch.Submit(ctx, q, one).Wait(ctx):", err)
				}
				return 0, errors.Join(c.close(ctx, q), c.close(ctx, p))
			}, opts...)
			_, err := f.Wait(context.Background())
			if !errors.Is(err, filch.ErrInside) || strings.Count(err.Error(), "inside") != 1 {
				t.Errorf("%s: a wait for itself ends with %v, not with ErrInside, named once", c.name, err)
			}
			if err := p.Close(); err != nil {
				t.Error("p.Close():", err)
			}
		}
	}
	f := filch.Submit(context.Background(), filch.New(), func(ctx context.Context) (int, error) { return 0, nil })
	f.Wait(context.Background())
	var self *filch.Future[int]
	ready := make(chan bool)
	self = filch.Submit(context.Background(), filch.New(filch.WithWorkers(1)), func(ctx context.Context) (int, error) {
		<-ready
		return self.Wait(ctx)
	})
	close(ready)
	if _, err := self.Wait(context.Background()); !errors.Is(err, filch.ErrInside) {
		t.Errorf("Wait for itself: %v", err)
	}
}

// A Scope that a task's context leads to can be used by any goroutine that has it, at any time.
func TestAnyGoroutineMayUseTheScopeOfATask(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	var kept context.Context
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		kept = ctx
		sum := 0
		filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
			sum = rig.FibFunc.Call(w, 10)
			sum += rig.FibFunc.Call(filch.ScopeOf(ctx), 10) // as a guest
		})
		var wg sync.WaitGroup
		var all atomic.Int64
		for range 4 {
			wg.Go(func() { all.Add(int64(rig.FibFunc.Call(filch.ScopeOf(ctx), 15))) })
		}
		filch.Blocking(ctx, wg.Wait)
		return sum + int(all.Load()), nil
	})
	if n, err := f.Wait(context.Background()); n != 110+4*610 || err != nil {
		t.Errorf("Wait returns %d, %v, not %d", n, err, 110+4*610)
	}
	if n := rig.FibFunc.Call(filch.ScopeOf(kept), 10); n != 55 {
		t.Errorf("fib(10) in the scope of a task that is over is %d", n)
	}
	if filch.ScopeOf(context.Background()) != filch.Scope(filch.Default()) {
		t.Error("not the default pool")
	}
	p.Close()
}

// Goroutines that outlive the task whose context they have, use it in every way
// that there is, and must not harm the pool.
func TestContextsOutliveTheirTasks(t *testing.T) {
	seed := rand.Uint64()
	p := filch.New(filch.WithWorkers(2))
	var wg sync.WaitGroup
	wg.Add(200)
	for i := range 200 {
		p.Go(context.Background(), func(ctx context.Context) {
			go func() {
				defer wg.Done()
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				for range 20 {
					switch rng.IntN(5) {
					case 0:
						filch.Blocking(ctx, runtime.Gosched)
					case 1:
						if n := rig.FibFunc.Call(filch.ScopeOf(ctx), 12); n != 144 {
							t.Errorf("seed %d: %d", seed, n)
						}
					case 2:
						p.Go(ctx, func(ctx context.Context) { rig.FibFunc.Call(filch.ScopeOf(ctx), 8) })
					case 3:
						if n, err := rig.TaskFib(ctx, p, 6); n != 8 || err != nil {
							t.Errorf("seed %d: %d, %v", seed, n, err)
						}
					case 4:
						g := p.Group(ctx)
						g.Go(func(context.Context) error { runtime.Gosched(); return nil })
						g.Wait()
					}
				}
			}()
			runtime.Gosched()
		})
	}
	wg.Wait()
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error("p.Shutdown(background):", err)
	}
	if s := p.Stats(); s.Active != 0 || s.Blocked != 0 || s.Tasks.Queued != 0 {
		t.Errorf("seed %d: %+v", seed, s)
	}
}

// What cannot be is refused with a message that names the argument.
func TestBadTaskArguments(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	f := filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil })
	nop := func(context.Context) {}
	result := func(context.Context) (int, error) { return 1, nil }
	var none context.Context
	for want, call := range map[string]func(){
		"Go: ctx is nil":             func() { p.Go(none, nop) },
		"Go: f is nil":               func() { p.Go(context.Background(), nil) },
		"Go: option 1 is nil":        func() { p.Go(context.Background(), nop, filch.Fair(), nil) },
		"TryGo: f is nil":            func() { p.TryGo(context.Background(), nil) },
		"Submit: ctx is nil":         func() { filch.Submit(none, p, result) },
		"Submit: p is nil":           func() { filch.Submit(context.Background(), nil, result) },
		"Submit: f is nil":           func() { filch.Submit[int](context.Background(), p, nil) },
		"Wait: ctx is nil":           func() { f.Wait(none) },
		"Group: ctx is nil":          func() { p.Group(none) },
		"Group: option 0 is nil":     func() { p.Group(context.Background(), nil) },
		"Group.Go: f is nil":         func() { p.Group(context.Background()).Go(nil) },
		"Group.GoFrom: ctx is nil":   func() { p.Group(context.Background()).GoFrom(none, func(context.Context) error { return nil }) },
		"Group.GoFrom: f is nil":     func() { p.Group(context.Background()).GoFrom(context.Background(), nil) },
		"ResultGroup.GoFrom: ctx":    func() { filch.NewResultGroup[int](context.Background(), p).GoFrom(none, result) },
		"ResultGroup.GoFrom: f":      func() { filch.NewResultGroup[int](context.Background(), p).GoFrom(context.Background(), nil) },
		"NewResultGroup: p is nil":   func() { filch.NewResultGroup[int](context.Background(), nil) },
		"ResultGroup.Go: f is nil":   func() { filch.NewResultGroup[int](context.Background(), p).Go(nil) },
		"CollectErrors(0)":           func() { filch.CollectErrors(0) },
		"Blocking: ctx is nil":       func() { filch.Blocking(none, func() {}) },
		"Blocking: f is nil":         func() { filch.Blocking(context.Background(), nil) },
		"ScopeOf: ctx is nil":        func() { filch.ScopeOf(none) },
		"Help: ctx is nil":           func() { p.Help(none) },
		"Shutdown: ctx is nil":       func() { p.Shutdown(none) },
		"Resize(0)":                  func() { p.Resize(0) },
		"WithOrder(Order(7))":        func() { filch.WithOrder(7) },
		"WithAgeing(0s)":             func() { filch.WithAgeing(0) },
		"WithAgeing is for":          func() { filch.New(filch.WithAgeing(time.Second)) },
		"WithQueueLimit(0, Block)":   func() { filch.WithQueueLimit(0, filch.Block) },
		"WithTaskLimit(0, Block)":    func() { filch.WithTaskLimit(0, filch.Block) },
		"(1, Overflow(8))":           func() { filch.WithTaskLimit(1, 8) },
		"GroupLimit(0)":              func() { filch.GroupLimit(0) },
		"Overflow(9)":                func() { filch.WithQueueLimit(1, 9) },
		"WithIdleTimeout(-1ns)":      func() { filch.WithIdleTimeout(-1) },
		"WithStallTimeout(-1ns)":     func() { filch.WithStallTimeout(-1) },
		"WithPanicHandler: f is nil": func() { filch.WithPanicHandler(nil) },
		"WithLogger: l is nil":       func() { filch.WithLogger(nil) },
		"WithObserver: o is nil":     func() { filch.WithObserver(nil) },
	} {
		if got := rig.Recovered(call); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, err := range map[string]error{
		"AtPriority(1)": p.Go(context.Background(), nop, filch.AtPriority(1)),
		"Within(0s)":    p.TryGo(context.Background(), nop, filch.Within(0)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := filch.Submit(context.Background(), p, result, filch.Within(-1)).Wait(context.Background()); err == nil || !strings.Contains(err.Error(), "Within(-1ns)") {
		t.Error("filch.Submit(background, p, result, filch.Within(-1)).Wait(…):", err)
	}
}

// A task belongs to the pool that it is submitted to, wherever from, and runs on
// another pool's goroutine only if asked to; that pool goes on meanwhile.
func TestPoolsAreApart(t *testing.T) {
	a := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	b := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	c := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0), filch.WithQueueLimit(1, filch.CallerRuns))
	c.Pause()
	c.Go(context.Background(), rig.Nothing)
	_, err := filch.Submit(context.Background(), a, func(ctx context.Context) (int, error) {
		for range 5 {
			b.Go(ctx, rig.Nothing)
		}
		return filch.Submit(ctx, c, func(ctx context.Context) (int, error) {
			return filch.Submit(ctx, a, rig.One).Wait(ctx)
		}).Wait(ctx)
	}).Wait(context.Background())
	if err != nil {
		t.Error("filch.Submit(background, a, …).Wait(background):", err)
	}
	for _, p := range []*filch.Pool{b, c, a} { // what came from a ends with it
		p.Shutdown(context.Background())
	}
	if x, y, z := a.Stats().Tasks.Done, b.Stats().Tasks.Done, c.Stats().Tasks.Done; x != 2 || y != 5 || z != 2 {
		t.Errorf("%d, %d, %d tasks done", x, y, z)
	}
}

// Without a handler, a panic in a task of Go ends the program, as that of a
// goroutine does.
func TestPanicInGoEndsTheProgram(t *testing.T) {
	const env = "FILCH_TEST_PANIC"
	if os.Getenv(env) != "" {
		p := filch.New(filch.WithWorkers(1))
		p.Go(context.Background(), func(context.Context) { panic("the end") })
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPanicInGoEndsTheProgram$", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), env+"=1")
	if b, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(b), "panic: the end") {
		t.Errorf("cmd.CombinedOutput(): %v\n%s", err, b)
	}
}
