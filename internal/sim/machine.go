package sim

import (
	"fmt"

	"github.com/filch-go/filch/internal/sim/cache"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/random"
	"github.com/filch-go/filch/internal/sim/wheel"
)

// worker is one simulated processor.
type worker struct {
	runs   ID   // what it runs, or has found and begins next; see machine.begins
	last   bool // the node that runs is the last
	spawns bool
	child  dag.Args
	since  int64 // since when it has had nothing to run
}

// machine is a run.
type machine struct {
	// Its methods stand with what they are about: the start, a node, the end of a run and its checks.
	Config
	facts   *dag.Facts
	wheel   *wheel.Wheel
	workers []worker
	begins  []bool // by worker: it has found what it runs, and begins it when it looks next; here since all look often
	deques  []deque
	stocked []uint64       // a bit for each deque, which is set if there is something in it; see steal
	caches  []*cache.Cache // of each worker, or nil
	shared  *cache.Cache   // of all, or nil
	threads []thread       // by ID
	free    []ID
	sched   scheduler
	far     distances          // nil if there are none, or the scheduler sends no requests
	from    ID                 // the thread whose node has ended last
	over    bool               // and it with that node
	procs   *processors        // nil without a kernel
	churn   *churn             // nil if all workers stay
	view    View               // for Watch
	arrive  func(w int32)      // called when w begins what it has found some steps ago, if not nil
	forget  func(w int32)      // called when w leaves the run, if not nil
	holds   func(w int32) bool // whether a ready thread is in no queue, and only w can go on with it; nil if that cannot be
	rng     uint64
	node    dag.Node // the node that begins, here since a Program would make it escape

	busy     int   // workers that run a node
	onItsWay int   // workers that have found a thread, and begin it later
	late     int64 // for how many steps the scheduler keeps the worker whose node has ended
	vain     int64 // attempts since a node began or ended
	nodes    int64
	sum      uint64
	live     int
	most     int   // threads that may be alive
	latest   int64 // the last time that a run may reach
	err      error
	res      Result
}

// start gives the first thread to worker 0, and lets the others look for work.
func (m *machine) start() {
	root := m.spawn(None, 0, m.Program.Root(), random.Mix(0))
	for w := range m.workers {
		if w > 0 {
			m.wheel.Add(0, int32(w), false)
		}
	}
	m.begin(0, root)
}

// spawn makes a thread, which is ready.
func (m *machine) spawn(parent ID, w int32, a dag.Args, path uint64) ID {
	id := ID(len(m.threads))
	if n := len(m.free); n > 0 {
		id, m.free = m.free[n-1], m.free[:n-1]
	} else if m.live == m.most {
		m.fail("more than %d threads would be alive, the most that there may be", m.most)
		return None
	} else {
		m.threads = append(m.threads, thread{})
	}
	m.threads[id] = thread{Thread: dag.Thread{Args: a, Path: path}, state: ready, parent: parent, worker: w}
	if parent != None {
		m.threads[parent].pending++
	}
	m.live++
	m.res.MaxLive = max(m.res.MaxLive, m.live)
	m.tell(Spawned, w, -1, id, 0)
	return id
}

// begin begins the next node of a ready thread on w, which has nothing to run.
func (m *machine) begin(w int32, id ID) {
	t := &m.threads[id]
	wk := &m.workers[w]
	if t.state != ready {
		m.fail("worker %d begins thread %x, which is %v", w, t.Path, t.state)
		return
	}
	m.node = dag.Node{}
	n := &m.node
	m.Program.Node(&t.Thread, n)
	if n.Weight < 0 {
		m.err = dag.BadWeight(&t.Thread, n.Weight)
		return
	}
	if t.pending > 0 && (n.Join || n.Last) {
		m.fail("worker %d begins node %d of thread %x before its %d children have ended", w, t.PC, t.Path, t.pending)
		return
	}
	if t.worker != w {
		t.worker = w
		m.res.Migrations++
	}
	t.state = running
	wk.runs, m.begins[w] = id, false
	wk.last, wk.spawns, wk.child = n.Last, n.Spawns && !n.Last, n.Child
	m.res.Idle += m.wheel.Now - wk.since
	wk.since = m.wheel.Now + n.Weight
	m.res.busy += n.Weight
	m.busy++
	m.vain = 0
	m.touch(w, n)
	m.tell(Began, w, -1, id, n.Weight)
	m.wheel.Add(m.wheel.Now+n.Weight, w, true)
}

// ends ends the node that w runs, and begins what w goes on with.
func (m *machine) ends(w int32) {
	wk := &m.workers[w]
	id := wk.runs
	t := &m.threads[id]
	if t.state != running {
		m.fail("worker %d ends a node of thread %x, which is %v", w, t.Path, t.state)
		return
	}
	m.nodes++
	m.sum += random.Mix(t.Path ^ uint64(t.PC))
	if m.churn != nil {
		m.churn.ran(id)
	}
	t.PC++
	m.busy--
	m.vain = 0
	wk.runs = None
	m.from, m.over = id, wk.last
	m.tell(Ended, w, -1, id, 0)
	var cont, child ID
	if wk.last {
		cont = m.end(w, id)
	} else {
		if wk.spawns {
			child = m.spawn(id, w, wk.child, dag.Path(t.Path, t.PC))
		}
		cont = m.goesOn(id)
	}
	if m.live == 0 {
		return
	}
	next := m.sched.enabled(w, cont, child)
	late := m.late
	m.late = 0
	switch {
	case next != None && late == 0:
		m.begin(w, next)
		return
	case next != None:
		wk.runs, m.begins[w] = next, true
		m.onItsWay++
	}
	m.wheel.Add(m.wheel.Now+late, w, false)
}

