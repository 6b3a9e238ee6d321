package engine

import (
	"slices"
	"sync/atomic"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/steal"
)

// Stealing is how the workers of a pool look at one another. No wake-up depends on it: see README.md.
type Stealing struct {
	Order steal.Order // nil stands for steal.RandomStart
	Yield bool        // before each attempt
	One   bool        // of the tasks of another worker, and not half of them; the Source goes by it

	located steal.Located // the order, if it goes by where workers run; Init sets it
}

// complete sets what follows from the order.
func (s *Stealing) complete() {
	if s.Order == nil {
		s.Order = steal.RandomStart
	}
	s.located, _ = s.Order.(steal.Located)
}

// nowhere is the processor of a worker that has not said where it is.
const nowhere = -1

// seeker is how a worker looks at the others. It is made when it first does, by the goroutine that does.
type seeker struct {
	*policy.Victims
	all, forkers others
}

func (w *Worker) seeks() *seeker {
	if w.seeker == nil {
		w.seeker = &seeker{policy.NewVictims(w.pool.Stealing.Order, uint64(w.ID)), others{of: w}, others{of: w}}
	}
	return w.seeker
}

// Others returns all workers, and a look at those that are not w, by their places in all.
func (w *Worker) Others() (all []*Worker, look *steal.Look) {
	s := w.seeks()
	all = *w.pool.Workers.Load()
	return all, s.look(w, &s.all, all, true, len(all))
}

// otherForkers is Others for a glance at those that may have forks, of which w may be none.
func (w *Worker) otherForkers() (all []*Worker, look *steal.Look) {
	s := w.seeks()
	all = *w.pool.forkers.Load()
	return all, s.look(w, &s.forkers, all, w.forks.Load(), steal.Glance)
}

// look returns a look of w, which is in the list or not, at no more than most of it. o is for that list.
func (s *seeker) look(w *Worker, o *others, list []*Worker, in bool, most int) *steal.Look {
	o.list = list
	switch {
	case !in:
		o.self = -1
	case o.self < 0 || o.self >= len(list) || list[o.self] != w: // it has moved, or was forgotten
		o.self = slices.Index(list, w)
	}
	v := s.Victims
	if v.HearsOfRobbers() && w.robber.Load() != nobody {
		v.Robbed(int(w.robber.Swap(nobody)) - 1)
	}
	return v.Look(o, o.self, most)
}

// others are the workers of a list, as one of them sees it: steal.Workers.
type others struct {
	of   *Worker
	list []*Worker
	self int // where of was when it last looked, or negative
	// The worker that was looked up last, and where it was in a list of that length. To look anew takes a step for each
	// that is in it. found is negative if it is not in the list.
	id, found, length int
}

func (o *others) Len() int                { return len(o.list) }
func (o *others) Number(place int) int    { return o.at(place).ID }
func (o *others) Processor(place int) int { return int(o.at(place).processor.Load()) }

func (o *others) at(place int) *Worker {
	if place < 0 {
		return o.of
	}
	return o.list[place]
}

// Place returns where the worker with the given ID is, or a negative number if it is not: it was forgotten,
// or is in another list. It need not be the worker that had the ID when its thief came to know it. One that comes just
// when another leaves may be missed until the list is longer or shorter.
func (o *others) Place(id int) int {
	known := o.id == id && o.length == len(o.list) && o.found < len(o.list)
	if !known || o.found >= 0 && o.list[o.found].ID != id {
		o.found = slices.IndexFunc(o.list, func(v *Worker) bool { return v.ID == id })
		o.id, o.length = id, len(o.list)
	}
	return o.found
}

// Robbed is called when w has stolen from v.
func (w *Worker) Robbed(v *Worker) {
	s := w.seeks()
	s.Stole(v.ID)
	if s.HearsOfRobbers() {
		v.robber.Store(w.Number)
	}
}

// yieldFirst is called before each attempt to steal. A pinned worker keeps its processor, as in a spin: to let others
// have it takes two switches of threads, for each of the victims that it looks at.
func (w *Worker) yieldFirst() {
	if w.pool.Stealing.Yield && w.Processor() < 0 {
		w.yield(clock.Now())
	}
}

// locating is where a worker is, for an order that goes by it.
type locating struct {
	located   steal.Located // that order, or nil; never written again
	processor atomic.Int32  // where it was when it last looked for work, or published; the owner writes, thieves load
}

// locateNowAndThen is called when the owner has published more forks, and then published in all. A look costs as much as some publications.
func (l *locating) locateNowAndThen(more, published int) {
	const every = 64
	if more == 0 || l.located == nil {
		return
	}
	if published/every != (published-more)/every || l.processor.Load() == nowhere {
		l.Locate()
	}
}

// Locate notes where the worker is.
func (l *locating) Locate() {
	if l.located == nil {
		return
	}
	if at := int32(l.located.Processor()); l.processor.Load() != at {
		l.processor.Store(at)
	}
}
