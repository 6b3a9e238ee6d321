package sim

import "slices"

// depthFirst is the parallel depth-first scheduler: at each step the free workers begin those ready threads
// that are leftmost in the serial order, in which one worker would run them, children first. It needs to see
// all that is ready at each step, which costs nothing here. A worker goes on with its own thread if that is
// among them; the others get what is left from left to right.
//
// After Blelloch, Gibbons and Matias, "Provably efficient scheduling for languages with fine-grained
// parallelism" (JACM 1999), and Narlikar and Blelloch, "Space-efficient scheduling of nested parallelism"
// (TOPLAS 1999), where an ordered list of threads stands for the serial order as it does here: on unit nodes T
// is at most T1/P + Tinf, since no worker is idle while a thread is ready, and less than S1 + P*Tinf threads
// are alive. A node that has begun is not interrupted: with nodes of more than one step the first bound holds,
// the second may not.
type depthFirst struct {
	sleepers
	order serialOrder
	ready []ID // a heap, the leftmost first
	free  int  // workers that have ended something at this step, and seek when all have
	hands []ID // by worker: what it has been dealt and has not begun
	rest  []ID // what has been dealt to no worker in particular, the rightmost first
}

func newDepthFirst(m *machine) (scheduler, error) {
	return &depthFirst{sleepers: newSleepers(m), hands: make([]ID, m.Workers)}, nil
}

func (s *depthFirst) enabled(w int32, cont, child ID) ID {
	s.free++
	if child != None {
		if s.order.has(child) { // another, which has ended
			s.order.remove(child)
		}
		parent := s.threads[child].parent
		if !s.order.has(parent) { // the first thread
			s.order.add(parent, None)
		}
		s.order.add(child, parent)
		s.insert(child)
	}
	if cont != None {
		if !s.order.has(cont) { // the first thread
			s.order.add(cont, None)
		}
		s.insert(cont)
	}
	s.res.MaxDeque = max(s.res.MaxDeque, len(s.ready))
	return None
}

// bounds holds the run to the bounds of its papers.
func (s *depthFirst) bounds() error {
	if err := s.greedy(); err != nil {
		return err
	}
	if most := int64(s.facts.Live) + int64(s.Workers)*s.res.Tinf; s.procs == nil && s.facts.Unit && int64(s.res.MaxLive) >= most {
		return s.fail("%d threads were alive, not less than %d", s.res.MaxLive, most)
	}
	return nil
}

func (s *depthFirst) seek(w int32) (ID, int64) {
	if s.free > 0 {
		s.deal()
	}
	id := s.hands[w]
	if last := len(s.rest) - 1; id == None && last >= 0 {
		id, s.rest = s.rest[last], s.rest[:last]
	}
	if id == None {
		s.add(w)
		return None, Never
	}
	s.hands[w] = None
	return id, 0
}

// deal deals what is leftmost to the workers that are free, and wakes those that have not come by themselves.
func (s *depthFirst) deal() {
	come := s.free
	s.free = 0
	for range min(len(s.workers)-s.busy, len(s.ready)) {
		id := s.leftmost()
		w := s.threads[id].worker
		switch {
		case s.workers[w].runs != None || s.hands[w] != None:
			s.rest = append(s.rest, id)
			continue
		case s.has(w):
			s.rouse(w)
		default:
			come--
		}
		s.hands[w] = id
	}
	slices.Reverse(s.rest)
	for ; come < len(s.rest); come++ {
		s.rouseOne()
	}
}

// insert adds a thread to the heap.
func (s *depthFirst) insert(id ID) {
	s.ready = append(s.ready, id)
	i := len(s.ready) - 1
	for i > 0 && s.order.before(id, s.ready[(i-1)/2]) {
		s.ready[i] = s.ready[(i-1)/2]
		i = (i - 1) / 2
	}
	s.ready[i] = id
}

// leftmost removes the leftmost thread from the heap. There must be one.
func (s *depthFirst) leftmost() ID {
	first := s.ready[0]
	n := len(s.ready) - 1
	id := s.ready[n]
	s.ready = s.ready[:n]
	i := 0
	for c := 1; c < n; c = 2*i + 1 {
		if c+1 < n && s.order.before(s.ready[c+1], s.ready[c]) {
			c++
		}
		if s.order.before(id, s.ready[c]) {
			break
		}
		s.ready[i] = s.ready[c]
		i = c
	}
	if n > 0 {
		s.ready[i] = id
	}
	return first
}

func (s *depthFirst) queued(w int32) int {
	if w == CommonQueue {
		return len(s.ready)
	}
	return 0
}

func (s *depthFirst) nth(_ int32, i int) ID { return s.ready[i] }
