package engine

import (
	"math"
	"slices"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/policy"
)

// Stealing is how the workers of a pool look at one another. No wake-up depends on it: see README.md.
type Stealing struct {
	Victims func(seed uint64) policy.Victims // nil stands for policy.RandomStart
	Yield   bool                             // before each attempt
	One     bool                             // of the tasks of another worker, and not half of them; the Source goes by it
	Machine Machine                          // for an order by distance; nil if none is known
}

// Machine tells where workers are.
type Machine interface {
	// Processor returns the number of the processor that the caller runs on, or a negative number if it is not
	// known.
	Processor() int
	// Distance returns how far two processors are from each other.
	Distance(a, b int) int
}

// nowhere is the processor of a worker that has not said where it is.
const nowhere = -1

// beginVictims sets by what w chooses its victims. The race detector does not see it, as it does not see Init.
//
//go:norace
func (w *Worker) beginVictims(s *Stealing) {
	w.victims = policy.RandomStart(uint64(w.ID))
	if s.Victims != nil {
		w.victims = s.Victims(uint64(w.ID))
	}
	if w.victims.GoesByDistance() {
		w.processor.Store(nowhere)
	}
}

// Others returns all workers, and in which order to look at those that are not w, n of them.
func (w *Worker) Others() (all []*Worker, pass policy.Pass, n int) {
	all = *w.pool.Workers.Load()
	pass = w.victims.WholeCircle(w.placeIn(all, &w.index), len(all))
	w.arrange(&pass, all, &w.favourite)
	return all, pass, len(all) - 1
}

// otherForkers is Others for those that may have forks, of which w may be none.
func (w *Worker) otherForkers() (all []*Worker, pass policy.Pass, n int) {
	all = *w.pool.forkers.Load()
	self, length := len(all), len(all)+1
	if w.forks.Load() {
		self, length = w.placeIn(all, &w.forker), len(all)
	}
	pass = w.victims.Circle(self, length)
	w.arrange(&pass, all, &w.favouriteForker)
	return all, pass, length - 1
}

// placeIn returns where w is in all, which is at last, most often.
func (w *Worker) placeIn(all []*Worker, last *int32) int {
	if int(*last) >= len(all) || all[*last] != w {
		*last = int32(max(0, slices.Index(all, w)))
	}
	return int(*last)
}

// arrange has a pass through all begin with whom w is to look at first. last is where that was in this list.
func (w *Worker) arrange(pass *policy.Pass, all []*Worker, last *whereabouts) {
	switch {
	case w.victims.GoesByDistance():
		w.arrangeByDistance(pass, all)
	case w.victims.StealsBack() && w.robber.Load() != nobody:
		w.victims.RobbedBy(int(w.robber.Swap(nobody)) - 1)
	}
	if id, ok := w.victims.Favourite(); ok {
		pass.First(last.placeOf(id, all))
	}
}

// arrangeByDistance has a pass through all begin with those that are near. Those that have not said where they
// are are the last.
func (w *Worker) arrangeByDistance(pass *policy.Pass, all []*Worker) {
	m, here := w.pool.Stealing.Machine, int(w.processor.Load())
	if m == nil || here < 0 {
		return
	}
	pass.Sort(func(victim int) int {
		there := int(all[victim].processor.Load())
		if there < 0 {
			return math.MaxInt
		}
		return m.Distance(here, there)
	})
}

// whereabouts is where a worker looked another up in a list. To look anew takes a step for each that is in it.
type whereabouts struct {
	id, at int32 // at is negative if the worker with that ID is not in the list
	of     int32 // the length of the list
}

// placeOf returns where the worker with the given ID is in all, or a negative number if it is not: it was forgotten,
// or is in another list. It need not be the worker that had the ID when its thief came to know it. One that comes just
// when another leaves may be missed until the list is longer or shorter.
func (h *whereabouts) placeOf(id int, all []*Worker) int {
	at := int(h.at)
	known := int(h.id) == id && int(h.of) == len(all) && at < len(all)
	if !known || at >= 0 && all[at].ID != id {
		at = slices.IndexFunc(all, func(v *Worker) bool { return v.ID == id })
		*h = whereabouts{int32(id), int32(at), int32(len(all))}
	}
	return at
}

// Robbed is called when w has stolen from v.
func (w *Worker) Robbed(v *Worker) {
	w.victims.Took(v.ID)
	if w.victims.StealsBack() {
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

// locateNowAndThen is called when w has published some forks more. A look costs as much as some publications.
func (w *Worker) locateNowAndThen(more int) {
	const every = 64
	if more == 0 || !w.victims.GoesByDistance() {
		return
	}
	if n := w.count.published; n/every != (n-more)/every || w.processor.Load() == nowhere {
		w.Locate()
	}
}

// Locate notes where w is, for those that look at what is near first.
func (w *Worker) Locate() {
	m := w.pool.Stealing.Machine
	if m == nil || !w.victims.GoesByDistance() {
		return
	}
	if at := int32(m.Processor()); w.processor.Load() != at {
		w.processor.Store(at)
	}
}
