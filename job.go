package filch

import (
	"runtime"
	"sync/atomic"
)

// A job is a published fork. It lies in the deque of its owner until it is
// taken back or stolen.
type job struct {
	run    func(w *Worker) // calls the function and keeps its result
	owner  *Worker         // who forked it, and joins it
	thief  atomic.Pointer[Worker]
	state  atomic.Uint32
	err    *PanicError // how run ended, if not by returning: a panic,
	exited bool        // or runtime.Goexit; the thief writes, before it is done
}

// The states of a job.
const (
	jobOpen     = iota // not done
	jobAwaited         // not done, and its owner has given up its place to wait
	jobDone            // by the thief
	jobReturned        // to the owner, by a thief that could not run it
)

// execute runs j on w, which has taken it.
func (w *Worker) execute(j *job) {
	j.thief.Store(w)
	returned := false
	m := w.mark()
	defer func() {
		if !returned {
			j.err = w.caught(m, recover())
			j.exited = j.err == nil
		}
		w.finish(j)
	}()
	j.run(w)
	returned = true
}

// finish marks j as done. If its owner is blocked, w's place passes to it: the
// owner goes on where w stops, so that as many goroutines run as before.
func (w *Worker) finish(j *job) {
	owner := j.owner
	if j.state.Swap(jobDone) == jobAwaited { // (W20) the result; pairs with (R20)
		w.placed = false
		owner.wakeup <- struct{}{}
	}
}

// await returns when j, which was stolen from w, is done, or returned.
//
// While it waits, w helps the thief: it steals back from it, and from nobody
// else. As long as j is not done, whatever lies in the thief's deque descends
// from j: a thief's deque is empty when it takes j, and empty whenever it
// waits at a join itself, since forks are published, and stolen, oldest first.
// So w runs only what the serial program would run before this join returns.
// Its stack gets no deeper than the program's own recursion would make it, and
// a mutex that is locked around the join is not locked again by what runs on
// top of it, unless the serial program would do so too. This is leapfrogging
// (Wagner and Calder, PPoPP 1993).
//
// If there is nothing to help with for about the time of a wake-up, w blocks,
// and another goroutine has its place until j is done.
func (w *Worker) await(j *job) {
	if !w.watch(j) && j.state.CompareAndSwap(jobOpen, jobAwaited) { // (R20)
		w.block()
	}
	if !w.placed {
		// w passed its place on while it helped, and j was over before it could
		// block. It goes on with an extra one, until the next worker to look for
		// work gives up its own.
		w.pool.state.Add(onePlace)
		w.placed = true
	}
}

// watch waits for j, and helps with it, for as long as that may be cheaper than
// to block. It reports whether the wait is over.
func (w *Worker) watch(j *job) bool {
	// A result that is about to come is not worth disturbing the thief for.
	for range 2000 {
		if j.over() { // (R20)
			return true
		}
	}
	for s := (spin{}); w.placed && s.next(); {
		if j.over() { // (R20)
			return true
		}
		// A job that ends in Goexit would end the unwinding as well, half done.
		if !w.unwinding && w.help(j) {
			s = spin{}
		}
	}
	return false
}

// block gives up w's place, if it still has one, and waits for another.
func (w *Worker) block() {
	w.count.waits++
	d := uint64(oneBlocked)
	if w.placed {
		d += minus(onePlace)
	}
	w.placed = false
	w.pool.release(d)
	<-w.wakeup
	w.placed = true
	w.pool.state.Add(minus(oneBlocked))
}

// over reports whether the wait for j is over.
func (j *job) over() bool { return j.state.Load() >= jobDone }

// help does one job of the worker that has stolen j, and reports whether it
// did.
func (w *Worker) help(j *job) bool {
	thief := j.thief.Load()
	if thief == nil || thief == w {
		return false
	}
	h := w.steal(thief)
	if h == nil {
		thief.raise(hunger)
		return false
	}
	if j.over() {
		// Too late to know that h descends from j.
		w.giveBack(h)
		return false
	}
	w.count.helped++
	w.execute(h)
	return true
}

// giveBack returns j, which w has stolen but must not run, to its owner, who
// runs it when it comes to the join. If it is there already, and blocked, it
// goes on with an extra place.
func (w *Worker) giveBack(j *job) {
	owner := j.owner
	if j.state.Swap(jobReturned) == jobAwaited { // (W20)
		w.pool.state.Add(onePlace)
		owner.wakeup <- struct{}{}
	}
}

// typedJob is a job of a function from A to R.
type typedJob[A, R any] struct {
	job
	fn     callee[A, R]
	arg    A
	result R
}

// callee is a function whose calls can be published.
type callee[A, R any] interface {
	run(w *Worker, arg A) R
}

// published holds the jobs of one activation, oldest first. Only the owner
// touches it.
type published[A, R any] struct {
	open  []*typedJob[A, R]
	spare []*typedJob[A, R]
}

// add makes a job of the call fn(arg).
func (p *published[A, R]) add(fn callee[A, R], arg A) *job {
	var j *typedJob[A, R]
	if n := len(p.spare); n > 0 {
		j = p.spare[n-1]
		p.spare = p.spare[:n-1]
	} else {
		j = &typedJob[A, R]{}
		j.run = func(w *Worker) { j.result = j.fn.run(w, j.arg) }
	}
	j.fn, j.arg = fn, arg
	p.open = append(p.open, j)
	return &j.job
}

func (p *published[A, R]) newest() *typedJob[A, R] { return p.open[len(p.open)-1] }

// takeBack takes back the newest job, if nobody has stolen it. Otherwise it
// waits until it is done, and reports false.
func (p *published[A, R]) takeBack(w *Worker) bool {
	newest := &p.newest().job
	if j, ok := w.own.Pop(); !ok {
		if w.await(newest); newest.state.Load() == jobDone {
			return false
		}
	} else if j != newest {
		panic("filch: internal error: the newest public fork is another")
	}
	w.count.takenBack++
	p.recycle()
	// What was public is used up: if work is coarse, publish what comes next.
	if w.earn() > 0 {
		w.raise(supply)
	}
	return true
}

// collect removes the newest job, which is done, and returns its result, or
// ends as it did.
func (p *published[A, R]) collect() R {
	j := p.newest()
	r, err, exited := j.result, j.err, j.exited
	p.recycle()
	if err != nil {
		panic(err)
	}
	if exited {
		runtime.Goexit()
	}
	return r
}

// forget takes back the newest job, or waits until it is done.
func (p *published[A, R]) forget(w *Worker) {
	if !p.takeBack(w) {
		p.recycle()
	}
}

// recycle removes the newest job. Nobody else refers to it any more.
func (p *published[A, R]) recycle() {
	n := len(p.open) - 1
	j := p.open[n]
	p.open[n] = nil
	p.open = p.open[:n]
	var arg A
	var result R
	j.fn, j.arg, j.result = nil, arg, result
	j.owner, j.err, j.exited = nil, nil, false
	if j.state.Load() != jobOpen {
		j.thief.Store(nil)
		j.state.Store(jobOpen)
	}
	p.spare = append(p.spare, j)
}

func (p *published[A, R]) trim() {
	if cap(p.spare) > maxKept {
		p.spare, p.open = nil, nil
	}
}
