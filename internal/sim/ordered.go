package sim

import (
	"github.com/filch-go/filch/internal/policy"
	prio "github.com/filch-go/filch/internal/queue"
	"github.com/filch-go/filch/internal/sim/random"
	"github.com/filch-go/filch/steal"
)

// ordered is the queue of package ordered: a global one, and one for each worker, by priority, those of one
// priority first in, first out. A worker's own queue holds policy.OwnQueue threads; when one more comes, the
// worse half of them moves to the global queue, and the newcomer after it. A worker goes on with its own
// thread, else with the best of its own queue. If it has none, it steals, and if that finds nothing takes the
// best of the global queue. A thief takes half, rounded up, of those threads that have the victim's best
// priority. After policy.Every threads of its own a worker takes the best of the global queue, if there is one.
//
// A thief asks steal.Glance workers in a circle from a random start, each for one attempt, before it looks at
// the global queue. That look is free, and no attempt. A thread that begins while a better one waits in any
// queue is an inversion.
//
// The order of the source is that of the ordered work-steal queue of open-coroutine.
type ordered struct {
	raids
	byDepth bool
	// priority and depth are by ID.
	priority []int32
	depth    []int32
	own      []prio.Heap[ID]
	global   prio.Heap[ID]
	waiting  tally
	seekers  []seeker
	rest     [][]ID // by thief, what it has taken and does not begin
}

// seeker is what a worker remembers from one attempt to the next.
type seeker struct {
	turn  policy.Fairness
	thief steal.Thief
	look  steal.Look
	asked int // in this look
}

// The priorities that threads may have; see Config.Priority.
const (
	PriorityHash  = "hash"
	PriorityDepth = "depth"
)

// Priorities returns what Config.Priority may be. The first is the default.
func Priorities() []string { return []string{PriorityHash, PriorityDepth} }

// hashLevels is how many priorities there are by the hash.
const hashLevels = 64

func newOrdered(m *machine) (scheduler, error) {
	s := &ordered{
		raids: newRaids(m), byDepth: m.Priority == PriorityDepth,
		own: make([]prio.Heap[ID], m.Workers), seekers: make([]seeker, m.Workers), rest: make([][]ID, m.Workers),
	}
	for w := range s.seekers {
		s.seekers[w].thief = steal.RandomStart.Thief(m.Seed + uint64(w))
	}
	m.arrive = s.arrive
	return s, nil
}

func (s *ordered) enabled(w int32, cont, child ID) ID {
	if child != None {
		s.rank(child)
		s.queue(w, child)
	}
	if cont != None {
		return cont
	}
	return s.pop(w)
}

// rank gives a thread that was spawned its priority.
func (s *ordered) rank(id ID) {
	for len(s.priority) < len(s.threads) {
		s.priority, s.depth = append(s.priority, 0), append(s.depth, 0)
	}
	t := &s.threads[id]
	s.depth[id] = s.depth[t.parent] + 1
	if s.byDepth {
		s.priority[id] = max(0, priorities-1-s.depth[id])
	} else {
		s.priority[id] = int32(random.Mix(^t.Path) % hashLevels)
	}
}

// queue adds a thread to the queue of w, or to the global one if that is full.
func (s *ordered) queue(w int32, id ID) {
	own, to := &s.own[w], &s.own[w]
	if own.Len() == policy.OwnQueue {
		s.spill(own)
		to = &s.global
	}
	p := int(s.priority[id])
	to.Push(p, id)
	s.waiting.add(p)
	s.res.MaxDeque = max(s.res.MaxDeque, to.Len())
}

// spill moves the worse half of a full queue to the global one.
func (s *ordered) spill(own *prio.Heap[ID]) {
	var keep prio.Heap[ID]
	for own.Len() > policy.Spilled {
		keep.Push(own.Pop())
	}
	for own.Len() > 0 {
		s.global.Push(own.Pop())
	}
	*own = keep
}

// pop returns what w begins next without stealing, or None.
func (s *ordered) pop(w int32) ID {
	turn := &s.seekers[w].turn
	if turn.Due() {
		turn.Outside()
		if id := s.best(&s.global); id != None {
			return id
		}
	}
	id := s.best(&s.own[w])
	if id != None {
		turn.Own()
	}
	return id
}

// best removes and returns the best of a queue, to begin, or None.
func (s *ordered) best(from *prio.Heap[ID]) ID {
	if from.Len() == 0 {
		return None
	}
	p, id := from.Pop()
	s.waiting.remove(p)
	if s.waiting.best() < p {
		s.res.Inversions++
	}
	return id
}

func (s *ordered) seek(w int32) (ID, int64) {
	k := &s.seekers[w]
	if !s.waits(w) && k.asked == min(len(s.workers)-1, steal.Glance) {
		k.asked = 0
		if id := s.best(&s.global); id != None {
			return id, 0
		}
	}
	return s.look(w, s)
}

func (s *ordered) victim(w int32) int32 {
	k := &s.seekers[w]
	if k.asked == 0 {
		k.look.Begin(steal.Numbered(len(s.workers)), int(w), len(s.workers)-1)
		k.thief.Look(&k.look)
	}
	k.asked++
	v, _ := k.look.Next()
	return int32(v)
}

func (s *ordered) take(w, v int32) ID {
	from := &s.own[v]
	if from.Len() == 0 {
		return None
	}
	s.rest[w] = s.rest[w][:0]
	s.seekers[w].asked = 0
	p := from.Best()
	first := s.best(from)
	var same []ID
	for from.Len() > 0 && from.Best() == p {
		_, id := from.Pop()
		same = append(same, id)
	}
	more := (len(same)+2)/2 - 1
	for _, id := range same[:more] {
		s.waiting.remove(p)
		s.rest[w] = append(s.rest[w], id)
	}
	for i := len(same) - 1; i >= more; i-- {
		from.PushOldest(p, same[i])
	}
	return first
}

// arrive queues what w has taken besides what it begins.
func (s *ordered) arrive(w int32) {
	for _, id := range s.rest[w] {
		s.queue(w, id)
	}
}

// heap returns the queue of a worker, or the global one.
func (s *ordered) heap(w int32) *prio.Heap[ID] {
	if w == CommonQueue {
		return &s.global
	}
	return &s.own[w]
}

func (s *ordered) queued(w int32) int    { return s.heap(w).Len() }
func (s *ordered) nth(w int32, i int) ID { return s.heap(w).At(i) }
