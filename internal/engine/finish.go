package engine

import (
	"sync/atomic"

	"github.com/filch-go/filch/internal/event"
)

// A Finish is what the workers share that run asyncs of one Finish. Each has a queue of its
// own, of which it publishes pieces. Nobody joins a piece: the owner of the Finish awaits all of
// them, wherever they were published. So a worker that is done with a piece goes on at once, with
// whatever it finds, and its stack stays as deep as it was.
type Finish struct {
	end    Job                   // done when nothing is left; the owner awaits it
	left   atomic.Int64          // pieces that are not done, and one until the owner waits; publishers and thieves write, all load
	latest atomic.Pointer[Piece] // the piece that was begun last; thieves store, the owner loads while it waits
	parts                        // what they have left
	waits  bool                  // Wait was called, and has not returned; the owner alone
	ended  chan struct{}         // gets one when nothing is left, with logical races; Open sets it
	_      [64]byte

	// Each worker looks at it before each async.
	failure atomic.Pointer[failure] // the first; a worker whose async fails stores it, once
	_       [56]byte
}

// failure is how an async ended, or the function of the Finish, if not by returning.
type failure struct {
	err error // a panic; or nil for runtime.Goexit
}

// Open makes f ready for what w is about to run, whose pieces are awaited by Wait.
func (f *Finish) Open(w *Worker) {
	f.end.owner, f.end.finish = w, f
	if w.IsLogical() {
		f.ended = make(chan struct{}, 1)
	}
	if f.left.Load() != 1 {
		f.left.Store(1)
	}
	if f.latest.Load() != nil {
		f.latest.Store(nil)
	}
}

// Fail notes that a part of f has ended in a panic, or in runtime.Goexit if err is nil. What
// has not begun is not to begin any more. Only the first failure counts.
func (f *Finish) Fail(err error) { f.failure.CompareAndSwap(nil, &failure{err}) }

// Failed reports whether Fail was called.
func (f *Finish) Failed() bool { return f.failure.Load() != nil }

// Failure returns what Fail was called with first, or nil.
func (f *Finish) Failure() error {
	if first := f.failure.Load(); first != nil {
		return first.err
	}
	return nil
}

// Wait returns when all pieces of f are done. Its owner calls it, with nothing public. If
// runtime.Goexit ends it, in a piece that w has helped with, it must be called again.
func (f *Finish) Wait(w *Worker) {
	if w.IsLogical() {
		f.waitForChildren(w)
		return
	}
	if !f.waits {
		if f.left.Load() == 1 { // (R21)
			return
		}
		f.waits = true
		if f.left.Add(-1) == 0 { // (R21)
			f.over()
			return
		}
	}
	w.await(&f.end) // (R21) by way of (R20)
	_ = f.end.state.renew()
	f.over()
}

// over makes f as it was before Wait.
func (f *Finish) over() {
	f.waits = false
	f.left.Store(1)
}

// A Piece is a Job of a Finish: some of its asyncs, which one worker has published together.
type Piece struct {
	Job
	Body  PieceBody              // never written again
	of    atomic.Pointer[Finish] // its publisher writes; the thief, and the owner of a Finish, load
	round atomic.Uint64          // how often it was run; thieves add, the owner of a Finish loads
	Rest  []*Piece               // with logical races, what its asyncs have queued; its child writes, then the runner
}

// PieceBody is a Piece as its users know it.
type PieceBody interface {
	// Run runs the asyncs on w, and those that they make. It catches panics, and notes
	// runtime.Goexit.
	Run(w *Worker, f *Finish)
	// Release is called when the piece may be used again.
	Release()
}

// Init makes p a piece with the given body.
func (p *Piece) Init(body PieceBody) {
	p.Body, p.piece, p.run = body, p, p.begin
}

// Offer makes p a piece of f to be published, which begins with the function at entry.
func (p *Piece) Offer(f *Finish, entry uintptr) *Job {
	p.of.Store(f)
	p.entry = entry
	f.left.Add(1) // before anybody can be done with it
	return &p.Job
}

// begin runs p on w, which has stolen it.
func (p *Piece) begin(w *Worker) {
	f := p.of.Load()
	f.latest.Store(p) // whose thief is w by now
	p.Body.Run(w, f)
}

// finish ends p, which has run on w. The last piece of a Finish lets its owner go on.
func (p *Piece) finish(w *Worker) {
	f := p.of.Load()
	p.thief.Store(nil)
	p.round.Add(1) // (W22) before w takes anything else
	p.renewPiece()
	if f.left.Add(-1) == 0 { // (W21) what was run
		w.complete(&f.end)
	}
}

func (p *Piece) renewPiece() {
	p.owner, p.with, p.exited = nil, with{}, false
	p.Body.Release()
}

// TakeBack takes back the newest piece of f that w has published, if it was not stolen.
// The caller releases it.
func (f *Finish) TakeBack(w *Worker) *Piece {
	w.CheckUse()
	p := f.pop(w)
	if p == nil {
		return nil
	}
	f.left.Add(-1) // not the last: what w runs is of f as well
	w.count.takenBack++
	w.tellOf(event.TakenBack, nil, &p.Job)
	p.owner, p.with = nil, with{}
	if w.earn() > 0 { // see Published.TakeBack
		w.Raise(supply)
	}
	return p
}

// pop removes the newest piece of f from w's deque, or returns nil if all were stolen.
// Above it are forks at most that a Frame from outside the Finish has left open.
func (f *Finish) pop(w *Worker) *Piece {
	top, ok := w.own.Pop()
	if !ok {
		return nil
	}
	if p := top.piece; p != nil && p.of.Load() == f {
		return p
	}
	p := f.pop(w)
	w.own.Push(top)
	return p
}

// carrier returns the job whose thief w may help while it awaits j: j itself or, of a Finish,
// the piece that was begun last. The number is that of its run.
func (j *Job) carrier() (c *Job, round uint64) {
	if j.finish == nil {
		return j, 0
	}
	p := j.finish.latest.Load()
	if p == nil {
		return j, 0
	}
	return &p.Job, p.round.Load()
}

// carriedBy reports whether c, in that run, is still under way for j. The thief of c must
// have been loaded before: then it is a run for j that has begun.
func (j *Job) carriedBy(c *Job, round uint64) bool {
	if j.finish == nil {
		return !j.done()
	}
	return c.piece != nil && c.piece.of.Load() == j.finish && c.piece.round.Load() == round // (R22)
}
