package order

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
)

// Oldest is for how long the oldest task has been queued, less the time of the watch for
// stalls at most, in all orders, from wherever tasks come, and whatever else is in their
// queue.
func TestOldestTellsHowLongATaskHasBeenQueued(t *testing.T) {
	const step = 25 * time.Millisecond
	for _, c := range []struct {
		name     string
		priority func(r *rand.Rand) int
		opts     []filch.Option
		error    time.Duration // -1 if it is the time between two looks
	}{
		{"LIFO", nil, []filch.Option{filch.WithOrder(filch.LIFO)}, step},
		{"FIFO", nil, []filch.Option{filch.WithOrder(filch.FIFO)}, step},
		{"FIFO without a watch", nil, []filch.Option{filch.WithOrder(filch.FIFO), filch.WithStallTimeout(0)}, -1},
		{"priorities", fewLevels, []filch.Option{filch.WithOrder(filch.ByPriority)}, step},
		{"many priorities", manyLevels, []filch.Option{filch.WithOrder(filch.ByPriority)}, step},
		{"priorities without a watch", manyLevels, []filch.Option{filch.WithOrder(filch.ByPriority), filch.WithStallTimeout(0)}, 0},
		{"ageing", fewLevels, []filch.Option{filch.WithOrder(filch.ByPriority), filch.WithAgeing(time.Second)}, 0},
	} {
		for _, workers := range []int{1, 3} {
			for seed := range uint64(1) {
				t.Run(fmt.Sprint(c.name, workers, seed), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						testOldest(t, rand.New(rand.NewPCG(seed, 0)), c.priority, c.error, append(c.opts, filch.WithWorkers(workers))...)
					})
				})
			}
		}
	}
}

func fewLevels(r *rand.Rand) int  { return r.IntN(3) }
func manyLevels(r *rand.Rand) int { return r.IntN(100_000) }

func testOldest(t *testing.T, r *rand.Rand, priority func(r *rand.Rand) int, within time.Duration, opts ...filch.Option) {
	p := filch.New(opts...)
	var mu sync.Mutex // of r and what follows
	queued := map[int]time.Time{}
	n := 0
	var submit func(ctx context.Context)
	submit = func(ctx context.Context) {
		mu.Lock()
		id := n
		n++
		queued[id] = time.Now()
		length, more := time.Duration(1+r.IntN(80))*time.Millisecond*time.Duration(p.Workers()), r.IntN(3)
		var opts []filch.TaskOption
		if priority != nil {
			opts = append(opts, filch.AtPriority(priority(r)))
		}
		mu.Unlock()
		p.Go(ctx, func(ctx context.Context) {
			mu.Lock()
			delete(queued, id)
			mu.Unlock()
			time.Sleep(length)
			for range more {
				mu.Lock()
				enough := n >= 120
				mu.Unlock()
				if !enough {
					submit(ctx)
				}
			}
		}, opts...)
	}
	left := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(queued)
	}
	oldest := time.Duration(0)                // of all checks
	last, gap := time.Now(), time.Duration(0) // of looks, and between them
	check := func(paused bool) {
		t.Helper()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		want := time.Duration(0)
		for _, at := range queued {
			want = max(want, time.Since(at))
		}
		off := within
		if gap = max(gap, time.Since(last)); within < 0 {
			off = gap
		}
		if paused {
			off = max(off, time.Millisecond)
		}
		last = time.Now()
		oldest = max(oldest, want)
		if got := p.Stats().Tasks.Oldest; got > want+time.Millisecond || got < want-off {
			t.Errorf("of %d tasks, the oldest is queued for %v, and not %v", len(queued), got, want)
		}
	}
	wait := func(longest int) {
		mu.Lock()
		d := time.Duration(r.IntN(longest)) * time.Millisecond
		mu.Unlock()
		time.Sleep(d)
	}
	for round := range 2 {
		check(false)
		time.Sleep(time.Duration(round) * time.Hour)
		last, gap = time.Now(), 0
		for i := range 12 {
			submit(context.Background())
			if wait(100); i%4 == 0 {
				check(false)
			}
		}
		if round > 0 {
			p.Pause()
			wait(2000)
			time.Sleep(time.Second) // the watch has looked, and those that ran are done
			check(false)
			for range 5 {
				submit(context.Background())
				wait(10_000)
			}
			check(true)
			p.Resume()
		}
		for left() > 0 {
			wait(1000)
			check(false)
		}
	}
	if oldest < 2*time.Second {
		t.Errorf("no task waited for more than %v", oldest)
	}
	p.Close()
}
