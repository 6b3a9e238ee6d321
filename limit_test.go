package filch_test

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
)

// What idle workers are about to take needs no room: as many tasks run and wait as
// there are workers and places in the queue.
func TestRoomIsForTasksThatWait(t *testing.T) {
	for _, workers := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers), filch.WithQueueLimit(1, filch.Reject), filch.WithStallTimeout(0))
			gate := make(chan bool)
			for i := range workers + 3 {
				err := p.Go(background, func(context.Context) { <-gate })
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
			if err := p.Go(background, nothing); err != nil {
				t.Fatal(err)
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
					err := p.Go(background, func(context.Context) { ran.Add(1); now.Add(-1) })
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
		p.Shutdown(background)
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
		if err := p.Go(background, nothing); err != nil {
			t.Fatal(err)
		}
	}
	p.Resume()
	p.Shutdown(background)
}

// More workers are more room for those that wait.
func TestResizeMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.Block), filch.WithStallTimeout(0))
		gate := make(chan bool)
		var running atomic.Int32
		for range 9 {
			go p.Go(background, func(context.Context) { running.Add(1); <-gate })
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
		p.Shutdown(background)
	})
}
