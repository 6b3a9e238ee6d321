package ordered

import (
	"sync"
	"sync/atomic"
)

// line is the span that two cores should not write at once.
const line = 128

// gate admits the owner of a Local, or one thief. The owner takes a lock only if a thief is there, and thieves never
// wait.
//
// Owner and thief each raise a flag and then check the other's, so at least one of them sees the other (Dekker): a
// thief that does goes away, the owner waits.
type gate struct {
	_      [line]byte
	word   atomic.Uint64 // visits of the owner, the most values there may be, and whether the owner is in
	_      [line - 8]byte
	thief  atomic.Uint32 // whether a thief is in
	mu     sync.Mutex    // held by thieves, and by the owner while one is there
	_      [line - 12]byte
	known  uint64 // owner's copy: the word when it was last in, and so whether there may be values
	locked bool   // the owner holds mu
}

// The word of a gate has these bits: 0, the owner is in; 1 to 31, the number of values; above that, the owner's visits.
const (
	ownerIn  = 1
	oneValue = 1 << 1
	oneVisit = 1 << 32
)

// length returns the number of values in a word.
func length(word uint64) int { return int(uint32(word) / oneValue) }

// enter admits the owner.
func (g *gate) enter() {
	g.word.Store(g.known | ownerIn) // (W50) then load thief; pairs with (R50)
	if g.thief.Load() != 0 {        // (R51)
		g.mu.Lock()
		g.locked = true
	}
}

// leave ends the owner's visit, with n values left.
func (g *gate) leave(n int) {
	g.known = (g.known/oneVisit+1)*oneVisit + uint64(n)*oneValue
	g.word.Store(g.known) // (W50) what it did
	if g.locked {
		g.locked = false
		g.mu.Unlock()
	}
}

// enterThief admits a thief, or reports false if another goroutine is in.
func (g *gate) enterThief() bool {
	if !g.mu.TryLock() {
		return false
	}
	g.thief.Store(1)                // (W51) then load word; pairs with (R51)
	if g.word.Load()&ownerIn != 0 { // (R50)
		g.thief.Store(0)
		g.mu.Unlock()
		return false
	}
	return true
}

// leaveThief ends a thief's visit, with n values left.
func (g *gate) leaveThief(n int) {
	// If the owner is about to enter, its flag is up and must not be cleared; it will store the word anew.
	if w := g.word.Load(); w&ownerIn == 0 {
		g.word.CompareAndSwap(w, w/oneVisit*oneVisit+uint64(n)*oneValue)
	}
	g.thief.Store(0) // (W51) what it did
	g.mu.Unlock()
}
