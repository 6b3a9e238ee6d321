package tasks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// A task that Close drops, and that has a cancellation of its own, which follows
// the pool's a moment later, has an error all the same.
func TestDroppedTasksHaveAnError(t *testing.T) {
	for range 30 {
		p := filch.New(filch.WithWorkers(4))
		var fs []*filch.Future[int]
		for i := range 200 {
			opt := filch.Within(time.Hour)
			if i%10 == 0 {
				fs = append(fs, filch.Submit(context.Background(), p, rig.One, opt, filch.LongRunning()))
				continue
			}
			fs = append(fs, filch.Submit(context.Background(), p, rig.One, opt))
		}
		g := p.Group(context.Background())
		var ran atomic.Int32
		for range 50 {
			g.Go(func(ctx context.Context) error { ctx.Done(); ran.Add(1); return nil })
		}
		p.Close()
		for _, f := range fs {
			if v, err := f.Wait(context.Background()); v != 1 && !errors.Is(err, filch.ErrClosed) {
				t.Fatalf("f.Wait(background): %d, %v", v, err)
			}
		}
		if err := g.Wait(); err == nil && ran.Load() < 50 {
			t.Fatalf("%d tasks ran, and no error", ran.Load())
		}
	}
}

// What a worker has taken over from outside is not buried under its own tasks.
func TestMovedTasksAreNotBuried(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	for _, order := range rig.Orders {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(order))
		p.Pause()
		var stop atomic.Bool
		var own atomic.Int64
		var again func(ctx context.Context)
		again = func(ctx context.Context) {
			own.Add(1)
			if !stop.Load() {
				p.Go(ctx, again)
			}
		}
		p.Go(context.Background(), again)
		var at []int64
		for range 4 {
			p.Go(context.Background(), func(context.Context) {
				if at = append(at, own.Load()); len(at) == 4 {
					stop.Store(true)
				}
			})
		}
		p.Resume()
		p.Shutdown(context.Background())
		for i, n := range at { // with 60 own tasks between, at most
			if n > int64(61*(i+1)) {
				t.Errorf("%v: own tasks before those from outside: %d", order, at)
				break
			}
		}
	}
}

// When Shutdown has returned, nothing runs, and nothing begins.
func TestNothingRunsAfterShutdown(t *testing.T) {
	for start := time.Now(); time.Since(start) < rig.StressTime()/2; {
		p := filch.New(filch.WithWorkers(2), filch.WithQueueLimit(1, filch.Overflow(start.Nanosecond()/1000%3)))
		var over atomic.Bool
		late := func(context.Context) {
			if over.Load() {
				t.Error("a task begins after Shutdown")
			}
		}
		var users sync.WaitGroup
		for range 4 {
			users.Go(func() {
				for p.Go(context.Background(), late) != filch.ErrClosed {
					p.Help(context.Background())
				}
			})
		}
		if err := p.Shutdown(context.Background()); err != nil {
			t.Fatal("p.Shutdown(background):", err)
		}
		over.Store(true)
		users.Wait()
	}
	var inner context.Context
	p := filch.New(filch.WithWorkers(1))
	p.Go(context.Background(), func(ctx context.Context) { inner = context.WithoutCancel(ctx) })
	p.Shutdown(context.Background())
	for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}, {filch.LongRunning()}} {
		if err := p.Go(inner, func(context.Context) { t.Error("a task runs after Shutdown") }, opts...); err != filch.ErrClosed {
			t.Error("p.Go(inner, …, opts):", err)
		}
	}
	p.Close()
	if s := p.Stats(); s.Active != 0 || s.Blocked != 0 {
		t.Errorf("p.Stats(): %+v", s)
	}
}

