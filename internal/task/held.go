package task

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/line"
)

// Held is a task that was accepted but is not queued yet, because something holds it back. It leaves that state once, by
// Release or by Unhold.
type Held struct {
	Body   HeldBody
	Caller *Latch // of the submitter, which runs the task and waits here until it may; nil for others
	Quiet  bool   // the end of its context does not reach it; written before it is held
	Slot   Slot   // of a Subpool
	Long   bool   // the task gets its own goroutine: Release counts it as blocked instead of queuing it

	open atomic.Int32                 // unfinished deps, plus one for the submitter until it has counted them
	deps atomic.Pointer[dependencies] // of the task: set by the submitter; cleared at the task's end, so that no chain of tasks is retained

	turn   line.Turn[*Held]
	inLine bool // of the Waiting of its Subpool; under that Subpool's lock

	extras extras // of the task: one allocation for both
}

// HeldBody is the Body of a task that may be held.
type HeldBody interface {
	Body
	// Free is called when the task is no longer held, before it is queued.
	Free()
	// Admit releases the task, which got a slot of its Subpool, at the worker near unless that is nil. It ignores a dropped
	// task.
	Admit(near *Worker)
}

// heldTasks are the held tasks of a pool, which does not end while there are any.
type heldTasks struct {
	mu    sync.Mutex
	line  line.Line[*Held]
	quiet line.Line[*Held] // the Quiet ones
	n     int              // without those that callers run: a caller has counted its own
}

// Hold holds h, and returns false if the pool has ended. DropIfCancelled must follow once h can be dropped.
func (p *Pool) Hold(h *Held) bool {
	h.turn.Of = h
	l := &p.held
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.Engine.Places.Load().Ended() {
		return false
	}
	l.lineOf(h).Add(&h.turn)
	if h.Caller == nil {
		l.n++
	}
	return true
}

// DropIfCancelled drops h if all held tasks were dropped, or are being dropped: h may have come too late for that.
func (p *Pool) DropIfCancelled(h *Held) {
	if p.Phase.Load() == Cancelled && p.Unhold(h) {
		h.Body.Drop(p, ErrClosed)
	}
}

// Release queues h where Submit would, starts it, or resumes the caller that runs it. It returns false if h is no longer
// held. A queue limit does not keep h out: no one could wait for room on its behalf.
func (p *Pool) Release(h *Held, w *Worker, priority int) bool {
	l := &p.held
	l.mu.Lock()
	if !p.take(h) {
		l.mu.Unlock()
		return false
	}
	h.Body.Free()
	switch {
	case h.Caller != nil:
		l.mu.Unlock()
		h.Caller.Release()
		return true
	case h.Long:
		p.Totals.Direct.Add(1)
		p.Engine.EnterBlocked()
		l.mu.Unlock()
		return true
	}
	if p.Room != nil {
		p.Room.Enter()
	}
	_ = p.push(w, Task{Body: h.Body}, priority) // under the lock: the pool does not end in between, so this succeeds
	l.mu.Unlock()
	p.Pushed()
	p.urge()
	return true
}

// Unhold takes h out without queuing it, to drop it or for its caller to run. It returns false if h is no longer held.
func (p *Pool) Unhold(h *Held) bool {
	l := &p.held
	l.mu.Lock()
	ok := p.take(h)
	if ok && h.Caller == nil {
		p.Totals.Direct.Add(1)
	}
	l.mu.Unlock()
	if !ok {
		return false
	}
	if h.Caller != nil {
		h.Caller.Release()
	}
	return true
}

// take removes h. The caller holds the lock.
func (p *Pool) take(h *Held) bool {
	if !p.held.lineOf(h).Remove(&h.turn) {
		return false
	}
	if h.Caller == nil {
		p.held.n--
	}
	return true
}

// Held returns how many tasks are held, without those that callers run.
func (p *Pool) Held() int {
	p.held.mu.Lock()
	defer p.held.mu.Unlock()
	return p.held.n
}

// AllHeld returns at most most of the held tasks.
func (p *Pool) AllHeld(most int) (all []*Held) {
	l := &p.held
	l.mu.Lock()
	defer l.mu.Unlock()
	return first(most, &l.quiet, first(most, &l.line, nil))
}

// AllQuiet returns the Quiet ones.
func (p *Pool) AllQuiet() []*Held {
	l := &p.held
	l.mu.Lock()
	defer l.mu.Unlock()
	return first(math.MaxInt, &l.quiet, nil)
}

// first appends the first in l to all, until it has most elements.
func first(most int, l *line.Line[*Held], all []*Held) []*Held {
	for h := range l.All() {
		if len(all) == most {
			break
		}
		all = append(all, h)
	}
	return all
}

// lineOf returns the line for h.
func (l *heldTasks) lineOf(h *Held) *line.Line[*Held] {
	if h.Quiet {
		return &l.quiet
	}
	return &l.line
}

// none reports whether nothing is held and end returns true. Nothing becomes held meanwhile.
func (l *heldTasks) none(end func() bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n == 0 && end()
}

// dropHeld drops all held tasks.
func (p *Pool) dropHeld() {
	done := false
	defer func() {
		if !done { // as in dropQueued
			p.dropHeld()
		}
	}()
	for all := p.AllHeld(1); len(all) > 0; all = p.AllHeld(1) {
		if p.Unhold(all[0]) {
			all[0].Body.Drop(p, ErrClosed)
		}
	}
	done = true
}
