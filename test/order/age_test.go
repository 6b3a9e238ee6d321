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
	q := &aged{p: p, priority: priority, within: within, r: r, queued: map[int]time.Time{}, last: time.Now()}
	for round := range 2 {
		q.check(t, false)
		time.Sleep(time.Duration(round) * time.Hour)
		q.last, q.gap = time.Now(), 0
		for i := range 12 {
			q.submit(context.Background())
			if q.wait(100); i%4 == 0 {
				q.check(t, false)
			}
		}
		if round > 0 {
			p.Pause()
			q.wait(2000)
			time.Sleep(time.Second) // the watch has looked, and those that ran are done
			q.check(t, false)
			for range 5 {
				q.submit(context.Background())
				q.wait(10_000)
			}
			q.check(t, true)
			p.Resume()
		}
		for q.left() > 0 {
			q.wait(1000)
			q.check(t, false)
		}
	}
	if q.oldest < 2*time.Second {
		t.Errorf("no task waited for more than %v", q.oldest)
	}
	p.Close()
}

// aged is a pool, and since when each of its tasks is queued.
type aged struct {
	p         *filch.Pool
	priority  func(r *rand.Rand) int
	within    time.Duration // how far Oldest may be off, or -1 for the time between two looks
	oldest    time.Duration // of all checks
	last      time.Time     // of looks
	gap       time.Duration // between them
	mu        sync.Mutex    // of what follows
	r         *rand.Rand
	queued    map[int]time.Time
	submitted int
}

// submit submits a task that sleeps, and then submits others.
func (q *aged) submit(ctx context.Context) {
	q.mu.Lock()
	id := q.submitted
	q.submitted++
	q.queued[id] = time.Now()
	length, more := time.Duration(1+q.r.IntN(80))*time.Millisecond*time.Duration(q.p.Workers()), q.r.IntN(3)
	var opts []filch.TaskOption
	if q.priority != nil {
		opts = append(opts, filch.AtPriority(q.priority(q.r)))
	}
	q.mu.Unlock()
	q.p.Go(ctx, func(ctx context.Context) {
		q.mu.Lock()
		delete(q.queued, id)
		q.mu.Unlock()
		time.Sleep(length)
		for range more {
			q.mu.Lock()
			enough := q.submitted >= 120
			q.mu.Unlock()
			if !enough {
				q.submit(ctx)
			}
		}
	}, opts...)
}

func (q *aged) left() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queued)
}

func (q *aged) check(t *testing.T, paused bool) {
	t.Helper()
	synctest.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	want := time.Duration(0)
	for _, at := range q.queued {
		want = max(want, time.Since(at))
	}
	off := q.within
	if q.gap = max(q.gap, time.Since(q.last)); q.within < 0 {
		off = q.gap
	}
	if paused {
		off = max(off, time.Millisecond)
	}
	q.last = time.Now()
	q.oldest = max(q.oldest, want)
	if got := q.p.Stats().Tasks.Oldest; got > want+time.Millisecond || got < want-off {
		t.Errorf("of %d tasks, the oldest is queued for %v, and not %v", len(q.queued), got, want)
	}
}

func (q *aged) wait(longest int) {
	q.mu.Lock()
	d := time.Duration(q.r.IntN(longest)) * time.Millisecond
	q.mu.Unlock()
	time.Sleep(d)
}
