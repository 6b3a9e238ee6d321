package engine

import (
	"runtime"

	"github.com/filch-go/filch/internal/event"
)

// The join of a published fork, in the order in which it happens:
//
//	owner: TakeBack     the fork is still in the deque: the caller runs it, as if it had never been public
//	owner: await        it was stolen. First spinOrHelp: a moment without doing anything, then help, which
//	                    steals from the thief and nobody else, for as long as that may be cheaper than to block
//	owner: waitBlocked  it gives its place to another goroutine, and sleeps
//	thief: execute      runs the fork, with what stands around it (around.go)
//	thief: finish       marks it as done; if the owner sleeps, the thief gives it the place, and wakes it
//	owner: Collect      takes the result, or ends as the fork has ended

// TakeBack takes back the newest job, if it was not stolen. Otherwise it
// waits until it is done, and reports false. What runs a job that was taken back tells that it has, by
// TellJoined.
func (p *Published[A, R]) TakeBack(w *Worker) bool {
	w.CheckUse()
	newest := &p.newest().Job
	if w.IsLogical() {
		return p.takeBackChild(w, newest)
	}
	if w.remove(newest) {
		w.count.takenBack++
	} else if w.await(newest) { // else it was stolen, and is counted so, and handed on
		return false
	}
	w.tellOf(event.TakenBack, nil, newest)
	w.tookBack = Taken{newest.id, newest.entry}
	p.recycle()
	// Less is public than should be: publish what comes next, if that is not too
	// much to pay.
	if w.own.Len() < w.credit.Keeps() && w.earn() > 0 {
		w.Raise(supply)
	}
	return true
}

// remove takes j out of w's deque, and reports false if it was stolen. j is the
// newest there, unless a Frame was used in a call that it was not passed to.
func (w *Worker) remove(j *Job) bool {
	top, ok := w.own.Pop()
	if !ok || top == j {
		return ok
	}
	found := w.remove(j)
	w.own.Push(top)
	return found
}

// await returns when j, which was stolen from w, is done.
//
// While it waits, w helps the thief: it steals from the thief, and from no other
// worker. As long as j is not done, all that lies in the thief's deque descends
// from j. For a thief's deque is empty when it takes j. It is also empty whenever
// the thief waits at a join itself, since forks are published and stolen oldest first.
// So w runs only what the serial program would run before this join returns.
// Its stack gets no deeper than the program's own recursion would make it. A
// mutex that is locked around the join is not locked again by what runs on
// top of it, unless the serial program would do so too. This is leapfrogging
// (Wagner and Calder, PPoPP 1993).
//
// If w finds nothing to help with for about the latency of a wake-up, it blocks.
// Another goroutine has its place until j is done.
//
// It reports false if j turns out not to be stolen after all.
func (w *Worker) await(j *Job) bool {
	if w.blocked {
		w.isElsewhere()
	}
	for !w.spinOrHelp(j) {
		if j.state.isReturned() && w.pool.global.remove(j) {
			w.unblockIfPassed()
			return false
		}
		// A channel belongs to the synctest bubble that it is made in, so it is
		// made anew.
		w.wakeup = make(chan struct{})
		carrier, _ := j.carrier()
		thief := carrier.thief.Load()
		if j.state.await() {
			w.tellOf(event.Blocked, thief, j)
			doing := w.doing.Load()
			w.Note(AtJoin, thief, 0)
			w.blocked = true
			w.waitBlocked()
			w.blocked = false
			w.doing.Store(doing)
			return true
		}
	}
	w.unblockIfPassed()
	return true
}

// spinOrHelp waits for j, and helps with it, for as long as that may be cheaper than
// to block. It reports whether j is done.
func (w *Worker) spinOrHelp(j *Job) bool {
	// A result that is about to come is not worth disturbing the thief for.
	for range 2000 {
		if j.done() { // (R20)
			return true
		}
	}
	doing := w.doing.Load()
	carrier, _ := j.carrier()
	thief := carrier.thief.Load()
	w.Note(AtJoin, thief, 0)
	w.tellOf(event.Spins, thief, j)
	defer func() {
		w.doing.Store(doing)
		w.tellOf(event.Spun, thief, j)
	}()
	for s := w.wait(); !w.passed && s.next(); {
		switch { // (R20)
		case j.done():
			return true
		case j.state.isReturned():
			return false
		}
		// A job that ends in Goexit would end the unwinding as well, half done. What lies in
		// the deque, asyncs that are younger than j, would be taken for part of a job that is
		// helped with.
		if !w.unwinding && w.own.Len() == 0 && w.help(j) {
			s = w.wait()
		}
	}
	return j.done()
}

