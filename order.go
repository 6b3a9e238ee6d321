package filch

import "fmt"

// What users choose by a word: the order of tasks, what happens at a limit, and the order of processors.

// Order is the order in which a worker takes the tasks of its own queue. With LIFO
// and FIFO, other workers steal the oldest, and the global queue serves the oldest
// first.
type Order int

const (
	// LIFO runs the newest first. So the tasks that a task submits run while the data
	// they share is in the cache, and few tasks are queued at a time.
	LIFO Order = iota
	// FIFO runs the oldest first. It is for tasks that nothing waits for, such as events. Tasks that one goroutine
	// submits from outside begin in the order of submission, on any number of workers. Exception: one that
	// something waits for, or that [Pool.Help] takes, may run sooner. An [Observer] is told of the starts in that order. On two workers, a task may end before an older
	// one does.
	FIFO
	// ByPriority runs the tasks with the lowest number of [AtPriority] first. Tasks of
	// one priority run in the order in which they came into their queue. A worker compares
	// its own queue with the global one and takes the more urgent task; its own goes first
	// if they are equal. If its own queue is empty, it steals half of the tasks of the best
	// priority that another worker has, 33 at most, unless the global queue has a more
	// urgent one. Last, it takes from the global queue. So when a worker takes a task,
	// neither its own queue nor the global one has a more urgent task, but another
	// worker's queue may. There are two exceptions. A task may run because something
	// waits for it, by [Pool.Help], or with [CallerRuns]. After 60 tasks that were not
	// global, a worker takes one from the global queue, however urgent.
	//
	// Forks and loops give way. If no worker is idle, a worker that runs forks of a less
	// urgent task gives its place to the queued task when it next looks for demand: at a
	// fork, a join or [Worker.Poll]. Loops of package par look after each element, or
	// every 10 us if elements take less. It goes on when nothing more urgent is queued.
	// So an urgent task starts after one leaf. Forks of [Pool.Do] have the priority 0.
	// The goroutine that calls Do does not give way, nor does a guest in the Scope of a
	// task; see [ScopeOf].
	//
	//figure:set 10 us
	//
	// Without [WithAgeing], a task may wait for ever if there is always a more urgent
	// one. A worker's own queue holds 256 tasks. When it is full, it spills the less
	// urgent half into the global queue. In the queue a task takes 40 bytes if many tasks
	// have its priority, and up to 300 if no other has.
	ByPriority
)

// String returns the name of the order.
func (o Order) String() string { return nameOf("Order", int(o), "LIFO", "FIFO", "ByPriority") }

// Overflow is what happens to a task that exceeds a limit of queued or unfinished
// tasks; see [WithQueueLimit] and [WithTaskLimit].
type Overflow int

const (
	// Block makes the submitter wait until there is room, or its context ends.
	// A task that submits lets another worker have its place meanwhile.
	Block Overflow = iota
	// Reject refuses the task, with ErrQueueFull.
	Reject
	// CallerRuns runs the task on the submitter's goroutine, at once.
	CallerRuns
)

// String returns the name of the overflow.
func (o Overflow) String() string {
	return nameOf("Overflow", int(o), "Block", "Reject", "CallerRuns")
}

func nameOf(kind string, i int, names ...string) string {
	if i >= 0 && i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// Affinity is in which order workers take processors; see [WithAffinity].
type Affinity int

const (
	// Spread takes processors that are far from one another: nodes in turn, then cores, and SMT siblings last. So
	// few workers have much cache and memory bandwidth.
	Spread Affinity = iota
	// Compact takes processors that are near one another: SMT siblings first, then what shares caches, then the
	// rest of the node. So few workers share a cache. List one processor of each core to leave siblings out.
	Compact
	// AsListed takes processors in the order in which they are listed.
	AsListed
)

// String returns the name of the order.
func (a Affinity) String() string { return nameOf("Affinity", int(a), "Spread", "Compact", "AsListed") }
