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
func (s *stealing) take(w, v int32) ID       { return s.steal(v) }

// bounds holds continuation stealing to its bounds. No more threads are alive than S1 for each worker (Blumofe and
// Leiserson, JACM 1999). And workers with caches of C blocks miss at most M1 + 2C times the steals (Acar, Blelloch and
// Blumofe, "The Data Locality of Work Stealing", Theory of Computing Systems, 2002): only after a steal, and after a join
// of what was stolen, does a worker run a node after another one than in the serial order, and such a node finds at
// most C blocks missing that were there.
func (s *stealing) bounds() error {
	if s.parentFirst {
		return nil
	}
	if most := int64(s.facts.Live) * int64(s.Workers); int64(s.res.MaxLive) > most {
		return s.fail("%d threads were alive, more than the %d of one worker times %d", s.res.MaxLive, s.facts.Live, s.Workers)
	}
	if most := s.res.mostMisses(s.Cache); s.res.Misses > most {
		return s.fail("the caches missed %d times, more than the %d of one worker and 2*%d for each of %d steals", s.res.Misses, s.res.M1, s.Cache, s.res.Steals)
	}
	return nil
}
