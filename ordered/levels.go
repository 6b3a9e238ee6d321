package ordered

import "math/bits"

// The window is the range of priorities that have a list each: those that people
// choose by hand, about zero. All others share a heap.
const (
	windowLow   = -64
	windowWords = 8
	windowSize  = 64 * windowWords
)

// levels holds values by priority, those of one priority first in, first out.
// Memory is bounded by how many values there are.
type levels[T any] struct {
	n int

	// The window. An empty list has no bit, a word without bits none either.
	words  uint8
	bits   [windowWords]uint64
	blocks [windowWords]*[64]level
	nodes  []node[T] // of all lists
	free   int32     // a list of those that are not in use; 0 is none

	// What is outside, by priority and age: a heap with four children to a node.
	heap           []item[T]
	newest, oldest int64 // of those that were added so far
}

// level is a list: the values of one priority.
type level struct{ head, tail, n int32 }

type node[T any] struct {
	v    T
	next int32
}

type item[T any] struct {
	priority int
	seq      int64
	v        T
}

func (a *item[T]) before(b *item[T]) bool {
	return a.priority < b.priority || a.priority == b.priority && a.seq < b.seq
}

// push adds v as the newest of its priority.
func (l *levels[T]) push(priority int, v T) {
	l.n++
	if at := uint(priority - windowLow); at < windowSize {
		i := l.node(v)
		list := l.list(at)
		if list.n == 0 {
			list.head = i
		} else {
			l.nodes[list.tail].next = i
		}
		list.tail = i
		list.n++
		return
	}
	l.newest++
	l.pushHeap(item[T]{priority, l.newest, v})
}

// pushOldest adds v as the oldest of its priority.
func (l *levels[T]) pushOldest(priority int, v T) {
	l.n++
	if at := uint(priority - windowLow); at < windowSize {
		i := l.node(v)
		list := l.list(at)
		if list.n == 0 {
			list.tail = i
		} else {
			l.nodes[i].next = list.head
		}
		list.head = i
		list.n++
		return
	}
	l.oldest--
	l.pushHeap(item[T]{priority, l.oldest, v})
}

// node returns a node with v.
func (l *levels[T]) node(v T) int32 {
	if i := l.free; i != 0 {
		p := &l.nodes[i]
		l.free = p.next
		p.v, p.next = v, 0
		return i
	}
	if len(l.nodes) == 0 {
		l.nodes = append(l.nodes, node[T]{}) // 0 is none
	}
	l.nodes = append(l.nodes, node[T]{v: v})
	return int32(len(l.nodes) - 1)
}

// list returns a list of the window, which is about to have a value.
func (l *levels[T]) list(at uint) *level {
	word := at / 64
	if l.blocks[word] == nil {
		l.blocks[word] = new([64]level)
	}
	l.bits[word] |= 1 << (at % 64)
	l.words |= 1 << word
	return &l.blocks[word][at%64]
}

// inHeap reports whether the best value is in the heap. There must be one.
func (l *levels[T]) inHeap() bool {
	return l.words == 0 || len(l.heap) > 0 && l.heap[0].priority < windowLow
}

// first returns which list is the best one of the window.
func (l *levels[T]) first() uint {
	word := uint(bits.TrailingZeros8(l.words))
	return word*64 + uint(bits.TrailingZeros64(l.bits[word%windowWords]))
}

// best returns the best priority. There must be a value.
func (l *levels[T]) best() int {
	if l.inHeap() {
		return l.heap[0].priority
	}
	return windowLow + int(l.first())
}

// bests returns how many values have the best priority. There must be one.
func (l *levels[T]) bests() int {
	if !l.inHeap() {
		at := l.first()
		return int(l.blocks[at/64][at%64].n)
	}
	return l.equal(0)
}

// equal counts those in the heap from i down that have the priority of the first.
func (l *levels[T]) equal(i int) (n int) {
	if i >= len(l.heap) || l.heap[i].priority != l.heap[0].priority {
		return 0
	}
	n = 1
	for c := 4*i + 1; c <= 4*i+4; c++ {
		n += l.equal(c)
	}
	return n
}

// pop removes and returns the oldest value of the best priority, and that. There
// must be one.
func (l *levels[T]) pop() (priority int, v T) {
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
	i := list.head
	p := &l.nodes[i]
	v = p.v
	var zero T
	list.head = p.next
	p.v, p.next = zero, l.free
	l.free = i
	l.shorten(list, at, 1)
	if n := l.n - len(l.heap); len(l.nodes) > 64 && n < len(l.nodes)/4 {
		l.compact()
	}
	return windowLow + int(at), v
}

// shorten counts n values less in the list at.
func (l *levels[T]) shorten(list *level, at uint, n int32) {
	if list.n -= n; list.n == 0 {
		*list = level{}
		if l.bits[at/64] &^= 1 << (at % 64); l.bits[at/64] == 0 {
			l.words &^= 1 << (at / 64)
		}
	}
}

// compact moves all lists to new nodes, as few as they need.
func (l *levels[T]) compact() {
	nodes := make([]node[T], 1, 2+2*(l.n-len(l.heap)))
	for word := range windowWords {
		for set := l.bits[word]; set != 0; set &= set - 1 {
			list := &l.blocks[word][bits.TrailingZeros64(set)]
			i := list.head
			list.head = int32(len(nodes))
			for ; i != 0; i = l.nodes[i].next {
				nodes = append(nodes, node[T]{l.nodes[i].v, int32(len(nodes) + 1)})
			}
			list.tail = int32(len(nodes) - 1)
			nodes[list.tail].next = 0
		}
	}
	l.nodes, l.free = nodes, 0
}

// spill removes the k worst values, of those that are as bad the newest, and
// passes them on, those of one priority the oldest first. There must be as many.
func (l *levels[T]) spill(k int, to func(priority int, v T)) {
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
func (l *levels[T]) spillHeap(k int, to func(priority int, v T)) int {
	if k == 0 {
		return 0
	}
	sortItems(l.heap) // which makes it no less a heap
	left := len(l.heap) - k
	for _, it := range l.heap[left:] {
		to(it.priority, it.v)
	}
	clear(l.heap[left:])
	l.heap = l.heap[:left]
	return k
}

// spillWindow removes up to k values of the worst list, and returns how many.
func (l *levels[T]) spillWindow(k int, to func(priority int, v T)) int {
	word := uint(bits.Len8(l.words) - 1)
	at := word*64 + uint(bits.Len64(l.bits[word])-1)
	list := &l.blocks[word][at%64]
	k = min(k, int(list.n))
	last, i := int32(0), list.head
	for range int(list.n) - k { // these stay
		last, i = i, l.nodes[i].next
	}
	if last != 0 {
		l.nodes[last].next = 0
		list.tail = last
	}
	var zero T
	for i != 0 {
		p := &l.nodes[i]
		to(windowLow+int(at), p.v)
		next := p.next
		p.v, p.next = zero, l.free
		l.free, i = i, next
	}
	l.shorten(list, at, int32(k))
	return k
}

func (l *levels[T]) pushHeap(it item[T]) {
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
func (l *levels[T]) down() {
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
