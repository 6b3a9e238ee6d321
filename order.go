package filch

import "fmt"

// Order is the order in which a worker takes the tasks of its own queue. With LIFO
// and FIFO, other workers steal the oldest, and the global queue serves the oldest
// first.
type Order int

const (
	// LIFO runs the newest first. So the tasks that a task submits run while the data
	// they share is in the cache, and few tasks are queued at a time.
	LIFO Order = iota
	// FIFO runs the oldest first. It is for tasks without a waiter, such as
	// events.
	FIFO
	// ByPriority runs the tasks with the lowest number of [AtPriority] first. Tasks of
	// one priority run in the order in which they came into their queue. A worker compares
	// its own queue with the global one and takes the more urgent task; its own goes first
	// if they are equal. If its own queue is empty, it steals half of the tasks of the best
	// priority that another worker has, 33 at most, unless the global queue has a more
	// urgent one. At last it takes from the global queue. So when a worker takes a task,
	// neither its own queue nor the global one has a more urgent task, but another
	// worker's queue may. There are exceptions: a task that runs because something waits
	// for it, by [Pool.Help], or with [CallerRuns]; and after 60 tasks that were not
	// global, a worker takes one from the global queue, however urgent.
	//
	// Forks and loops give way. If no worker is idle, a worker that runs those of a less
	// urgent task gives its place to the queued one when it next looks for demand: at a
	// fork, a join or [Worker.Poll], and in loops of package par after an element, or
	// after about 10 us of elements that take less. It goes on when nothing more urgent
	// is queued. So an urgent task starts after one leaf. Forks of [Pool.Do] have the
	// priority 0. The caller's own goroutine does not give way, nor does that of a guest in
	// the Scope of a task; see [ScopeOf].
	//
	//figure:set 10 us
	//
	// A task that a more urgent one always precedes may wait for ever, if
	// [WithAgeing] does not see to it. A worker's queue holds 256 tasks: if it is full,
	// the less urgent half moves to the global queue. In the queue a task takes 40
	// bytes if many have its priority, and up to 300 if none has.
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
