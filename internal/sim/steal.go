package sim

// stealing is randomized work stealing (Blumofe and Leiserson, JACM 1999): a worker goes on with its newest thread,
// and a thief takes the oldest of a random victim.
type stealing struct {
	raids
	parentFirst bool // child stealing: the spawned thread waits in the deque
}

func newChild(m *machine) (scheduler, error) {
	return &stealing{raids: newRaids(m), parentFirst: true}, nil
}

func newContinuation(m *machine) (scheduler, error) { return &stealing{raids: newRaids(m)}, nil }

func (s *stealing) enabled(w int32, cont, child ID) ID {
	switch {
	case child == None && cont == None:
		return s.deques[w].pop()
	case child == None:
		return cont
	case s.parentFirst:
		s.push(w, child)
		if cont == None { // the parent joins at once
			return s.deques[w].pop()
		}
		return cont
	case cont != None:
		s.push(w, cont)
	}
	return child
}

func (s *stealing) seek(w int32) (ID, int64) { return s.look(w, s) }
func (s *stealing) victim(w int32) int32     { return s.other(w) }
func (s *stealing) take(w, v int32) ID       { return s.deques[v].steal() }

// bounds holds continuation stealing to its bound: no more threads are alive than S1 for each worker (Blumofe and
// Leiserson, JACM 1999).
func (s *stealing) bounds() error {
	if most := s.facts.Live * s.Workers; !s.parentFirst && s.res.MaxLive > most {
		return s.fail("%d threads were alive, more than the %d of one worker times %d", s.res.MaxLive, s.facts.Live, s.Workers)
	}
	return nil
}
