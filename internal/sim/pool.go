package sim

import "github.com/filch-go/filch/internal/policy"

// pool is the scheduler of filch's own pool, for forks. Its decisions are those of package policy: the order of the
// victims, how many forks are public, how long workers search, when one is woken. What the engine does
// beside them is retold here, in its words:
//
//   - A spawned thread is a fork, and private to its worker, until demand is raised. Then the worker publishes
//     its oldest forks at its next spawn or join.
//   - A join takes the newest fork, private or public. If it was stolen, the worker helps the thief: it steals
//     from that thief alone. After a while it blocks, and leaves its place to others. The worker that ends what is
//     awaited passes its own place on.
//   - A worker that finds nothing searches, and leaves when that has cost more than it may. A publisher wakes
//     one if few search, and so does a searcher that finds something.
//
// Times of policies are in nanoseconds; Config.StepTime says how long a step takes.
type pool struct {
	*machine
	at        []place
	idle      []int32     // workers that have left, the last one first
	forkers   []int32     // workers that have run something
	blocked   map[ID][]ID // what has given up its place, by what it waits for
	extra     [][]ID      // what could go on, but has passed its place on
	thieves   []int32     // by thread: the last that has stolen a child of it
	active    int
	searching int
	budget    policy.Search
	held      bool
	asked     int32 // how often all workers have been asked for forks
	public    int   // forks in all deques
}

// place is what the pool knows of a worker.
type place struct {
	private   deque
	waits     []ID // threads that wait in a join, each on top of the one before
	victims   policy.Victims
	credit    policy.Credit
	owed      int
	demand    policy.Demand
	answered  int32 // how much of pool.asked it has seen
	forker    int32 // its place in forkers, from 1 on
	new       bool  // has not been a worker yet
	searching bool
	fresh     bool
	worth     int64 // what its work since the last search pays for searching, ns
	began     int64 // when that, or the search, or the wait began, ns
	stole     int64 // when it last stole, ns
}

func newPool(m *machine) (scheduler, error) {
	s := &pool{machine: m, at: make([]place, m.Workers), blocked: map[ID][]ID{}, active: 1}
	s.budget = m.Tuning.saved(policy.FullSearch(0), 0)
	for w := range s.at {
		s.at[w].new = w > 0
		s.at[w].victims = m.Tuning.victims(m.Seed + uint64(w))
	}
	s.at[0].fresh = true
	s.runs(0)
	if m.Workers > 1 {
		s.at[0].demand = policy.Hunger
	}
	return s, nil
}

// time returns the time in nanoseconds.
func (s *pool) time() int64 { return s.wheel.now * s.StepTime }

// steps returns how many steps a time in nanoseconds takes, at least 1.
func (s *pool) steps(ns int64) int64 { return max(1, ns/s.StepTime) }

// runs notes that w runs something, so that others look at its forks.
func (s *pool) runs(w int32) {
	if s.at[w].forker == 0 {
		s.forkers = append(s.forkers, w)
		s.at[w].forker = int32(len(s.forkers))
	}
}

func (s *pool) enabled(w int32, cont, child ID) ID {
	x := &s.at[w]
	if child != None {
		x.private.push(child)
		s.res.MaxDeque = max(s.res.MaxDeque, int(x.private.size+s.deques[w].size))
		s.answer(w)
	}
	switch {
	case !s.over && cont != None:
		return cont
	case !s.over:
		x.waits = append(x.waits, s.from)
	case cont != None && s.resume(w, cont):
		return cont
	}
	return s.join(w)
}

// join returns the newest fork of w, or what has waited for others and is ready, or None: then w waits, or has
// nothing to do.
func (s *pool) join(w int32) ID {
	x := &s.at[w]
	s.answer(w)
	if id := x.private.pop(); id != None {
		return id
	}
	if id := s.deques[w].pop(); id != None { // taken back
		s.public--
		if s.deques[w].size == 0 && x.credit.Worth() > 0 {
			s.at[w].raise(policy.Supply)
		}
		return id
	}
	x.began = s.time()
	return s.readyWait(w)
}

// readyWait returns the innermost thread that waits on w, if it waits no more.
func (s *pool) readyWait(w int32) ID {
	x := &s.at[w]
	if n := len(x.waits); n > 0 && s.threads[x.waits[n-1]].state == ready {
		id := x.waits[n-1]
		x.waits = x.waits[:n-1]
		return id
	}
	return None
}

// resume is called when w has ended the last child that a thread waited for. It reports whether w goes on with
// the thread: it waits on w, or has blocked and gets w's place.
func (s *pool) resume(w int32, id ID) bool {
	x := &s.at[w]
	if n := len(x.waits); n > 0 && x.waits[n-1] == id {
		x.waits = x.waits[:n-1]
		return true
	}
	waits, ok := s.blocked[id]
	if !ok {
		return false // it waits on another worker, which sees to it
	}
	delete(s.blocked, id)
	if n := len(x.waits); n > 0 && s.threads[x.waits[n-1]].state == ready {
		s.extra = append(s.extra, x.waits)
		s.wakeOne()
	} else if n > 0 {
		s.blocked[x.waits[n-1]] = x.waits
	}
	x.waits = waits[:len(waits)-1]
	return true
}

// takeUp gives the place of w to what could go on, or returns None.
func (s *pool) takeUp(w int32) ID {
	last := len(s.extra) - 1
	if last < 0 {
		return None
	}
	s.at[w].waits = s.extra[last]
	s.extra = s.extra[:last]
	s.runs(w)
	return s.readyWait(w)
}

