package life

import (
	"context"
	"errors"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// PauseAndWait returns when no task runs, of whatever kind, and none begins until Resume.
func TestPauseAndWait(t *testing.T) {
	for _, order := range []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2), filch.WithOrder(order), filch.WithStallTimeout(0))
			defer p.Close()
			gates := []chan bool{make(chan bool), make(chan bool), make(chan bool)}
			var running, later atomic.Int64
			hold := func(i int) func(context.Context) {
				return func(context.Context) { running.Add(1); <-gates[i]; running.Add(-1) }
			}
			p.Go(context.Background(), func(ctx context.Context) { // runs another in place
				running.Add(1)
				filch.Submit(ctx, p, func(context.Context) (int, error) { hold(0)(nil); return 0, nil }).Wait(ctx)
				p.Go(ctx, func(context.Context) { later.Add(1) })
				running.Add(-1)
			})
			p.Go(context.Background(), func(ctx context.Context) { filch.Blocking(ctx, func() { hold(1)(ctx) }) })
			p.Go(context.Background(), hold(2), filch.LongRunning())
			synctest.Wait()
			p.Go(context.Background(), func(context.Context) { later.Add(1) }, filch.Named("x"))
			var rests atomic.Bool
			go func() {
				if err := p.PauseAndWait(context.Background()); err != nil || running.Load() != 0 {
					t.Errorf("%v: %v, %d tasks run", order, err, running.Load())
				}
				rests.Store(true)
			}()
			for i := range gates {
				time.Sleep(time.Second)
				synctest.Wait()
				if rests.Load() || running.Load() == 0 {
					t.Errorf("%v: it rests: %v; %d tasks run", order, rests.Load(), running.Load())
				}
				close(gates[i])
			}
			time.Sleep(time.Second)
			before := later.Load() // it may have been taken before the pause
			for range 10 {
				p.Go(context.Background(), func(context.Context) { later.Add(1) })
			}
			p.Help(context.Background())
			time.Sleep(time.Second)
			if !rests.Load() || later.Load() != before || p.Stats().Tasks.Running != 0 {
				t.Errorf("%v: it rests: %v; %d, then %d", order, rests.Load(), before, later.Load())
			}
			p.Resume()
			time.Sleep(time.Second)
			if later.Load() != 12 {
				t.Errorf("%v: %d of 12 have run", order, later.Load())
			}
		})
	}
}

// A wait for rest ends with its context, or if there will be no rest, and says so.
func TestPauseAndWaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, release := rig.Held(t)
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, rig.ErrBoom)
		defer cancel()
		err := p.PauseAndWait(ctx)
		if want := "filch: PauseAndWait: boom, with 1 tasks running"; err == nil || err.Error() != want || !errors.Is(err, rig.ErrBoom) {
			t.Errorf("%v, not %s", err, want)
		}
		ran := false
		p.Go(context.Background(), func(context.Context) { ran = true })
		p.Do(rig.Nop) // which a pause does not concern
		result := make(chan error)
		for _, end := range []struct {
			f    func()
			want string
		}{
			{p.Resume, "filch: PauseAndWait: the pool was resumed"},
			{func() { p.Resume(); p.Pause() }, "filch: PauseAndWait: the pool was resumed"},
			{func() { p.Drain() }, "filch: PauseAndWait: " + filch.ErrClosed.Error()},
		} {
			go func() { result <- p.PauseAndWait(context.Background()) }()
			synctest.Wait()
			end.f()
			if err := <-result; err == nil || err.Error() != end.want {
				t.Errorf("%v, not %s", err, end.want)
			}
		}
		release()
		<-p.Done()
		if err := p.PauseAndWait(context.Background()); !errors.Is(err, filch.ErrClosed) || !ran {
			t.Errorf("a closed pool: %v; the task ran: %v", err, ran)
		}
	})
	if s := rig.Recovered(func() { filch.Default().PauseAndWait(rig.NoContext) }); s != "filch: PauseAndWait: ctx is nil" {
		t.Error("recovered(…):", s)
	}
}

// Inside a task, PauseAndWait would wait for itself. A call of Do keeps nobody waiting.
func TestPauseAndWaitFromInside(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, ctx := range []func(context.Context) context.Context{
		func(ctx context.Context) context.Context { return ctx },
		func(context.Context) context.Context { return context.Background() },
	} {
		_, err := filch.Submit(context.Background(), p, func(inner context.Context) (int, error) {
			return 0, p.PauseAndWait(ctx(inner))
		}).Wait(context.Background())
		if !errors.Is(err, filch.ErrInside) || !strings.Contains(err.Error(), "PauseAndWait") {
			t.Error("filch.Submit(background, p, …).Wait(background):", err)
		}
		p.Resume()
	}
	_, err := filch.Submit(context.Background(), p, func(inner context.Context) (int, error) { // on a goroutine of its own
		ctx, cancel := context.WithTimeout(inner, time.Minute)
		defer cancel()
		result := make(chan error)
		go func() { result <- p.PauseAndWait(ctx) }()
		return 0, <-result
	}).Wait(context.Background())
	if !errors.Is(err, filch.ErrInside) {
		t.Error("filch.Submit(background, p, …).Wait(background):", err)
	}
	p.Resume()
	in, out := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() { p.Do(func(*filch.Worker) { close(in); <-out }) })
	<-in
	if err := p.PauseAndWait(context.Background()); err != nil {
		t.Error("p.PauseAndWait(background):", err)
	}
	close(out)
	wg.Wait()
	p.Resume()
}

