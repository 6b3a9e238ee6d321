package sim

// sharing is work sharing: a spawned thread is sent to a worker chosen at random, the spawner included, at once
// and without cost. A worker goes on with its own thread, then with the newest in its queue, and sleeps when
// there is none: nothing is stolen. So threads migrate although all workers are busy, which work stealing
// avoids (Blumofe and Leiserson, JACM 1999, section 1).
//
// To send each node of a tree to a random processor is the rule of branch-and-bound by Karp and Zhang, "Randomized
// parallel algorithms for backtrack search and branch-and-bound computation" (JACM 1993). There n nodes in a tree
// of height h take O(n/P + h) steps with high probability. Their nodes, unlike threads, do not wait for those below
// them; see TestSharingIsAsFastAsItsBound for what that makes of the bound here.
type sharing struct {
	sleepers
}

func newSharing(m *machine) (scheduler, error) {
	return &sharing{newSleepers(m)}, nil
}

func (s *sharing) enabled(w int32, cont, child ID) ID {
	if child != None {
		v := int32(s.below(len(s.workers)))
		s.push(v, child)
		if s.has(v) {
			s.rouse(v)
		}
	}
	if cont != None {
		return cont
	}
	return s.deques[w].pop()
}

func (s *sharing) seek(w int32) (ID, int64) {
	id := s.deques[w].pop()
	if id == None {
		s.add(w)
		return None, Never
	}
	return id, 0
}
