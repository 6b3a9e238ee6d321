package queue

import (
	"math/bits"
	"slices"
	"sync"
)

// The window is the range of priorities that have a list each: those that people
// choose by hand, about zero. All others share a heap.
const (
	windowLow   = -64
	windowWords = 8
	windowSize  = 64 * windowWords
)

// Levels holds values by priority, those of one priority first in, first out.
// Memory is bounded by how many values there are. The zero value is empty.
type Levels[T any] struct {
	n int

	// The window. An empty list has no bit, a word without bits none either.
	words  uint8
	bits   [windowWords]uint64
	blocks [windowWords]*[64]level[T]
	used   int        // parts of all lists
	spare  int        // parts that are free
	free   *part[T]   // the first of these
	Parts  *sync.Pool // where parts are put that others may use, if not nil

	// What is outside, by priority and age: a heap with four children to a node.
	heap           []item[T]
	newest, oldest int64 // of those that were added so far
}

// level is a list of parts: the values of one priority.
type level[T any] struct {
	head, tail *part[T]
	n          int
}

// part holds the values of [lo, hi). All but the last of a list are full to the end.
type part[T any] struct {
	next   *part[T]
	lo, hi int
	v      [partSize]T
}

// partSize is so large that links weigh little, and so small that a list with one
// value does.
const partSize = 8

type item[T any] struct {
	priority int
	seq      int64
	v        T
}

func (a *item[T]) before(b *item[T]) bool {
	return a.priority < b.priority || a.priority == b.priority && a.seq < b.seq
}

// Len returns the number of values.
func (l *Levels[T]) Len() int { return l.n }

// Push adds v as the newest of its priority.
func (l *Levels[T]) Push(priority int, v T) {
	l.n++
	if at := uint(priority - windowLow); at < windowSize {
		list := l.list(at)
		p := list.tail
		if p == nil || p.hi == partSize {
			p = l.part()
			if list.tail == nil {
				list.head = p
			} else {
				list.tail.next = p
			}
			list.tail = p
		}
		p.v[p.hi] = v
		p.hi++
		list.n++
		return
	}
	l.newest++
	l.pushHeap(item[T]{priority, l.newest, v})
}

// PushOldest adds v as the oldest of its priority.
func (l *Levels[T]) PushOldest(priority int, v T) {
	l.n++
	if at := uint(priority - windowLow); at < windowSize {
		list := l.list(at)
		p := list.head
		if p == nil || p.lo == 0 {
			p = l.part()
			p.lo, p.hi = partSize, partSize
			p.next = list.head
			if list.tail == nil {
				list.tail = p
			}
			list.head = p
		}
		p.lo--
		p.v[p.lo] = v
		list.n++
		return
	}
	l.oldest--
	l.pushHeap(item[T]{priority, l.oldest, v})
}

// part returns an empty part.
func (l *Levels[T]) part() *part[T] {
	l.used++
	p := l.free
	if p == nil && l.Parts != nil {
		if p, _ = l.Parts.Get().(*part[T]); p != nil {
			return p
		}
	}
	if p == nil {
		return &part[T]{}
	}
	l.free = p.next
	l.spare--
	p.next = nil
	return p
}

// release takes back a part whose values are cleared.
func (l *Levels[T]) release(p *part[T]) {
	l.used--
	p.next, p.lo, p.hi = l.free, 0, 0
	l.free = p
	l.spare++
	l.trim()
}

// trim gives back parts that are free, unless they are few, or as many as are used.
func (l *Levels[T]) trim() {
	for l.spare > l.used+partSize {
		p := l.free
		l.free = p.next
		l.spare--
		if l.Parts != nil {
			p.next = nil
			l.Parts.Put(p)
		}
	}
}

// list returns a list of the window, which is about to have a value.
func (l *Levels[T]) list(at uint) *level[T] {
	word := at / 64
	if l.blocks[word] == nil {
		l.blocks[word] = new([64]level[T])
	}
	l.bits[word] |= 1 << (at % 64)
	l.words |= 1 << word
	return &l.blocks[word][at%64]
}

// inHeap reports whether the best value is in the heap. There must be one.
func (l *Levels[T]) inHeap() bool {
	return l.words == 0 || len(l.heap) > 0 && l.heap[0].priority < windowLow
}

// first returns which list is the best one of the window.
func (l *Levels[T]) first() uint {
	word := uint(bits.TrailingZeros8(l.words))
	return word*64 + uint(bits.TrailingZeros64(l.bits[word%windowWords]))
}

// Best returns the best priority. There must be a value.
func (l *Levels[T]) Best() int {
	if l.inHeap() {
		return l.heap[0].priority
	}
	return windowLow + int(l.first())
}

// Peek returns the value that Pop would. There must be one.
func (l *Levels[T]) Peek() T {
	if l.inHeap() {
		return l.heap[0].v
	}
	at := l.first()
	p := l.blocks[at/64][at%64].head
	return p.v[p.lo]
}

// Bests returns how many values have the best priority, up to most. There must be one.
// It takes O(most) outside of the window.
func (l *Levels[T]) Bests(most int) int {
	if !l.inHeap() {
		at := l.first()
		return min(l.blocks[at/64][at%64].n, most)
	}
	return l.equal(0, most)
}

