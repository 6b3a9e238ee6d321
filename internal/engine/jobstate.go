package engine

import (
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch/internal/race"
)

// jobState tells whether a job is done, and what becomes of it until then:
//
//	           handOn             finish
//	returned <──────── open ──────────────────> done
//	   │                ^ │ await     finish     │ ^
//	   └────────────────┘ └───────> awaited ─────┼─┘
//	        takeOut     ^                        │
//	                    └────────────────────────┘ renew
//
// The owner of the job calls await and renew. The worker that runs it calls finish.
// Workers that have the lock of the global queue of jobs call handOn and takeOut, which
// leave a job alone whose owner waits already.
type jobState struct{ word atomic.Uint32 }

const (
	jobOpen     = iota
	jobReturned // not begun, and in the global queue; see Worker.handOn
	jobAwaited  // not done, and its owner has given up its place to wait
	jobDone
)

func (s *jobState) isDone() bool     { return s.word.Load() == jobDone }
func (s *jobState) isReturned() bool { return s.word.Load() == jobReturned }

// finish makes the job done, and reports whether its owner has given up its place.
func (s *jobState) finish() (awaited bool) {
	before := s.word.Swap(jobDone) // (W20) the result; pairs with (R20)
	if race.Enabled && before != jobOpen && before != jobAwaited {
		panic("filch: internal error: a job was finished that was " + jobStateName(before))
	}
	return before == jobAwaited
}

// await notes that the owner gives up its place. It reports false if the job is done, or
// returned.
func (s *jobState) await() bool { return s.word.CompareAndSwap(jobOpen, jobAwaited) } // (R20)

// handOn notes that the job goes into the global queue.
func (s *jobState) handOn() { s.word.CompareAndSwap(jobOpen, jobReturned) }

// takeOut notes that it left the global queue.
func (s *jobState) takeOut() { s.word.CompareAndSwap(jobReturned, jobOpen) }

// renew makes a job open that is to be used again. It reports whether it was not.
func (s *jobState) renew() bool {
	before := s.word.Load()
	if before == jobOpen {
		return false
	}
	if race.Enabled && before != jobDone {
		panic("filch: internal error: a job was used again that was " + jobStateName(before))
	}
	s.word.Store(jobOpen)
	return true
}

// String names the state.
func (s *jobState) String() string { return jobStateName(s.word.Load()) }

func jobStateName(s uint32) string {
	names := [...]string{"open", "returned", "awaited", "done"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("jobState(%d)", s)
}
