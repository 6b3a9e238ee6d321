package sim

// central has one queue for all workers, first in, first out. A worker goes on with its own thread, else with the
// oldest of the queue. Without a cost no worker is idle while a thread is ready; see greedy.
//
// With Config.CentralCost the queue has a lock: each push and each pop holds it for so many steps, and they
// wait for each other in the order in which they ask for it. A worker is idle while it waits and while it has
// the lock. Then one worker takes more than the work.
type central struct {
	sleepers
	queue    deque
	unlocked int64     // when all that have asked for the lock have had it
	pushes   []pushing // by worker; nil without a cost
}

// pushing is what a worker goes on with after its push, or None, and when.
type pushing struct {
	cont ID
	at   int64
}

func newCentral(m *machine) (scheduler, error) {
	s := &central{sleepers: newSleepers(m)}
	if m.CentralCost > 0 {
		s.pushes = make([]pushing, m.Workers)
	}
	return s, nil
}

func (s *central) enabled(w int32, cont, child ID) ID {
	if child != None {
		s.queue.push(child)
		s.res.MaxDeque = max(s.res.MaxDeque, int(s.queue.size))
		s.rouseOne()
	}
	if s.pushes == nil {
		if cont == None {
			return s.queue.steal()
		}
		return cont
	}
	if child == None {
		return cont
	}
	s.pushes[w] = pushing{cont, s.lock()}
	return None // the push takes its time
}

// lock queues for the lock, and returns when the next that has asked for it has had it.
func (s *central) lock() (at int64) {
	s.unlocked = max(s.unlocked, s.wheel.Now) + s.CentralCost
	return s.unlocked
}

func (s *central) bounds() error {
	if s.pushes != nil {
		return nil
	}
	return s.greedy()
}

func (s *central) seek(w int32) (ID, int64) {
	if s.pushes != nil && s.pushes[w].cont != None {
		p := s.pushes[w]
		s.pushes[w] = pushing{}
		return p.cont, p.at - s.wheel.Now
	}
	found := s.attempt(w, -1, s.queue.steal())
	if found == None {
		s.add(w)
		return None, Never
	}
	if s.pushes == nil {
		return found, 0
	}
	return found, s.lock() - s.wheel.Now
}

func (s *central) queued(w int32) int {
	if w == CommonQueue {
		return int(s.queue.size)
	}
	return 0
}

func (s *central) nth(_ int32, i int) ID { return s.queue.at(i) }
