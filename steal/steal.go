// Package steal has the orders in which idle workers try their victims, for [github.com/filch-go/filch.WithStealing]:
// five, and what a sixth takes.
//
// A worker that looks for work is a thief; the other workers are its victims. They form a circle that begins behind the
// thief. One pass scans every victim for tasks, or up to [Glance] for forks. An order says where each pass begins, and
// which victims come before the rest. It cannot leave any out: a victim that it does not name comes later. The order
// therefore affects how soon work is found, never whether. When fork scans of part of a larger pool keep finding
// nothing, some go around the circle without the order, and the last worker to leave a pool scans all queues.
//
// # An order of your own
//
// An [Order] makes a [Thief] for each worker, whose method Look is called before each pass with the circle. A thief
// that needs to know more implements [OnStole], [OnRobbed] or [OnMissed]; an order that depends on where workers run
// implements [Located]. The worker calls all of these while it looks for work, up to once every 100 ns. They must not
// block or panic, and should not allocate. One goroutine at a time uses a thief, so it needs no lock.
//
// filch's simulator runs the same orders, and a test of an order needs no pool: see [Look.Begin].
package steal

// Glance is how many victims one pass scans for forks. In a larger pool, the next pass should scan others; after 16
// passes in vain every second one does, whatever the order. Passes for tasks scan all workers, if any tasks are queued.
//
// The number of searching workers is limited, but each worker that runs out of work makes one pass before it knows
// whether it may search. On a thousand workers, full passes took the processors from those that had work.
const Glance = 32

// MostRest is the maximum number of passes that a thief skips after one that found nothing. A pass takes about a tenth
// of a microsecond.
const MostRest = 64

// Order is an order in which workers try their victims. Any number of pools and workers may use it at once.
type Order interface {
	// Thief returns the thief of one worker. The seeds of a pool's workers differ, and are the same in each run. All
	// thieves of an order have the same methods, and none is nil.
	Thief(seed uint64) Thief
	// String returns the name of the order, as Dump shows it.
	String() string
}

// Thief chooses the victims of one worker.
type Thief interface {
	// Look sets the order of victims for one pass. If it does nothing, they come in the circle behind the thief.
	Look(l *Look)
}

// OnStole is for a [Thief] that depends on which workers it has stolen from.
type OnStole interface {
	// Stole is called when the thief has stolen from the worker with that number.
	Stole(from int)
}

// OnRobbed is for a [Thief] that depends on who has stolen from it. It costs each of those a write to the victim's
// memory.
type OnRobbed interface {
	// Robbed is called before the next pass after a worker has stolen from this one. If several have, by is the last.
	Robbed(by int)
}

// OnMissed is for a [Thief] that waits after finding nothing, or counts that.
type OnMissed interface {
	// Missed is called when a pass has found nothing; row is how many passes in a row have, in this search. It returns
	// how many passes the thief skips: at most [MostRest], and none for a negative number.
	Missed(row int) (rest int)
}

// Located is for an [Order] that depends on where workers run.
type Located interface {
	// Processor returns the number of the processor that the caller runs on, or a negative number if unknown. A worker
	// calls it when it begins to look for work and at every 64th fork that it publishes; see [Look.Processor].
	Processor() int
}

// Orders returns all the orders of this package. The first is the default of a pool.
func Orders() []Order { return []Order{RandomStart, RoundRobin, Localized, Nearest, Adaptive} }
