package cluster

import "sync/atomic"

// queued says whether an execution is in the pool of its node. What takes it out of the pool goes on with the task, and each transition
// is made once: the worker that begins it, what gives it back, and what finds that the pool hangs can meet.
//
//	notQueued --enter--> inPool --leave--> notQueued
//	                     inPool --hang--> hung --revive--> notQueued
type queued struct{ state atomic.Int32 }

const (
	notQueued = iota // before, or what has taken it out goes on with the task
	inPool           // and not begun
	hung             // in the pool, which has not begun it for too long; its task was given back
)

// enter says that the pool is to get the execution.
func (q *queued) enter() {
	if !q.state.CompareAndSwap(notQueued, inPool) {
		panic("cluster: an execution is queued twice")
	}
}

// leave takes the execution out, to run it or to give it back. It returns false if that was done before.
func (q *queued) leave() bool { return q.state.CompareAndSwap(inPool, notQueued) }

// hang notes that the pool does not begin the execution. It returns false if that has just been done.
func (q *queued) hang() bool { return q.state.CompareAndSwap(inPool, hung) }

// revive notes that the pool has come to an execution that it did not begin. It returns false for another.
func (q *queued) revive() bool { return q.state.CompareAndSwap(hung, notQueued) }

// waits reports whether the pool has not begun the execution.
func (q *queued) waits() bool { return q.state.Load() == inPool }
