package filch

import "fmt"

// Choices by name: the order of tasks, what happens at a limit, and the order of processors.

// Order is the order in which a worker takes tasks from its own queue. With LIFO and FIFO, other workers steal the oldest,
// and the global queue serves the oldest first.
type Order int

const (
	// LIFO runs the newest first: tasks that a task submits run while the data they share is cached, and few are queued at a
	// time.
	LIFO Order = iota
	// FIFO runs the oldest first. Use it for tasks that nothing waits for, such as events. Tasks submitted by one goroutine
	// from outside start in order of submission, on any number of workers, and an [Observer] receives the starts in that
	// order. Exception: a task that something waits for, or that [Pool.Help] takes, may start sooner. With two workers or
	// more, a task may end before an older one.
	FIFO
	// ByPriority runs the tasks with the lowest [AtPriority] number first, and tasks of one priority in the order in which
	// they came into their queue. A worker compares its own queue with the global one and takes the more urgent task, its own
	// if they are equal. If its own queue is empty, it steals half of another worker's tasks of the best priority, 33 at
	// most, unless the global queue has a more urgent one; last, it takes from the global queue. So neither its own queue nor
	// the global one has a more urgent task than the one it takes, but another worker's queue may. Exceptions: a task may run
	// because something waits for it, by [Pool.Help], or with [CallerRuns]; and after 60 tasks that were not global, a worker
	// takes one from the global queue, however urgent.
	//
	// Forks and loops yield. If no worker is idle, a worker that runs forks of a less urgent task lends its slot to the
	// queued task when it next checks for demand: at a fork, a join or [Worker.Poll]; loops of package par check after each
	// element, or every 10 us if elements take less. It goes on when nothing more urgent is queued. So an urgent task starts
	// after one leaf. Forks of [Pool.Do] have priority 0. The goroutine that calls Do does not yield, nor does a guest in the
	// Scope of a task; see [ScopeOf].
	//
	// Without [WithAgeing], a task may wait for ever behind more urgent ones. A worker's own queue holds 256 tasks; when
	// full, it spills the less urgent half into the global queue. A queued task takes 40 bytes if many have its priority, and
	// up to 300 if no other has.
	//
	//figure:set 10 us
	ByPriority
)

// String returns the name of the order.
func (o Order) String() string { return nameOf("Order", int(o), "LIFO", "FIFO", "ByPriority") }

// Overflow says what happens to a task that exceeds a limit of queued or unfinished tasks; see [WithQueueLimit] and
// [WithTaskLimit].
type Overflow int

const (
	// Block makes the submitter wait until there is room or its context ends. A submitting task yields its worker slot
	// meanwhile.
	Block Overflow = iota
	// Reject refuses the task with ErrQueueFull.
	Reject
	// CallerRuns runs the task at once on the submitter's goroutine.
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

// Affinity is the order in which workers take processors; see [WithAffinity].
type Affinity int

const (
	// Spread takes processors far from one another: nodes round-robin, then cores, and SMT siblings last. Few workers then
	// have much cache and memory bandwidth.
	Spread Affinity = iota
	// Compact takes processors near one another: SMT siblings first, then those that share caches, then the rest of the node.
	// Few workers then share a cache. To leave siblings out, list one processor of each core.
	Compact
	// AsListed takes processors in the listed order.
	AsListed
)

// String returns the name of the order.
func (a Affinity) String() string { return nameOf("Affinity", int(a), "Spread", "Compact", "AsListed") }
