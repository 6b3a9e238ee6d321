package engine

import (
	"runtime"
	"sync/atomic"

	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/tag"
)

// With logical races, each fork is a goroutine of its own to the race detector: a race.Child, which
// is opened by the fork, and runs when the fork is taken back, or stolen. Its runner waits for it
// meanwhile. The detector does not see who wakes whom. So a child is ordered after its fork, and its
// join after its end, and nothing else orders it.
//
// The steps of the scheduler must not order children either, and yet must not be reported. So what
// a worker has of its own is never shared by two of them: each child gets an alias, a Worker that
// has its own activations and stands for the worker that runs it, its base. All forks of an alias are
// public from the start: in Logical.open, where other workers find them, and not in a deque. All of
// this is behind race.Enabled, which is a constant.

// Logical is what a Pool keeps for logical races.
type Logical struct {
	On     bool           // written before there is a worker
	Alias  func() *Worker // makes one; likewise
	Missed func()         // is told when a fork gets no child; likewise
	open   race.Queue     // of *Job: those that nobody has begun
}

// EndLogical is called when p has ended.
func (p *Pool) EndLogical() {
	if p.IsLogical() {
		race.AddLogical(-1)
	}
}

// Alias is what a Worker has of logical races. The address of it orders what is done to a worker
// through its aliases.
type Alias struct {
	of race.Ref[Worker] // that an alias stands for; the goroutine that makes it writes
}

// IsLogical reports whether the forks and tasks of p are children.
func (p *Pool) IsLogical() bool { return race.Enabled && p.Logical.On }

// IsLogical reports whether the forks of w are children.
func (w *Worker) IsLogical() bool { return race.Enabled && w.alias.of.Get() != nil }

// AliasOf returns an alias of w for the calling goroutine.
func AliasOf(w *Worker) *Worker {
	base := w.Base()
	a := base.pool.Logical.Alias()
	a.pool, a.checked = base.pool, base.checked
	a.Number, a.ID = base.Number, base.ID
	a.Demand = Hunger // which is never met, so that each fork and join takes the slow path
	race.Disable()
	a.Level.Store(base.Level.Load())
	race.Enable()
	a.alias.of.Set(base)
	return a
}

// GuestAlias returns an alias for the goroutine whose worker w is.
func GuestAlias(w *Worker) *Worker {
	race.Release(&w.alias.of)
	return AliasOf(w)
}

// LeaveAlias returns the base of w, which is the calling goroutine's.
func LeaveAlias(w *Worker) *Worker {
	base := w.Base()
	AcquireBase(base)
	return base
}

// LeaveScope ends the use of the base of w as the Scope of a task. It calls leave with it if the
// task is over.
func LeaveScope(w *Worker, leave func(base *Worker)) {
	race.Disable()
	over := w.Base().Hold.LeaveScope()
	race.Enable()
	if over {
		onBase(w, leave)
	}
}

// Base returns the worker that w stands for, which is w itself for most.
func (w *Worker) Base() *Worker {
	if race.Enabled {
		if base := w.alias.of.Get(); base != nil {
			return base
		}
	}
	return w
}

// openChildren opens a child for each private fork of w.
func openChildren(w *Worker) {
	giveWayAsAlias(w)
	for w.first < len(w.activations) {
		race.Disable() // what counts asyncs orders none of them
		j := w.activations[w.first].Publish()
		race.Enable()
		switch {
		case j != nil:
			openChild(w, j)
		case w.first < len(w.activations)-1:
			w.first++
		default:
			return
		}
	}
}

func openChild(w *Worker, j *Job) {
	p := w.pool
	j.owner, j.level, j.with = w, w.Level.Load(), share(w)
	j.child = race.Open()
	if !j.child.IsOpen() {
		p.Logical.Missed()
		return
	}
	p.Logical.open.Add(j.child, j)
	race.Disable()
	idle := !p.isAlone() && p.Idlers() > 0
	race.Enable()
	if idle {
		go p.Wake() // (R10) aside, so that it orders nothing here
	}
}

