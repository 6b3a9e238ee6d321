package tasks

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// A Future has its result for each goroutine that asks, in each way, before and after it is there.
func TestResultIsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		f := filch.Submit(context.Background(), p, func(context.Context) (string, error) { time.Sleep(time.Second); return "partly", rig.ErrBoom })
		answers := make(chan bool)
		for i := range 6 {
			go func() {
				if i%2 == 0 {
					<-f.Done()
				}
				v, err := f.Wait(context.Background())
				answers <- v == "partly" && err == rig.ErrBoom
			}()
		}
		for range 6 {
			if !<-answers {
				t.Error("another result")
			}
		}
		<-f.Done()
		f.Cancel() // changes nothing
		if v, err := f.Wait(rig.Ended()); v != "partly" || err != rig.ErrBoom {
			t.Errorf("f.Wait(ended()): %q, %v", v, err)
		}
	})
}

// A channel of Done is closed when the task is done, and not before, whether it was asked for
// before or after; a task whose context ends in the queue is done at once.
func TestDoneIsClosedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
		start := time.Now()
		running := filch.Submit(context.Background(), p, func(context.Context) (int, error) { time.Sleep(time.Minute); return 1, nil })
		done := running.Done()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(context.Background())
		queued := filch.Submit(ctx, p, rig.One)
		time.AfterFunc(time.Second, func() { cancel(rig.ErrBoom) })
		<-queued.Done()
		if took := time.Since(start); took != time.Second {
			t.Errorf("what was cancelled is done after %v", took)
		}
		if n, err := queued.Wait(context.Background()); n != 0 || err != rig.ErrBoom {
			t.Errorf("queued.Wait(background): %d, %v", n, err)
		}
		select {
		case <-done:
			t.Error("done while it runs")
		default:
		}
		<-done
		if took := time.Since(start); took != time.Minute {
			t.Errorf("it is done after %v", took)
		}
		<-running.Done()
		p.Close()
	})
}

// Cancel keeps a task that is queued from running, and ends the context of one that runs.
func TestCancelInEachState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
		running := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 3, context.Cause(ctx)
		})
		synctest.Wait()
		queued := filch.Submit(context.Background(), p, func(context.Context) (int, error) { t.Error("it runs"); return 1, nil })
		queued.Cancel()
		if n, err := queued.Wait(context.Background()); n != 0 || err != context.Canceled {
			t.Errorf("queued: %d, %v", n, err)
		}
		running.Cancel()
		if n, err := running.Wait(context.Background()); n != 3 || err != context.Canceled {
			t.Errorf("running: %d, %v", n, err)
		}
		p.Shutdown(context.Background())
		if k := p.Stats().Tasks; k.Cancelled != 1 || k.Done != 1 || k.Failed != 1 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
	})
}

// A task that is waited for inside another of the pool runs there, if it has not started, and
// else where it is; one that waits for itself is told so.
func TestWaitRunsInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, other := filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(1))
		var self *filch.Future[int]
		ready := make(chan bool)
		self = filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			<-ready
			if n, err := self.Wait(ctx); n != 0 || !errors.Is(err, filch.ErrInside) {
				t.Errorf("of itself: %d, %v", n, err)
			}
			here := filch.Submit(ctx, p, func(context.Context) (int, error) { return 5, nil })
			before := p.Stats().Tasks.InPlace
			if n, err := here.Wait(ctx); n != 5 || err != nil {
				t.Errorf("of its own: %d, %v", n, err)
			}
			if n := p.Stats().Tasks.InPlace - before; n != 1 {
				t.Errorf("%d tasks ran in place", n)
			}
			there := filch.Submit(ctx, other, func(context.Context) (int, error) { return 6, nil })
			if n, err := there.Wait(ctx); n != 6 || err != nil {
				t.Errorf("of another pool: %d, %v", n, err)
			}
			if n := other.Stats().Tasks.InPlace; n != 0 {
				t.Errorf("%d tasks of another pool ran in place", n)
			}
			return 7, nil
		})
		close(ready)
		if n, err := self.Wait(context.Background()); n != 7 || err != nil {
			t.Errorf("self.Wait(background): %d, %v", n, err)
		}
		p.Close()
		other.Close()
	})
}

// What runs, and what is queued, is counted while it does.
func TestRunningTasksAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0))
		gate := make(chan bool)
		want := func(submitted, started, done int64, queued, global int) {
			t.Helper()
			synctest.Wait()
			if k := p.Stats().Tasks; k.Submitted != submitted || k.Started != started || k.Done != done || k.Queued != queued || k.Global != global {
				t.Errorf("p.Stats().Tasks: %+v", k)
			}
		}
		for range 2 {
			p.Go(context.Background(), func(ctx context.Context) {
				<-gate
				p.Go(ctx, rig.Nothing)
				<-gate
			})
			synctest.Wait()
		}
		want(2, 2, 0, 0, 0)
		p.Go(context.Background(), rig.Nothing)
		want(3, 2, 0, 1, 1)
		gate <- true
		gate <- true
		want(5, 2, 0, 3, 1)
		p.Go(context.Background(), func(context.Context) { <-gate }, filch.LongRunning())
		want(6, 3, 0, 3, 1)
		gate <- true
		synctest.Wait()
		gate <- true
		gate <- true
		want(6, 6, 6, 0, 0)
		p.Close()
	})
}

// A task that runs in place in the name of one that is over is running, and not done.
func TestWhatOutlivesItsTaskIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		begun, gate := make(chan bool), make(chan bool)
		p.Go(context.Background(), func(ctx context.Context) {
			inner := filch.Submit(ctx, p, func(context.Context) (int, error) { close(begun); <-gate; return 1, nil })
			go inner.Wait(ctx)
			<-begun
		})
		<-begun
		synctest.Wait()
		if s := p.Stats(); s.Tasks.Submitted != 2 || s.Tasks.Started != 2 || s.Tasks.Done != 1 || s.Tasks.InPlace != 1 || s.Blocked != 1 {
			t.Errorf("p.Stats(): %+v", s)
		}
		close(gate)
		synctest.Wait()
		if s := p.Stats(); s.Tasks.Started != 2 || s.Tasks.Done != 2 || s.Blocked != 0 {
			t.Errorf("p.Stats(): %+v", s)
		}
		p.Close()
	})
}

// Done closes its channel when the context ends, also after a Wait that gave up: the task is queued, and its turn
// does not come.
func TestDoneAfterAWaitThatGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		p.Pause()
		ctx, cancel := context.WithCancel(context.Background())
		f := filch.Submit(ctx, p, rig.Value(1))
		brief, end := context.WithTimeout(context.Background(), time.Millisecond)
		defer end()
		if _, err := f.Wait(brief); err != context.DeadlineExceeded {
			t.Error("f.Wait(brief):", err)
		}
		done := f.Done()
		cancel()
		synctest.Wait()
		select {
		case <-done:
		default:
			t.Error("the task was not dropped")
		}
	})
}
