package checks

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/goroutine"
	"github.com/filch-go/filch/internal/tell"
)

// A Handout is that of a worker to a goroutine.
type Handout struct {
	goroutine atomic.Uint64 // whose worker it is, or 0 when that is over
	coroutine atomic.Uint64 // of iter.Pull that has used it last, or 0

	// Of strict checks; never written again.
	number uint64    // of the goroutine, as tracebacks have it
	stack  []uintptr // where it was handed out
	entry  uintptr   // of the fork that it was handed to, if another worker made that; else 0

	Late    any    // what stands for the worker where that is out of use; that goroutine alone touches it
	blocked string // where the watch for blocked forks found the goroutine last; it alone touches this
}

// Lent is to whom a worker is handed out. It is written when that happens; what misuses the worker loads it.
type Lent struct{ atomic.Pointer[Handout] }

// Out notes that the calling goroutine has the worker from now on. Other work that has it goes on when
// In is called with what Out returns. entry is that of a fork that was stolen for it, or 0.
func (l *Lent) Out(c *Checks, entry uintptr) (before *Handout) {
	before = l.Load()
	h := before
	if h == nil || c.strict || h.goroutine.Load() != 0 {
		h = &Handout{}
	}
	if c.strict {
		h.number, h.stack, h.entry = goroutine.Number(), tell.Callers(), entry
		defer c.watch()
	}
	id := uintptr(1)
	if goroutine.Cheap || c.strict {
		id = goroutine.ID()
	}
	h.goroutine.Store(uint64(id))
	l.Store(h)
	return before
}

// In ends what Out began.
func (l *Lent) In(before *Handout) {
	l.Load().goroutine.Store(0)
	if before != nil && before.goroutine.Load() != 0 {
		l.Store(before)
	}
}

// Over returns a handout that is over, to tell of it where h was: the use of a worker that stands for the one that h hands out.
func (h *Handout) Over() *Handout { return &Handout{stack: h.stack, entry: h.entry} }

// Begins is that of the engine's Checks.
func (c *Checks) Begins(w *engine.Worker) (ends func()) {
	lent := c.lent(w)
	before := lent.Out(c, w.Doing().Entry)
	return func() { lent.In(before) }
}

// Uses is called by CheckUse of the engine, and likewise unseen by the race detector.
//
//go:norace
func (c *Checks) Uses(w *engine.Worker) {
	h := c.lent(w).Load()
	switch {
	case h == nil: // the pool's own
	case h.goroutine.Load() == 0:
		misuse(h, "after the call that it was handed to has returned; use it only in that call, and in what that calls")
	case (goroutine.Cheap || c.strict) && h.goroutine.Load() != uint64(goroutine.ID()) && !h.isOnCoroutine(uint64(goroutine.ID())):
		if c.Mine() != nil {
			misuse(h, notTheOneAround)
		}
		misuse(h, "on another goroutine than the one that it was handed to; fork in place of go, or call Do of the Pool there")
	case w.InBlocking():
		misuse(h, "inside of its Blocking; fork before that, or after it")
	}
}

// Elsewhere panics, since the calling goroutine uses w, and has another worker.
func (c *Checks) Elsewhere(w *engine.Worker) { misuse(c.lent(w).Load(), notTheOneAround) }

// isOnCoroutine reports whether the goroutine me, which calls it, is a coroutine of iter.Pull: it may use what h hands out, since it
// runs while its caller waits. It is apart from the comparison before it, since the race detector notes each call, and forgets the older ones.
func (h *Handout) isOnCoroutine(me uint64) bool {
	if h.coroutine.Load() == me {
		return true
	}
	if !goroutine.IsCoroutine() {
		return false
	}
	h.coroutine.Store(me) // so that its stack is walked once
	return true
}

// Mine returns the handout of a worker of the pool that the calling goroutine has, or nil if it has none, or that is not known.
func (c *Checks) Mine() (h *Handout) {
	if !goroutine.Cheap && !c.strict {
		return nil
	}
	me := uint64(goroutine.ID())
	for _, w := range *c.pool.Workers.Load() {
		if h := c.lent(w).Load(); h != nil && h.goroutine.Load() == me {
			return h
		}
	}
	return nil
}

// notTheOneAround is what to tell a goroutine that has another worker than the one that it uses.
const notTheOneAround = "on another goroutine than the one that it was handed to; what is forked runs on any worker: " +
	"use the Worker that its function gets, not that of the function around it"

// misuse panics, since the goroutine must not use what it was handed out by h.
func misuse(h *Handout, how string) {
	here := tell.Callers()
	op := tell.Called(here)
	thing, _, ok := strings.Cut(op, ".")
	switch {
	case strings.HasPrefix(op, "strand.Strand."), strings.HasPrefix(op, "strand.Spawn"):
		thing, how = "Strand", strings.Replace(how, "; fork", "; spawn", 1)
	case thing != "Frame" && thing != "Link" && thing != "Mark" || !ok:
		thing = "Worker"
	}
	text := fmt.Sprintf("filch: %s: a %s is used %s", op, thing, how)
	if h != nil && h.stack != nil {
		text += "\n\nhanded out " + h.Place()
	}
	text += "\n\nused at\n" + tell.Stack(here)
	panic(text)
}

// Place tells where h was handed out.
func (h *Handout) Place() string {
	text := tell.Stack(h.stack)
	if h.entry != 0 {
		return "to a fork of " + tell.Function("", h.entry) + ", which this worker took from another\n" + text
	}
	return "at\n" + text
}
