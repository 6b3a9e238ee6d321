package sim

// abp is the work stealer of Arora, Blumofe and Plaxton ("Thread Scheduling for Multiprogrammed Multiprocessors",
// SPAA 1998; Theory of Computing Systems, 2001). A worker that has nothing to do yields before each attempt to steal.
//
// The paper expects a time of O(T1/PA + Tinf*P/PA), whatever the kernel does, if thieves yield to
//
//	none    and the kernel is dedicated, or decides how many workers have a processor but not which: benign
//	random  and the kernel decides both, but before the run: oblivious
//	all     and the kernel decides both while it sees the run: adaptive
type abp struct {
	stealing
	yields string
}

// Yields returns what thieves of scheduler abp may yield to before they try to steal: to none, to a random worker,
// to all others. The last is the default.
func Yields() []string { return []string{"none", "random", "all"} }

func newABP(m *machine) (scheduler, error) {
	s := &abp{stealing{raids: raids{machine: m}}, m.Yield}
	if s.yields == "" {
		s.yields = "all"
	}
	return s, nil
}

func (s *abp) enabled(w int32, cont, child ID) ID {
	next := s.stealing.enabled(w, cont, child)
	if next == None {
		s.givesWay(w)
	}
	return next
}

func (s *abp) seek(w int32) (ID, int64) {
	found, after := s.stealing.seek(w)
	if found == None && after != Never {
		s.givesWay(w)
	}
	return found, after
}

func (s *abp) givesWay(w int32) {
	switch {
	case len(s.workers) == 1:
	case s.yields == "random":
		s.yield(w, s.other(w))
	case s.yields == "all":
		s.yield(w, all)
	}
}