// No more than the limit is queued: tasks on a goroutine of their own make no
// room, and cancelled ones do when their entry is gone.
func TestQueueLimitHolds(t *testing.T) {
	p, release := rig.Held(t, filch.WithQueueLimit(3, filch.Reject))
	for range 10 {
		if _, err := filch.Submit(context.Background(), p, rig.One, filch.LongRunning()).Wait(context.Background()); err != nil {
			t.Error("filch.Submit(background, p, one, filch.LongRunning()).Wait(…):", err)
		}
	}
	for range 1000 {
		filch.Submit(context.Background(), p, rig.One).Cancel()
	}
	if s := p.Stats().Tasks; s.Queued != 3 {
		t.Errorf("%d are queued", s.Queued)
	}
	release()
	p.Shutdown(context.Background())
	if s := p.Stats().Tasks; s.Submitted != s.Done+s.Cancelled || s.Started != s.Done || s.Rejected != 997 || s.Cancelled != 3 {
		t.Errorf("p.Stats().Tasks: %+v", s)
	}
}

// A task with too little time left is told so while it is queued, and while it
// waits for room.
func TestWithinEndsWaiting(t *testing.T) {
	p, release := rig.Held(t, filch.WithQueueLimit(1, filch.Block))
	for range 2 {
		f := filch.Submit(context.Background(), p, rig.One, filch.Within(10*time.Millisecond))
		<-f.Done()
		if _, err := f.Wait(context.Background()); err != context.DeadlineExceeded {
			t.Error("f.Wait(background):", err)
		}
	}
	release()
	p.Shutdown(context.Background())
	p, release = rig.Held(t)
	defer release()
	if _, err := filch.Submit(context.Background(), p, rig.One, filch.Within(10*time.Millisecond)).Wait(context.Background()); err != context.DeadlineExceeded {
		t.Error("filch.Submit(background, p, one, …).Wait(background):", err)
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

// If a task of a group ends its goroutine, on which somebody waits for the group,
// that one does not end before all others have.
func TestGoexitInAGroupWaitsForTheRest(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for range 20 {
		var left atomic.Int32
		_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			g := p.Group(ctx, filch.CollectErrors(100))
			for i := range 20 {
				left.Add(1)
				g.Go(func(context.Context) error {
					defer left.Add(-1)
					if i == 15 {
						runtime.Goexit()
					}
					for range 100 {
						runtime.Gosched()
					}
					return nil
				})
			}
			if err := g.Wait(); !errors.Is(err, filch.ErrGoexit) {
				t.Errorf("Wait of a group, one of whose tasks calls Goexit, returns %v", err)
			}
			return 0, nil
		}).Wait(context.Background())
		if err != nil && err != filch.ErrGoexit {
			t.Error("filch.Submit(background, p, …).Wait(background):", err)
		}
		if n := left.Load(); n != 0 {
			t.Fatalf("%d tasks are not done", n)
		}
	}
}

// A pool made outside of a bubble may be closed outside.
func TestCloseOutsideOfABubble(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	synctest.Test(t, func(*testing.T) {
		done := make(chan bool)
		p.Go(context.Background(), func(ctx context.Context) { ctx.Done(); close(done) })
		<-done
	})
	p.Close()
}

// A task that submits the next, for ever, does not drag its past along.
func TestChainsOfTasksForgetThePast(t *testing.T) {
	for name, opts := range map[string][]filch.TaskOption{"plain": nil, "named": {filch.Named("tick")}, "fair": {filch.Fair()}} {
		for _, labels := range []bool{false, true} {
			p := filch.New(filch.WithWorkers(1))
			if labels {
				p = filch.New(filch.WithWorkers(1), filch.WithLabels())
			}
			var first weak.Pointer[byte]
			n, done := 0, make(chan bool)
			var next func(ctx context.Context)
			next = func(ctx context.Context) {
				if n++; n == 1 {
					first = weak.Make((*byte)(reflect.ValueOf(ctx).UnsafePointer()))
				}
				if n < 100 {
					p.Go(ctx, next, opts...)
					return
				}
				for range 3 {
					runtime.GC()
				}
				if name == "named" && first.Value() != nil { // the others share theirs
					t.Errorf("%s: the context of the first task is still held", name)
				}
				close(done)
			}
			p.Go(context.Background(), next, opts...)
			<-done
			p.Close()
		}
	}
}

