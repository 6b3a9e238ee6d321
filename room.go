package filch

import (
	"context"

	"github.com/filch-go/filch/internal/line"
)

const (
	oneLeft = 1 << 40
	maxRoom = oneLeft - 1
)

// take takes room for a task, if there is some.
func (r *room) take() bool {
	for {
		v := r.word.Load()
		if !r.fits(v) {
			return false
		}
		if r.word.CompareAndSwap(v, v+1) {
			return true
		}
	}
}

// fits reports whether there is room for one more than in v.
func (r *room) fits(v uint64) bool {
	n := int64(v & maxRoom)
	if r.idle != nil {
		n -= int64(r.idle()) // (R31)
	}
	return n < r.limit // the sum of limit and idle places might overflow
}

// wait takes room when there is some. It gives up when ctx ends, or another of the
// contexts does.
func (r *room) wait(ctx context.Context, others ...context.Context) error {
	t := &line.Turn[*latch]{}
	stand := r.line.Add
	for {
		t.Of = &latch{}
		r.mu.Lock()
		stand(t)
		r.mu.Unlock()
		if r.take() { // (R30) room that was made before t stood in line
			if r.forget(t) || r.fits(r.word.Load()) {
				r.next()
			}
			return nil
		}
		if err := r.waitForTurn(t, ctx, others); err != nil {
			return err
		}
		stand = r.line.AddFirst
	}
}

// waitForTurn waits until it is t's turn. If it gives up, or a method of ctx panics, t
// leaves the line, and passes on a turn that has come meanwhile.
func (r *room) waitForTurn(t *line.Turn[*latch], ctx context.Context, others []context.Context) (err error) {
	came := false
	defer func() {
		if !came && r.forget(t) {
			r.next()
		}
	}()
	err = t.Of.waitFor(ctx, others)
	came = err == nil
	return err
}

// waitFor waits until l is released or one of the contexts ends.
func (l *latch) waitFor(ctx context.Context, others []context.Context) error {
	for _, other := range others {
		defer context.AfterFunc(other, l.release)()
	}
	err := l.wait(ctx, func() bool { return false })
	for _, other := range others {
		if other.Err() != nil {
			err = context.Cause(other)
		}
	}
	return err
}

// leave makes room for another task.
func (r *room) leave() {
	r.word.Add(oneLeft - 1) // (W30) one less, which carries into those that have left
	r.next()
}

// next gives the first in line its turn.
func (r *room) next() {
	r.mu.Lock()
	t := r.line.Pop()
	r.mu.Unlock()
	if t != nil {
		t.Of.release()
	}
}

// forget takes t out of the line, and reports whether it has had its turn already.
func (r *room) forget(t *line.Turn[*latch]) (late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.line.Remove(t)
}

// takers returns how many places could take a queued task at once.
func (p *Pool) takers() int {
	if p.paused.Load() {
		return 0
	}
	return max(0, p.engine.Idlers())
}

// leaveSlot gives back the slot of a task that ran, or would have run, in s.
func (p *Pool) leaveSlot(s seat) {
	if p.slots != nil && s.slots&poolSlot == 0 {
		p.slots.leave()
	}
}
