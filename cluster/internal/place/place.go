// Package place has the places of a node for fetched tasks, and says which lane is next to have one.
package place

import (
	"context"
	"sync"
	"sync/atomic"
)

// Levels is how many levels of priority there are; 0 comes first.
const Levels = 3

// Starved is after how many grants to higher levels a lower one that waits has its turn, as in the pool's queues.
const Starved = 60

// Places are how many tasks may run at once. Lanes wait for them by level, the highest first. The zero value has none.
//
// Other tasks of the node wait for no place. Each of them makes one place less for lanes, down to a single one: so a node that is
// busy with its own tasks leaves those of the cluster to others, and yet does not leave them for ever.
type Places struct {
	total   int
	scant   int // none is given while no more are free
	others  atomic.Int64
	waiting atomic.Bool // false only if no lane waits; changed under mu

	mu     sync.Mutex
	free   int             // but for others
	queues [Levels][]*wait // oldest first
	passed [Levels]int     // grants to others since the level waits, or had its turn
	idle   chan struct{}   // closed when there is a free place that no lane waits for; nil if none waits for that
}

// wait is a lane that waits for places.
type wait struct {
	most  int
	given chan int // of capacity 1
}

// Init says how many there are. It is called before all others.
func (p *Places) Init(n int) { p.total, p.free = n, n }

// InBatches has those that wait get none until n are free, so that they get more at once. It is called after Init, before all others.
func (p *Places) InBatches(n int) { p.scant = n - 1 }

// Free returns how many are free.
func (p *Places) Free() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.available()
}

// available returns how many places lanes could take. p.mu is held.
func (p *Places) available() int { return p.free - int(min(p.others.Load(), int64(max(0, p.total-1)))) }

// Enter counts another task, and returns how many there are.
func (p *Places) Enter() int64 { return p.others.Add(1) }

// Others returns how many other tasks there are.
func (p *Places) Others() int64 { return p.others.Load() }

// Leave counts another task less, and returns how many are left. A lane that waits has set waiting before it has looked at
// others, so it has seen this task leave, or is seen here.
func (p *Places) Leave() int64 {
	left := p.others.Add(-1)
	if left < int64(p.total-1) && p.waiting.Load() {
		p.mu.Lock()
		p.grant()
		p.mu.Unlock()
	}
	return left
}

// Take waits for at least one place and takes up to most.
func (p *Places) Take(ctx context.Context, level, most int) (int, error) {
	p.mu.Lock()
	w := &wait{most: most, given: make(chan int, 1)}
	p.queues[level] = append(p.queues[level], w)
	p.waiting.Store(true)
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

// Put gives places back.
func (p *Places) Put(n int) {
	if n == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += n
	p.grant()
}

// grant gives free places to those that wait. p.mu is held.
func (p *Places) grant() {
	free := p.available()
	for ; free > p.scant; free = p.available() {
		level := p.next()
		if level < 0 {
			break
		}
		w := p.queues[level][0]
		p.queues[level] = p.queues[level][1:]
		n := min(w.most, free)
		p.free -= n
		w.given <- n
	}
	if free > p.scant { // and no lane waits for it
		if p.idle != nil {
			close(p.idle)
			p.idle = nil
		}
		p.waiting.Store(false)
	}
}

// next returns the level whose turn it is, or -1: the highest that waits, or the lowest of those that were passed over too
// often. p.mu is held.
func (p *Places) next() int {
	turn, high := -1, -1
	for l := range p.queues {
		switch {
		case len(p.queues[l]) == 0:
			p.passed[l] = 0
		case high < 0:
			turn, high = l, l
		default:
			if p.passed[l]++; p.passed[l] > Starved {
				turn = l
			}
		}
	}
	if turn >= 0 {
		p.passed[turn] = 0
	}
	return turn
}

// Wait waits until there is a free place that nobody waits for, and takes none.
func (p *Places) Wait(ctx context.Context) error {
	p.mu.Lock()
	p.waiting.Store(true)
	p.grant()
	if p.available() > p.scant {
		p.mu.Unlock()
		return ctx.Err()
	}
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	c := p.idle
	p.mu.Unlock()
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
