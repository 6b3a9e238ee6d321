package filch

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// room limits how many tasks are queued.
type room struct {
	limit  int64
	queued atomic.Int64

	mu      sync.Mutex
	waiters []*latch // the first come first
}

// take takes room for a task, if there is some.
func (r *room) take() bool {
	for {
		n := r.queued.Load()
		if n >= r.limit {
			return false
		}
		if r.queued.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// wait takes room when there is some. It gives up when ctx ends or life does.
func (r *room) wait(ctx, life context.Context) error {
	for {
		l := &latch{}
		r.mu.Lock()
		r.waiters = append(r.waiters, l)
		r.mu.Unlock()
		if r.take() { // (R30) room that was made before l was there
			r.forget(l)
			return nil
		}
		stop := context.AfterFunc(life, l.release)
		err := l.wait(ctx, func() bool { return false })
		stop()
		r.forget(l)
		if life.Err() != nil {
			err = ErrClosed
		}
		if err != nil {
			r.next() // in case it was l's turn
			return err
		}
		if r.take() {
			return nil
		}
	}
}

// leave makes room for another task.
func (r *room) leave() {
	r.queued.Add(-1) // (W30)
	r.next()
}

// next lets the first that waits try.
func (r *room) next() {
	r.mu.Lock()
	var l *latch
	if len(r.waiters) > 0 {
		l = r.waiters[0]
		r.waiters = slices.Delete(r.waiters, 0, 1)
	}
	r.mu.Unlock()
	if l != nil {
		l.release()
	}
}

func (r *room) forget(l *latch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.waiters, l); i >= 0 {
		r.waiters = slices.Delete(r.waiters, i, i+1)
	}
}

// leaveQueue makes room in a limited queue when a task was taken out of it.
func (p *Pool) leaveQueue() {
	if p.room != nil {
		p.room.leave()
	}
}
