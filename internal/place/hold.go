package place

import (
	"fmt"
	"sync/atomic"
)

// Hold is what a worker has, and lends, while it runs tasks: its place in the
// pool, its use as a Scope, and the seat that tasks run in on top of others. A
// task's context leads all of that to any goroutine, during the task and after
// it, so the three change together, in one word, and each change by way of a
// context names the round it is meant for:
//
//	bit   0      the worker has its place
//	bits  1-2    its Scope: none, free, used or left
//	bits  3-31   tasks that run in place in its seat
//	bits 32-63   the round: how many series of tasks the worker has run before
//
// In a later round the worker belongs to other tasks. A context that outlives
// 2^32 rounds of its worker would be taken for one of the current round.
//
//	          OpenRound          EnterScope         EndRound
//	none ───────────────> free ─────────────> used ──────────> left
//	  ^                    │ ^                 │                 │
//	  └────────────────────┘ └─────────────────┘                 │
//	  │      EndRound             LeaveScope                     │
//	  └──────────────────────────────────────────────────────────┘
//	                        LeaveScope
type Hold struct{ word atomic.Uint64 }

const (
	holdPlace  = 1 << 0
	scopeNone  = 0 << 1 // the worker runs no tasks
	scopeFree  = 1 << 1
	scopeUsed  = 2 << 1
	scopeLeft  = 3 << 1 // used, and left behind by the goroutine that ran the tasks
	scopeBits  = 3 << 1
	oneSeated  = 1 << 3
	seatedBits = 1<<32 - oneSeated
	oneRound   = 1 << 32
)

// A Held is a value of the Hold.
type Held uint64

// HasPlace reports whether the worker has its place.
func (s Held) HasPlace() bool { return s&holdPlace != 0 }

func (s Held) scope() Held { return s & scopeBits }

// Used reports whether a goroutine uses the worker as its Scope.
func (s Held) Used() bool { return s.is(scopeUsed) }

// Seated returns how many tasks run in place in the seat.
func (s Held) Seated() int { return int(s & seatedBits / oneSeated) }

// Round returns the number of the round.
func (s Held) Round() uint32 { return uint32(s >> 32) }

// In reports whether the round is r.
func (s Held) In(r uint32) bool { return s.Round() == r }

func (s Held) is(f Held) bool { return s.scope() == f }

// String tells the parts of the word, for messages of what must not be.
func (s Held) String() string {
	scope := [...]string{"none", "free", "used", "left"}[s.scope()>>1]
	return fmt.Sprintf("{place: %t, scope: %s, seated: %d, round: %d}", s.HasPlace(), scope, s.Seated(), s.Round())
}

// Load returns the value.
func (h *Hold) Load() Held { return Held(h.word.Load()) }

func (h *Hold) swap(from, to Held) bool {
	return h.word.CompareAndSwap(uint64(from), uint64(to))
}

// Init gives a new worker its first place.
func (h *Hold) Init() { h.word.Store(holdPlace) }

// YieldPlace gives up the place, and reports false if that was done already in
// the worker's name. It is for the worker's own goroutine.
func (h *Hold) YieldPlace() bool {
	for {
		s := h.Load()
		if !s.HasPlace() {
			return false
		}
		if h.swap(s, s&^holdPlace) {
			return true
		}
	}
}

// RetakePlace notes that the worker has a place, and reports false if it has one
// already. It is for the worker's own goroutine.
func (h *Hold) RetakePlace() bool {
	for {
		s := h.Load()
		if s.HasPlace() {
			return false
		}
		if h.swap(s, s|holdPlace) {
			return true
		}
	}
}

// LendPlace gives up the place in the name of a task of the round. lent is false
// if another goroutine has done so before; ok is false if the round is over.
func (h *Hold) LendPlace(round uint32) (lent, ok bool) {
	for {
		s := h.Load()
		switch {
		case !s.In(round):
			return false, false
		case !s.HasPlace():
			return false, true
		case h.swap(s, s&^holdPlace):
			return true, true
		}
	}
}

// ReclaimPlace notes that the worker has a place again, for a task of the round.
// It reports false, and no place must be taken, if the round is over, or another
// goroutine has done so before.
func (h *Hold) ReclaimPlace(round uint32) bool {
	for {
		s := h.Load()
		if !s.In(round) || s.HasPlace() {
			return false
		}
		if h.swap(s, s|holdPlace) {
			return true
		}
	}
}

// OpenRound makes the worker the Scope of the tasks that it is about to run, and
// returns the round. It is for the worker's own goroutine.
func (h *Hold) OpenRound() uint32 {
	for {
		s := h.Load()
		if !s.is(scopeNone) {
			panic("filch: internal error: a worker runs tasks within a round: " + s.String())
		}
		if h.swap(s, s|scopeFree) {
			return s.Round()
		}
	}
}

// EndRound begins the next round, when the worker's tasks are done. It reports
// false if the word is not s any more: the caller has counted the tasks that still
// run in the seat by it. left tells whether another goroutine uses the worker as
// its Scope: then the worker is that one's until LeaveScope.
func (h *Hold) EndRound(s Held) (left, ok bool) {
	to := s&holdPlace | Held(s.Round()+1)*oneRound
	left = s.is(scopeUsed)
	if left {
		to |= scopeLeft
	}
	return left, h.swap(s, to)
}

// EnterScope makes the caller the user of the worker, and reports false if the
// round is over or another goroutine uses it.
func (h *Hold) EnterScope(round uint32) bool {
	for {
		s := h.Load()
		if !s.In(round) || !s.is(scopeFree) {
			return false
		}
		if h.swap(s, s&^scopeBits|scopeUsed) {
			return true
		}
	}
}

// LeaveScope ends the use of the worker. It reports true if the round has ended
// meanwhile: then the caller has to see to the worker, which belongs to no other.
func (h *Hold) LeaveScope() (left bool) {
	for {
		s := h.Load()
		to := s &^ scopeBits
		switch s.scope() {
		case scopeUsed:
			to |= scopeFree
		case scopeLeft:
			left = true
		default:
			panic("filch: internal error: a Scope was left that nobody uses: " + s.String())
		}
		if h.swap(s, to) {
			return left
		}
	}
}

// SitDown counts a task that runs in the seat, and reports false if the round is
// over.
func (h *Hold) SitDown(round uint32) bool {
	for {
		s := h.Load()
		if !s.In(round) || s&seatedBits == seatedBits {
			return false
		}
		if h.swap(s, s+oneSeated) {
			return true
		}
	}
}

// StandUp ends what SitDown began. It reports false if the round has ended
// meanwhile: then the task was counted by EndRound's caller.
func (h *Hold) StandUp(round uint32) bool {
	for {
		s := h.Load()
		if !s.In(round) {
			return false
		}
		if s.Seated() == 0 {
			panic("filch: internal error: nobody is in the seat: " + s.String())
		}
		if h.swap(s, s-oneSeated) {
			return true
		}
	}
}
