package sight

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/rig"
)

// Tasks that compute get no more places than there are workers, however long they
// take, and whatever else runs.
func TestBusyTasksGetNoMorePlaces(t *testing.T) {
	p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(2*time.Millisecond))
	defer p.Close()
	var others sync.WaitGroup
	end := time.Now().Add(rig.StressTime())
	for range 2 {
		others.Go(func() { rig.Spin(end) })
	}
	var atOnce, most atomic.Int32
	g := p.Group(context.Background())
	for range 20 {
		g.Go(func(context.Context) error {
			n := atOnce.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			rig.Spin(end)
			atOnce.Add(-1)
			return nil
		})
	}
	g.Wait()
	others.Wait()
	if s := p.Stats(); most.Load() > 2 || s.Tasks.Stalls > 0 {
		t.Errorf("%d tasks ran at once, and places were added %d times", most.Load(), s.Tasks.Stalls)
	}
}

// A task that waits out of sight for one behind it is noticed within the time that
// WithStallTimeout says, and a quarter of that.
func TestStallsAreNoticedInTime(t *testing.T) {
	for name, opts := range map[string][]filch.Option{
		"by default": nil,
		"10 ms":      {filch.WithStallTimeout(10 * time.Millisecond)},
		"a century":  {filch.WithStallTimeout(100 * 365 * 24 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(append(opts, filch.WithWorkers(1))...)
				defer p.Close()
				timeout := map[string]time.Duration{"by default": 100 * time.Millisecond, "10 ms": 10 * time.Millisecond, "a century": 100 * 365 * 24 * time.Hour}[name]
				begin := time.Now()
				met, done := make(chan bool), make(chan bool)
				p.Go(context.Background(), func(context.Context) { <-met; close(done) })
				p.Go(context.Background(), func(context.Context) { close(met) })
				<-done
				if took := time.Since(begin); took < timeout || took > timeout+timeout/4+time.Millisecond {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// It is noticed while other goroutines keep the processors busy, too.
func TestStallsAreNoticedOnBusyProcessors(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(10*time.Millisecond))
	defer p.Close()
	met, done := make(chan bool), make(chan bool)
	var over atomic.Bool
	var others sync.WaitGroup
	for range runtime.GOMAXPROCS(0) + 1 {
		others.Go(func() {
			for !over.Load() {
				rig.Compute()
			}
		})
	}
	p.Go(context.Background(), func(context.Context) { <-met; close(done) })
	p.Go(context.Background(), func(context.Context) { close(met) })
	<-done
	over.Store(true)
	others.Wait()
}

// Tasks that their submitter runs, which were never queued, do not keep the pool from
// noticing that no queued one starts.
func TestStallBehindTasksThatTheCallerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.CallerRuns))
		defer p.Close()
		g := p.Group(context.Background())
		g.GoFrom(context.Background(), func(ctx context.Context) error {
			began := time.Now()
			p.Go(ctx, func(context.Context) {
				if late := time.Since(began); late > 126*time.Millisecond {
					t.Errorf("the queued task began after %v", late)
				}
			})
			for range 300 { // of 7 ms, so that the pool seldom looks when one ends and the next begins
				p.Go(ctx, func(context.Context) { time.Sleep(7 * time.Millisecond) })
			}
			return nil
		})
		g.Wait()
	})
}

// Queued tasks that run in place have started: no place is added.
func TestTasksThatRunInPlaceAreNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		ctx := context.Background()
		f := filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
			p.Go(ctx, func(context.Context) {}, filch.Fair())
			for range 100 {
				filch.Submit(ctx, p, func(context.Context) (int, error) { time.Sleep(10 * time.Millisecond); return 0, nil }).Wait(ctx)
			}
			return 0, nil
		})
		f.Wait(ctx)
		if n := p.Stats().Tasks.Stalls; n > 0 {
			t.Errorf("places were added %d times", n)
		}
	})
}

