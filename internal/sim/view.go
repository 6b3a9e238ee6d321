package sim

// A View is a run at one time, after what happens then. It holds during the call that it is given to.
type View struct {
	m *machine
	shelf
	hides hider // nil if thieves see all
}

// CommonQueue stands for a queue that no worker owns, where a View is asked for the queue of a worker.
const CommonQueue = -1

// shelf is what keeps ready threads: the machine in its deques, or a scheduler elsewhere. See View.
type shelf interface {
	queued(w int32) int
	nth(w int32, i int) ID
}

// hider is a scheduler with queues of which thieves do not see all.
type hider interface{ private(w int32) int }

func newView(m *machine) View {
	v := View{m: m, shelf: m}
	if s, ok := m.sched.(shelf); ok {
		v.shelf = s
	}
	v.hides, _ = m.sched.(hider)
	return v
}

// Time returns the time, in steps.
func (v View) Time() int64 { return v.m.wheel.Now }

// Queued returns how many places the queue of a worker has, or the CommonQueue.
func (v View) Queued(w int32) int { return v.queued(w) }

// Waiting returns the path of the ready thread at place i of that queue, or ok is false: the thread that was there has
// been taken by another way. Place 0 is the end that thieves take from, and the owner pushes at the other. Of a queue by
// priority place 0 has the best, and the rest is in the order of a heap.
func (v View) Waiting(w int32, i int) (path uint64, ok bool) {
	id := v.nth(w, i)
	return v.m.threads[id].Path, id != None
}

// Private returns how many places of that queue, from the owner's end on, thieves do not see.
func (v View) Private(w int32) int {
	if v.hides == nil || w == CommonQueue {
		return 0
	}
	return v.hides.private(w)
}

func (m *machine) queued(w int32) int {
	if w == CommonQueue {
		return 0
	}
	return int(m.deques[w].size)
}

func (m *machine) nth(w int32, i int) ID { return m.deques[w].at(i) }

// watch shows the run.
func (m *machine) watch() {
	if m.Watch == nil {
		return
	}
	if m.view.m == nil {
		m.view = newView(m)
	}
	m.Watch(m.view)
}
