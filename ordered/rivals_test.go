package ordered

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/queue"
)

// handle is how one goroutine uses a queue that is compared.
type handle interface {
	push(priority, v int)
	pop() (priority, v int, ok bool)
}

// rival is a queue that is compared. It makes handles for some goroutines, or nil if
// it is not for so many levels.
type rival struct {
	name string
	make func(goroutines, levels int) []handle
}

var rivals = []rival{
	{"ordered", func(n, _ int) []handle { return ofQueue(New[int](n, 0), n) }},
	{"ordered,batch=8", func(n, _ int) []handle { return ofQueue(New[int](n, 0, StealBatch(8)), n) }},
	{"ordered,strict", func(n, _ int) []handle { return ofQueue(New[int](n, 0, Strict()), n) }},
	{"mutex+container_heap", func(n, _ int) []handle { return same(&lockedHeap{}, n) }},
	{"mutex+4-ary", func(n, _ int) []handle { return same(&lockedLevels{}, n) }},
	{"channels", func(n, levels int) []handle {
		if levels > 256 {
			return nil
		}
		c := make(channels, levels)
		for i := range c {
			c[i] = make(chan int, 1<<14)
		}
		return same(c, n)
	}},
	{"multiqueue", newMultiQueue},
	{"smq", newSMQ},
}

func same(h handle, n int) []handle {
	all := make([]handle, n)
	for i := range all {
		all[i] = h
	}
	return all
}

type ofLocal struct{ *Local[int] }

func ofQueue(q *Queue[int], n int) []handle {
	all := make([]handle, n)
	for i := range all {
		all[i] = ofLocal{q.Local(i)}
	}
	return all
}

func (l ofLocal) push(priority, v int)            { l.Push(priority, v) }
func (l ofLocal) pop() (priority, v int, ok bool) { return l.Next() }

// lockedHeap is what people write first.
type lockedHeap struct {
	mu sync.Mutex
	h  entries
}

type entry struct{ priority, id int }

type entries []entry

func (h entries) Len() int           { return len(h) }
func (h entries) Less(i, j int) bool { return h[i].priority < h[j].priority }
func (h entries) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *entries) Push(x any)        { *h = append(*h, x.(entry)) }
func (h *entries) Pop() any {
	n := len(*h) - 1
	x := (*h)[n]
	*h = (*h)[:n]
	return x
}

func (q *lockedHeap) push(priority, v int) {
	q.mu.Lock()
	heap.Push(&q.h, entry{priority, v})
	q.mu.Unlock()
}

func (q *lockedHeap) pop() (priority, v int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.h) == 0 {
		return 0, 0, false
	}
	e := heap.Pop(&q.h).(entry)
	return e.priority, e.id, true
}

// lockedLevels is a heap of this package, without its window, and a lock.
type lockedLevels struct {
	mu sync.Mutex
	fourAry
}

// fourAry is the heap without the window.
type fourAry struct{ h queue.Heap[int] }

func (h *fourAry) add(priority, v int) { h.h.Push(priority, v) }

func (h *fourAry) take() (priority, v int, ok bool) {
	if h.h.Len() == 0 {
		return 0, 0, false
	}
	priority, v = h.h.Pop()
	return priority, v, true
}

func (h *fourAry) top() int {
	if h.h.Len() == 0 {
		return math.MaxInt
	}
	return h.h.Best()
}

func (q *lockedLevels) push(priority, v int) {
	q.mu.Lock()
	q.add(priority, v)
	q.mu.Unlock()
}

func (q *lockedLevels) pop() (priority, v int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.take()
}

// channels has one for each level.
type channels []chan int

func (c channels) push(priority, v int) { c[priority] <- v }

func (c channels) pop() (priority, v int, ok bool) {
	for i := range c {
		if len(c[i]) > 0 {
			select {
			case v = <-c[i]:
				return i, v, true
			default:
			}
		}
	}
	return 0, 0, false
}

// multiQueue is two heaps for each goroutine; a push goes to any, a pop looks at two
// and takes from the better one (Rihani, Sanders, Dementiev, "MultiQueues", SPAA
// 2015).
type multiQueue struct {
	all []multiHeap
	r   *rand.Rand
}

type multiHeap struct {
	mu   sync.Mutex
	best atomic.Int64
	fourAry
	_ [line]byte
}

func newMultiQueue(n, _ int) []handle {
	all := make([]multiHeap, 2*n)
	for i := range all {
		all[i].best.Store(math.MaxInt64)
	}
	hs := make([]handle, n)
	for i := range hs {
		hs[i] = &multiQueue{all, rand.New(rand.NewPCG(uint64(i), 1))}
	}
	return hs
}

