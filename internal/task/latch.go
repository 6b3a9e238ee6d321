package task

import (
	"context"
	"sync"

	"github.com/filch-go/filch/internal/line"
)

// Latch lets goroutines wait for its release.
type Latch struct {
	mu       sync.Mutex
	released bool
	ch       chan struct{}   // closed at the release; nil if not needed
	seats    line.Line[Seat] // of waiting tasks that have lent their place
	stop     func() bool     // called at the release, if not nil
}

// Release wakes all waiters. It takes the places of the tasks for them, so that a caller that is a worker learns at once that
// it is one too many. It reports whether a goroutine that is no task may wait.
func (l *Latch) Release() (answers bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	answers = l.ch != nil && !l.released && l.seats.Last() == nil
	for t := l.seats.Pop(); t != nil; t = l.seats.Pop() {
		t.Of.Reclaim()
	}
	if l.ch != nil && !l.released {
		close(l.ch)
	}
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
	l.released = true
	return answers
}

// Channel returns a channel that is closed at the release. Its first call before the release, or that of Begin, calls begin, and
// the release calls what that returned.
func (l *Latch) Channel(begin func() (stop func() bool)) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin(begin)
	return l.channel()
}

// Begin is Channel for a caller that does not wait.
func (l *Latch) Begin(begin func() (stop func() bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin(begin)
}

func (l *Latch) begin(begin func() (stop func() bool)) {
	if l.stop == nil && !l.released { // l.ch may be that of a Wait, which began nothing
		l.stop = begin()
	}
}

// channel returns a channel that is closed at the release. The caller holds the lock.
func (l *Latch) channel() <-chan struct{} {
	if l.ch == nil {
		l.ch = make(chan struct{})
		if l.released {
			close(l.ch)
		}
	}
	return l.ch
}

// Wait returns when l is released, or with an error when ctx ends. s is the seat of the waiting task, which lends its slot
// meanwhile. ready is called under the lock and reports whether there is nothing to wait for.
func (l *Latch) Wait(ctx context.Context, s Seat, ready func() bool) error {
	lent := s.Lend()
	l.mu.Lock()
	if l.released || ready() {
		l.mu.Unlock()
		if lent {
			s.Reclaim()
		}
		return nil
	}
	ch := l.channel()
	var entry line.Turn[Seat]
	if lent {
		entry.Of = s
		l.seats.Add(&entry)
		defer l.leave(&entry) // deferred, since a method of ctx may panic
	}
	l.mu.Unlock()
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// leave ends a wait: it takes a place for the task again, unless Release has done so.
func (l *Latch) leave(t *line.Turn[Seat]) {
	l.mu.Lock()
	waiting := l.seats.Remove(t)
	l.mu.Unlock()
	if waiting {
		t.Of.Reclaim()
	} else {
		t.Of.Worker.Engine.ReturnSeat() // the one for the waiting goroutine
	}
}

// waitFor waits until l is released or one of the contexts ends.
func (l *Latch) waitFor(ctx context.Context, s Seat, others []context.Context) error {
	for _, other := range others {
		defer context.AfterFunc(other, func() { l.Release() })()
	}
	err := l.Wait(ctx, s, func() bool { return false })
	for _, other := range others {
		if other.Err() != nil {
			err = context.Cause(other)
		}
	}
	return err
}
