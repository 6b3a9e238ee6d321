package sim

// half is child stealing, but a thief takes half of the victim's deque, rounded up: the oldest. It begins the
// oldest of them; the others arrive in its deque with it.
//
// Stealing half is analysed by Berenbrink, Friedetzky and Goldberg, "The natural work-stealing algorithm is
// stable" (SIAM Journal on Computing, 2003), and has a deque by Hendler and Shavit, "Non-blocking steal-half
// work queues" (PODC 2002). By Tchiboukdjian, Gast and Trystram, "Decentralized list scheduling" (Annals of
// Operations Research, 2013), P workers need W/P + 3.65*log2 W steps for W unit tasks that one of them has at
// the start, expected, at most.
type half struct {
	stealing
	rest [][]ID // by thief, what it has taken and does not begin
}

func newHalf(m *machine) (scheduler, error) { return newHalfOf(m), nil }

func newHalfOf(m *machine) *half {
	s := &half{stealing: stealing{raids: newRaids(m), parentFirst: true}, rest: make([][]ID, m.Workers)}
	m.arrive = s.arrive
	return s
}

func (s *half) seek(w int32) (ID, int64) { return s.look(w, s) }

func (s *half) take(w, v int32) ID {
	first := s.steal(v)
	if first == None {
		return None
	}
	more := s.deques[v].size / 2
	if s.Tuning.Amount != (Amount{}) {
		more = int32(s.Tuning.Amount.of(int(s.deques[v].size)+1)) - 1
	}
	s.rest[w] = s.rest[w][:0]
	for range more {
		s.rest[w] = append(s.rest[w], s.steal(v))
	}
	return first
}

// arrive queues what w has taken besides what it begins.
func (s *half) arrive(w int32) {
	for _, id := range s.rest[w] {
		s.push(w, id)
	}
	s.rest[w] = s.rest[w][:0]
}