// help does one job of the worker that has stolen j, and reports whether it
// did.
func (w *Worker) help(j *Job) bool {
	c, round := j.carrier()
	thief := c.thief.Load()
	if thief == nil || thief == w || j.finish != nil && !j.carriedBy(c, round) {
		return false
	}
	h := w.steal(thief)
	if h == nil {
		thief.Raise(Hunger)
		return false
	}
	if !j.carriedBy(c, round) {
		// Too late to know that h descends from j.
		w.handOn(h)
		return false
	}
	w.count.helped++
	w.helping++
	doing := w.doing.Load()
	defer func() { // h may end in runtime.Goexit
		w.helping--
		w.doing.Store(doing)
	}()
	w.tellOf(event.Helped, thief, h)
	w.execute(h)
	return true
}

// execute runs j on w, which has taken it.
func (w *Worker) execute(j *Job) {
	if j.child.IsOpen() {
		executeChild(w, j)
		return
	}
	j.thief.Store(w)
	w.noteFork(j.owner, j.entry, w.lastSteal)
	returned := false
	m, around := w.Checkpoint(), surround(w, j)
	defer func() {
		if !returned {
			j.err = w.Caught(m, recover())
			j.exited = j.err == nil
		}
		around.end(w, j)
		w.finish(j)
	}()
	j.run(w)
	returned = true
}

// finish ends j. If its owner is blocked, w's place passes to the owner, so that as many
// goroutines run as before.
func (w *Worker) finish(j *Job) {
	owner := j.owner
	w.tellOf(event.Finished, owner, j) // while it is not used again
	if j.piece != nil {
		j.piece.finish(w)
		return
	}
	w.complete(j)
}

// complete marks j as done, with the result of all that it stands for.
func (w *Worker) complete(j *Job) {
	owner := j.owner
	if j.state.finish() {
		w.Note(AtSearch, nil, 0) // for another place; help takes it back
		w.LendSeat()
		switch {
		case !w.Hold.YieldPlace():
			_ = w.pool.Places.Enter() // for the owner, which counts as blocked
		case w.helping > 0: // it has a wait of its own to go on with
			_ = w.pool.Places.EnterBlocked(1)
			w.passed = true
			fallthrough
		default:
			w.Tell(event.PassedOn, owner)
		}
		w.flush() // the pool may be at rest before w is
		owner.resume(j)
	}
}

// resume lets w go on, which has waited for j. If two goroutines have waited as w, the wake-up of one may be the other's.
func (w *Worker) resume(j *Job) {
	defer func() {
		if recover() != nil { // it was closed before
			w.pool.Disorder(j.entry)
		}
	}()
	close(w.wakeup)
}

// waitBlocked gives up w's place, if it has one, and waits for another.
func (w *Worker) waitBlocked() {
	w.count.waits++
	if !w.passed {
		w.block()
	}
	<-w.wakeup
	w.ReturnSeat()
	w.passed = false
	if !w.Hold.RetakePlace() { // another goroutine has one in its name
		_ = w.pool.Places.Leave() // the next step sees to it
	}
	w.pool.LeaveBlocked()
	w.Tell(event.Resumed, nil)
}

// block gives up w's place, if it has one, and counts it as blocked.
func (w *Worker) block() {
	w.LendSeat()
	if w.Hold.YieldPlace() {
		w.pool.Block()
	} else {
		w.pool.left(w.pool.Places.EnterBlocked(1), true)
	}
}

// unblock ends a time in which w counted as blocked, and takes a place for it.
func (w *Worker) unblock() {
	if w.Hold.RetakePlace() {
		w.pool.Unblock()
	} else {
		w.pool.LeaveBlocked()
	}
	w.ReturnSeat()
	w.Tell(event.Resumed, nil)
}

// unblockIfPassed takes a place for w if it passed its own on while it helped. That is an
// extra place, until the next worker to look for work gives up its own.
func (w *Worker) unblockIfPassed() {
	if w.passed {
		w.passed = false
		w.unblock()
	}
}

func (j *Job) done() bool { return j.state.isDone() }

// Collect removes the newest job, which is done, and folds its views into those of its owner. It
// returns the job's result, or ends as the job did.
func (p *Published[A, R]) Collect() R {
	j := p.newest()
	r, err, exited := j.result, j.err, j.exited
	w, left := j.owner, j.with
	p.recycle()
	left.join(w)
	if err != nil {
		panic(err)
	}
	if exited {
		runtime.Goexit()
	}
	return r
}

// Forget takes back the newest job, or waits until it is done.
func (p *Published[A, R]) Forget(w *Worker) {
	if w.IsLogical() {
		p.forgetChild(w, &p.newest().Job)
		return
	}
	if !p.TakeBack(w) {
		p.recycle()
	}
}
