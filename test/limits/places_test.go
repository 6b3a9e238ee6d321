package limits

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// As long as tasks start, however slowly, no workers are added: not if tasks take half of the
// time after which a stall is one, and not if they run in place.
func TestProgressIsNoStall(t *testing.T) {
	for _, workers := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers), filch.WithStallTimeout(time.Second))
			nap := func(context.Context) { time.Sleep(400 * time.Millisecond) }
			for range 100 {
				p.Go(context.Background(), nap)
			}
			p.Go(context.Background(), func(ctx context.Context) {
				g := p.Group(ctx)
				for range 50 {
					g.Go(func(ctx context.Context) error { nap(ctx); return nil })
				}
				g.Wait()
			})
			p.Shutdown(context.Background())
			if s := p.Stats(); s.Tasks.Stalls != 0 || s.Extra != 0 || s.Tasks.Done != 151 {
				t.Errorf("%d workers: %+v", workers, s)
			}
		})
	}
}

// Workers that block where the pool cannot see it are replaced, and the places taken back when
// nothing is queued any more. What a limit of 0 says holds.
func TestStallsEnd(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(time.Second))
		gate := make(chan bool)
		for range 2 {
			p.Go(context.Background(), func(context.Context) { <-gate })
		}
		synctest.Wait()
		begun := make(chan bool)
		p.Go(context.Background(), func(context.Context) { close(begun) })
		start := time.Now()
		<-begun
		if took := time.Since(start); took > time.Minute {
			t.Errorf("it took %v", took)
		}
		if s := p.Stats(); s.Tasks.Stalls == 0 || s.Workers != 2 {
			t.Errorf("p.Stats(): %+v", s)
		}
		time.Sleep(time.Minute)
		if s := p.Stats(); s.Extra != 0 || s.Active != 2 {
			t.Errorf("nothing is queued: %+v", s)
		}
		close(gate)
		p.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		p, release := rig.Busy(2)
		gate := make(chan bool)
		p.Go(context.Background(), func(context.Context) { <-gate })
		ran := false
		p.Go(context.Background(), func(context.Context) { ran = true })
		time.Sleep(time.Hour)
		if s := p.Stats(); ran || s.Extra != 0 || s.Tasks.Stalls != 0 {
			t.Errorf("the limit does not hold: %+v", s)
		}
		close(gate)
		release()
		p.Shutdown(context.Background())
		if !ran {
			t.Error("the task did not run")
		}
	})
}

// A pool's figures of places are right in every state that it comes to.
func TestPlacesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(3), filch.WithStallTimeout(0))
		want := func(what string, active, idle, blocked int) {
			t.Helper()
			synctest.Wait()
			s := p.Stats()
			if s.Active != active || s.Busy != active || s.Searching != 0 || s.Idle != idle || p.Idle() != idle || s.Blocked != blocked || s.Workers != p.Workers() {
				t.Errorf("%s: %+v, and %d idle", what, s, p.Idle())
			}
		}
		gate := make(chan bool)
		wait := func(context.Context) { <-gate }
		want("at rest", 0, 3, 0)
		p.Go(context.Background(), wait)
		p.Go(context.Background(), wait)
		want("two tasks", 2, 1, 0)
		go p.Do(func(*filch.Worker) { <-gate })
		want("and a guest", 3, 0, 0)
		go p.Do(func(*filch.Worker) { <-gate })
		want("and another", 4, 0, 0)
		p.Go(context.Background(), wait, filch.LongRunning())
		want("and a long one", 4, 0, 1)
		p.Resize(2)
		want("with fewer workers", 4, 0, 1)
		p.Resize(6)
		want("with more workers", 4, 2, 1)
		for i := range 4 {
			gate <- true
			synctest.Wait()
			if s := p.Stats(); s.Active+s.Blocked != 4-i {
				t.Errorf("after %d ends: %+v", i+1, s)
			}
		}
		gate <- true
		want("at rest again", 0, 6, 0)
		p.Close()
	})
}

// A worker whose goroutine is kept goes on with what comes in time, leaves after that, and ends
// with the pool.
func TestParkedWorkersAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithIdleTimeout(time.Minute))
		run := func() {
			t.Helper()
			filch.Submit(context.Background(), p, rig.One).Wait(context.Background())
			synctest.Wait()
		}
		run()
		for range 10 {
			time.Sleep(time.Second)
			run()
		}
		before := p.Stats().Wakes
		if before > 2 {
			t.Errorf("%d goroutines were started", before)
		}
		time.Sleep(time.Hour)
		run()
		if n := p.Stats().Wakes; n == before || n > before+2 {
			t.Errorf("%d goroutines were started after an hour", n-before)
		}
		p.Close()
	})
}

// No more leaves run at once than there are workers, also when waiting ones
// give up their places and take them back; but for a moment, when one has passed
// its place on while it helped, and finds that its own wait is over. It cannot
// wait for a free place then: all others might be blocked on a mutex that it
// holds.
func TestNoMoreRunThanWorkers(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	waits := int64(0)
	for _, workers := range []int{1, 2, 3, 8} {
		rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers))
				var now, most, ran atomic.Int32
				rng := rand.New(rand.NewPCG(1, uint64(workers)))
				var work func(depth int, nap time.Duration) rig.Step
				work = func(depth int, nap time.Duration) rig.Step {
					a, b := time.Duration(rng.Int64N(1e7)), time.Duration(rng.Int64N(1e6))
					if depth == 0 {
						return func(*filch.Worker) {
							n := now.Add(1)
							most.Store(max(most.Load(), n))
							ran.Add(1)
							time.Sleep(nap)
							now.Add(-1)
						}
					}
					first, second := work(depth-1, a), work(depth-1, b)
					return func(w *filch.Worker) { both(w, first, second) }
				}
				p.Do(work(8, 0))
				if most.Load() > int32(workers+workers/2) || ran.Load() != 1<<8 {
					t.Errorf("%d workers: %d of %d leaves at once", workers, most.Load(), ran.Load())
				}
				waits += p.Stats().Waits
			})
		})
	}
	if waits == 0 {
		t.Error("nobody blocked: the test shows nothing")
	}
}