func (l *Logical) take() *Job {
	j, _ := l.open.Take().(*Job)
	return j
}

// giveWayAsAlias has the base of w give way, if it is asked to.
func giveWayAsAlias(w *Worker) {
	race.Disable()
	asked := atomic.LoadUint32(&w.Base().Demand) == GiveWay
	race.Enable()
	if asked {
		onBase(w, func(base *Worker) { base.pool.source.GiveWay(base) })
	}
}

// onBase calls f with the base of w. It is ordered after all that was done with it before.
func onBase(w *Worker, f func(base *Worker)) {
	base := w.Base()
	race.Acquire(&base.alias.of)
	defer race.Release(&base.alias.of)
	f(base)
}

// lendBase is LendFor for an alias. What is done with its base is done aside, so that it orders
// nothing here.
func lendBase(w *Worker, f func()) {
	w.blocking = true
	race.Aside(func() { onBase(w, (*Worker).beginBlocking) })
	defer func() {
		race.Aside(func() { onBase(w, (*Worker).endBlocking) })
		w.blocking = false
	}()
	f()
}

// awaitChild waits for c, which another worker runs. The place of w is free meanwhile, as at any
// join: what c waits for may need it.
func awaitChild(w *Worker, c race.Child) {
	if !soon(c.Ended) {
		w.LendFor(c.Pause)
	}
	c.Wait()
}

