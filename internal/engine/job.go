package engine

import (
	"sync/atomic"

	"github.com/filch-go/filch/internal/race"
)

// A Job is a published fork. It lies in the deque of its owner until it is
// taken back or stolen.
type Job struct {
	run    func(w *Worker) // calls the function and keeps its result
	entry  uintptr         // of the function
	owner  *Worker         // forked it, and joins it
	level  int64           // that of the owner when it was published
	with                   // labels and views; see around.go
	thief  atomic.Pointer[Worker]
	state  jobState
	err    error // how run ended, if not by returning: a panic,
	exited bool  // or runtime.Goexit; the thief writes, before it is done

	child race.Child // that runs it, with logical races; the owner writes, before it is published

	id uint64 // for the hook, if there is one; the owner writes, before it is published

	piece  *Piece  // that the job is, if it is one of a Finish; never written again
	finish *Finish // whose end the job is, if it is one; likewise
}

// Typed is a Job of a function from A to R.
type Typed[A, R any] struct {
	Job
	fn     Callee[A, R]
	arg    A
	result R
}

// Callee is a function whose calls can be published.
type Callee[A, R any] interface {
	Run(w *Worker, arg A) R
	Entry() uintptr // of its body, for Dump
}

// Published holds the jobs of one activation, oldest first. Only the owner
// touches it.
type Published[A, R any] struct {
	open  []*Typed[A, R]
	spare []*Typed[A, R]
}

// Add makes a job of the call fn(arg).
func (p *Published[A, R]) Add(fn Callee[A, R], arg A) *Job {
	var j *Typed[A, R]
	if n := len(p.spare); n > 0 {
		j = p.spare[n-1]
		p.spare = p.spare[:n-1]
	} else {
		j = &Typed[A, R]{}
		j.run = func(w *Worker) { j.result = j.fn.Run(w, j.arg) }
	}
	j.fn, j.arg = fn, arg
	j.entry = fn.Entry()
	p.open = append(p.open, j)
	return &j.Job
}

func (p *Published[A, R]) newest() *Typed[A, R] { return p.open[len(p.open)-1] }

// recycle removes the newest job. Nobody else refers to it any more.
func (p *Published[A, R]) recycle() {
	n := len(p.open) - 1
	j := p.open[n]
	p.open[n] = nil
	p.open = p.open[:n]
	if j.child.IsOpen() {
		return // its child has not been ordered before what is forked next
	}
	var arg A
	var result R
	j.fn, j.arg, j.result = nil, arg, result
	j.owner, j.with, j.err, j.exited = nil, with{}, nil, false
	if j.state.renew() {
		j.thief.Store(nil)
	}
	p.spare = append(p.spare, j)
}
