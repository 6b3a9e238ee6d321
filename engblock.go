package filch

import (
	"math"

	"github.com/filch-go/filch/internal/race"
)

// lendFor calls f, and gives up w's place meanwhile. In f, it just calls its function.
func (w *engineWorker) lendFor(f func()) {
	if w.blocking {
		f()
		return
	}
	w.beginBlocking()
	defer w.endBlocking()
	f()
}

// beginBlocking gives up w's place, if it has one.
func (w *engineWorker) beginBlocking() {
	w.owed = max(0, w.owed-w.publish(math.MaxInt))
	w.blocking = true
	w.lend() // and wakes somebody for what was published, or asks for more
}

// endBlocking takes a place for w again.
func (w *engineWorker) endBlocking() {
	w.blocking = false
	w.resume()
}

// checkUse panics if w is used by what it called by Blocking.
func (w *engineWorker) checkUse() {
	if race.Enabled && w.blocking {
		panic("filch: a Worker was used inside of its Blocking")
	}
}

// mayLend reports whether w may give its place away and wait, where its forks are in order.
func (w *engineWorker) mayLend() bool {
	return !w.unwinding && !w.passed && w.hold.Load().HasPlace() && !w.crew.over()
}

// suspend gives up w's place and waits until goOn is called. It calls enter before, from
// when that may happen.
func (w *engineWorker) suspend(enter func()) {
	w.wakeup = make(chan struct{})
	enter()
	doing := w.doing.Load()
	w.note(atWay, nil, 0)
	w.block()
	w.doing.Store(doing)
}

// goOn ends the wait of a worker that is suspended, and has a place again.
func (w *engineWorker) goOn() { close(w.wakeup) }
