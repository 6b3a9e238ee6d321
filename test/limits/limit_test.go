package limits

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// What idle workers are about to take needs no room: as many tasks run and wait as
// there are workers and places in the queue.
func TestRoomIsForTasksThatWait(t *testing.T) {
	for _, workers := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers), filch.WithQueueLimit(1, filch.Reject), filch.WithStallTimeout(0))
			gate := make(chan bool)
			for i := range workers + 3 {
				err := p.Go(context.Background(), func(context.Context) { <-gate })
				if (err == filch.ErrQueueFull) != (i > workers) {
					t.Errorf("%d workers, task %d: %v", workers, i, err)
				}
				synctest.Wait() // a task that is being taken counts twice
			}
			close(gate)
			p.Close()
		})
	}
}

// The second of two tasks finds eight idle workers.
func TestTwoTasksInARow(t *testing.T) {
	for range 100 {
		p := filch.New(filch.WithWorkers(8), filch.WithQueueLimit(1, filch.Reject))
		for range 2 {
			if err := p.Go(context.Background(), rig.Nothing); err != nil {
				t.Fatal("p.Go(background, nothing):", err)
			}
		}
		p.Close()
	}
}

// Tasks that run and tasks that wait are never more than the workers and the limit.
func TestRunningAndWaitingAreLimited(t *testing.T) {
	const workers, limit, each = 3, 2, 200
	for _, order := range []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority} {
		p := filch.New(filch.WithWorkers(workers), filch.WithQueueLimit(limit, filch.Reject), filch.WithOrder(order), filch.WithStallTimeout(0))
		var now, most, ran atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for done := 0; done < each; {
					err := p.Go(context.Background(), func(context.Context) { ran.Add(1); now.Add(-1) })
					if err != nil {
						runtime.Gosched()
						continue
					}
					done++
					for n, m := now.Add(1), most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
				}
			})
		}
		all.Wait()
		p.Shutdown(context.Background())
		if ran.Load() != 4*each || most.Load() > workers+limit {
			t.Errorf("%v: %d ran, %d at most", order, ran.Load(), most.Load())
		}
	}
}

// A limit of any size holds no task back.
func TestLimitsWithoutEnd(t *testing.T) {
	p := filch.New(filch.WithWorkers(2), filch.WithQueueLimit(math.MaxInt, filch.Reject))
	p.Pause()
	for range 1000 {
		if err := p.Go(context.Background(), rig.Nothing); err != nil {
			t.Fatal("p.Go(background, nothing):", err)
		}
	}
	p.Resume()
	p.Shutdown(context.Background())
}

// More workers are more room for those that wait.
func TestResizeMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.Block), filch.WithStallTimeout(0))
		gate := make(chan bool)
		var running atomic.Int32
		for range 9 {
			go p.Go(context.Background(), func(context.Context) { running.Add(1); <-gate })
		}
		synctest.Wait()
		if n := running.Load(); n != 1 {
			t.Errorf("%d run", n)
		}
		p.Resize(8)
		synctest.Wait()
		if n, s := running.Load(), p.Stats().Tasks; n != 8 || s.Queued != 1 {
			t.Errorf("%d run, %d wait", n, s.Queued)
		}
		close(gate)
		p.Shutdown(context.Background())
	})
}

// ending is how a task of TestUnfinishedTasksAreLimited ends.
type ending int

const (
	returns ending = iota
	fails
	panics
	exits
	cancelled
	endings
)

