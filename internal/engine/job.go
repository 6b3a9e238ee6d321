package engine

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/views"
)

// A Job is a published fork. It lies in the deque of its owner until it is
// taken back or stolen.
type Job struct {
	run    func(w *Worker)  // calls the function and keeps its result
	entry  uintptr          // of the function
	owner  *Worker          // forked it, and joins it
	level  int64            // that of the owner when it was published
	labels *context.Context // of the work that it belongs to, or nil; the owner writes, before it is published
	thief  atomic.Pointer[Worker]
	state  jobState
	err    error        // how run ended, if not by returning: a panic,
	exited bool         // or runtime.Goexit; the thief writes, before it is done
	views  *views.Table // that it ends with; likewise

	child race.Child // that runs it, with logical races; the owner writes, before it is published

	id uint64 // for the hook, if there is one; the owner writes, before it is published

	piece  *Piece  // that the job is, if it is one of a Finish; never written again
	finish *Finish // whose end the job is, if it is one; likewise
}

// execute runs j on w, which has taken it.
func (w *Worker) execute(j *Job) {
	if race.Enabled && j.child.IsOpen() {
		w.runChild(j)
		if j.piece != nil {
			w.runRest(j.piece)
		}
		return
	}
	j.thief.Store(w)
	w.since.Store(uint64(w.lastSteal))
	w.Note(AtFork, j.owner, j.entry)
	if w.checked {
		defer w.pool.Checks.Begins(w)()
	}
	returned := false
	m := w.Checkpoint()
	before, user := w.labels, w.Occupy()
	if j.labels != before {
		w.Relabel(j.labels)
	}
	aside := w.SetViewsAside()
	region := regionOf(j)
	defer func() {
		if region != nil {
			region.End()
		}
		if !returned {
			j.err = w.Caught(m, recover())
			j.exited = j.err == nil
		}
		if w.labels != before {
			w.Relabel(before)
		}
		j.views = w.RestoreViews(aside)
		w.Vacate(user)
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
		w.finishPiece(j.piece)
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

// unblockIfPassed takes a place for w if it passed its own on while it helped. That is an
// extra place, until the next worker to look for work gives up its own.
func (w *Worker) unblockIfPassed() {
	if w.passed {
		w.passed = false
		w.unblock()
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

func (j *Job) done() bool { return j.state.isDone() }

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

// handOn puts j, which w has stolen but must not run, into the global queue. A
// worker that looks for work takes it, or its owner does at the join. Giving it
// back to the owner would not do, since the owner may be in a long leaf.
func (w *Worker) handOn(j *Job) {
	w.tellOf(event.HandedOn, j.owner, j)
	w.pool.global.add(j)
	w.pool.Wake() // (R10)
}

// HandedOn reports whether forks wait that were handed on.
func (p *Pool) HandedOn() bool {
	return p.global.n.Load() > 0 || race.Enabled && p.Logical.open.Len() > 0
}

// jobQueue holds jobs that were handed on. There are hardly ever any.
type jobQueue struct {
	n    atomic.Int32 // as len(jobs); written under mu
	mu   sync.Mutex
	jobs []*Job
}

func (q *jobQueue) add(j *Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.state.handOn() // or it is awaited already
	q.jobs = append(q.jobs, j)
	q.n.Store(int32(len(q.jobs))) // (W10)
}

// take removes and returns a job, or nil.
func (q *jobQueue) take() *Job {
	if q.n.Load() == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		return nil
	}
	j := q.jobs[0]
	q.delete(0)
	return j
}

// remove removes j, and reports false if it was taken.
func (q *jobQueue) remove(j *Job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.jobs, j)
	if i >= 0 {
		q.delete(i)
	}
	return i >= 0
}

func (q *jobQueue) delete(i int) {
	q.jobs[i].state.takeOut()
	q.jobs = slices.Delete(q.jobs, i, i+1)
	q.n.Store(int32(len(q.jobs)))
}

// Typed is a Job of a function from A to R.
type Typed[A, R any] struct {
	Job
	fn     Callee[A, R]
	arg    A
	result R
}

// Callee is a function whose calls can be published.
type Callee[A, R any] interface {
	Run(w *Worker, arg A) R
	Entry() uintptr // of its body, for Dump
}

// Published holds the jobs of one activation, oldest first. Only the owner
// touches it.
type Published[A, R any] struct {
	open  []*Typed[A, R]
	spare []*Typed[A, R]
}

// Add makes a job of the call fn(arg).
func (p *Published[A, R]) Add(fn Callee[A, R], arg A) *Job {
	var j *Typed[A, R]
	if n := len(p.spare); n > 0 {
		j = p.spare[n-1]
		p.spare = p.spare[:n-1]
	} else {
		j = &Typed[A, R]{}
		j.run = func(w *Worker) { j.result = j.fn.Run(w, j.arg) }
	}
	j.fn, j.arg = fn, arg
	j.entry = fn.Entry()
	p.open = append(p.open, j)
	return &j.Job
}

func (p *Published[A, R]) newest() *Typed[A, R] { return p.open[len(p.open)-1] }

// TakeBack takes back the newest job, if it was not stolen. Otherwise it
// waits until it is done, and reports false. What runs a job that was taken back tells that it has, by
// TellJoined.
func (p *Published[A, R]) TakeBack(w *Worker) bool {
	w.CheckUse()
	newest := &p.newest().Job
	if race.Enabled && w.IsLogical() {
		return p.takeBackChild(w, newest)
	}
	if !w.remove(newest) && w.await(newest) {
		return false
	}
	w.count.takenBack++
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

// Collect removes the newest job, which is done, and folds its views into those of its owner. It
// returns the job's result, or ends as the job did.
func (p *Published[A, R]) Collect() R {
	j := p.newest()
	r, err, exited := j.result, j.err, j.exited
	w, later := j.owner, j.views
	p.recycle()
	w.JoinViews(later)
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
	if race.Enabled && w.IsLogical() {
		p.forgetChild(w, &p.newest().Job)
		return
	}
	if !p.TakeBack(w) {
		p.recycle()
	}
}

// recycle removes the newest job. Nobody else refers to it any more.
func (p *Published[A, R]) recycle() {
	n := len(p.open) - 1
	j := p.open[n]
	p.open[n] = nil
	p.open = p.open[:n]
	if race.Enabled && j.child.IsOpen() {
		return // its child has not been ordered before what is forked next
	}
	var arg A
	var result R
	j.fn, j.arg, j.result = nil, arg, result
	j.owner, j.labels, j.err, j.exited, j.views = nil, nil, nil, false, nil
	if j.state.renew() {
		j.thief.Store(nil)
	}
	p.spare = append(p.spare, j)
}
