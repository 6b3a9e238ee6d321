package sim

import "github.com/filch-go/filch/internal/policy"

// This is how workers of the scheduler pool look for work, leave, and are woken.

func (s *pool) counts() policy.Counts {
	return policy.Counts{Active: s.active, Searching: s.searching, Limit: s.Workers, Procs: s.Workers}
}

// wakeOne wakes a worker, if the policy says so, and reports whether it did.
func (s *pool) wakeOne() bool {
	w, ok := s.choose()
	if ok {
		s.wakeAfter(w, s.steps(s.Costs.Wake))
	}
	return ok
}

// choose takes a worker to be woken out of those that have left, if the policy wakes one.
func (s *pool) choose() (w int32, ok bool) {
	if s.held || !s.Tuning.wakes(s.counts()) || len(s.idle) == 0 {
		return 0, false
	}
	last := len(s.idle) - 1
	w = s.idle[last]
	s.idle = s.idle[:last]
	s.active++
	s.at[w].woken = true
	s.patience = s.patience.Woken(s.time() - s.rested)
	s.search(w)
	return w, true
}

// search notes that w searches from now on, or when it wakes.
func (s *pool) search(w int32) {
	s.searching++
	x := &s.at[w]
	x.searching = true
	x.victims.Begin()
	s.beginSearch(w)
}

func (x *place) raise(level policy.Demand) { x.demand = max(x.demand, level) }

func (s *pool) seek(w int32) (ID, int64) {
	x := &s.at[w]
	if x.woken {
		x.woken = false
		s.beginSearch(w)
	}
	if x.back > 0 {
		x.began += s.time() - x.back
		x.back = 0
	}
	found, after := s.turn(w)
	if found == None && after != Never && s.yields(w) {
		s.yield(w, all)
		x.back = s.time() + after*s.StepTime
	}
	return found, after
}

// turn is one turn of a worker that has nothing to run.
func (s *pool) turn(w int32) (ID, int64) {
	x := &s.at[w]
	switch {
	case len(x.waits) > 0:
		return s.wait(w)
	case x.new:
		x.new = false
		return s.rest(w)
	}
	if !x.searching {
		id, after := s.look(w, false)
		if id != None {
			s.count(w)
			return id, after + s.Costs.Steal/s.StepTime
		}
		if s.held || !s.Tuning.maySearch(s.counts()) {
			return s.leave(w)
		}
		s.countWork(w)
		s.search(w)
		return None, after
	}
	after := s.StealCost
	if !x.victims.Rests() {
		var id ID
		if id, after = s.look(w, true); id != None {
			return id, after + s.found(w)
		}
		x.victims.Missed()
	}
	if s.time()-x.from >= min(s.patient(), s.mayLook(x.from)) {
		return s.leave(w)
	}
	return None, after
}

// found ends the search of w, which has found something, and returns how many steps that takes.
func (s *pool) found(w int32) int64 {
	s.searching--
	s.at[w].searching = false
	s.spend(w)
	after := s.Costs.Steal / s.StepTime
	for range max(1, s.Tuning.FinderWakes) {
		if !s.wakeOne() {
			break
		}
		after += s.Costs.Waking / s.StepTime
	}
	return after
}

// wait is one look of a worker whose innermost join waits: at what it waits for, and at the thief's forks.
func (s *pool) wait(w int32) (ID, int64) {
	x := &s.at[w]
	if id := s.readyWait(w); id != None {
		return id, 0
	}
	top, after := x.waits[len(x.waits)-1], s.StealCost
	if thief := s.thieves[top]; thief != w {
		id := s.steal(w, thief)
		after += 2 * s.far.latency(w, thief)
		if id != None {
			return id, after + s.Costs.Steal/s.StepTime
		}
		s.at[thief].raise(policy.Hunger)
	}
	if s.time()-x.from < s.Tuning.spinTime() {
		return None, after
	}
	s.blocked[top], x.waits = x.waits, nil
	return s.leave(w)
}

// look looks at a glance at the deques of forkers, and returns how many steps that takes. If ask is set, it asks for
// more.
func (s *pool) look(w int32, ask bool) (found ID, after int64) {
	after = s.StealCost
	if id := s.takeUp(w); id != None {
		return id, after
	}
	others := s.others(w)
	for at, ok := others.Next(); ok; at, ok = others.Next() {
		v := s.forkers[at]
		after += 2 * s.far.latency(w, v)
		if id := s.steal(w, v); id != None {
			s.takeMore(w, v)
			return id, after
		}
		if ask {
			s.at[v].raise(policy.Hunger)
		}
	}
	return None, after
}

