package sim

import (
	"slices"

	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/random"
)

// A machine that leaves and hands its threads over gives all of them to another worker. A node that runs begins anew
// there. Nothing else is run twice.
//
// A machine that does not loses its threads: what runs on it, what is in its queues, and what has begun there and
// waits. With a thread, all threads below it are lost, wherever they are: their results have nowhere to go, and
// workers that run them stop. The parent of a lost thread, if it is not lost itself, has what the thread was spawned with, and
// spawns it again. It is then in the queue of its parent's worker, from which it may be stolen again.

// fate is what becomes of a thread when a machine leaves.
type fate uint8

const (
	unknown fate = iota
	stays
	lost
)

func (c *churn) leave(machine int) {
	c.away[machine] = true
	c.m.vain = 0 // the attempts so far were made while a node ran that may be cut short
	c.arrive()
	if c.Hands {
		c.handOver(machine)
	} else {
		c.lose(machine)
	}
	for w := range c.workersOf(machine) {
		wk := &c.m.workers[w]
		c.drop[w] = true
		c.m.res.Idle += c.m.wheel.Now - wk.since
		wk.since = c.m.wheel.Now
		if c.m.forget != nil {
			c.m.forget(w)
		}
		c.m.tell(Left, w, none, None, 0)
	}
	c.m.wheel.Remove(c.drop)
	for w, dropped := range c.drop {
		c.drop[w] = false
		if dropped && !c.away[c.machineOf(int32(w))] {
			c.m.wheel.Add(c.m.wheel.Now, int32(w), false)
		}
	}
}

// arrive has what thieves have taken besides the threads that they are to begin arrive at once. So each thread that has
// not begun is in a queue or is what a worker has found.
func (c *churn) arrive() {
	if c.m.arrive == nil {
		return
	}
	for w := range c.m.workers {
		if c.m.begins[w] {
			c.m.arrive(int32(w))
		}
	}
}

// handOver gives the threads of a machine to a random worker of another one.
func (c *churn) handOver(machine int) {
	heir := c.heir()
	to := c.machineOf(heir)
	for w := range c.workersOf(machine) {
		wk := &c.m.workers[w]
		switch id := wk.runs; {
		case id != None && c.m.begins[w]: // it was under way to here
			wk.runs, c.m.begins[w] = None, false
			c.m.onItsWay--
			c.m.push(heir, id)
		case id != None:
			c.stop(w)
			c.m.threads[id].state = ready
			c.resumed[to] = append(c.resumed[to], id)
		}
		for id := c.m.deques[w].steal(); id != None; id = c.m.deques[w].steal() {
			c.m.push(heir, id)
		}
	}
	c.resumed[to] = append(c.resumed[to], c.resumed[machine]...)
	c.resumed[machine] = c.resumed[machine][:0]
	for i := range c.m.threads {
		if t := &c.m.threads[i]; t.state != gone && c.machineOf(t.worker) == machine {
			t.worker = heir
		}
	}
}

// heir returns a random worker that is there.
func (c *churn) heir() int32 {
	for {
		w := int32(random.Mix(c.rng) % uint64(len(c.m.workers)))
		c.rng++
		if !c.away[c.machineOf(w)] {
			return w
		}
	}
}

// stop ends the node that w runs before it is done.
func (c *churn) stop(w int32) {
	m := c.m
	wk := &m.workers[w]
	left := wk.since - m.wheel.Now
	c.cut += c.weight(&m.threads[wk.runs]) - left
	m.res.busy -= left
	wk.since = m.wheel.Now
	wk.runs = None
	m.busy--
}

// lose loses the threads of a machine, and lets those be spawned again whose parents are left.
func (c *churn) lose(machine int) {
	m := c.m
	c.doomed = slices.Grow(c.doomed[:0], len(m.threads))[:len(m.threads)]
	clear(c.doomed)
	c.doomed[None] = stays
	for w := range c.workersOf(machine) {
		c.doom(m.workers[w].runs)
		for id := m.deques[w].steal(); id != None; id = m.deques[w].steal() {
			c.doom(id)
		}
	}
	for _, id := range c.resumed[machine] {
		c.doom(id)
	}
	c.resumed[machine] = c.resumed[machine][:0]
	for id := range m.threads {
		if t := &m.threads[id]; t.state == waiting && c.machineOf(t.worker) == machine {
			c.doom(ID(id))
		}
	}
	c.abort()
	c.bury()
}

func (c *churn) doom(id ID) {
	if id != None {
		c.doomed[id] = lost
	}
}

// lost reports whether a thread is lost, by itself or by one above it.
func (c *churn) lost(id ID) bool {
	if c.doomed[id] == unknown {
		c.decide(id)
	}
	return c.doomed[id] == lost
}

// decide gives a thread, and those above it that have none, the fate of the first above them that has one.
func (c *churn) decide(id ID) {
	up := id
	for c.doomed[up] == unknown {
		up = c.m.threads[up].parent
	}
	for f := c.doomed[up]; id != up; id = c.m.threads[id].parent {
		c.doomed[id] = f
	}
}

// abort takes lost threads away from the workers and the queues that have them.
func (c *churn) abort() {
	m := c.m
	stays := func(id ID) bool { return !c.lost(id) }
	for w := range m.workers {
		wk := &m.workers[w]
		switch id := wk.runs; {
		case id == None || !c.lost(id):
		case m.begins[w]: // the worker goes on to look when it would have had the thread
			wk.runs, m.begins[w] = None, false
			m.onItsWay--
		default:
			c.stop(int32(w))
			c.drop[w] = true
		}
		if m.deques[w].size > 0 {
			m.deques[w].keep(stays)
		}
	}
	for machine, ids := range c.resumed {
		c.resumed[machine] = slices.DeleteFunc(ids, c.lost)
	}
}

// bury ends the threads that are lost, or spawns them again.
func (c *churn) bury() {
	m := c.m
	for i := range m.threads {
		id, t := ID(i), &m.threads[i]
		if t.state == gone || !c.lost(id) {
			continue
		}
		m.tell(Lost, t.worker, none, id, 0)
		c.vain.add(*c.of(id))
		*c.of(id) = outcome{}
		if c.lost(t.parent) {
			t.state = gone
			m.live--
			m.free = append(m.free, id)
			continue
		}
		home := m.threads[t.parent].worker
		*t = thread{Thread: dag.Thread{Args: t.Args, Path: t.Path}, state: ready, parent: t.parent, worker: home}
		m.tell(Spawned, home, none, id, 0)
		m.push(home, id)
	}
}

// next returns a thread that has begun on the machine of w and can go on, or else what is in the queue of w.
func (c *churn) next(w int32) ID {
	ids := &c.resumed[c.machineOf(w)]
	if n := len(*ids); n > 0 {
		id := (*ids)[n-1]
		*ids = (*ids)[:n-1]
		return id
	}
	return c.m.deques[w].pop()
}

// goesHome keeps a thread that is ready again, and is not on the machine of w, for the workers of its own machine.
func (c *churn) goesHome(w int32, id ID) bool {
	home := c.machineOf(c.m.threads[id].worker)
	if home == c.machineOf(w) {
		return false
	}
	c.resumed[home] = append(c.resumed[home], id)
	return true
}
