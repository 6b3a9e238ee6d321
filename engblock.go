package filch

import (
	"math"

	"github.com/filch-go/filch/internal/race"
)

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