// In a storm of submitters, waits, helpers and thieves, nothing runs between PauseAndWait and Resume.
func TestNothingRunsInAPause(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for i, order := range []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority, filch.LIFO, filch.FIFO, filch.ByPriority} {
			helps := i >= 3 // then tasks may run without a worker, and do not run others in place
			p := filch.New(filch.WithWorkers(workers), filch.WithOrder(order))
			var paused atomic.Bool
			var ran atomic.Int64
			var stop atomic.Bool
			check := func() {
				if paused.Load() {
					t.Errorf("%d workers, %v: a task runs in the pause", workers, order)
				}
				ran.Add(1)
			}
			task := func(ctx context.Context) {
				check()
				f := filch.Submit(ctx, p, func(context.Context) (int, error) { check(); return 0, nil })
				p.Go(ctx, func(context.Context) { check() })
				if !helps {
					f.Wait(ctx)
				}
				check()
			}
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					for !stop.Load() {
						g := p.Group(context.Background(), filch.GroupLimit(20))
						for range 50 {
							g.Go(func(ctx context.Context) error { task(ctx); return nil })
						}
						g.Wait()
					}
				})
			}
			wg.Go(func() {
				for helps && !stop.Load() {
					p.Help(context.Background())
				}
			})
			for range 100 {
				for before := ran.Load(); ran.Load() == before; {
					runtime.Gosched()
				}
				if err := p.PauseAndWait(context.Background()); err != nil {
					t.Fatal("p.PauseAndWait(background):", err)
				}
				paused.Store(true)
				if n := p.Stats().Tasks.Running; n != 0 {
					t.Errorf("%d tasks run in the pause", n)
				}
				paused.Store(false)
				p.Resume()
			}
			stop.Store(true)
			wg.Wait()
			p.Close()
			if k := p.Stats().Tasks; k.Started != k.Done || k.Running != 0 {
				t.Errorf("p.Stats().Tasks: %+v", k)
			}
		}
	}
}

// Drain returns at once, takes nothing more from outside, and lets all that was accepted run. Done
// tells the end, and nothing else does.
func TestDrainLetsAllThatWasAcceptedRun(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	synctest.Test(t, func(t *testing.T) {
		p, release := rig.Held(t)
		early := p.Done()
		ran := 0
		for range 3 {
			p.Go(context.Background(), func(ctx context.Context) {
				p.Go(ctx, func(context.Context) { ran++ })
				ran++
			})
		}
		p.Pause()
		if err := p.Drain(); err != nil {
			t.Error("p.Drain():", err)
		}
		if err := p.Go(context.Background(), rig.Nothing); err != filch.ErrClosed || !p.Closed() {
			t.Errorf("Go: %v; closed: %v", err, p.Closed())
		}
		synctest.Wait()
		if rig.IsClosed(early) || early != p.Done() {
			t.Error("a task runs")
		}
		p.Drain()
		release()
		<-early
		if ran != 6 {
			t.Errorf("%d of 6 have run", ran)
		}
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error("p.Shutdown(background):", err)
		}
		p.Close()
		if k := p.Stats().Tasks; k.Done != 7 || k.Cancelled != 0 || k.Running != 0 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
	})
}

// A task may end its own pool by Drain; Done waits for calls of Do and blocked tasks as well; Close
// after Drain drops what is left.
func TestDoneWaitsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		in, out := make(chan bool), make(chan bool)
		go p.Do(func(*filch.Worker) { close(in); <-out })
		<-in
		p.Go(context.Background(), func(ctx context.Context) {
			if err := p.Drain(); err != nil {
				t.Error("p.Drain():", err)
			}
		}, filch.LongRunning())
		synctest.Wait()
		if rig.IsClosed(p.Done()) || !p.Closed() {
			t.Error("a call of Do is not done")
		}
		close(out)
		<-p.Done()

		p, release := rig.Held(t)
		dropped := 0
		p.Go(context.Background(), rig.Nothing, filch.OnDrop(func(error) { dropped++ }))
		p.Drain()
		go release()
		p.Close()
		if k := p.Stats().Tasks; !rig.IsClosed(p.Done()) || k.Done+k.Cancelled != 2 || k.Cancelled != int64(dropped) {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
	})
	if err := filch.Default().Drain(); err == nil || rig.IsClosed(filch.Default().Done()) {
		t.Error("the default pool was closed")
	}
	filch.Default().Do(rig.Nop)
}

// A pool at rest has no goroutines, and the memory of a crowd of callers is
// forgotten.
func TestRestingPoolHasNoGoroutines(t *testing.T) {
	p := filch.New(filch.WithWorkers(8))
	var wg sync.WaitGroup
	for range racetest.Fewer(8, rig.Fewer(1000)) {
		wg.Go(func() { rig.FibFunc.Call(p, racetest.Fewer(12, 18)) })
	}
	wg.Wait()
	resting := func() bool {
		s := p.Stats()
		return s.Active == 0 && s.Searching == 0 && s.Blocked == 0
	}
	var b strings.Builder
	poll.Patiently(t, "a pool at rest has no goroutine", func() (bool, any) {
		b.Reset()
		pprof.Lookup("goroutine").WriteTo(&b, 1)
		return resting() && !strings.Contains(b.String(), "engine.(*Worker).run"), p.Stats()
	})
}
