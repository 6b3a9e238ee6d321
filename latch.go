package filch

import (
	"context"

	"github.com/filch-go/filch/internal/line"
)

// release lets all go on that wait. It takes the places of the tasks for them,
// so that the caller, if it is a worker, knows at once that it is one too many.
func (l *latch) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for t := l.tasks.Pop(); t != nil; t = l.tasks.Pop() {
		t.Of.reclaim()
	}
	if l.ch != nil && !l.released {
		close(l.ch)
	}
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
	l.released = true
}

// channel returns a channel that is closed at the release. The caller holds the
// lock.
func (l *latch) channel() <-chan struct{} {
	if l.ch == nil {
		l.ch = make(chan struct{})
		if l.released {
			close(l.ch)
		}
	}
	return l.ch
}

// wait returns when l is released, or with an error when ctx ends. ready is
// called under the lock and tells whether there is nothing to wait for.
func (l *latch) wait(ctx context.Context, ready func() bool) error {
	t := taskOf(ctx)
	lent := t != nil && t.lend()
	l.mu.Lock()
	if l.released || ready() {
		l.mu.Unlock()
		if lent {
			t.reclaim()
		}
		return nil
	}
	ch := l.channel()
	var entry line.Turn[*taskContext]
	if lent {
		entry.Of = t
		l.tasks.Add(&entry)
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

// leave ends a wait: it takes a place for the task again, unless release has done so.
func (l *latch) leave(t *line.Turn[*taskContext]) {
	l.mu.Lock()
	waiting := l.tasks.Remove(t)
	l.mu.Unlock()
	if waiting {
		t.Of.reclaim()
	}
}
