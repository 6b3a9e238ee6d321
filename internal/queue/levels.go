package queue

import (
	"math"
	"math/bits"
	"sync"
)

// The window is a range of priorities that have a list each. All others share a heap.
// It begins a little below the first priority, and moves on to where the others are
// when it is empty.
const (
	windowWords = 64
	windowSize  = 64 * windowWords
	windowBelow = 256
)

// Levels holds values by priority, those of one priority first in, first out.
// Memory is bounded by how many values there are. The zero value is empty.
type Levels[T any] struct {
	n int

	// The window. An empty list has no bit, a word without bits none either.
	low    int  // priority of the first list
	span   uint // so many lists are in use: what is from low+span on is in the heap
	words  uint64
	bits   [windowWords]uint64
	blocks [windowWords]*[64]level[T]
	keep   [4]*[64]level[T] // blocks that were given back, for others
	empty  int              // how many
	used   int              // parts of all lists
	spare  int              // parts that are free
	free   *part[T]         // the first of these
	Parts  *sync.Pool       // where parts are put that others may use, if not nil

	heap Heap[T] // what is outside
}

// level is a list of parts: the values of one priority.
type level[T any] struct {
	head, tail *part[T]
	n          int
}

// part holds the values of [lo, hi), at least one.
type part[T any] struct {
	next   *part[T]
	lo, hi int
	v      [partSize]T
}

// partSize is so large that links weigh little, and so small that a list with one
// value does.
const partSize = 8

// Len returns the number of values.
func (l *Levels[T]) Len() int { return l.n }

// Push adds v as the newest of its priority.
func (l *Levels[T]) Push(priority int, v T) {
	if l.n == 0 {
		l.move(priority)
	}
	l.n++
	l.add(priority, v)
}

// add puts a value that is counted where it belongs.
func (l *Levels[T]) add(priority int, v T) {
	at := uint(priority - l.low)
	if at >= l.span {
		l.heap.Push(priority, v)
		return
	}
	l.append(at, v)
}

// append adds v to a list.
func (l *Levels[T]) append(at uint, v T) {
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
}

// PushOldest adds v as the oldest of its priority.
func (l *Levels[T]) PushOldest(priority int, v T) {
	if l.n == 0 {
		l.move(priority)
	}
	l.n++
	at := uint(priority - l.low)
	if at >= l.span && (at >= windowSize || l.bits[at/64]>>(at%64)&1 == 0) {
		l.heap.PushOldest(priority, v)
		return
	}
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
}

// move moves the window, which is empty, to a priority and some below.
func (l *Levels[T]) move(priority int) {
	priority = (max(priority, math.MinInt+windowBelow) - windowBelow) &^ 63 // so that few neighbours are in different words
	l.low, l.span = min(priority, math.MaxInt-windowSize+1), windowSize
}

// followed is how many values move from the heap to the lists at a time, so that no caller waits
// for long.
var followed = 256

// follow moves the window to the best value of the heap, and what is there into its
// lists, if it is empty and there are others next to the best. If there are too many,
// the window ends before those that are left, with the oldest of their priority perhaps.
func (l *Levels[T]) follow() {
	if l.words != 0 || !l.heap.crowded(windowSize-windowBelow-64) {
		return
	}
	l.move(l.heap.Best())
	for n := 0; l.heap.Len() > 0; n++ {
		at := uint(l.heap.Best() - l.low)
		if at >= windowSize {
			return
		}
		if n == followed {
			l.span = at
			return
		}
		_, v := l.heap.Pop()
		l.append(at, v)
	}
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
		if l.empty--; l.empty >= 0 {
			l.blocks[word], l.keep[l.empty] = l.keep[l.empty], nil
		} else {
			l.blocks[word], l.empty = new([64]level[T]), 0
		}
	}
	l.bits[word] |= 1 << (at % 64)
	l.words |= 1 << word
	return &l.blocks[word][at%64]
}

// inHeap reports whether the best value is in the heap. There must be one.
func (l *Levels[T]) inHeap() bool {
	if l.heap.Len() == 0 {
		return false
	}
	l.follow()
	return l.words == 0 || l.heap.Len() > 0 && l.heap.Best() < l.low
}

// first returns which list is the best one of the window.
func (l *Levels[T]) first() uint {
	word := uint(bits.TrailingZeros64(l.words))
	return word*64 + uint(bits.TrailingZeros64(l.bits[word%windowWords]))
}

// Best returns the best priority. There must be a value.
func (l *Levels[T]) Best() int {
	if l.inHeap() {
		return l.heap.Best()
	}
	return l.low + int(l.first())
}

// Peek returns the value that Pop would. There must be one.
func (l *Levels[T]) Peek() T {
	if l.inHeap() {
		return l.heap.Peek()
	}
	at := l.first()
	p := l.blocks[at/64][at%64].head
	return p.v[p.lo]
}