// Never are more tasks unfinished than may be, however they end, and each is
// accepted some time.
func TestUnfinishedTasksAreLimited(t *testing.T) {
	const limit, tasks = 3, 10_000
	p := filch.New(filch.WithWorkers(8), filch.WithTaskLimit(limit, filch.Block), filch.WithPanicHandler(func(*filch.PanicError) {}))
	g := p.Group(context.Background(), filch.GroupLimit(2), filch.CollectErrors(1))
	var unfinished, running, most, ran atomic.Int64
	begin := func(n *atomic.Int64) {
		if n.Add(1) > limit {
			most.Store(n.Load())
		}
	}
	var all sync.WaitGroup
	for s := range 8 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(s), 1))
			for range tasks / 8 {
				how, opts := ending(rng.IntN(int(endings))), []filch.TaskOption(nil)
				if rng.IntN(8) == 0 {
					opts = append(opts, filch.LongRunning())
				}
				var once sync.Once
				over := func() { once.Do(func() { unfinished.Add(-1) }) }
				f := func(context.Context) (int, error) {
					begin(&running)
					defer func() { ran.Add(1); running.Add(-1); over() }()
					switch how {
					case fails:
						return 0, rig.ErrBoom
					case panics:
						panic("boom")
					case exits:
						runtime.Goexit()
					}
					return 0, nil
				}
				switch rng.IntN(3) {
				case 0:
					future := filch.Submit(context.Background(), p, f, opts...)
					begin(&unfinished)
					if how == cancelled {
						over()
						future.Cancel()
					}
				case 1:
					p.Go(context.Background(), func(ctx context.Context) { f(ctx) }, opts...)
					begin(&unfinished)
				default:
					g.Go(func(ctx context.Context) error { _, err := f(ctx); return err }, opts...)
					begin(&unfinished)
				}
			}
		})
	}
	all.Wait()
	g.Wait()
	p.Shutdown(context.Background())
	if s := p.Stats().Tasks; most.Load() > 0 || s.Submitted != tasks || s.Done+s.Cancelled != tasks || s.Done != ran.Load() {
		t.Errorf("%d at most, %+v", most.Load(), s)
	}
	if err := p.TryGo(context.Background(), rig.Nothing); err != filch.ErrClosed {
		t.Error("p.TryGo(background, nothing):", err)
	}
}

// The slot of a task is free when its Future is done, or its group.
func TestSlotsAreFreeWhenTasksAreDone(t *testing.T) {
	p := filch.New(filch.WithWorkers(2), filch.WithTaskLimit(1, filch.Reject), filch.WithPanicHandler(func(*filch.PanicError) {}))
	defer p.Close()
	for range 200 {
		for _, f := range []func(context.Context) (int, error){
			rig.One,
			func(context.Context) (int, error) { panic("boom") },
			func(context.Context) (int, error) { runtime.Goexit(); return 0, nil },
		} {
			for _, opts := range [][]filch.TaskOption{nil, {filch.LongRunning()}, {filch.Within(time.Hour)}} {
				if _, err := filch.Submit(context.Background(), p, f, opts...).Wait(context.Background()); err == filch.ErrQueueFull {
					t.Fatal("Submit: no slot")
				}
				g := p.Group(context.Background())
				g.Go(func(ctx context.Context) error { _, err := f(ctx); return err }, opts...)
				if err := g.Wait(); err == filch.ErrQueueFull {
					t.Fatal("Group.Go: no slot")
				}
			}
		}
		p.Pause()
		future := filch.Submit(context.Background(), p, rig.One)
		if err := p.TryGo(context.Background(), rig.Nothing); err != filch.ErrQueueFull {
			t.Fatal("p.TryGo(background, nothing):", err)
		}
		future.Cancel()
		next := filch.Submit(context.Background(), p, rig.One)
		p.Resume()
		if _, err := next.Wait(context.Background()); err != nil {
			t.Fatal("after Cancel:", err)
		}
		for p.Stats().Tasks.Queued > 0 {
			runtime.Gosched()
		}
	}
}

// What becomes of a task for which there is no slot.
func TestTaskLimitOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan bool)
		hold := func(context.Context) { <-gate }
		block := filch.New(filch.WithWorkers(2), filch.WithTaskLimit(1, filch.Block))
		reject := filch.New(filch.WithWorkers(2), filch.WithTaskLimit(1, filch.Reject))
		caller := filch.New(filch.WithWorkers(2), filch.WithTaskLimit(1, filch.CallerRuns))
		for _, p := range []*filch.Pool{block, reject, caller} {
			p.Go(context.Background(), hold)
			if err := p.TryGo(context.Background(), rig.Nothing); err != filch.ErrQueueFull {
				t.Errorf("TryGo: %v", err)
			}
			if err := p.TryGo(context.Background(), rig.Nothing, filch.LongRunning()); err != filch.ErrQueueFull {
				t.Errorf("TryGo: %v", err)
			}
		}
		if err := reject.Go(context.Background(), rig.Nothing); err != filch.ErrQueueFull {
			t.Error("reject.Go(background, nothing):", err)
		}
		here := false
		if err := caller.Go(context.Background(), func(context.Context) { here = true }); err != nil || !here {
			t.Error("caller.Go(background, …):", err, here)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := block.Go(ctx, rig.Nothing); err != context.DeadlineExceeded {
			t.Error("block.Go(ctx, nothing):", err)
		}
		if _, err := filch.Submit(context.Background(), block, rig.One, filch.Within(time.Second)).Wait(context.Background()); err != context.DeadlineExceeded {
			t.Error("filch.Submit(…).Wait(background):", err)
		}
		closed := make(chan error)
		go func() { closed <- block.Go(context.Background(), rig.Nothing) }()
		synctest.Wait()
		go block.Close()
		if err := <-closed; err != filch.ErrClosed {
			t.Error("<-closed:", err)
		}
		close(gate)
		for _, p := range []*filch.Pool{block, reject, caller} {
			p.Close()
		}
	})
}

