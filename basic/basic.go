// Package basic is the thread pool that work stealing is measured against: one
// queue, one lock, a fixed number of workers. It is what Joe Duffy's series on
// thread pools starts from, and the control in filch's comparisons.
//
// A function that waits for another one of the same pool holds its worker meanwhile. Once
// all workers wait like that, the pool deadlocks. Use it for independent functions.
package basic

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Pool runs functions, first come first served, on a fixed number of
// goroutines. Its methods may be called from any goroutine.
type Pool struct {
	mu      sync.Mutex
	work    sync.Cond // signalled when there is something to do
	waiting int       // workers that wait for it
	queue   queue
	closed  bool
	workers sync.WaitGroup
}

// New starts a pool with the given number of workers. It panics if workers is less than
// 1. Close ends the workers.
func New(workers int) *Pool {
	if workers < 1 {
		panic(fmt.Sprintf("basic: New(%d): there must be a worker", workers))
	}
	p := &Pool{}
	p.work.L = &p.mu
	for range workers {
		p.workers.Go(p.run)
	}
	return p
}

// Go queues f and returns at once. A panic in f ends the program, like that of
// any goroutine; see [Pool.Run]. Go panics if f is nil or the pool is closed.
func (p *Pool) Go(f func()) {
	if f == nil {
		panic("basic: Go: f is nil")
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		panic("basic: Go on a closed Pool")
	}
	p.queue.push(f)
	wake := p.waiting > 0
	p.mu.Unlock()
	if wake {
		p.work.Signal()
	}
}

// Run queues all of fs and returns when all have ended. If some panic, Run
// panics afterwards with the value of the first and its stack. It must not be
// called from inside a function that the pool runs.
func (p *Pool) Run(fs ...func()) {
	var left sync.WaitGroup
	var once sync.Once
	var first error
	left.Add(len(fs))
	for _, f := range fs {
		p.Go(func() {
			defer left.Done()
			defer func() {
				if r := recover(); r != nil {
					once.Do(func() { first = fmt.Errorf("basic: panic in Run: %v\n\n%s", r, debug.Stack()) })
				}
			}()
			f()
		})
	}
	left.Wait()
	if first != nil {
		panic(first)
	}
}

// Close waits until all queued functions have run, and ends the workers. It may be called
// more than once, but not from inside a function that the pool runs.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.work.Broadcast()
	p.workers.Wait()
}

func (p *Pool) run() {
	ended := false
	defer func() {
		if !ended { // f called runtime.Goexit: another goroutine takes over
			p.workers.Go(p.run)
		}
	}()
	for f := p.next(); f != nil; f = p.next() {
		f()
	}
	ended = true
}

// next waits for a function; nil means that the pool is closed.
func (p *Pool) next() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.queue.len() == 0 {
		if p.closed {
			return nil
		}
		p.waiting++
		p.work.Wait()
		p.waiting--
	}
	return p.queue.pop()
}

// queue is a first-in-first-out queue in a ring that doubles when full.
type queue struct {
	ring []func()
	head int // of the oldest
	n    int
}

func (q *queue) len() int { return q.n }

func (q *queue) push(f func()) {
	if q.n == len(q.ring) {
		ring := make([]func(), max(16, 2*q.n))
		k := copy(ring, q.ring[q.head:])
		copy(ring[k:], q.ring[:q.head])
		q.ring, q.head = ring, 0
	}
	q.ring[(q.head+q.n)%len(q.ring)] = f
	q.n++
}

func (q *queue) pop() func() {
	f := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	if q.n == 0 && len(q.ring) > 1024 {
		*q = queue{}
	}
	return f
}
