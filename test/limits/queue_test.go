package limits

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// queueLimit is that of the pools of the next tests.
const queueLimit = 3

func TestAFullQueueRejects(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(queueLimit, filch.Reject))
	p.Pause()
	for i := range 2 * queueLimit {
		if err := p.Go(context.Background(), rig.Nothing); (err == filch.ErrQueueFull) != (i >= queueLimit) {
			t.Errorf("Go of task %d with a limit of %d returns %v", i, queueLimit, err)
		}
	}
	if _, err := filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil }).Wait(context.Background()); err != filch.ErrQueueFull {
		t.Error("filch.Submit(background, p, …).Wait(background):", err)
	}
	p.Resume()
	p.Shutdown(context.Background())
	if s := p.Stats().Tasks; s.Done != queueLimit || s.Rejected != queueLimit+1 {
		t.Errorf("%d tasks should be done, and %d rejected: %+v", queueLimit, queueLimit+1, s)
	}
}

func TestAFullQueueHasItsCallersRun(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(queueLimit, filch.CallerRuns))
	p.Pause()
	here := 0
	for range 2 * queueLimit {
		p.Go(context.Background(), func(context.Context) { here++ })
	}
	if here != queueLimit {
		t.Errorf("%d tasks run by the caller", here)
	}
	if err := p.TryGo(context.Background(), rig.Nothing); err != filch.ErrQueueFull {
		t.Errorf("TryGo: %v", err)
	}
	p.Resume()
	p.Shutdown(context.Background())
	if here != 2*queueLimit {
		t.Errorf("%d tasks ran", here)
	}
}

func TestSubmittersWaitForRoomInAFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(queueLimit, filch.Block))
		p.Pause()
		for range queueLimit {
			p.Go(context.Background(), rig.Nothing)
		}
		if err := p.TryGo(context.Background(), rig.Nothing); err != filch.ErrQueueFull {
			t.Errorf("TryGo: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), rig.Leaf)
		defer cancel()
		if err := p.Go(ctx, rig.Nothing); err != context.DeadlineExceeded {
			t.Errorf("gave up with %v", err)
		}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if err := p.Go(context.Background(), rig.Nothing); err != nil {
					t.Error("p.Go(background, rig.Nothing):", err)
				}
			})
		}
		synctest.Wait()
		if s := p.Stats().Tasks; s.Queued != queueLimit {
			t.Errorf("%d tasks should be queued: %+v", queueLimit, s)
		}
		p.Resume()
		wg.Wait()
		p.Shutdown(context.Background())
		if s := p.Stats().Tasks; s.Done != queueLimit+10 {
			t.Errorf("%d tasks should be done: %+v", queueLimit+10, s)
		}
	})
}

func TestSubmittersInsideTasksWaitForRoom(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.Block))
	var ran atomic.Int32
	var spread func(ctx context.Context, depth int)
	spread = func(ctx context.Context, depth int) {
		ran.Add(1)
		for range 3 {
			if depth > 0 {
				if err := p.Go(ctx, func(ctx context.Context) { spread(ctx, depth-1) }); err != nil {
					t.Error("p.Go(ctx, …):", err)
				}
			}
		}
	}
	p.Go(context.Background(), func(ctx context.Context) { spread(ctx, 6) })
	p.Shutdown(context.Background())
	if n := ran.Load(); n != 1093 {
		t.Errorf("%d tasks ran, not 1093", n)
	}
}

func TestCloseLetsGoOfSubmittersThatWait(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.Block))
	p.Pause()
	p.Go(context.Background(), rig.Nothing)
	err := make(chan error)
	go func() { err <- p.Go(context.Background(), rig.Nothing) }()
	p.Close()
	if e := <-err; e != filch.ErrClosed {
		t.Errorf("Go that waited for room when Close came returns %v", e)
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