// answer meets the demand for the forks of w, as Worker.Answer of the engine does.
func (s *pool) answer(w int32) {
	x := &s.at[w]
	if x.answered != s.asked {
		x.answered, x.demand = s.asked, policy.Hunger
	}
	level := x.demand
	if level == policy.NoDemand {
		return
	}
	if s.Workers == 1 {
		x.demand = policy.NoDemand
		return
	}
	if x.fresh {
		x.fresh = false
		s.Tuning.starts(&x.credit, s.Tuning.earning(s.time()), s.Workers)
	} else if x.owed == 0 {
		x.credit.Earn(s.Tuning.earning(s.time()))
	}
	todo := s.Tuning.answer(&x.credit, level, x.owed, int(s.deques[w].size), s.counts().Idle())
	moved := 0
	for ; moved < todo.Most && x.private.size > 0; moved++ {
		s.push(w, x.private.steal())
		s.public++
	}
	x.owed, x.demand = x.credit.Answered(level, todo, moved)
	s.late += int64(moved) * s.Costs.Publish / s.StepTime
	if moved > 0 && s.wakeOne() {
		s.late += s.Costs.Waking / s.StepTime
	}
}

func (s *pool) counts() policy.Counts {
	return policy.Counts{Active: s.active, Searching: s.searching, Limit: s.Workers, Procs: s.Workers}
}

// wakeOne wakes a worker, if the policy says so, and reports whether it did.
func (s *pool) wakeOne() bool {
	if s.held || !s.Tuning.wakes(s.counts()) || len(s.idle) == 0 {
		return false
	}
	last := len(s.idle) - 1
	w := s.idle[last]
	s.idle = s.idle[:last]
	s.active++
	s.searching++
	after := s.steps(s.Costs.Wake)
	x := &s.at[w]
	x.searching, x.began = true, s.time()+after*s.StepTime
	s.wheel.add(s.wheel.now+after, w, false)
	return true
}

func (x *place) raise(level policy.Demand) { x.demand = max(x.demand, level) }

func (s *pool) seek(w int32) (ID, int64) {
	x := &s.at[w]
	switch {
	case len(x.waits) > 0:
		return s.wait(w)
	case x.new:
		x.new = false
		return s.rest(w)
	}
	if !x.searching {
		if id := s.look(w, false); id != None {
			s.count(w)
			return id, s.StealCost + s.Costs.Steal/s.StepTime
		}
		if s.held || !s.Tuning.maySearch(s.counts()) {
			return s.leave(w)
		}
		s.searching++
		x.searching = true
		s.countWork(w)
		return None, s.StealCost
	}
	if id := s.look(w, true); id != None {
		s.searching--
		x.searching = false
		s.spend(w)
		after := s.StealCost + s.Costs.Steal/s.StepTime
		for range max(1, s.Tuning.FinderWakes) {
			if !s.wakeOne() {
				break
			}
			after += s.Costs.Waking / s.StepTime
		}
		return id, after
	}
	if s.time()-x.began >= min(s.Tuning.spinTime(), s.mayLook(x.began)) {
		return s.leave(w)
	}
	return None, s.StealCost
}

// wait is one look of a worker whose innermost join waits: at what it waits for, and at the thief's forks.
func (s *pool) wait(w int32) (ID, int64) {
	x := &s.at[w]
	if id := s.readyWait(w); id != None {
		return id, 0
	}
	top := x.waits[len(x.waits)-1]
	if thief := s.thieves[top]; thief != w {
		if id := s.steal(w, thief); id != None {
			return id, s.StealCost + s.Costs.Steal/s.StepTime
		}
		s.at[thief].raise(policy.Hunger)
	}
	if s.time()-x.began < s.Tuning.spinTime() {
		return None, s.StealCost
	}
	s.blocked[top], x.waits = x.waits, nil
	return s.leave(w)
}

// look looks at a glance at the deques of forkers. If ask is set, it asks for more.
func (s *pool) look(w int32, ask bool) ID {
	if id := s.takeUp(w); id != None {
		return id
	}
	x := &s.at[w]
	self, n := int(x.forker)-1, len(s.forkers)
	if self < 0 {
		self, n = n, n+1
	}
	pass := x.victims.Pass(self, n)
	for i := range min(n-1, s.Tuning.glance()) {
		v := s.forkers[pass.At(i)]
		if id := s.steal(w, v); id != None {
			s.takeMore(w, v)
			return id
		}
		if ask {
			s.at[v].raise(policy.Hunger)
		}
	}
	return None
}

// steal takes the oldest public fork of v.
func (s *pool) steal(w, v int32) ID {
	id := s.attempt(w, v, s.deques[v].steal())
	if id == None {
		return None
	}
	s.public--
	s.runs(w)
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
	} else {
		s.countWork(w)
	}
	s.spend(w)
	s.active--
	return s.rest(w)
}

// rest lets w wait until it is woken.
func (s *pool) rest(w int32) (ID, int64) {
	s.idle = append(s.idle, w)
	if s.searching == 0 {
		s.match()
	}
	return None, Never
}

// match wakes a worker if forks are public, or else asks all for theirs.
func (s *pool) match() {
	if s.held {
		return
	}
	if s.public+len(s.extra) > 0 {
		s.wakeOne()
	} else {
		s.asked++
	}
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
		s.match()
	}
}

// The private forks of a worker are behind its public ones; see View.
func (s *pool) queued(w int32) int {
	if w == CommonQueue {
		return 0
	}
	return int(s.deques[w].size + s.at[w].private.size)
}

func (s *pool) private(w int32) int { return int(s.at[w].private.size) }

func (s *pool) nth(w int32, i int) ID {
	if public := int(s.deques[w].size); i >= public {
		return s.at[w].private.at(i - public)
	}
	return s.deques[w].at(i)
}
