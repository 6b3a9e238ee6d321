package order

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/par"
)

// giveWayWithMutex makes a loop that holds a mutex give way to a task that waits for it.
func giveWayWithMutex(t *testing.T, p *filch.Pool) (done chan bool) {
	mutex := make(chan bool, 1)
	ctx := context.Background()
	done = make(chan bool)
	p.Go(ctx, func(ctx context.Context) {
		mutex <- true
		defer func() { <-mutex }()
		par.For(filch.ScopeOf(ctx), 50, func(int) { time.Sleep(time.Millisecond) })
	}, filch.AtPriority(1))
	time.Sleep(5 * time.Millisecond)
	p.Go(ctx, func(context.Context) { mutex <- true; close(done); <-mutex })
	time.Sleep(5 * time.Millisecond)
	return done
}

// What gave way to a task that waits for its mutex goes on when the pool closes.
func TestCloseLetsGoOnWhatGaveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.ByPriority))
		giveWayWithMutex(t, p)
		p.Close()
	})
}

// It goes on in a pause, too.
func TestPauseLetsGoOnWhatGaveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.ByPriority))
		done := giveWayWithMutex(t, p)
		p.Pause()
		select {
		case <-done:
		case <-time.After(time.Hour):
			t.Error("nothing goes on in a pause")
		}
		p.Close()
	})
}

// Goroutines that are kept without work are no places that are lost.
func TestParkedWorkersAreNotLost(t *testing.T) {
	p := filch.New(filch.WithWorkers(8), filch.WithIdleTimeout(time.Minute), filch.WithStallTimeout(10*time.Millisecond))
	defer p.Close()
	var all sync.WaitGroup
	all.Add(8)
	for range 8 {
		p.Go(context.Background(), func(context.Context) { all.Done(); all.Wait() })
	}
	all.Wait()
	before := p.Stats()
	for ; before.Active > 0 || before.Extra > 0; before = p.Stats() { // until all are kept, without a slot
		runtime.Gosched()
	}
	p.Resize(1)
	var atOnce, most atomic.Int32
	g := p.Group(context.Background())
	for range 6 {
		g.Go(func(context.Context) error {
			n := atOnce.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			rig.Spin(time.Now().Add(100 * time.Millisecond))
			atOnce.Add(-1)
			return nil
		})
	}
	g.Wait()
	if n := p.Stats().Tasks.Stalls - before.Tasks.Stalls; most.Load() > 1 || n > 0 {
		t.Errorf("%d tasks ran at once, and places were added %d times", most.Load(), n)
	}
}

// badValue is a context whose Value panics.
type badValue struct{ context.Context }

func (badValue) Value(any) any { panic("Value") }

// A submission that panics in its context takes neither a slot nor room.
func TestContextsThatPanicTakeNoRoom(t *testing.T) {
	ctx := context.Background()
	try := func(f func()) { defer func() { recover() }(); f() }
	p := filch.New(filch.WithWorkers(1), filch.WithTaskLimit(2, filch.Reject))
	for range 2 {
		try(func() { p.Go(badValue{ctx}, func(context.Context) {}) })
	}
	if err := p.Go(ctx, func(context.Context) {}); err != nil {
		t.Errorf("slots: %v; %+v", err, p.Stats().Tasks)
	}
	q := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.Reject))
	for range 2 {
		try(func() { q.Go(badValue{ctx}, func(context.Context) {}) })
	}
	if err := q.Go(ctx, func(context.Context) {}); err != nil {
		t.Errorf("room: %v", err)
	}
}

// Nor does a group wait for it.
func TestContextsThatPanicAreNoTaskOfAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		p := filch.New(filch.WithWorkers(1))
		g := p.Group(ctx, filch.GroupLimit(1))
		gate := make(chan bool)
		g.Go(func(context.Context) error { <-gate; return nil })
		func() {
			defer func() { recover() }()
			g.GoFrom(badValue{ctx}, func(context.Context) error { return nil })
		}()
		close(gate)
		g.Wait()
		p.Close()
	})
}

// A worker does not give way while more places are taken than there are: nothing could
// take its own.
func TestGivingWayBesideAGuest(t *testing.T) {
	for name, opts := range map[string][]filch.Option{"by default": nil, "0": {filch.WithStallTimeout(0)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(append(opts, filch.WithWorkers(1), filch.WithOrder(filch.ByPriority))...)
				ctx := context.Background()
				f := filch.Submit(ctx, p, func(ctx context.Context) (time.Duration, error) {
					begin := time.Now()
					par.For(filch.ScopeOf(ctx), 50, func(int) { time.Sleep(time.Millisecond) })
					return time.Since(begin), nil
				}, filch.AtPriority(10))
				time.Sleep(5 * time.Millisecond)
				out := make(chan bool)
				go p.Do(func(*filch.Worker) { f.Wait(ctx); close(out) })
				time.Sleep(time.Millisecond)
				begin := time.Now()
				p.Go(ctx, func(context.Context) { t.Logf("urgent began after %v", time.Since(begin)) })
				<-out
				d, _ := f.Wait(ctx)
				if d > 60*time.Millisecond {
					t.Errorf("the loop took %v", d)
				}
				p.Close()
			})
		})
	}
}

// Nor does it take the turn of one that waits for room.
func TestContextsThatPanicTakeNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.Block))
		gate := make(chan bool)
		p.Go(ctx, func(context.Context) { <-gate })
		synctest.Wait()
		p.Go(ctx, func(context.Context) {})
		func() {
			defer func() { recover() }()
			p.Go(badValue{ctx}, func(context.Context) {})
		}()
		ran := make(chan bool)
		go p.Go(ctx, func(context.Context) { close(ran) })
		synctest.Wait()
		close(gate)
		select {
		case <-ran:
		case <-time.After(time.Hour):
			t.Error("the turn was lost")
		}
	})
}

// All urgent tasks start behind a loop, not only the first.
func TestManyUrgentTasksBehindALoop(t *testing.T) {
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers), filch.WithOrder(filch.ByPriority))
		ctx := context.Background()
		var started atomic.Int32
		begun, over := make(chan bool), make(chan int32)
		var once sync.Once
		end := time.Now().Add(20 * time.Second)
		p.Go(ctx, func(ctx context.Context) {
			par.For(filch.ScopeOf(ctx), 1_000_000, func(int) {
				once.Do(func() { close(begun) })
				if started.Load() < 10 && time.Now().Before(end) {
					rig.Compute()
				}
			})
			over <- started.Load()
		}, filch.AtPriority(10))
		<-begun
		for range 10 {
			p.Go(ctx, func(context.Context) { started.Add(1) })
		}
		if n := <-over; n < 10 {
			t.Errorf("%d workers: %d of 10 urgent tasks began before the end of the loop", workers, n)
		}
		p.Close()
	}
}

// A task in a worker's own queue starts behind the loop of the task that submitted it.
func TestOwnTasksBehindALoop(t *testing.T) {
	for _, order := range []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority} {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(order))
		var started atomic.Bool
		over := make(chan bool)
		p.Go(context.Background(), func(ctx context.Context) {
			p.Go(ctx, func(context.Context) { started.Store(true) })
			end := time.Now().Add(20 * time.Second)
			par.For(filch.ScopeOf(ctx), 1_000_000, func(int) {
				if !started.Load() && time.Now().Before(end) {
					rig.Compute()
				}
			})
			over <- started.Load()
		})
		if !<-over {
			t.Errorf("%v: it had to wait for the end of the loop", order)
		}
		p.Close()
	}
}