// What is done is not held, by a context that lasts, by an idle worker, or by a
// paused pool.
func TestTasksAreForgotten(t *testing.T) {
	type big struct{ _ [1 << 12]byte }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type key struct{}
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var results []weak.Pointer[big]
	add := func(b *big) *big { results = append(results, weak.Make(b)); return b }
	for range 20 {
		f := filch.Submit(ctx, p, func(context.Context) (*big, error) { return new(big), nil })
		<-f.Done()
		b, _ := f.Wait(context.Background())
		add(b)
	}
	waited := make(chan bool)
	p.Go(context.WithValue(context.Background(), key{}, add(new(big))), func(context.Context) { close(waited) })
	<-waited
	for p.Stats().Active > 0 {
		runtime.Gosched()
	}
	paused := filch.New(filch.WithStallTimeout(time.Millisecond), filch.WithWorkers(1))
	paused.Pause()
	b := add(new(big))
	paused.Go(context.Background(), func(context.Context) { runtime.KeepAlive(b) })
	batch := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	batch.Pause()
	for range 20 { // taken over by the worker in batches
		b := add(new(big))
		batch.Go(context.Background(), func(context.Context) { runtime.KeepAlive(b) })
	}
	batch.Resume()
	for s := batch.Stats(); s.Tasks.Done < 20 || s.Active > 0; s = batch.Stats() {
		runtime.Gosched()
	}
	defer runtime.KeepAlive(batch)
	b, paused = nil, nil
	poll.Patiently(t, "what tasks have used is collected once they are done", func() (bool, any) {
		runtime.GC()
		kept := 0
		for _, r := range results {
			if r.Value() != nil {
				kept++
			}
		}
		return kept == 0, fmt.Sprintf("%d of %d are held", kept, len(results))
	})
}

// A task that runs may have the channel of its context and nothing else.
func TestContextsLastAsLongAsTheirTask(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}} {
		var g *filch.Group
		begun := make(chan bool)
		f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			g = p.Group(ctx)
			g.Go(func(ctx context.Context) error { // in place
				ended := ctx.Done()
				close(begun)
				<-ended
				return nil
			}, opts...)
			return 0, g.Wait()
		})
		<-begun
		for range 5 {
			runtime.GC()
			runtime.Gosched()
		}
		if f.Done(); p.Stats().Tasks.Done == p.Stats().Tasks.Submitted {
			t.Error("the task has ended")
		}
		g.Stop()
		f.Wait(context.Background())
	}
}

// A task's context ends with the error of the submitter's, and keeps it.
func TestErrorOfAContext(t *testing.T) {
	for range 100 {
		p := filch.New(filch.WithWorkers(2))
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Millisecond, rig.ErrBoom)
		for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}, {filch.LongRunning()}, {filch.Within(time.Hour)}} {
			p.Go(ctx, func(inner context.Context) {
				child, cancel := context.WithCancel(inner)
				defer cancel()
				<-inner.Done() // to one that has no channel of it, Err may say so before
				<-child.Done()
				for range 2 {
					if err, cause := inner.Err(), context.Cause(inner); err != context.DeadlineExceeded || cause != rig.ErrBoom {
						t.Errorf("inner.Err(): %v, %v", err, cause)
					}
					if err, cause := child.Err(), context.Cause(child); err != context.DeadlineExceeded || cause != rig.ErrBoom {
						t.Errorf("of a child: %v, %v", err, cause)
					}
				}
			}, opts...)
		}
		p.Shutdown(context.Background())
		cancel()
	}
}

