// Package steal has the orders in which workers that have run out of work look at the others, for
// [github.com/filch-go/filch.WithStealing]: five, and what a sixth takes.
//
// A worker that looks is a thief, and those it looks at are victims. The victims stand in a circle that begins behind the thief. An order says
// where each look begins, and who is looked at before the rest. It cannot leave anybody out: whoever it does not name comes afterwards.
// So an order decides how soon work is found, and never whether. Looks at only some of the workers, see [Glance], go around without the
// order now and then if nothing is found, and the last worker to leave a pool looks at all queues.
//
// # An order of your own
//
// An [Order] makes a [Thief] for each worker. Its method Look is called before each look, with the circle. A thief that wants to know
// more has one of the methods of [OnStole], [OnRobbed] and [OnMissed], and an order that goes by where workers run has that of [Located]. All are
// called by the worker while it looks for work, every 100 ns at the busiest. They must not block or panic, and should not allocate. A
// thief is used by one goroutine at a time, and needs no lock.
//
// The simulator of filch runs the same orders, and a test of an order needs no pool: see [Look.Begin].
package steal

// Glance is how many others a worker looks at in one turn for forks; in a larger pool, the next turn should have others: after 16 turns in
// vain every second one has, whatever the order. For tasks it looks at all, if any are queued.
//
// How many workers search is limited, but each that runs out of work takes a turn before it knows whether it may. On a
// thousand workers, full turns took the processors from those that had work.
const Glance = 32

// MostRest is how many turns a thief sits out at most after a look in vain. A turn takes about a tenth of a
// microsecond.
const MostRest = 64

// Order is an order in which workers look at the others. It is used by any number of pools and workers at a time.
type Order interface {
	// Thief returns by what one worker chooses. The seeds of the workers of a pool differ, and are the same in each
	// run. The thieves of an order all have the same methods, and none is nil.
	Thief(seed uint64) Thief
	// String returns the name of the order, as Dump shows it.
	String() string
}

// Thief is what one worker chooses its victims by.
type Thief interface {
	// Look says in which order the victims of one look come. If it does nothing, they come in the circle behind the thief.
	Look(l *Look)
}

// OnStole is for a [Thief] that goes by whom it has stolen from.
type OnStole interface {
	// Stole is called when the thief has stolen from the worker with that number.
	Stole(from int)
}

// OnRobbed is for a [Thief] that goes by who has stolen from it. It costs each thief a write to memory of the victim.
type OnRobbed interface {
	// Robbed is called before the next look after a worker has stolen from this one. If several have, it is the last.
	Robbed(by int)
}

// OnMissed is for a [Thief] that waits when it has found nothing, or counts that.
type OnMissed interface {
	// Missed is called when a look has found nothing, with how many have in a row in this search. It returns how many turns the
	// thief sits out before it looks again: [MostRest] at most, and none if that is negative.
	Missed(row int) (rest int)
}

// Located is for an [Order] that goes by where workers run.
type Located interface {
	// Processor returns the number of the processor that the caller runs on, or a negative number if it is not known. A
	// worker calls it when it begins to look for work and at every 64th fork that it publishes; see [Look.Processor].
	Processor() int
}

// Orders returns all the orders of this package. The first is the default of a pool.
func Orders() []Order { return []Order{RandomStart, RoundRobin, Localized, Nearest, Adaptive} }