func (q *multiQueue) push(priority, v int) {
	for {
		h := &q.all[q.r.IntN(len(q.all))]
		if h.mu.TryLock() {
			h.add(priority, v)
			h.best.Store(int64(h.top()))
			h.mu.Unlock()
			return
		}
	}
}

func (q *multiQueue) pop() (priority, v int, ok bool) {
	for tries := 0; tries < 4*len(q.all); tries++ {
		h := &q.all[q.r.IntN(len(q.all))]
		if g := &q.all[q.r.IntN(len(q.all))]; g.best.Load() < h.best.Load() {
			h = g
		}
		if h.best.Load() == math.MaxInt64 || !h.mu.TryLock() {
			continue
		}
		priority, v, ok = h.take()
		h.best.Store(int64(h.top()))
		h.mu.Unlock()
		if ok {
			return priority, v, true
		}
	}
	return 0, 0, false
}

// smq is a heap for each goroutine and a buffer with its best for others to steal, as
// a whole (Postnikova, Koval, Nadiradze, Alistarh, "Multi-Queues can be
// state-of-the-art priority schedulers", PPoPP 2022), which are tried now and then.
type smq struct {
	all  []*smq
	self int
	r    *rand.Rand
	fourAry
	stolen []entry // the best first
	_      [line]byte
	state  atomic.Uint64 // rounds of the buffer, and whether it is taken
	buffer [smqBatch]struct{ priority, v atomic.Int64 }
	_      [line]byte
}

const (
	smqBatch = 4
	smqEvery = 8 // pops, one of which looks at another
)

func newSMQ(n, _ int) []handle {
	all := make([]*smq, n)
	hs := make([]handle, n)
	for i := range all {
		all[i] = &smq{all: all, self: i, r: rand.New(rand.NewPCG(uint64(i), 1))}
		all[i].state.Store(1)
		hs[i] = all[i]
	}
	return hs
}

func (q *smq) push(priority, v int) {
	q.add(priority, v)
	q.offer()
}

// offer sees to it that others can take something.
func (q *smq) offer() {
	if q.state.Load()&1 != 0 {
		q.refill()
	}
}

// refill fills the buffer, which is taken.
func (q *smq) refill() {
	for i := range q.buffer {
		priority, v, ok := q.take()
		if !ok {
			priority, v = math.MaxInt, -1
		}
		q.buffer[i].priority.Store(int64(priority))
		q.buffer[i].v.Store(int64(v))
	}
	if q.buffer[0].v.Load() >= 0 {
		q.state.Store(q.state.Load() + 1)
	}
}

// claim takes the buffer of q for the caller, best first, if its best is better.
func (q *smq) claim(better int, to []entry) []entry {
	s := q.state.Load()
	if s&1 != 0 || int(q.buffer[0].priority.Load()) >= better {
		return to
	}
	n := len(to)
	for i := range q.buffer {
		if e := (entry{int(q.buffer[i].priority.Load()), int(q.buffer[i].v.Load())}); e.id >= 0 {
			to = append(to, e)
		}
	}
	if !q.state.CompareAndSwap(s, s+1) {
		return to[:n]
	}
	return to
}

func (q *smq) pop() (priority, v int, ok bool) {
	if len(q.stolen) > 0 {
		e := q.stolen[0]
		q.stolen = q.stolen[1:]
		return e.priority, e.id, true
	}
	q.stolen = q.stolen[:0]
	if len(q.all) > 1 && q.r.IntN(smqEvery) == 0 {
		if other := q.all[q.r.IntN(len(q.all))]; other != q {
			q.stolen = other.claim(q.top(), q.stolen)
		}
	}
	for tries := 0; len(q.stolen) == 0 && tries < 2*len(q.all); tries++ {
		if q.state.Load()&1 != 0 {
			q.refill()
		}
		if mine := int(q.buffer[0].priority.Load()); q.state.Load()&1 == 0 && mine <= q.top() {
			q.stolen = q.claim(math.MaxInt, q.stolen)
		} else if priority, v, ok = q.take(); ok {
			return priority, v, true
		}
		if len(q.stolen) == 0 {
			q.stolen = q.all[q.r.IntN(len(q.all))].claim(math.MaxInt, q.stolen)
		}
	}
	if len(q.stolen) == 0 {
		return 0, 0, false
	}
	return q.pop()
}
