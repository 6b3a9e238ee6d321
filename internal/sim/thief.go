package sim

// A thief is what a scheduler that steals decides. The rest is the same for all of them; see raids.
type thief interface {
	// victim returns the worker that w asks next. There are at least two workers.
	victim(w int32) int32
	// take removes what w takes from v, and returns what of that it begins first, or None if there is nothing. The
	// rest arrives with that; see machine.arrive.
	take(w, v int32) ID
}

// raids are the attempts to steal that are under way. A worker makes one at a time: its request is under way for as
// long as the latency to the victim is. The thief takes what it finds when the request arrives. The answer takes
// as long again, and StealCost more. Meanwhile the thief is idle, and no other finds what it has taken.
//
// That is after Gast, Khatiri, Trystram and Wagner, "A new analysis of work stealing with latency" (2018). Here a
// victim answers any number of requests at a time.
type raids struct {
	*machine
	asked []int32 // by worker: the victim to which its request is under way, plus 1, or 0; nil without latencies
}

func newRaids(m *machine) raids {
	m.far = m.Topology.distances()
	r := raids{machine: m}
	if m.far != nil {
		r.asked = make([]int32, m.Workers)
		m.forget = func(w int32) { r.asked[w] = 0 } // the answer finds no one
	}
	return r
}

// look lets w, which has nothing to run, make the next step of an attempt, as seek does.
func (s *raids) look(w int32, t thief) (found ID, after int64) {
	if len(s.workers) == 1 {
		return None, Never
	}
	if s.asked == nil {
		v := t.victim(w)
		return s.attempt(w, v, t.take(w, v)), s.StealCost
	}
	if s.asked[w] == 0 {
		v := t.victim(w)
		s.asked[w] = v + 1
		if l := s.far.latency(w, v); l > 0 {
			return None, l
		}
	}
	v := s.asked[w] - 1
	s.asked[w] = 0
	return s.attempt(w, v, t.take(w, v)), s.StealCost + s.far.latency(w, v)
}

// waits reports whether a request of w is under way.
func (s *raids) waits(w int32) bool { return s.asked != nil && s.asked[w] != 0 }
