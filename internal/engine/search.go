package engine

import (
	"runtime"

	"github.com/filch-go/filch/deque"
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/tag"
)

// start is where the goroutine of w begins.
func (w *Worker) start() {
	_ = reserve(0)
	w.pool.Tag(w.run)
}

// reserve makes the stack grow to what tasks need while there is next to nothing on it. Later the runtime would have to move some ten
// frames, which took 9 us of the 25 until a task begins after a rest.
//
//go:noinline
func reserve(at int) byte {
	var room [3 << 10]byte
	return room[at]
}

// run is the life of a goroutine that fills a place: it looks for work and does
// it until there is none.
func (w *Worker) run(uint64, tag.Step) {
	left := false
	w.began, w.worth = clock.Now(), 0
	Unlabel() // the labels of the goroutine that this one was started by
	w.takeSeat(w.pool.Size())
	w.Locate()
	defer func() {
		if !left { // something ended in runtime.Goexit: another goroutine goes on
			w.leaveSeat()
			go w.start()
		}
	}()
	for w.Hold.Load().HasPlace() || w.tryPlace() {
		j, found := w.find()
		switch {
		case j != nil:
			if j.level != Nothing {
				w.pool.source.SetLevel(w, j.level)
			}
			w.Start()
			w.execute(j)
		case found:
			w.pool.source.Serve(&w)
		default:
			left = true
			return
		}
	}
	left = true
	w.leaveSeat()
	w.Tell(event.Left, nil)
	w.pool.Fire(w)
}

// find returns a job, or reports that the Source has something to serve, or neither when
// there is none: then w and its place are given back.
func (w *Worker) find() (j *Job, found bool) {
	for {
		if j, found = w.search(); j != nil || found {
			if w.searching {
				w.stopSearching()
			}
			w.pool.source.Found()
			return j, found
		}
		if !w.giveUp() {
			return nil, false
		}
	}
}

// search returns a job, or reports that the Source has something to serve, or neither.
func (w *Worker) search() (j *Job, found bool) {
	p := w.pool
	if !p.Over() {
		if j, found = w.look(false); j != nil || found {
			return j, found
		}
	}
	if w.searching || !p.held.Load() && w.startSearching() {
		victims := w.seeks().Victims
		victims.Begin()
		w.Locate()
		for s := (spin{w: w, most: min(p.budget.left(w.began), p.patience.left()), pinned: w.Processor() >= 0}); s.next() || p.mayPoll(); {
			if victims.Rests() {
				continue
			}
			if j, found = w.look(true); j != nil || found {
				return j, found
			}
			victims.Missed()
			if p.source.Waiting() { // leaving lets one go on
				break
			}
		}
	}
	return nil, false
}

// giveUp gives back w's place, and w, unless its goroutine is kept and has
// another place in the end: then it reports true.
func (w *Worker) giveUp() bool {
	p := w.pool
	searched := w.searching
	w.searching = false
	if !searched {
		w.countWork(clock.Now())
	}
	w.countSearch(searched)
	w.leaveSeat()
	w.Tell(event.Left, nil)
	if p.Linger == 0 {
		p.Fire(w)
	} else {
		w.flush() // while the place keeps the pool from its end
	}
	if searched {
		p.leaveSearching()
	} else {
		p.Leave()
	}
	if p.Linger == 0 {
		return false
	}
	if w.park() {
		w.takeSeat(w.pool.Size())
		w.Locate()
		w.began, w.worth = clock.Now(), 0
		return true
	}
	p.Fire(w)
	return false
}

// mayPoll reports whether a worker may look for work without end.
func (p *Pool) mayPoll() bool {
	s := p.Places.Load()
	if !p.BusyPoll || s.Closed() {
		return false
	}
	c := p.Counts(s)
	return c.Active <= c.Limit
}

// look goes once through all that there may be, as policy.Look says. If ask is set, it
// asks workers that have nothing public to publish.
func (w *Worker) look(ask bool) (j *Job, found bool) {
	p := w.pool
	for _, at := range policy.Look {
		switch at {
		case policy.HandedOn:
			if j = p.global.take(); j != nil {
				w.tellOf(event.TakenUp, j.owner, j)
			} else if p.IsLogical() {
				j = p.Logical.take()
			}
		case policy.Source:
			found = p.source.Look(w)
		case policy.Forks:
			j = w.lookForForks(ask)
		}
		if j != nil || found {
			return j, found
		}
	}
	return nil, false
}

// lookForForks looks at a glance through the deques of forkers.
func (w *Worker) lookForForks(ask bool) *Job {
	all, look := w.otherForkers()
	for at, ok := look.Next(); ok; at, ok = look.Next() {
		v := all[at]
		if j := w.steal(v); j != nil {
			w.countSteal(w.lastSteal)
			return j
		}
		if ask {
			v.Raise(Hunger)
		}
	}
	return nil
}

// steal takes the oldest public fork of v. If steals come seldom, so that forks
// are coarse, it also asks v to keep enough public for all.
func (w *Worker) steal(v *Worker) *Job {
	w.yieldFirst()
	w.count.attempts++
	j, r := v.thief.Steal()
	if r != deque.Success {
		return nil
	}
	w.count.steals++
	w.Robbed(v)
	w.tellOf(event.Stolen, v, j)
	t := clock.Now()
	if policy.Coarse(t-w.lastSteal) && v.thief.Len() < int(w.pool.limit.Load()) {
		v.Raise(supply)
	}
	w.lastSteal = t
	return j
}

// spin is a wait in turns of about a tenth of a microsecond, as long as policy.Spin says.
// Now and then it lets other goroutines have the processor.
type spin struct {
	policy policy.Spin
	w      *Worker
	most   int64 // at most so long, ns
	pinned bool  // to a processor: to let others have it takes two switches of threads, about 30 us, so it waits for the end
}

// wait returns a spin that w waits with.
func (w *Worker) wait() spin {
	return spin{w: w, most: policy.SpinTime, pinned: w.Processor() >= 0}
}

func (s *spin) next() bool {
	free := s.policy.Turn()
	s.w.Pause()
	if free {
		return true
	}
	now := clock.Now()
	if !s.policy.Timed() {
		s.policy.Begin(now, s.most)
	}
	if s.pinned && s.policy.Goes(now) {
		return true
	}
	return s.policy.Goes(s.w.yield(now))
}

// yield lets other goroutines have the processor, and returns the time when the worker goes on. It is now the time
// now. What the others do is not what it has spent.
func (s *spending) yield(now int64) (then int64) {
	runtime.Gosched()
	then = clock.Now()
	s.began += then - now
	return then
}

// pauses of a worker between two looks.
type pauses struct {
	noise int // so that a pause is not optimized away
}

// Pause takes some tens of nanoseconds, or a hundred. Polling with less in between takes the
// cache lines from the workers that write them.
func (p *pauses) Pause() {
	for i := range 64 {
		p.noise ^= i
	}
}
