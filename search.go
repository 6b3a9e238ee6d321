package filch

import (
	"runtime"
	"slices"

	"github.com/filch-go/filch/deque"
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/tag"
)

// run is the life of a goroutine that fills a place: it looks for work and does
// it until there is none.
func (w *Worker) run(uint64, tag.Step) {
	left := false
	unlabel() // the labels of the goroutine that this one was started by
	defer func() {
		if !left { // something ended in runtime.Goexit: another goroutine goes on
			go w.pool.mark(w.run)
		}
	}()
	for w.hold.Load().HasPlace() || w.regain() {
		j, t := w.find()
		switch {
		case j != nil:
			if j.level != nothing {
				w.setLevel(j.level)
			}
			w.start()
			w.execute(j)
		case t.body != nil:
			w.serve(t, &w)
			if w.pool.way.n.Load() > 0 {
				w.passPlace()
			}
		default:
			left = true
			return
		}
	}
	left = true
	w.pool.fire(w)
}

// find returns a job or a task, or neither when there is none: then w and its
// place are given back.
func (w *Worker) find() (j *job, t task) {
	for {
		if j, t = w.search(); w.got(j, t) {
			return j, t
		}
		if !w.giveUp() {
			return nil, task{}
		}
	}
}

// search returns a job or a task, or neither.
func (w *Worker) search() (j *job, t task) {
	p := w.pool
	if c := p.counts(p.places.Load()); c.Active <= c.Limit {
		if t, _ = w.nextTask(); t.body != nil {
			return nil, t
		}
		if j, t = w.look(false); j != nil || t.body != nil {
			return j, t
		}
	}
	if w.searching || w.startSearching() {
		for s := (spin{}); s.next() || p.mayPoll(); {
			if w.tasks.some.Load() { // pushed with the context of a task that w ran
				if t, _ = w.nextTask(); t.body != nil {
					return nil, t
				}
			}
			if j, t = w.look(true); j != nil || t.body != nil {
				return j, t
			}
			if w.pool.way.n.Load() > 0 { // leaving lets one go on
				break
			}
		}
	}
	return nil, task{}
}

// giveUp gives back w's place, and w, unless its goroutine is kept and has
// another place in the end: then it reports true.
func (w *Worker) giveUp() bool {
	p := w.pool
	searched := w.searching
	w.searching = false
	if p.linger == 0 {
		p.fire(w)
	} else {
		w.flush() // while the place keeps the pool from its end
	}
	if searched {
		p.leaveSearching()
	} else {
		p.leave()
	}
	if p.linger == 0 {
		return false
	}
	if w.park() {
		return true
	}
	p.fire(w)
	return false
}

// mayPoll reports whether a worker may look for work without end.
func (p *Pool) mayPoll() bool {
	if !p.busyPoll || p.phase.Load() != open {
		return false
	}
	c := p.counts(p.places.Load())
	return c.Active <= c.Limit
}

// got ends the search if it found something.
func (w *Worker) got(j *job, t task) bool {
	if j == nil && t.body == nil {
		return false
	}
	w.found()
	w.pool.urge()
	w.pool.guard()
	return true
}

func (w *Worker) found() {
	if w.searching {
		w.stopSearching()
	}
}

// look goes once through the global queues, then through the queues of the
// others if some may hold tasks, or else at a glance through the deques of forkers.
// If ask is set, it asks workers that have nothing public to publish.
func (w *Worker) look(ask bool) (*job, task) {
	p := w.pool
	if j := p.global.take(); j != nil {
		return j, task{}
	}
	if p.order == ByPriority {
		if t, ok := w.stealTask(); ok {
			return nil, t
		}
	} else if t, ok := w.takeFrom(&p.tasks, int(p.limit.Load()), false); ok {
		return nil, t
	}
	tasks := p.order != ByPriority && p.laden.Load() > 0 // else that was stealTask's affair
	var all []*Worker
	var pass policy.Pass
	var n int
	if tasks {
		all, pass, n = w.others()
	} else {
		all, pass, n = w.otherForkers()
		n = min(n, glance)
	}
	for i := range n {
		v := all[pass.At(i)]
		if v.forks.Load() {
			if j := w.steal(v); j != nil {
				return j, task{}
			}
		}
		if tasks {
			if t, ok := w.takeFrom(&v.tasks, 2, true); ok {
				return nil, t
			}
		}
		if ask {
			v.raise(hunger)
		}
	}
	return nil, task{}
}

// glance is how many others a worker looks at in one turn if none of them need have
// anything. How many workers search is limited, but each that runs out of work takes a
// turn before it knows whether it may: on a thousand workers, a full turn took the
// processors from those that had work. What a glance misses is found by the next, and at
// last by release, which looks at all.
const glance = 32

// others returns all workers, and in which order to look at those that are not w, n of them.
func (w *Worker) others() (all []*Worker, pass policy.Pass, n int) {
	all = *w.pool.workers.Load()
	return all, w.victims.Pass(w.placeIn(all, &w.index), len(all)), len(all) - 1
}

// otherForkers is others for those that may have forks, of which w may be none.
func (w *Worker) otherForkers() (all []*Worker, pass policy.Pass, n int) {
	all = *w.pool.forkers.Load()
	if !w.forks.Load() {
		return all, w.victims.Pass(len(all), len(all)+1), len(all)
	}
	return all, w.victims.Pass(w.placeIn(all, &w.forker), len(all)), len(all) - 1
}

// placeIn returns where w is in all, which is at last, most often.
func (w *Worker) placeIn(all []*Worker, last *int) int {
	if *last >= len(all) || all[*last] != w {
		*last = max(0, slices.Index(all, w))
	}
	return *last
}

// steal takes the oldest public fork of v. If steals come seldom, so that forks
// are coarse, it also asks v to keep enough public for everybody.
func (w *Worker) steal(v *Worker) *job {
	w.count.attempts++
	j, r := v.thief.Steal()
	if r != deque.Success {
		return nil
	}
	w.count.steals++
	t := clock.Now()
	if policy.Coarse(t-w.lastSteal) && v.thief.Len() < int(w.pool.limit.Load()) {
		v.raise(supply)
	}
	w.lastSteal = t
	return j
}

// spin is a wait in turns of about a tenth of a microsecond, as long as policy.Spin says.
// Now and then it lets other goroutines have the processor.
type spin struct {
	policy policy.Spin
	noise  int // so that the pause is not optimized away
}

func (s *spin) next() bool {
	free := s.policy.Turn()
	s.pause()
	if free {
		return true
	}
	if !s.policy.Timed() {
		s.policy.Begin(clock.Now())
	}
	runtime.Gosched()
	return s.policy.Goes(clock.Now())
}

// pause takes some tens of nanoseconds. Polling with less in between takes the
// cache lines from the workers that write them.
func (s *spin) pause() {
	for i := range 64 {
		s.noise ^= i
	}
}
