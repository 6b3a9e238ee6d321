package filch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/race/racetest"
)

// After Shutdown nothing is accepted, also from tasks that are over, whose contexts have ended.
func TestNothingIsAcceptedAfterShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), WithStallTimeout(0))
		var of context.Context
		p.Go(context.Background(), func(ctx context.Context) { of = ctx })
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error("p.Shutdown(context.Background()):", err)
		}
		select {
		case <-of.Done():
		default:
			t.Error("the context of a task has not ended with the pool")
		}
		if err := p.Go(context.WithoutCancel(of), func(context.Context) { t.Error("it runs") }); err != ErrClosed {
			t.Error("p.Go(context.WithoutCancel(of), …):", err)
		}
		if s := p.Stats().Tasks; s.Submitted != 1 || s.Rejected != 1 {
			t.Errorf("p.Stats().Tasks: %+v", s)
		}
	})
}

// Shutdown knows that it is called from inside of a task, by the context as well, and is not taken in by
// those of others.
func TestWhoShutsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, other := New(WithWorkers(1), WithStallTimeout(0)), New(WithWorkers(1), WithStallTimeout(0))
		var old context.Context
		Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			old = context.WithoutCancel(ctx)
			told := make(chan error)
			go func() { told <- p.Shutdown(ctx) }() // not on the task's goroutine
			if err := <-told; !errors.Is(err, ErrInside) {
				t.Errorf("beside a task: %v", err)
			}
			if err := p.Shutdown(context.Background()); !errors.Is(err, ErrInside) {
				t.Errorf("inside of a task: %v", err)
			}
			return 0, nil
		}).Wait(context.Background())
		Submit(context.Background(), other, func(ctx context.Context) (int, error) {
			if err := p.Shutdown(ctx); err != nil {
				t.Errorf("inside of another pool's task: %v", err)
			}
			return 0, nil
		}).Wait(context.Background())
		if err := p.Shutdown(old); err != nil {
			t.Errorf("with the context of a task that is over: %v", err)
		}
		other.Close()
	})
}

// A pool that is closed is not paused, and goroutines that it has kept leave. It may be closed
// again and again.
func TestClosedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(3), WithIdleTimeout(time.Hour), WithStallTimeout(0))
		g := p.Group(context.Background())
		for range 3 {
			g.Go(func(context.Context) error { time.Sleep(time.Second); return nil })
		}
		g.Wait()
		synctest.Wait()
		if p.tasks.Engine.Kept() != 3 {
			t.Errorf("%d of 3 goroutines are kept", p.tasks.Engine.Kept())
		}
		p.Pause()
		begin := time.Now()
		for range 4 {
			p.Close()
			synctest.Wait()
			if s := p.tasks.Engine.Places.Load(); !hasEnded(s) || p.tasks.Engine.Kept() > 0 || p.tasks.Paused.Load() {
				t.Errorf("%v; %d are kept; paused: %t", s, p.tasks.Engine.Kept(), p.tasks.Paused.Load())
			}
		}
		var b strings.Builder
		if p.Dump(&b); strings.Contains(b.String(), "paused") || strings.Contains(b.String(), "worker 0") || time.Since(begin) > 0 {
			t.Errorf("after %v:\n%s", time.Since(begin), &b)
		}
		if p.Pause(); p.tasks.Paused.Load() {
			t.Error("a closed pool is paused")
		}
	})
}

// Goroutines that are kept leave when the time is over, one after the other.
func TestGoroutinesAreKeptForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(2), WithIdleTimeout(10*time.Second), WithStallTimeout(0))
		sleep := func(d time.Duration) func(context.Context) { return func(context.Context) { time.Sleep(d) } }
		p.Go(context.Background(), sleep(time.Second))
		p.Go(context.Background(), sleep(4*time.Second))
		for at, kept := range []int{0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 1, 0, 0} {
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if n := p.tasks.Engine.Kept(); at != 1 && at != 4 && n != kept { // at a moment when two things happen
				t.Errorf("after %d s, %d are kept, not %d", at, n, kept)
			}
			time.Sleep(time.Second - time.Millisecond)
		}
		if s := p.tasks.Engine.Places.Load(); s != 0 {
			t.Errorf("p.tasks.Engine.Places.Load(): %v", s)
		}
		p.Close()
	})
}

// With fewer places, and nobody idle any more, the watch begins; with more, what is queued starts.
func TestResizeSeesToWhatIsQueued(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(2), WithStallTimeout(time.Second))
		ran := false
		setPlaces(p, counted{Active: 2, Searching: 1}) // nobody is woken, and no watch begins
		p.Go(context.Background(), func(context.Context) { ran = true })
		setPlaces(p, counted{Active: 1})
		time.Sleep(time.Minute)
		if synctest.Wait(); ran {
			t.Error("it runs though no worker looks for it")
		}
		p.Resize(1)
		time.Sleep(time.Minute)
		if synctest.Wait(); !ran {
			t.Error("no watch begins")
		}
		setPlaces(p, counted{})
		p.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), WithStallTimeout(0))
		gate := make(chan bool)
		ran := false
		p.Go(context.Background(), func(context.Context) { <-gate })
		p.Go(context.Background(), func(context.Context) { ran = true })
		synctest.Wait()
		p.Resize(2)
		if synctest.Wait(); !ran {
			t.Error("the second task does not start on the second place")
		}
		close(gate)
		p.Close()
	})
}

// A task that runs on in the seat of one that is over is counted when it is done.
func TestTasksThatOutliveTheirSeatAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), WithStallTimeout(0))
		gate, helps := make(chan bool), make(chan bool)
		p.Go(context.Background(), func(ctx context.Context) {
			for range 2 {
				p.Go(ctx, func(context.Context) { helps <- true; <-gate })
				go p.Help(ctx)
				<-helps
			}
		})
		synctest.Wait()
		if s := p.Stats(); s.Tasks.Done != 1 || s.Tasks.Started != 3 || s.Tasks.InPlace != 2 || s.Blocked != 2 || p.tasks.Totals.Left.Load() != 2 {
			t.Errorf("two run on: %+v", s)
		}
		gate <- true
		synctest.Wait()
		if s := p.Stats(); s.Tasks.Done != 2 || s.Blocked != 1 || p.tasks.Totals.Left.Load() != 1 {
			t.Errorf("one runs on: %+v", s)
		}
		close(gate)
		synctest.Wait()
		if s := p.Stats(); s.Tasks.Done != 3 || s.Tasks.Started != 3 || s.Blocked != 0 || s.Active != 0 || p.tasks.Totals.Left.Load() != 0 {
			t.Errorf("all are done: %+v", s)
		}
		p.Close()
	})
}
