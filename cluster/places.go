package cluster

import (
	"context"
	"sync"
)

// starved is after how many grants to higher levels a lower one that waits has its turn, as in the pool's queues.
const starved = 60

// places are what a node has for fetched tasks. Lanes wait for them by level, the highest first.
type places struct {
	mu     sync.Mutex
	free   int
	queues [levels][]*placeWait // oldest first
	passed int                  // grants since a lower level was passed over first
	idle   []chan struct{}      // lanes that wait until there is a free place, and take none
}

// placeWait is a lane that waits for places.
type placeWait struct {
	most  int
	given chan int // of capacity 1
}

func (p *places) init(n int) { p.free = n }

// take waits for at least one place and takes up to most.
func (p *places) take(ctx context.Context, level, most int) (int, error) {
	p.mu.Lock()
	w := &placeWait{most: most, given: make(chan int, 1)}
	p.queues[level] = append(p.queues[level], w)
	p.grant()
	p.mu.Unlock()
	select {
	case n := <-w.given:
		return n, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.queues[level] {
		if other == w {
			p.queues[level] = append(p.queues[level][:i], p.queues[level][i+1:]...)
			return 0, context.Cause(ctx)
		}
	}
	// The places came in the same moment. They go to the next.
	p.free += <-w.given
	p.grant()
	return 0, context.Cause(ctx)
}

// put gives places back.
func (p *places) put(n int) {
	if n == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += n
	p.grant()
}

// grant gives free places to those that wait. p.mu is held.
func (p *places) grant() {
	for p.free > 0 {
		level := p.next()
		if level < 0 {
			break
		}
		w := p.queues[level][0]
		p.queues[level] = p.queues[level][1:]
		n := min(w.most, p.free)
		p.free -= n
		w.given <- n
	}
	if p.free > 0 {
		for _, c := range p.idle {
			close(c)
		}
		p.idle = nil
	}
}

// next returns the level whose turn it is, or -1. p.mu is held.
func (p *places) next() int {
	high, low := -1, -1
	for l := range p.queues {
		if len(p.queues[l]) == 0 {
			continue
		}
		if high < 0 {
			high = l
		}
		low = l
	}
	if high == low {
		p.passed = 0
		return high
	}
	if p.passed++; p.passed > starved {
		p.passed = 0
		return low
	}
	return high
}

// wait waits until there is a free place that nobody waits for, and takes none.
func (p *places) wait(ctx context.Context) error {
	p.mu.Lock()
	if p.free > 0 {
		p.mu.Unlock()
		return ctx.Err()
	}
	c := make(chan struct{})
	p.idle = append(p.idle, c)
	p.mu.Unlock()
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