// steal takes the oldest public fork of v.
func (s *pool) steal(w, v int32) ID {
	id := s.attempt(w, v, s.deques[v].steal())
	if id == None {
		return None
	}
	s.public--
	s.runs(w)
	s.robbed(w, v)
	s.taken(id, w)
	x, now := &s.at[w], s.time()
	if policy.Coarse(s.Tuning.earning(now)-s.Tuning.earning(x.stole)) && int(s.deques[v].size) < s.Workers {
		s.at[v].raise(policy.Supply)
	}
	x.stole = now
	return id
}

// taken notes that w has stolen the fork id.
func (s *pool) taken(id ID, w int32) {
	parent := s.threads[id].parent
	for int(parent) >= len(s.thieves) {
		s.thieves = append(s.thieves, make([]int32, len(s.threads))...)
	}
	s.thieves[parent] = w
}

// takeMore has w queue what it takes from v besides the fork that it runs.
func (s *pool) takeMore(w, v int32) {
	more := s.Tuning.Amount.of(1+int(s.deques[v].size)) - 1
	for range more {
		id := s.deques[v].steal()
		s.taken(id, w)
		s.push(w, id)
	}
}

// leave gives up the place of w.
func (s *pool) leave(w int32) (ID, int64) {
	x := &s.at[w]
	if x.searching {
		s.searching--
		x.searching = false
		s.patience, s.rested = s.patience.Vain(), s.time()
		x.began = min(x.began, s.time()-s.Tuning.spinTime())
	} else {
		s.countWork(w)
	}
	s.spend(w)
	s.active--
	return s.rest(w)
}

// patient returns for how long a search may last, ns. Where nothing has a cost, that is always the same.
func (s *pool) patient() int64 {
	most := s.Tuning.spinTime()
	if s.Costs.Free {
		return most
	}
	return most * int64(s.patience) / policy.SpinTime
}

// rest lets w wait until it is woken.
func (s *pool) rest(w int32) (ID, int64) {
	s.idle = append(s.idle, w)
	if s.searching == 0 && s.match(w) {
		return None, s.steps(s.Costs.Wake)
	}
	return None, Never
}

// match wakes a worker if forks are public, or else asks all for theirs. It reports whether that is w, which has left
// just now, and has only to look again.
func (s *pool) match(w int32) (itself bool) {
	switch {
	case s.held:
		return false
	case s.public+len(s.extra) == 0:
		s.asked++
		return false
	}
	v, ok := s.choose()
	if ok && v != w {
		s.wakeAfter(v, s.steps(s.Costs.Wake))
	}
	return ok && v == w
}

// countWork counts what w has done since it last found something.
func (s *pool) countWork(w int32) {
	x := &s.at[w]
	x.worth += policy.Worth(s.time() - x.began)
	x.began = s.time()
}

// count is countWork at a steal without a search. Now and then it adds up.
func (s *pool) count(w int32) {
	x := &s.at[w]
	if s.countWork(w); max(x.worth, -x.worth) > policy.SpinTime/10 {
		s.spend(w)
	}
}

// spend counts the search of w, which ends, and the work before it. Where searching has cost more than it may,
// no worker is woken for a while.
func (s *pool) spend(w int32) {
	x := &s.at[w]
	now := s.time()
	clock := s.Tuning.searching(now)
	s.budget = s.Tuning.saved(s.budget, clock)
	s.budget = s.budget.Count(clock, now-x.began, x.worth, policy.Searchers(s.Workers, s.Workers))
	x.began, x.worth = now, 0
	if s.mayLook(now) == 0 && !s.held && !s.Costs.Free {
		s.held = true
		s.after(s.steps(s.Tuning.holdTime()))
	}
}

// mayLook returns for how long a worker may search from the time now on, ns.
func (s *pool) mayLook(now int64) int64 {
	clock := s.Tuning.searching(now)
	return s.Tuning.saved(s.budget, clock).Left(clock)
}

// timer is called when that time is over.
func (s *pool) timer() {
	s.held = false
	if s.searching == 0 {
		s.match(none)
	}
}