// A task may submit tasks and wait for them, also if all slots are taken: they run in
// its slot, which it keeps.
func TestTasksWithinASlot(t *testing.T) {
	for _, limit := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(4), filch.WithTaskLimit(limit, filch.Block))
		for range 20 {
			v, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return rig.TaskFib(ctx, p, 8) }).Wait(context.Background())
			if v != 21 || err != nil {
				t.Fatal("filch.Submit(background, p, …).Wait(background):", v, err)
			}
		}
		// Nothing within a slot has given it back, or kept another.
		gate := make(chan bool)
		for range limit {
			if err := p.TryGo(context.Background(), func(context.Context) { <-gate }); err != nil {
				t.Error("p.TryGo(background, …):", err)
			}
		}
		if err := p.TryGo(context.Background(), rig.Nothing); err != filch.ErrQueueFull {
			t.Error("p.TryGo(background, nothing):", err)
		}
		close(gate)
		p.Close()
	}
}

// Group.Go waits for a slot of the group, and GoFrom runs the task within that of the
// task it is called from.
func TestTaskLimitOfAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(8))
		g := p.Group(context.Background(), filch.GroupLimit(2), filch.CollectErrors(10))
		gate := make(chan bool)
		var running, ran atomic.Int32
		var both sync.WaitGroup
		both.Add(2)
		f := func(ctx context.Context) error {
			defer ran.Add(1)
			if running.Add(1) > 2 {
				t.Error("three run")
			}
			<-gate
			running.Add(-1)
			for i := range 3 {
				inside := false
				opts := [][]filch.TaskOption{nil, {filch.Named("x")}, {filch.Within(time.Hour)}}[i]
				g.GoFrom(ctx, func(ctx context.Context) error {
					inside = true
					ran.Add(1)
					if i == 1 {
						panic("boom")
					}
					return nil
				}, opts...)
				if !inside {
					t.Error("it does not run in place")
				}
			}
			both.Done()
			both.Wait() // so that no slot is free before
			return nil
		}
		g.Go(f)
		g.Go(f)
		submitted := make(chan bool)
		go func() {
			g.Go(func(context.Context) error { ran.Add(1); return nil })
			g.Go(func(context.Context) error { ran.Add(1); return nil }, filch.LongRunning())
			close(submitted)
		}()
		synctest.Wait()
		select {
		case <-submitted:
			t.Error("Go did not wait")
		default:
		}
		running.Store(0)
		done := make(chan error)
		go func() { <-submitted; done <- g.Wait() }()
		close(gate)
		if err := <-done; err == nil || ran.Load() != 10 {
			t.Errorf("%d ran: %v", ran.Load(), err)
		}
		p.Close()
	})
}

// The end of a group lets those go that wait for a slot, and they are no error.
func TestTheEndOfAGroupWithALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		for _, from := range []bool{false, true} {
			g := p.Group(context.Background(), filch.GroupLimit(1))
			started := make(chan bool)
			g.Go(func(ctx context.Context) error { close(started); <-ctx.Done(); return ctx.Err() })
			<-started
			var all sync.WaitGroup
			never := func(context.Context) error { t.Error("runs"); return nil }
			for range 5 {
				all.Go(func() {
					if from {
						g.GoFrom(context.Background(), never)
					} else {
						g.Go(never)
					}
				})
			}
			synctest.Wait()
			if err := g.Stop(); err != nil {
				t.Error("g.Stop():", err)
			}
			all.Wait()
		}
		p.Close()
	})
}