// A Wait with a context that is not the task's keeps the place; that is a stall, too.
func TestStallOfAWaitWithAnotherContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		ctx := context.Background()
		outer := filch.Submit(ctx, p, func(outer context.Context) (int, error) {
			met := make(chan bool)
			last := filch.Submit(outer, p, func(context.Context) (int, error) { <-met; return 1, nil }, filch.Fair())
			p.Go(outer, func(context.Context) { last.Wait(outer) }, filch.Fair())
			p.Go(outer, func(context.Context) { last.Wait(ctx) }, filch.Fair())
			p.Go(outer, func(context.Context) { close(met) }, filch.Fair())
			return last.Wait(outer)
		})
		if v, err := outer.Wait(ctx); v != 1 || err != nil {
			t.Error("outer.Wait(ctx):", v, err)
		}
	})
}

// Places that were added during an outage go back as soon as tasks start without
// them, also while others are queued.
func TestPlacesGoBackWhileTasksAreQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		outage := time.Now().Add(2 * time.Second)
		var atOnce, mostAfter atomic.Int32
		g := p.Group(context.Background())
		for range 500 {
			g.Go(func(context.Context) error {
				n := atOnce.Add(1)
				defer atOnce.Add(-1)
				switch late := time.Since(outage); {
				case late < 0:
					time.Sleep(-late)
				default:
					if late > 200*time.Millisecond {
						mostAfter.Store(max(mostAfter.Load(), n))
					}
					time.Sleep(10 * time.Millisecond)
				}
				return nil
			})
		}
		time.Sleep(time.Until(outage) - 5*time.Millisecond)
		if s := p.Stats(); s.Extra < 2 || s.Extra > 42 {
			t.Errorf("during the outage: %d places were added", s.Extra)
		}
		time.Sleep(205 * time.Millisecond)
		if s := p.Stats(); s.Extra > 0 || s.Tasks.Queued == 0 {
			t.Errorf("200 ms after the outage: %d places are added, and %d tasks queued", s.Extra, s.Tasks.Queued)
		}
		g.Wait()
		if mostAfter.Load() > 2 {
			t.Errorf("%d tasks at once after the outage", mostAfter.Load())
		}
	})
}

// A call of Do that lasts does not keep tasks from starting.
func TestTasksStartBesideALongDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		p.Do(func(*filch.Worker) {
			started := make(chan bool)
			p.Go(context.Background(), func(context.Context) { close(started) })
			begin := time.Now()
			<-started
			if took := time.Since(begin); took > 126*time.Millisecond {
				t.Errorf("took %v", took)
			}
		})
	})
}

// Options at their limits do what they say.
func TestOptionsAtTheirLimits(t *testing.T) {
	const most = time.Duration(1<<63 - 1)
	for name, opts := range map[string][]filch.Option{
		"stall timeout, most":  {filch.WithStallTimeout(most)},
		"stall timeout, least": {filch.WithStallTimeout(1)},
		"ageing, most":         {filch.WithOrder(filch.ByPriority), filch.WithAgeing(most)},
		"ageing, least":        {filch.WithOrder(filch.ByPriority), filch.WithAgeing(1)},
		"queue limit, most":    {filch.WithQueueLimit(int(^uint(0)>>1), filch.Reject)},
		"workers, most":        {filch.WithWorkers(1<<20 - 1)},
	} {
		t.Run(name, func(t *testing.T) {
			p := filch.New(opts...)
			var ran atomic.Int32
			g := p.Group(context.Background(), filch.CollectErrors(int(^uint(0)>>1)))
			for range 100 {
				g.Go(func(context.Context) error { ran.Add(1); return nil }, filch.Within(most))
			}
			if err := g.Wait(); err != nil || ran.Load() != 100 {
				t.Errorf("%d tasks ran: %v", ran.Load(), err)
			}
			p.Close()
		})
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