// goesOn returns the thread if its next node is ready; else the thread waits.
func (m *machine) goesOn(id ID) ID {
	t := &m.threads[id] // spawn may have moved it
	if t.pending > 0 {
		m.node = dag.Node{}
		m.Program.Node(&t.Thread, &m.node)
		if m.node.Join || m.node.Last {
			t.state = waiting
			return None
		}
	}
	t.state = ready
	return id
}

// end ends a thread, and returns its parent if that waited for it alone.
func (m *machine) end(w int32, id ID) ID {
	t := &m.threads[id]
	parent := t.parent
	t.state = gone
	m.live--
	m.free = append(m.free, id)
	if m.churn != nil {
		m.churn.returns(id, parent)
	}
	if parent == None {
		return None
	}
	up := &m.threads[parent]
	up.pending--
	if up.state != waiting || up.pending > 0 {
		return None
	}
	up.state = ready
	m.tell(Enabled, w, -1, parent, 0)
	if m.churn != nil && m.churn.goesHome(w, parent) {
		return None
	}
	return parent
}

// after has the timer of the scheduler called after so many steps, one at a time.
func (m *machine) after(steps int64) { m.wheel.Add(m.wheel.Now+steps, int32(len(m.workers)), false) }

// looks lets w, which has nothing to run, look for it once, or begin what it has found.
func (m *machine) looks(w int32) {
	if int(w) == len(m.workers) {
		m.sched.(interface{ timer() }).timer()
		return
	}
	if m.begins[w] {
		m.onItsWay--
		if m.arrive != nil {
			m.arrive(w)
		}
		m.begin(w, m.workers[w].runs)
		return
	}
	if m.churn != nil {
		if next := m.churn.next(w); next != None {
			m.begin(w, next)
			return
		}
	}
	found, after := m.sched.seek(w)
	if found == None && after < 1 {
		m.fail("worker %d looks twice at one time", w)
	}
	switch {
	case found != None && after == 0:
		m.begin(w, found)
	case found != None:
		m.workers[w].runs, m.begins[w] = found, true
		m.onItsWay++
		m.wheel.Add(m.wheel.Now+after, w, false)
	case after != Never:
		m.wheel.Add(m.wheel.Now+after, w, false)
	case m.procs != nil:
		m.procs.sleep(w)
	}
}

// wake lets w, for which seek returned Never, look again.
func (m *machine) wake(w int32) { m.wakeAfter(w, 0) }

// wakeAfter lets it do so after so many steps, for which w needs a processor.
func (m *machine) wakeAfter(w int32, after int64) {
	if m.procs != nil {
		m.procs.wake(w)
	}
	m.wheel.Add(m.wheel.Now+after, w, false)
}

// has reports whether w has a thread to go on with.
func (m *machine) has(w int32) bool {
	return m.workers[w].runs != None || m.holds != nil && m.holds(w)
}

// patience is how many attempts in vain are too many, if nothing runs or is on its way. What is ready is then in no
// queue, or a few attempts of some worker would have found it.
func (m *machine) patience() int64 { return 64*int64(len(m.workers)) + 1<<14 }

// attempt counts what a thief has found at a victim, or in a common queue, -1.
func (m *machine) attempt(w, victim int32, found ID) ID {
	m.res.Attempts++
	if m.busy == len(m.workers) {
		m.fail("worker %d looks for work while all are busy", w)
	}
	if found == None {
		if m.vain++; m.vain > m.patience() && m.busy == 0 && m.onItsWay == 0 && (m.procs == nil || !m.procs.hold) {
			m.fail("a ready thread is lost: %d attempts have found nothing", m.vain)
		}
		m.tell(Attempted, w, victim, None, 0)
		return None
	}
	m.res.Steals++
	m.tell(Stole, w, victim, found, 0)
	return found
}

// push adds a ready thread to the deque of w.
func (m *machine) push(w int32, id ID) {
	d := &m.deques[w]
	d.push(id)
	m.stocked[w/64] |= 1 << (w % 64)
	m.res.MaxDeque = max(m.res.MaxDeque, int(d.size))
}

// steal removes the oldest thread of the deque of v. Most attempts find nothing. They look at a bit, not at the deque,
// so that the deques of many workers need not go through the processor's cache. The owner does not clear the bit when
// it takes the last; a thief does, when it finds none.
func (m *machine) steal(v int32) ID {
	if m.stocked[v/64]&(1<<(v%64)) == 0 {
		return None
	}
	id := m.deques[v].steal()
	if id == None {
		m.stocked[v/64] &^= 1 << (v % 64)
	}
	return id
}

// below returns a random number below n.
func (m *machine) below(n int) int { return random.Below(&m.rng, n) }

// other returns a random worker that is not w, of at least two.
func (m *machine) other(w int32) int32 {
	v := int32(m.below(len(m.workers) - 1))
	if v >= w {
		v++
	}
	return v
}

func (m *machine) tell(k Kind, w, other int32, id ID, weight int64) {
	if m.Tell != nil {
		m.Tell(Event{Time: m.wheel.Now, Kind: k, Worker: w, Other: other, Thread: m.threads[id].Path, Weight: weight})
	}
}

// fail ends the run, and says why. The first reason counts.
func (m *machine) fail(format string, args ...any) error {
	if m.err == nil {
		m.err = fmt.Errorf("sim: at step %d: %s", m.wheel.Now, fmt.Sprintf(format, args...))
	}
	return m.err
}