// Bests returns how many values have the best priority, up to most; those that have not
// come from the heap into the window may not count. There must be a value.
// It takes O(most) outside of the window.
func (l *Levels[T]) Bests(most int) int {
	if l.inHeap() {
		return l.heap.equal(0, most)
	}
	at := l.first()
	return min(l.blocks[at/64][at%64].n, most)
}

// Pop removes and returns the oldest value of the best priority, and that. There
// must be one.
func (l *Levels[T]) Pop() (priority int, v T) {
	inHeap := l.inHeap() // which may move all, and counts on all being counted
	l.n--
	if inHeap {
		return l.heap.Pop()
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
	return l.low + int(at), v
}

// MoveBests moves the n oldest values of the best priority to another Levels, part by
// part where it can. There must be as many.
func (l *Levels[T]) MoveBests(n int, to *Levels[T]) {
	if n > 0 && !l.inHeap() {
		n -= l.moveParts(n, to)
	}
	for range n {
		to.Push(l.Pop())
	}
}

// moveParts moves up to n values of the best list, and returns how many.
func (l *Levels[T]) moveParts(n int, to *Levels[T]) (moved int) {
	at := l.first()
	from := &l.blocks[at/64][at%64]
	if to.n == 0 {
		to.low, to.span = l.low, windowSize
	}
	there := uint(l.low + int(at) - to.low)
	if there >= to.span {
		return 0
	}
	var last *part[T]
	parts := 0
	for p := from.head; p != nil && moved+p.hi-p.lo <= n; p = p.next {
		last = p
		moved += p.hi - p.lo
		parts++
	}
	if last == nil {
		return 0
	}
	list := to.list(there)
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
	return moved
}

// shorten counts n values less in the list at.
func (l *Levels[T]) shorten(list *level[T], at uint, n int) {
	if list.n -= n; list.n == 0 {
		list.head, list.tail = nil, nil
		if l.bits[at/64] &^= 1 << (at % 64); l.bits[at/64] == 0 {
			l.words &^= 1 << (at / 64)
			if l.empty < len(l.keep) {
				l.keep[l.empty] = l.blocks[at/64]
				l.empty++
			}
			l.blocks[at/64] = nil
		}
	}
}

// Spill removes the k worst values, of those that are as bad the newest, and
// passes them on, those of one priority the oldest first. There must be as many.
func (l *Levels[T]) Spill(k int, to func(priority int, v T)) {
	worse := min(k, l.heap.from(l.low)) // than the lists, or newer
	better := max(0, k-worse-(l.n-l.heap.Len()))
	l.n -= k
	for k -= worse + better; k > 0; k -= l.spillWindow(k, to) {
	}
	l.heap.spill(worse, to)
	l.heap.spill(better, to)
}

// spillWindow removes up to k values of the worst list, and returns how many.
func (l *Levels[T]) spillWindow(k int, to func(priority int, v T)) int {
	word := uint(bits.Len64(l.words) - 1)
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
			to(l.low+int(at), v)
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

// Place is how far a walk has come. The zero value is its beginning.
type Place struct {
	priority int // of the list
	seen     int // so many of its values
	heap     int // or, if all lists were seen, so many of those outside of the window
	begun    bool
}

// Walk calls f for about n of the values from a place on, in the order of priority at first, and
// then those outside of the window in any order. It reports whether there are more. In between,
// values may be pushed and popped: of those that move, some may be seen twice or not at all.
func (l *Levels[T]) Walk(at *Place, n int, f func(priority int, v T)) (more bool) {
	for word := 0; word < windowWords && at.heap == 0; word++ {
		for set := l.bits[word]; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			priority := l.low + word*64 + i
			if at.begun && priority < at.priority {
				continue
			}
			if !at.begun || priority > at.priority {
				*at = Place{priority: priority, begun: true}
			}
			if n -= l.blocks[word][i].walk(at, n, f); n <= 0 {
				return true
			}
		}
	}
	for ; at.heap < len(l.heap.items); at.heap++ {
		if n--; n < 0 {
			return true
		}
		it := &l.heap.items[at.heap]
		f(it.priority, it.v)
	}
	return false
}

// walk calls f for up to n values of the list that at is in, and returns how many.
func (list *level[T]) walk(at *Place, n int, f func(priority int, v T)) (walked int) {
	skip := at.seen
	for p := list.head; p != nil && walked < n; p = p.next {
		if skip >= p.hi-p.lo {
			skip -= p.hi - p.lo
			continue
		}
		for _, v := range p.v[p.lo+skip : p.hi] {
			f(at.priority, v)
			walked++
		}
		skip = 0
	}
	at.seen += walked
	return walked
}

// Oldest calls f for the oldest value of each priority in the window, and for all others.
func (l *Levels[T]) Oldest(f func(v T)) {
	for word, set := range l.bits {
		for ; set != 0; set &= set - 1 {
			p := l.blocks[word][bits.TrailingZeros64(set)].head
			f(p.v[p.lo])
		}
	}
	for i := range l.heap.items {
		f(l.heap.items[i].v)
	}
}
