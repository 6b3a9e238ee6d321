package filch

// A line is a list of what waits. Each may leave it at any time, in constant time,
// however long it is. It needs a lock of those that use it.
type line[T any] struct {
	first, last *turn[T]
}

// A turn is an entry of a line, or of none.
type turn[T any] struct {
	of         T
	prev, next *turn[T]
	in         bool
}

// add puts t at the end.
func (l *line[T]) add(t *turn[T]) {
	t.in, t.prev = true, l.last
	if l.last == nil {
		l.first = t
	} else {
		l.last.next = t
	}
	l.last = t
}

// addFirst puts t at the front.
func (l *line[T]) addFirst(t *turn[T]) {
	t.in, t.next = true, l.first
	if l.first == nil {
		l.last = t
	} else {
		l.first.prev = t
	}
	l.first = t
}

// remove takes t out, and reports whether it was in the line.
func (l *line[T]) remove(t *turn[T]) bool {
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

// pop takes out the first, if there is one.
func (l *line[T]) pop() *turn[T] {
	t := l.first
	if t != nil {
		l.remove(t)
	}
	return t
}
