package sim

// sleepers are the workers that have nothing to do until there is something in a common queue. The zero place
// is that of workers that do not sleep.
type sleepers struct {
	*machine
	ids   []int32
	place []int32 // by worker, in ids, plus 1
}

func newSleepers(m *machine) sleepers { return sleepers{machine: m, place: make([]int32, m.Workers)} }

func (s *sleepers) add(w int32) {
	s.ids = append(s.ids, w)
	s.place[w] = int32(len(s.ids))
}

func (s *sleepers) has(w int32) bool { return s.place[w] > 0 }

// rouse wakes w, which sleeps.
func (s *sleepers) rouse(w int32) {
	last := len(s.ids) - 1
	moved := s.ids[last]
	s.ids[s.place[w]-1], s.place[moved] = moved, s.place[w]
	s.ids, s.place[w] = s.ids[:last], 0
	s.wake(w)
}

// greedy holds a run to the bound of schedulers that let no worker be idle while a thread is ready: T is at most
// T1/P + Tinf*(P-1)/P (Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics,
// 1969; Brent, JACM 1974). Under a kernel workers without a processor are no mistake.
func (s *sleepers) greedy() error {
	r, p := &s.res, int64(s.Workers)
	if s.procs == nil && p*r.Time > r.T1+(p-1)*r.Tinf {
		return s.fail("it took %d steps, more than a scheduler takes that lets no worker be idle", r.Time)
	}
	return nil
}

// rouseOne wakes the last that fell asleep, if any sleeps.
func (s *sleepers) rouseOne() {
	if n := len(s.ids); n > 0 {
		s.rouse(s.ids[n-1])
	}
}