// equal counts those in the heap from i down that have the priority of the first, up
// to most.
func (l *Levels[T]) equal(i, most int) (n int) {
	if most <= 0 || i >= len(l.heap) || l.heap[i].priority != l.heap[0].priority {
		return 0
	}
	n = 1
	for c := 4*i + 1; c <= 4*i+4; c++ {
		n += l.equal(c, most-n)
	}
	return n
}

// Pop removes and returns the oldest value of the best priority, and that. There
// must be one.
func (l *Levels[T]) Pop() (priority int, v T) {
	l.n--
	if l.inHeap() {
		priority, v = l.heap[0].priority, l.heap[0].v
		last := len(l.heap) - 1
		l.heap[0] = l.heap[last]
		l.heap[last] = item[T]{}
		l.heap = l.heap[:last]
		l.down()
		if cap(l.heap) > 64 && last < cap(l.heap)/4 {
			l.heap = append(make([]item[T], 0, cap(l.heap)/2), l.heap...)
		}
		return priority, v
	}
	at := l.first()
	list := &l.blocks[at/64][at%64]
	p := list.head
	v = p.v[p.lo]
	var zero T
	p.v[p.lo] = zero
	if p.lo++; p.lo == p.hi {
		list.head = p.next
		l.release(p)
	}
	l.shorten(list, at, 1)
	return windowLow + int(at), v
}

// MoveBests moves the n oldest values of the best priority to another Levels, part by
// part where it can. There must be as many.
func (l *Levels[T]) MoveBests(n int, to *Levels[T]) {
	if n > 0 && !l.inHeap() {
		at := l.first()
		from, list := &l.blocks[at/64][at%64], to.list(at)
		if list.tail == nil || list.tail.hi == partSize {
			var last *part[T]
			moved, parts := 0, 0
			for p := from.head; p != nil && moved+p.hi-p.lo <= n; p = p.next {
				last = p
				moved += p.hi - p.lo
				parts++
			}
			if last != nil {
				if list.tail == nil {
					list.head = from.head
				} else {
					list.tail.next = from.head
				}
				from.head, list.tail = last.next, last
				last.next = nil
				list.n += moved
				to.n += moved
				to.used += parts
				l.n -= moved
				l.used -= parts
				l.shorten(from, at, moved)
				l.trim()
				n -= moved
			}
		}
	}
	for range n {
		to.Push(l.Pop())
	}
}

// shorten counts n values less in the list at.
func (l *Levels[T]) shorten(list *level[T], at uint, n int) {
	if list.n -= n; list.n == 0 {
		list.head, list.tail = nil, nil
		if l.bits[at/64] &^= 1 << (at % 64); l.bits[at/64] == 0 {
			l.words &^= 1 << (at / 64)
		}
	}
}

// Spill removes the k worst values, of those that are as bad the newest, and
// passes them on, those of one priority the oldest first. There must be as many.
func (l *Levels[T]) Spill(k int, to func(priority int, v T)) {
	l.n -= k
	beyond := 0 // worse than the window
	for i := range l.heap {
		if l.heap[i].priority >= windowLow {
			beyond++
		}
	}
	k -= l.spillHeap(min(k, beyond), to)
	for ; k > 0 && l.words != 0; k -= l.spillWindow(k, to) {
	}
	l.spillHeap(k, to)
}

// spillHeap removes the k worst values of the heap.
func (l *Levels[T]) spillHeap(k int, to func(priority int, v T)) int {
	if k == 0 {
		return 0
	}
	slices.SortFunc(l.heap, func(a, b item[T]) int { // which makes it no less a heap
		if a.before(&b) {
			return -1
		}
		return 1
	})
	left := len(l.heap) - k
	for _, it := range l.heap[left:] {
		to(it.priority, it.v)
	}
	clear(l.heap[left:])
	l.heap = l.heap[:left]
	return k
}

// spillWindow removes up to k values of the worst list, and returns how many.
func (l *Levels[T]) spillWindow(k int, to func(priority int, v T)) int {
	word := uint(bits.Len8(l.words) - 1)
	at := word*64 + uint(bits.Len64(l.bits[word])-1)
	list := &l.blocks[word][at%64]
	k = min(k, list.n)
	stay := list.n - k
	last, p := (*part[T])(nil), list.head
	for ; stay >= p.hi-p.lo; last, p = p, p.next {
		stay -= p.hi - p.lo
	}
	for i := p.lo + stay; p != nil; {
		next := p.next
		for _, v := range p.v[i:p.hi] {
			to(windowLow+int(at), v)
		}
		clear(p.v[i:p.hi])
		if i > p.lo {
			p.hi, last = i, p
		} else {
			l.release(p)
		}
		if p = next; p != nil {
			i = p.lo
		}
	}
	if list.tail = last; last != nil {
		last.next = nil
	}
	l.shorten(list, at, k)
	return k
}

func (l *Levels[T]) pushHeap(it item[T]) {
	l.heap = append(l.heap, it)
	h, i := l.heap, len(l.heap)-1
	for i > 0 {
		parent := (i - 1) / 4
		if !it.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = it
}

// down restores the heap after its first value was replaced.
func (l *Levels[T]) down() {
	h := l.heap
	if len(h) < 2 {
		return
	}
	it, i := h[0], 0
	for {
		c := 4*i + 1
		if c >= len(h) {
			break
		}
		for d := c + 1; d < min(4*i+5, len(h)); d++ {
			if h[d].before(&h[c]) {
				c = d
			}
		}
		if !h[c].before(&it) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = it
}
