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
// Times of policies are in nanoseconds; Config.StepTime says how long a step takes. Under a kernel the clock goes on
// while a worker has no processor, and the worker takes that for time of its own, as on a machine that others share.
// Only what passes after a yield of its own is not counted as its search.
//
// Two things are simpler than in the engine. There Worker.Start gives a worker that has found a fork new credit, and has it
// publish for the others unasked. Here such a worker keeps its credit, which is 0 at the start of a run. And all of the reserve
// keeps one fork public.
//
// With a topology that has latencies, a look at another worker takes twice the latency, there and back, more. What is
// found is taken when the look begins.
type pool struct {
	// Its methods stand with what they are about: the forks, the search, whom a worker looks at.
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
	patience  policy.Patience
	rested    int64 // when a worker last went to rest, ns
	held      bool
	asked     int32 // how often all workers have been asked for forks
	public    int   // forks in all deques
	levels    distances
}

// place is what the pool knows of a worker.
type place struct {
	private   deque
	waits     []ID // threads that wait in a join, each on top of the one before
	victims   *policy.Victims
	robber    int32 // the last that has stolen from it, plus 1, or 0; for an order that steals back
	credit    policy.Credit
	owed      int
	demand    policy.Demand
	answered  int32 // how much of pool.asked it has seen
	forker    int32 // its place in forkers, from 1 on
	new       bool  // has not been a worker yet
	searching bool
	fresh     bool
	worth     int64       // what its work since the last search pays for searching, ns
	began     int64       // when that, or the search, or the wait began, ns; later if it has yielded since
	from      int64       // when the search or the wait began, ns
	spin      policy.Spin // of that
	woken     bool        // and has not looked since
	back      int64       // when it would look again after a yield, if it had a processor, ns; or 0
	stole     int64       // when it last stole, ns
}

func newPool(m *machine) (scheduler, error) {
	s := &pool{machine: m, at: make([]place, m.Workers), blocked: map[ID][]ID{}, active: 1}
	s.budget, s.patience = m.Tuning.saved(policy.FullSearch(0), 0), policy.SpinTime
	s.far, s.levels = m.Topology.distances(), m.Topology.levels()
	m.holds = s.holds
	order := m.Tuning.stealing(s.levels)
	for w := range s.at {
		s.at[w].new = w > 0
		s.at[w].victims = policy.NewVictims(order, m.Seed+uint64(w))
	}
	s.at[0].fresh = true
	s.runs(0)
	if m.Workers > 1 {
		s.at[0].demand = policy.Hunger
	}
	return s, nil
}

// time returns the time in nanoseconds.
func (s *pool) time() int64 { return s.wheel.Now * s.StepTime }

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
		if s.deques[w].size == 0 && x.credit.Worth(0) > 0 {
			s.at[w].raise(policy.Supply)
		}
		return id
	}
	s.beginSearch(w)
	return s.readyWait(w)
}

// beginSearch notes that a search of w begins, or a wait.
func (s *pool) beginSearch(w int32) {
	x := &s.at[w]
	x.began, x.from, x.spin = s.time(), s.time(), policy.Spin{}
}

// holds reports whether a thread that waits on w waits no more.
func (s *pool) holds(w int32) bool {
	x := &s.at[w]
	n := len(x.waits)
	return n > 0 && s.threads[x.waits[n-1]].state == ready
}

// readyWait returns the innermost thread that waits on w, if it waits no more.
func (s *pool) readyWait(w int32) ID {
	if !s.holds(w) {
		return None
	}
	x := &s.at[w]
	last := len(x.waits) - 1
	id := x.waits[last]
	x.waits = x.waits[:last]
	return id
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
	if n := len(x.waits); s.holds(w) {
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