// A goroutine that a task leaves behind runs another task in its name: Shutdown
// waits for that as well.
func TestShutdownWaitsForWhatRunsInPlace(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, p *filch.Pool, f *filch.Future[int], g *filch.Group){
		"Future.Wait": func(ctx context.Context, p *filch.Pool, f *filch.Future[int], g *filch.Group) { f.Wait(ctx) },
		"Help":        func(ctx context.Context, p *filch.Pool, f *filch.Future[int], g *filch.Group) { p.Help(ctx) },
		"Group.Wait":  func(ctx context.Context, p *filch.Pool, f *filch.Future[int], g *filch.Group) { g.Wait() },
	} {
		p := filch.New(filch.WithWorkers(1))
		begun, gate := make(chan bool), make(chan bool)
		var ended atomic.Bool
		inner := func(context.Context) (int, error) {
			close(begun)
			<-gate
			ended.Store(true)
			return 0, nil
		}
		filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			var f *filch.Future[int]
			g := p.Group(ctx)
			if name == "Group.Wait" {
				g.Go(func(ctx context.Context) error { inner(ctx); return nil })
			} else {
				f = filch.Submit(ctx, p, inner)
			}
			go wait(ctx, p, f, g)
			<-begun
			return 0, nil
		})
		<-begun
		time.AfterFunc(2*time.Millisecond, func() { close(gate) })
		if err := p.Shutdown(context.Background()); err != nil || !ended.Load() {
			t.Errorf("%s: Shutdown returned while a task runs; %v", name, err)
		}
		if s := p.Stats(); s.Blocked != 0 || s.Tasks.Done != s.Tasks.Submitted || s.Tasks.Done != 2 {
			t.Errorf("p.Stats(): %s: %+v", name, s)
		}
	}
}

// Tasks that block out of sight while others come and go on goroutines of their
// own, or before a place that is one too many is given up.
func TestHiddenBlockingIsSeenThroughNoise(t *testing.T) {
	wait := func(t *testing.T, done <-chan bool, p *filch.Pool, noise func()) {
		t.Helper()
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				noise()
			}
			if poll.Late(t) {
				t.Fatalf("a task that only another can let go on still blocks: %+v", p.Stats())
			}
		}
	}
	t.Run("LongRunning", func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(20*time.Millisecond))
		done := make(chan bool)
		p.Go(context.Background(), func(context.Context) { <-done })
		p.Go(context.Background(), func(context.Context) { close(done) })
		wait(t, done, p, func() { p.Go(context.Background(), rig.Nothing, filch.LongRunning()) })
	})
	t.Run("Do", func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithBusyPoll(), filch.WithStallTimeout(2*time.Millisecond))
		defer p.Close()
		for range 20 {
			done := make(chan bool)
			filch.Submit(context.Background(), p, rig.One).Wait(context.Background())
			time.Sleep(5 * time.Millisecond)
			go p.Do(func(*filch.Worker) {
				p.Go(context.Background(), func(context.Context) { close(done) })
				<-done
			})
			wait(t, done, p, func() {})
		}
	})
	t.Run("Pause", func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(time.Millisecond))
		done := make(chan bool)
		for range 5 {
			p.Go(context.Background(), func(context.Context) { <-done })
		}
		for p.Stats().Tasks.Stalls == 0 {
			runtime.Gosched()
		}
		p.Pause()
		p.Go(context.Background(), func(context.Context) { close(done) })
		time.Sleep(5 * time.Millisecond)
		p.Resume()
		wait(t, done, p, func() {})
		poll.Patiently(t, "the place that was added is taken back", func() (bool, any) { s := p.Stats(); return s.Extra == 0, s })
	})
}

