package engine

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/event"
)

// handOn puts j, which w has stolen but must not run, into the global queue. A
// worker that looks for work takes it, or its owner does at the join. Giving it
// back to the owner would not do, since the owner may be in a long leaf.
func (w *Worker) handOn(j *Job) {
	w.tellOf(event.HandedOn, j.owner, j)
	w.pool.global.add(j)
	w.pool.Wake() // (R10)
}

// HandedOn reports whether forks wait that were handed on.
func (p *Pool) HandedOn() bool {
	return p.global.n.Load() > 0 || p.Logical.open.Len() > 0
}

// jobQueue holds jobs that were handed on. There are hardly ever any.
type jobQueue struct {
	n    atomic.Int32 // as len(jobs); written under mu
	mu   sync.Mutex
	jobs []*Job
}

func (q *jobQueue) add(j *Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.state.handOn() // or it is awaited already
	q.jobs = append(q.jobs, j)
	q.n.Store(int32(len(q.jobs))) // (W10)
}

// take removes and returns a job, or nil.
func (q *jobQueue) take() *Job {
	if q.n.Load() == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		return nil
	}
	j := q.jobs[0]
	q.delete(0)
	return j
}

// remove removes j, and reports false if it was taken.
func (q *jobQueue) remove(j *Job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.jobs, j)
	if i >= 0 {
		q.delete(i)
	}
	return i >= 0
}

func (q *jobQueue) delete(i int) {
	q.jobs[i].state.takeOut()
	q.jobs = slices.Delete(q.jobs, i, i+1)
	q.n.Store(int32(len(q.jobs)))
}
