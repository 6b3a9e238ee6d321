package sim

// bws is balanced work stealing (Ding, Wang, Gibbons and Zhang, "BWS: Balanced Work Stealing for Time-Sharing
// Multicores", EuroSys 2012), for programs that share a machine with others. Its idea is twofold: few thieves are
// awake, as many as find something; and a thief whose victim has work but no processor gives it its own, so that this
// stays with the program.
//
// The model: a thief tries random victims. If the victim has nothing to steal, but runs a thread and has lost its
// processor, it gets the thief's until the kernel takes that away. After sleepAfter attempts in vain, one after another,
// a thief sleeps, unless some queue has a thread. A thief that finds a thread, and leaves others in that queue, wakes up
// to two that sleep. A worker with threads in its queue wakes one when no thief is awake.
type bws struct {
	stealing
	vain     []int32 // attempts of each worker in vain, one after another
	sleepers []int32
	thieves  int   // workers that are awake and have nothing to do
	queued   int32 // threads in all queues
}

// sleepAfter is a choice of this model, as are the workers that are woken.
const sleepAfter = 16

func newBWS(m *machine) (scheduler, error) {
	n := len(m.workers)
	return &bws{stealing: stealing{raids: raids{machine: m}}, vain: make([]int32, n), thieves: n - 1}, nil
}

func (s *bws) enabled(w int32, cont, child ID) ID {
	had := s.deques[w].size
	next := s.stealing.enabled(w, cont, child)
	s.queued += s.deques[w].size - had
	switch {
	case next == None:
		s.thieves++
		s.vain[w] = 0
	case s.deques[w].size > 0 && s.thieves == 0:
		s.wakeOne(w)
	}
	return next
}

func (s *bws) seek(w int32) (ID, int64) {
	if len(s.workers) == 1 {
		return None, Never
	}
	v := s.other(w)
	found := s.attempt(w, v, s.deques[v].steal())
	if found != None {
		s.thieves--
		s.queued--
		for range min(2, s.deques[v].size) {
			s.wakeOne(w)
		}
		return found, s.StealCost
	}
	s.vain[w]++
	if s.workers[v].runs != None && s.preempted(v) {
		s.handOver(w, v)
	} else if s.vain[w] >= sleepAfter && s.queued == 0 {
		s.thieves--
		s.sleepers = append(s.sleepers, w)
		s.tell(Slept, w, none, None, 0)
		return None, Never
	}
	return None, s.StealCost
}

// wakeOne lets w wake the worker that fell asleep last.
func (s *bws) wakeOne(w int32) {
	n := len(s.sleepers)
	if n == 0 {
		return
	}
	v := s.sleepers[n-1]
	s.sleepers = s.sleepers[:n-1]
	s.thieves++
	s.vain[v] = 0
	s.tell(Woken, w, v, None, 0)
	s.wake(v)
}
