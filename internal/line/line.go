// Package line is a line of what waits.
package line

import "iter"

// A Line is a list of what waits. Each may leave it at any time, in constant time, however
// long it is. It needs a lock of those that use it. The zero Line is empty.
type Line[T any] struct {
	first, last *Turn[T]
}

// A Turn is an entry of a Line, or of none.
type Turn[T any] struct {
	Of         T // what waits
	prev, next *Turn[T]
	in         bool
}

// Add puts t at the end.
func (l *Line[T]) Add(t *Turn[T]) {
	t.in, t.prev = true, l.last
	if l.last == nil {
		l.first = t
	} else {
		l.last.next = t
	}
	l.last = t
}

// AddFirst puts t at the front.
func (l *Line[T]) AddFirst(t *Turn[T]) {
	t.in, t.next = true, l.first
	if l.first == nil {
		l.last = t
	} else {
		l.first.prev = t
	}
	l.first = t
}

// Remove takes t out, and reports whether it was in the line.
func (l *Line[T]) Remove(t *Turn[T]) bool {
	if !t.in {
		return false
	}
	if t.prev == nil {
		l.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		l.last = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.in, t.prev, t.next = false, nil, nil
	return true
}

// Pop takes out the first, if there is one.
func (l *Line[T]) Pop() *Turn[T] {
	t := l.first
	if t != nil {
		l.Remove(t)
	}
	return t
}

// Last returns what came last, or is nil if there is none.
func (l *Line[T]) Last() *Turn[T] { return l.last }

// All returns what waits, the first first.
func (l *Line[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for t := l.first; t != nil && yield(t.Of); t = t.next {
		}
	}
}
