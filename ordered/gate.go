package ordered

import (
	"sync"
	"sync/atomic"
)

// line is the span that two cores should not write at once.
const line = 128

// gate lets the owner of a Local in, or one thief. The owner takes a lock only if a
// thief is there, and thieves never wait.
//
// Owner and thief each raise a flag and then look at the other's, so that at least
// one of them sees the other (Dekker): a thief that does goes away, the owner waits.
type gate struct {
	_      [line]byte
	word   atomic.Uint64 // how often the owner was in, how many values there are at most, and whether it is in
	_      [line - 8]byte
	thief  atomic.Uint32 // whether a thief is in
	mu     sync.Mutex    // of thieves, and of the owner while one is there
	_      [line - 12]byte
	known  uint64 // to the owner: the word when it was last in, and so if there may be values
	locked bool   // the owner has the lock
}

// The word of a gate has these bits: 0, the owner is in; 1 to 31, how many values; above
// that, how often the owner was in.
const (
	ownerIn  = 1
	oneValue = 1 << 1
	oneVisit = 1 << 32
)

// length returns the number of values in a word.
func length(word uint64) int { return int(uint32(word) / oneValue) }

// enter lets the owner in.
func (g *gate) enter() {
	g.word.Store(g.known | ownerIn) // (W50) then load thief; pairs with (R50)
	if g.thief.Load() != 0 {        // (R51)
		g.mu.Lock()
		g.locked = true
	}
}

// leave lets the owner out, with n values left.
func (g *gate) leave(n int) {
	g.known = (g.known/oneVisit+1)*oneVisit + uint64(n)*oneValue
	g.word.Store(g.known) // (W50) what it did
	if g.locked {
		g.locked = false
		g.mu.Unlock()
	}
}

// enterThief lets a thief in, or reports false if another goroutine is in.
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

// leaveThief lets a thief out, with n values left.
func (g *gate) leaveThief(n int) {
	// If the owner is about to come in, it has said so, and that must not be undone; it
	// will store the word anew.
	if w := g.word.Load(); w&ownerIn == 0 {
		g.word.CompareAndSwap(w, w/oneVisit*oneVisit+uint64(n)*oneValue)
	}
	g.thief.Store(0) // (W51) what it did
	g.mu.Unlock()
}