// Tasks that no worker runs are tasks nonetheless while the pool is shut down.
func TestTasksWithoutAWorkerDuringShutdown(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	gate := make(chan bool)
	var ran atomic.Int32
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		<-gate
		filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) { ran.Add(1) }, func(*filch.Worker) { ran.Add(1) })
		})
		_, err := filch.Submit(ctx, p, rig.One).Wait(ctx)
		return 0, errors.Join(err, p.Go(ctx, func(context.Context) { ran.Add(1) }),
			p.Go(ctx, func(context.Context) { ran.Add(1) }, filch.LongRunning()))
	}, filch.LongRunning())
	time.AfterFunc(time.Millisecond, func() { close(gate) })
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error("p.Shutdown(background):", err)
	}
	if _, err := f.Wait(context.Background()); err != nil || ran.Load() != 4 {
		t.Errorf("%v, %d ran", err, ran.Load())
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

// Contexts of any type will do.
func TestContextsOfAnyTypeWillDo(t *testing.T) {
	type odd struct {
		context.Context
		v any
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for range 3 {
		p.Go(odd{context.Background(), []int{1}}, rig.Nothing)
		p.Go(odd{context.Background(), 1}, rig.Nothing)
		if _, err := filch.Submit(odd{context.Background(), []int{1}}, p, rig.One).Wait(odd{context.Background(), []int{2}}); err != nil {
			t.Error("filch.Submit(…, p, one).Wait(…):", err)
		}
	}
}

// Why a task's context has ended is the same for every kind of task, and to make
// contexts from it starts no goroutine.
func TestContextOfAPlainTask(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	goroutines := make(chan int, 1)
	causes := make(chan error, 2)
	begun := make(chan bool)
	p.Go(context.Background(), func(ctx context.Context) {
		before := runtime.NumGoroutine()
		for range 100 {
			c, cancel := context.WithCancel(ctx)
			defer cancel()
			defer c.Done()
		}
		goroutines <- runtime.NumGoroutine() - before
		begun <- true
		<-ctx.Done()
		causes <- context.Cause(ctx)
	})
	filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		begun <- true
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return 0, nil
	})
	<-begun
	<-begun
	p.Close()
	if n := <-goroutines; n > 10 {
		t.Errorf("%d goroutines were started", n)
	}
	for range 2 {
		if err := <-causes; !errors.Is(err, filch.ErrClosed) {
			t.Error("<-causes:", err)
		}
	}
}

// Small things that are refused, or told.
func TestSmallMistakesAreRefusedOrTold(t *testing.T) {
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(rig.ErrBoom)
	p := filch.New(filch.WithWorkers(1))
	if err := p.Go(ended, rig.Nothing, filch.LongRunning()); err != rig.ErrBoom {
		t.Errorf("LongRunning: %v", err)
	}
	_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(rig.ErrBoom)
		f := filch.Submit(context.WithoutCancel(ctx), p, rig.One)
		if _, err := f.Wait(ctx); err != rig.ErrBoom {
			t.Errorf("Wait: %v", err)
		}
		return f.Wait(context.Background())
	}).Wait(context.Background())
	if err != nil {
		t.Error("filch.Submit(background, p, …).Wait(background):", err)
	}
	g := p.Group(context.Background())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		g.Go(func(context.Context) error { return nil }, nil)
	}()
	if err := g.Wait(); err != nil {
		t.Error("g.Wait():", err)
	}
	other := filch.Submit(context.Background(), p, func(context.Context) (int, error) { panic("once") })
	_, err = other.Wait(context.Background())
	filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 0, err }).Wait(context.Background())
	p.Shutdown(context.Background())
	if s := p.Stats().Tasks; s.Panicked != 1 || s.Failed != 1 {
		t.Errorf("p.Stats().Tasks: %+v", s)
	}
}

// More places are filled at once, if there is work.
func TestMorePlacesAreFilledAtOnce(t *testing.T) {
	p, release := rig.Held(t)
	f := filch.Submit(context.Background(), p, func(context.Context) (int, error) { release(); return 1, nil })
	p.Resize(2)
	if n, err := f.Wait(context.Background()); n != 1 || err != nil {
		t.Error("f.Wait(background):", n, err)
	}
	p.Close()
}

// A polling worker that is one too many goes.
func TestBusyPollFollowsResize(t *testing.T) {
	p := filch.New(filch.WithWorkers(8), filch.WithBusyPoll())
	defer p.Close()
	var all, done sync.WaitGroup
	all.Add(8)
	for range 8 {
		done.Add(1)
		p.Go(context.Background(), func(context.Context) { all.Done(); all.Wait(); done.Done() }) // on eight workers at once
	}
	done.Wait()
	p.Resize(1)
	poll.Patiently(t, "one worker is left after Resize(1)", func() (bool, any) { s := p.Stats(); return s.Active <= 1, s })
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
