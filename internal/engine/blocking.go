package engine

import (
	"math"

	"github.com/filch-go/filch/internal/event"
)

// LendFor calls f, and gives up w's place meanwhile. In f, it just calls its function.
func (w *Worker) LendFor(f func()) {
	if w.blocking {
		f()
		return
	}
	w.CheckUse()
	if w.IsLogical() {
		lendBase(w, f)
		return
	}
	w.beginBlocking()
	defer w.endBlocking()
	f()
}

// beginBlocking gives up w's place, if it has one.
func (w *Worker) beginBlocking() {
	w.unpaid = max(0, w.unpaid-w.publish(math.MaxInt))
	w.blocking = true
	w.Tell(event.Lent, nil)
	w.block() // and wakes a worker for what was published, or asks for more
	if w.UsesAreChecked() {
		w.Raise(Hunger) // so that a fork comes upon CheckUse
	}
}

// endBlocking takes a place for w again.
func (w *Worker) endBlocking() {
	w.blocking = false
	w.unblock()
}

// MayLend reports whether w may give its place away and wait, where its forks are in order.
func (w *Worker) MayLend() bool {
	return !w.unwinding && !w.passed && w.Hold.Load().HasPlace() && !w.pool.Over()
}

// Suspend gives up w's place and waits until GoOn is called, which may happen as soon as enter
// is called.
func (w *Worker) Suspend(enter func()) {
	w.wakeup = make(chan struct{})
	w.Tell(event.GaveWay, nil)
	enter()
	doing := w.doing.Load()
	w.Note(AtWay, nil, 0)
	w.waitBlocked()
	w.doing.Store(doing)
}

// sleeping is how a worker without a slot is woken.
type sleeping struct {
	wakeup   chan struct{} // closed by the worker that finished the awaited job, or lets it go on, and has seen to a place for it
	unparked chan bool     // whether to go on, or to leave
}

// GoOn ends the wait of a worker that is suspended, and has a place again.
func (s *sleeping) GoOn() { close(s.wakeup) }