// soon reports whether ended does, now or in a moment. To lend a place takes two goroutines, and the
// detector forgets the stacks of those that have ended before the last few dozen.
func soon(ended func() bool) bool {
	for range 100 {
		if ended() {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// AcquireBase orders the calling goroutine, whose worker w is, after what was done with it through its
// aliases.
func AcquireBase(w *Worker) { race.Acquire(&w.alias.of) }

// runChild runs the child of j for w, or its base.
func runChild(w *Worker, j *Job) {
	base := w.Base()
	if base == w {
		race.Release(&base.alias.of)
		defer race.Acquire(&base.alias.of)
	}
	j.child.Run(func() { j.beChild(base) })
}

// executeChild is execute, with the pieces that it leaves.
func executeChild(w *Worker, j *Job) {
	runChild(w, j)
	if j.piece != nil {
		runRest(w, j.piece)
	}
}

// beChild runs j on an alias of w. It is called by the child.
func (j *Job) beChild(base *Worker) {
	w := AliasOf(base)
	w.pool.Tag(func(uint64, tag.Step) {
		if w.checked {
			defer w.pool.Checks.Begins(w)()
		}
		if j.labels != nil || j.owner.Base() != base { // else it has those of the goroutine that has made it
			w.Relabel(j.labels)
		}
		returned := false
		defer func() {
			if !returned {
				j.err = w.Caught(Checkpoint{}, recover())
				j.exited = j.err == nil
			}
			j.views = w.RestoreViews(nil)
			if j.piece != nil {
				j.piece.of.Load().childDone()
			}
		}()
		StandIn(base, func() { j.run(w) })
		returned = true
	})
}

// StandIn calls f, which a child runs for w, so that the watch for stalls sees that it fills the place, if a
// goroutine of the pool does and no guest. Dump finds the goroutine by it, too.
func StandIn(w *Worker, f func()) {
	race.Disable()
	runs := w.runs.Load()
	race.Enable()
	if runs {
		standIn(f)
	} else {
		f()
	}
}

//go:noinline
func standIn(f func()) { f() }

// takeBackChild is TakeBack: it runs the child, unless another worker has, or there is none.
func (p *Published[A, R]) takeBackChild(w *Worker, j *Job) bool {
	if !j.child.IsOpen() {
		p.recycle()
		return true
	}
	if w.pool.Logical.open.Remove(j.child) {
		runChild(w, j)
	}
	awaitChild(w, j.child)
	return false
}

// DropChild makes the newest job one without a child, if nobody has begun it, so that TakeBack does
// not run it.
func (p *Published[A, R]) DropChild(w *Worker) {
	if j := p.newest(); j.child.IsOpen() && w.pool.Logical.open.Remove(j.child) {
		j.child.Drop()
		j.child = race.Child{}
	}
}

// forgetChild is Forget.
func (p *Published[A, R]) forgetChild(w *Worker, j *Job) {
	switch {
	case !j.child.IsOpen():
	case w.pool.Logical.open.Remove(j.child):
		j.child.Drop()
	default:
		awaitChild(w, j.child)
	}
	p.recycle()
}

// Ran tells what RunChild did.
type Ran int

const (
	Elsewhere Ran = iota // another worker has the piece
	RunHere              // it has run
	NotSeen              // it has no child, and the caller is to call the asyncs
)

// RunChild runs the child of p for w.
func (p *Piece) RunChild(w *Worker) Ran {
	switch {
	case !p.child.IsOpen():
		p.of.Load().uncount()
		return NotSeen
	case w.pool.Logical.open.Remove(p.child):
		runChild(w, &p.Job)
		p.child.Wait()
		return RunHere
	}
	return Elsewhere
}

// IsChild reports whether p is run by a child.
func (p *Piece) IsChild() bool { return p.child.IsOpen() }

// runRest runs what the asyncs of p have queued, which w has run, as far as nobody has begun it.
func runRest(w *Worker, p *Piece) {
	p.child.Wait()
	for rest := p.Rest; len(rest) > 0; {
		p = rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		if w.pool.Logical.open.Remove(p.child) {
			runChild(w, &p.Job)
			p.child.Wait()
			rest = append(rest, p.Rest...)
		}
	}
}

// DropChild drops p, if nobody has begun it.
func (p *Piece) DropChild(w *Worker) {
	if p.child.IsOpen() {
		if !w.pool.Logical.open.Remove(p.child) {
			return
		}
		p.child.Drop()
	}
	p.of.Load().uncount()
}

func (f *Finish) uncount() bool {
	race.Disable()
	defer race.Enable()
	return f.left.Add(-1) == 0
}

// childDone ends a piece of f.
func (f *Finish) childDone() {
	race.Release(f)
	if f.uncount() {
		race.Disable()
		f.ended <- struct{}{}
		race.Enable()
	}
}

func (f *Finish) waitForChildren(w *Worker) {
	if !f.waits {
		f.waits = true
		if f.uncount() {
			race.Disable()
			f.ended <- struct{}{}
			race.Enable()
		}
	}
	if !soon(func() bool { return f.endedAt(false) }) {
		w.LendFor(func() { f.endedAt(true) })
	}
	race.Acquire(f)
	f.over()
}

// endedAt reports whether all children have ended, or waits until they have.
func (f *Finish) endedAt(wait bool) bool {
	race.Disable()
	defer race.Enable()
	if wait {
		<-f.ended
		return true
	}
	select {
	case <-f.ended:
		return true
	default:
		return false
	}
}

// CallChild calls f with a worker, in a child that is opened now, while the caller waits. The child
// that it returns is to be awaited. It is none if too many are open: then f was called with w.
func CallChild(w *Worker, f func(w *Worker)) race.Child {
	c := race.Open()
	if !c.IsOpen() {
		w.pool.Logical.Missed()
		f(w)
		return c
	}
	base := w.Base()
	if base == w {
		race.Release(&base.alias.of)
		defer race.Acquire(&base.alias.of)
	}
	c.Run(func() {
		alias := AliasOf(base)
		alias.pool.Tag(func(uint64, tag.Step) {
			if alias.checked {
				defer alias.pool.Checks.Begins(alias)()
			}
			f(alias)
		})
	})
	return c
}
