package task

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/line"
)

// Held is a task that was accepted and is not queued yet: something holds it back. It leaves
// that state once, by Release or by Unhold.
type Held struct {
	Body   HeldBody
	Caller *Latch // the submitter runs the task, and waits here until it may; nil for others
	Quiet  bool   // nothing tells it of the end of its context; written before it is held
	Slot   Slot   // of a Subpool
	Long   bool   // the task gets a goroutine of its own: Release counts it as blocked, and does not queue it

	open atomic.Int32                 // deps that are not done, and one for the submitter, until it has counted them
	deps atomic.Pointer[dependencies] // that the task comes after: the submitter sets it; the end of the task clears it, so that a chain of tasks is not kept

	turn   line.Turn[*Held]
	inLine bool // of the Waiting of its Subpool; under the lock of that

	extras extras // of the task: one allocation for both
}

// HeldBody is the Body of a task that may be held.
type HeldBody interface {
	Body
	// Free is called when the task is held no longer, before it is queued.
	Free()
	// Admit releases the task, which got a slot of its Subpool, at the worker near unless that is nil. It does nothing if the
	// task was dropped.
	Admit(near *Worker)
}

// heldTasks are the tasks of a pool that are held. The pool does not end while there are any.
type heldTasks struct {
	mu    sync.Mutex
	line  line.Line[*Held]
	quiet line.Line[*Held] // those that are Quiet
	n     int              // of those that no caller runs: a caller has counted its own
}

// Hold holds h, and reports false if the pool has ended. DropIfCancelled must follow once h can be
// dropped.
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

// DropIfCancelled drops h if all that is held was dropped, or is being dropped: h may have come
// too late for that.
func (p *Pool) DropIfCancelled(h *Held) {
	if p.Phase.Load() == Cancelled && p.Unhold(h) {
		h.Body.Drop(p, ErrClosed)
	}
}

// Release queues h where Submit would, or lets the caller go on that runs it, or start it. It reports false
// if h is held no more. A limit of queued tasks does not keep h out, since nobody could wait for
// room in its name.
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
	_ = p.push(w, Task{Body: h.Body}, priority) // under the lock: the pool does not end in between, and takes it
	l.mu.Unlock()
	p.Pushed()
	p.urge()
	return true
}

// Unhold takes h out without queuing it: it is dropped, or run by the caller. It reports false if
// h is held no more.
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

// Held returns how many tasks are held, but for those that callers run.
func (p *Pool) Held() int {
	p.held.mu.Lock()
	defer p.held.mu.Unlock()
	return p.held.n
}

// AllHeld returns tasks that are held, most at most.
func (p *Pool) AllHeld(most int) (all []*Held) {
	l := &p.held
	l.mu.Lock()
	defer l.mu.Unlock()
	return first(most, &l.quiet, first(most, &l.line, nil))
}

// AllQuiet returns those that are Quiet.
func (p *Pool) AllQuiet() []*Held {
	l := &p.held
	l.mu.Lock()
	defer l.mu.Unlock()
	return first(math.MaxInt, &l.quiet, nil)
}

// first adds the first in line to all, until that are most.
func first(most int, l *line.Line[*Held], all []*Held) []*Held {
	for h := range l.All() {
		if len(all) == most {
			break
		}
		all = append(all, h)
	}
	return all
}

// lineOf returns the line that h is in, or is to be.
func (l *heldTasks) lineOf(h *Held) *line.Line[*Held] {
	if h.Quiet {
		return &l.quiet
	}
	return &l.line
}

// none reports whether nothing is held, and end returns true. Nothing is held meanwhile.
func (l *heldTasks) none(end func() bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n == 0 && end()
}

// dropHeld drops all tasks that are held.
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
