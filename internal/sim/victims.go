package sim

import "github.com/filch-go/filch/internal/policy"

// stealings are the orders of package policy in which the workers of the scheduler pool may look at one another, by
// the names of the options of filch.WithStealing. The first is the default.
var stealings = []struct {
	name string
	make func(seed uint64) policy.Victims
}{
	{"random", policy.RandomStart},
	{"round-robin", func(uint64) policy.Victims { return policy.RoundRobin() }},
	{"localized", policy.Localized},
	{"nearest", policy.Nearest},
	{"adaptive", policy.Adaptive},
}

// Stealings returns the names that Tuning.Stealing may have.
func Stealings() []string {
	var names []string
	for _, s := range stealings {
		names = append(names, s.name)
	}
	return names
}

// victims returns the order of a worker of that seed.
func (t Tuning) victims(seed uint64) policy.Victims {
	for _, s := range stealings {
		if s.name == t.Stealing {
			return s.make(seed)
		}
	}
	return stealings[0].make(seed)
}

// pass returns the order in which w looks at the forkers, and how many of them are not w. It is what the engine's
// Worker.otherForkers does.
func (s *pool) pass(w int32) (p policy.Pass, others int) {
	x := &s.at[w]
	self, n := int(x.forker)-1, len(s.forkers)
	if self < 0 {
		self, n = n, n+1
	}
	p = x.victims.Circle(self, n)
	switch {
	case x.victims.GoesByDistance():
		p.Sort(func(victim int) int { return s.levels.apart(w, s.forkers[victim]) })
	case x.victims.StealsBack() && x.robber != 0:
		x.victims.RobbedBy(int(x.robber) - 1)
		x.robber = 0
	}
	if v, ok := x.victims.Favourite(); ok {
		p.First(int(s.at[v].forker) - 1)
	}
	return p, n - 1
}

// robbed notes that w has stolen from v.
func (s *pool) robbed(w, v int32) {
	x := &s.at[w]
	x.victims.Took(int(v))
	if x.victims.StealsBack() {
		s.at[v].robber = w + 1
	}
}

// yields reports whether w lets others go first before it looks again. The engine calls runtime.Gosched for it, which
// puts the worker behind all that can run. Without a kernel each worker has a processor, and a yield changes nothing.
func (s *pool) yields(w int32) bool {
	free := s.at[w].spin.Turn()
	return s.procs != nil && s.Workers > 1 && (!free || s.Tuning.YieldFirst)
}
