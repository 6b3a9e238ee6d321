package queue

import "slices"

// Heap holds values by priority, those of one priority first in, first out, in a heap
// with four children to a node: it has half as many levels as one with two, and the
// children of a node are next to each other. The zero value is empty.
type Heap[T any] struct {
	items          []item[T]
	newest, oldest int64 // of those that were added so far
}

type item[T any] struct {
	priority int
	seq      int64
	v        T
}

func (a *item[T]) before(b *item[T]) bool {
	return a.priority < b.priority || a.priority == b.priority && a.seq < b.seq
}

// Len returns the number of values.
func (h *Heap[T]) Len() int { return len(h.items) }

// Best returns the best priority. There must be a value.
func (h *Heap[T]) Best() int { return h.items[0].priority }

// Peek returns the value that Pop would. There must be one.
func (h *Heap[T]) Peek() T { return h.items[0].v }

// At returns the value at place i of the heap: the one that Pop would return at 0, then the others in no order.
func (h *Heap[T]) At(i int) T { return h.items[i].v }

// Push adds v as the newest of its priority.
func (h *Heap[T]) Push(priority int, v T) {
	h.newest++
	h.up(item[T]{priority, h.newest, v})
}

// PushOldest adds v as the oldest of its priority.
func (h *Heap[T]) PushOldest(priority int, v T) {
	h.oldest--
	h.up(item[T]{priority, h.oldest, v})
}

// up adds it.
func (h *Heap[T]) up(it item[T]) {
	h.items = append(h.items, it)
	all, i := h.items, len(h.items)-1
	for i > 0 {
		parent := (i - 1) / 4
		if !it.before(&all[parent]) {
			break
		}
		all[i] = all[parent]
		i = parent
	}
	all[i] = it
}

// Pop removes and returns the oldest value of the best priority, and that. There must
// be one.
func (h *Heap[T]) Pop() (priority int, v T) {
	priority, v = h.items[0].priority, h.items[0].v
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items[last] = item[T]{}
	h.items = h.items[:last]
	h.down()
	if cap(h.items) > 64 && last < cap(h.items)/4 {
		h.items = append(make([]item[T], 0, cap(h.items)/2), h.items...)
	}
	return priority, v
}

// down restores the heap after its first value was replaced.
func (h *Heap[T]) down() {
	all := h.items
	if len(all) < 2 {
		return
	}
	it, i := all[0], 0
	for {
		c := 4*i + 1
		if c >= len(all) {
			break
		}
		for d := c + 1; d < min(4*i+5, len(all)); d++ {
			if all[d].before(&all[c]) {
				c = d
			}
		}
		if !all[c].before(&it) {
			break
		}
		all[i] = all[c]
		i = c
	}
	all[i] = it
}

// equal counts those from i down that have the priority of the first, up to most.
func (h *Heap[T]) equal(i, most int) (n int) {
	if most <= 0 || i >= len(h.items) || h.items[i].priority != h.items[0].priority {
		return 0
	}
	n = 1
	for c := 4*i + 1; c <= 4*i+4; c++ {
		n += h.equal(c, most-n)
	}
	return n
}

// crowded reports whether the second best priority is less than span from the best.
func (h *Heap[T]) crowded(span uint) bool {
	for i := 1; i < min(5, len(h.items)); i++ {
		if uint(h.items[i].priority-h.items[0].priority) < span {
			return true
		}
	}
	return false
}

// from counts the values of priority low and worse.
func (h *Heap[T]) from(low int) (n int) {
	for i := range h.items {
		if h.items[i].priority >= low {
			n++
		}
	}
	return n
}

// spill removes the k worst values, of those that are as bad the newest, and passes
// them on, those of one priority the oldest first. It returns k.
func (h *Heap[T]) spill(k int, to func(priority int, v T)) int {
	if k == 0 {
		return 0
	}
	slices.SortFunc(h.items, func(a, b item[T]) int { // which makes it no less a heap
		if a.before(&b) {
			return -1
		}
		return 1
	})
	left := len(h.items) - k
	for _, it := range h.items[left:] {
		to(it.priority, it.v)
	}
	clear(h.items[left:])
	h.items = h.items[:left]
	return k
}
