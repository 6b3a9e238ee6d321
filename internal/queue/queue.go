// Package queue holds an unbounded double-ended queue, and one with priorities, for
// the use of one goroutine at a time.
package queue

import "sync"

// size is the number of values in a chunk: large enough that its links weigh
// nothing, small enough that a queue with little in it is small.
const size = 64

// Deque is a double-ended queue in a list of chunks: it grows without moving
// what it holds, and gives memory back chunk by chunk as it drains, but for
// one that it keeps. The zero value is empty.
type Deque[T any] struct {
	front, back *chunk[T] // nil if there is none yet
	spare       *chunk[T]
	n           int
	Chunks      *sync.Pool // where chunks are put that others may use, if not nil

	end     int     // base of the next chunk
	stamps  []stamp // by position, and by time
	stamped int     // end of the last
}

// chunk holds the values of [lo, hi). Their positions in the deque are from base on: no two
// chunks that it ever had share one, and they come in order.
type chunk[T any] struct {
	lo, hi     int
	base       int
	next, prev *chunk[T]
	v          [size]T
}

// Len returns the number of values.
func (d *Deque[T]) Len() int { return d.n }

// PushBack adds v at the back.
func (d *Deque[T]) PushBack(v T) {
	c := d.back
	if c == nil || c.hi == size {
		c = d.grow()
	}
	c.v[c.hi] = v
	c.hi++
	d.n++
}

// grow adds a chunk at the back.
func (d *Deque[T]) grow() *chunk[T] {
	c := d.spare
	d.spare = nil
	if c == nil && d.Chunks != nil {
		c, _ = d.Chunks.Get().(*chunk[T])
	}
	if c == nil {
		c = &chunk[T]{}
	}
	d.append(c)
	return c
}

// append adds c at the back.
func (d *Deque[T]) append(c *chunk[T]) {
	c.base = d.end
	d.end += size
	c.prev = d.back
	if d.back == nil {
		d.front = c
	} else {
		d.back.next = c
	}
	d.back = c
}

// MoveChunk moves the values of the chunk at the front to the back of to, and
// returns how many there were.
func (d *Deque[T]) MoveChunk(to *Deque[T]) int {
	c := d.front
	if c == nil {
		return 0
	}
	d.front = c.next
	if d.front == nil {
		d.back = nil
	} else {
		d.front.prev = nil
	}
	c.next = nil
	n := c.hi - c.lo
	d.n -= n
	to.prune()
	to.n += n
	base := c.base
	if to.append(c); d.stamped > 0 {
		d.moveStamps(c, base, to)
	}
	return n
}

// Back returns the value at the back, if there is one, and leaves it there.
func (d *Deque[T]) Back() (v T, ok bool) {
	if d.n == 0 {
		return v, false
	}
	return d.back.v[d.back.hi-1], true
}

// PopBack removes and returns the value at the back, if there is one.
func (d *Deque[T]) PopBack() (v T, ok bool) {
	if d.n == 0 {
		return v, false
	}
	v = d.back.v[d.back.hi-1]
	d.DropBack()
	return v, true
}

// DropBack removes the value at the back. There must be one.
func (d *Deque[T]) DropBack() {
	c := d.back
	c.hi--
	var zero T
	c.v[c.hi] = zero
	d.n--
	if end := c.base + c.hi; end < d.stamped {
		d.unstamp(end)
	}
	if c.lo == c.hi {
		d.back = c.prev
		d.drop(c)
	}
}

// PopFront removes and returns the value at the front, if there is one.
func (d *Deque[T]) PopFront() (v T, ok bool) {
	if d.n == 0 {
		return v, false
	}
	c := d.front
	v = c.v[c.lo]
	var zero T
	c.v[c.lo] = zero
	c.lo++
	d.n--
	if c.lo == c.hi {
		d.front = c.next
		d.drop(c)
	}
	return v, true
}

// drop unlinks c, which is empty and at an end.
func (d *Deque[T]) drop(c *chunk[T]) {
	switch {
	case d.front == nil || d.back == nil: // it was the only one
		d.front, d.back = nil, nil
	case c.prev == nil:
		d.front.prev = nil
	default:
		d.back.next = nil
	}
	c.lo, c.hi, c.next, c.prev = 0, 0, nil, nil
	if d.spare != nil && d.Chunks != nil {
		d.Chunks.Put(c)
		return
	}
	d.spare = c
}
