package filch

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/filch-go/filch/internal/tell"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/environ"
	"github.com/filch-go/filch/internal/goroutine"
	"github.com/filch-go/filch/internal/race"
)

// Checks look for mistakes of the program that uses a pool. With WithChecks they note which
// goroutine each worker is handed to, and where, and a worker serves one call only: so a use by
// another goroutine is told from that of the right one, and a late one from that of a later call. A
// private fork and its join do not look at the pool. But the demand that they look at can be one that
// never ends: then they come by the slow paths, which look. So a pool without checks has the same
// fast paths as before.
//
// A pool with a logger, and any under the race detector, notes the goroutine alone. Under the race detector
// that is compared as well, on amd64 and arm64, where it is cheap.

// allChecked says that all pools have checks. It is asked for each pool, not once before main: of that, go test would
// not know, and show what it has kept of a run without.
func allChecked() bool { return environ.On("FILCH_CHECKS") }

// beginChecks turns on what checks need, when all else is set.
func (s *settings) beginChecks() {
	if allChecked() && s.checks == nil {
		s.checks = &checks{}
	}
	if s.checks != nil && s.logger == nil {
		s.logger = slog.Default()
	}
	s.notes = s.checks != nil || s.logger != nil || race.Enabled
}

// beginLooks makes the engine look for what it can tell of, and for all that checks do.
func (p *Pool) beginLooks() {
	p.tasks.Engine.Disorder = func(entry uintptr) {
		panic("filch: " + usedTwice("a fork of "+tell.Function("", entry)+" is awaited twice"))
	}
	p.tasks.Engine.Elsewhere = func(w *engine.Worker) { misuse(asWorker(w).lent.Load(), notTheOneAround) }
	if p.checks != nil || race.Enabled {
		p.tasks.Engine.Checks = useChecks{p}
	}
}

// handOut notes that the calling goroutine has w from now on. Other work that has w goes on when
// takeIn is called with what handOut returns. entry is that of a fork that was stolen for it, or 0.
func (w *Worker) handOut(entry uintptr) (before *handout) {
	before = w.lent.Load()
	h := before
	if h == nil || w.pool.checks != nil || h.goroutine.Load() != 0 {
		h = &handout{}
	}
	if c := w.pool.checks; c != nil {
		h.number, h.stack, h.entry = goroutine.Number(), tell.Callers(), entry
		defer c.watch(w.pool)
	}
	id := uintptr(1)
	if goroutine.Cheap || w.pool.checks != nil {
		id = goroutine.ID()
	}
	h.goroutine.Store(uint64(id))
	w.lent.Store(h)
	return before
}

// takeIn ends what handOut began.
func (w *Worker) takeIn(before *handout) {
	w.lent.Load().goroutine.Store(0)
	if before != nil && before.goroutine.Load() != 0 {
		w.lent.Store(before)
	}
}

// late returns a worker for what is out of use and was w's: each use of it panics.
func (w *Worker) late() *engine.Worker {
	h := w.lent.Load()
	if h.late == nil {
		h.late = &Worker{}
		h.late.tasks.Engine.Face = h.late
		h.late.tasks.Engine.Late(&w.pool.tasks.Engine)
		h.late.lent.Store(&handout{stack: h.stack, entry: h.entry})
	}
	return &h.late.tasks.Engine
}

// useChecks is a pool as its engine sees it: it is told what its workers are used for.
type useChecks struct{ p *Pool }

func (c useChecks) Strict() bool { return c.p.checks != nil }

func (c useChecks) Begins(w *engine.Worker) (ends func()) {
	face := asWorker(w)
	before := face.handOut(w.Doing().Entry)
	return func() { face.takeIn(before) }
}

// Uses is called by CheckUse of the engine, and likewise unseen by the race detector.
//
//go:norace
func (c useChecks) Uses(w *engine.Worker) {
	h := asWorker(w).lent.Load()
	switch {
	case h == nil: // the pool's own
	case h.goroutine.Load() == 0:
		misuse(h, "after the call that it was handed to has returned; use it only in that call, and in what that calls")
	case (goroutine.Cheap || c.p.checks != nil) && h.goroutine.Load() != uint64(goroutine.ID()) && !h.isOnCoroutine(uint64(goroutine.ID())):
		if c.p.has() != nil {
			misuse(h, notTheOneAround)
		}
		misuse(h, "on another goroutine than the one that it was handed to; fork in place of go, or call Do of the Pool there")
	case w.InBlocking():
		misuse(h, "inside of its Blocking; fork before that, or after it")
	}
}

// isOnCoroutine reports whether the goroutine me, which calls it, is a coroutine of iter.Pull: it may use what h hands out, since it
// runs while its caller waits. It is apart from the comparison before it, since the race detector notes each call, and forgets the older ones.
func (h *handout) isOnCoroutine(me uint64) bool {
	if h.coroutine.Load() == me {
		return true
	}
	if !goroutine.IsCoroutine() {
		return false
	}
	h.coroutine.Store(me) // so that its stack is walked once
	return true
}

// notTheOneAround is what to tell a goroutine that has another worker than the one that it uses.
const notTheOneAround = "on another goroutine than the one that it was handed to; what is forked runs on any worker: " +
	"use the Worker that its function gets, not that of the function around it"

// misuse panics, since the goroutine must not use what it was handed out by h.
func misuse(h *handout, how string) {
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
		text += "\n\nhanded out " + placeOf(h)
	}
	text += "\n\nused at\n" + tell.Stack(here)
	panic(text)
}

// notJoined returns the message for a body, the function at entry, that has left n forks open.
func notJoined(entry uintptr, n int) string {
	if name := tell.Function("", entry); strings.HasPrefix(name, tell.Filch+"init.") { // of Join, which joins all of its own
		return "filch: " + usedTwice(fmt.Sprintf("a Join has left %d forks", n))
	}
	return fmt.Sprintf("filch: %s returned with %d of its forks not joined: Join each before the body returns", tell.Function("", entry), n)
}

// notItsOwn is notJoined inside of a recursion, where n is negative for a body that has joined forks of its
// caller.
func notItsOwn(entry uintptr, n int) string {
	if n > 0 {
		return notJoined(entry, n)
	}
	return fmt.Sprintf("filch: %s joined %d of its caller's forks: Join each in the call that has made it", tell.Function("", entry), -n)
}

// placeOf tells where h was handed out.
func placeOf(h *handout) string {
	text := tell.Stack(h.stack)
	if h.entry != 0 {
		return "to a fork of " + tell.Function("", h.entry) + ", which this worker took from another\n" + text
	}
	return "at\n" + text
}

// has reports whether the calling goroutine has a worker of p.
func (p *Pool) has() (h *handout) {
	if !goroutine.Cheap && p.checks == nil {
		return nil
	}
	me := uint64(goroutine.ID())
	for _, w := range *p.tasks.Engine.Workers.Load() {
		if h := asWorker(w).lent.Load(); h != nil && h.goroutine.Load() == me {
			return h
		}
	}
	return nil
}

// nestedLooks is how many calls of Do are looked at in a pool with a logger; then only one in as
// many is.
const nestedLooks = 100

// noticeNested logs, once, that Do, or what comes down to it, is called by p's own work.
func (p *Pool) noticeNested() {
	if p.logger == nil || p.nestedTold.Load() {
		return
	}
	if n := p.nestedSeen.Add(1); p.checks == nil && n > nestedLooks && n%nestedLooks != 0 {
		return
	}
	if p.has() == nil && !p.inside() {
		return
	}
	here := tell.Callers()
	if tell.IsWithoutPlace(here) || p.nestedTold.Swap(true) {
		return
	}
	p.logger.Warn("filch: a pool is used inside its own work, so the caller takes one more place as a guest; "+
		"pass on the Worker, or in a task ScopeOf(ctx)",
		"pool", p.name, "call", tell.Called(here), "stack", tell.StackInLine(here))
}

// begin notes that the calling goroutine runs the task of c, until what it returns is called.
func (k *checks) begin(c *taskContext) (end func()) {
	me := goroutine.ID()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running == nil {
		k.running = map[uintptr][]*taskContext{}
	}
	k.running[me] = append(k.running[me], c)
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if n := len(k.running[me]) - 1; n > 0 {
			k.running[me] = k.running[me][:n]
		} else {
			delete(k.running, me)
		}
	}
}

// tasksHere returns the tasks that the calling goroutine runs, the newest last.
func (k *checks) tasksHere() []*taskContext {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running[goroutine.ID()]
}

// submittedAt returns the stack of what has submitted c's task, if the pool has checks.
func (c *taskContext) submittedAt() []uintptr {
	if m := c.extras.Load(); m != nil && m.seen != nil {
		return m.seen.submitted
	}
	return nil
}

// waitsForItself panics if the calling goroutine is about to wait for g in one of its tasks.
func (g *Group) waitsForItself(op string) {
	if g.pool.checks == nil {
		return
	}
	for _, c := range g.pool.checks.tasksHere() {
		if c.Context == g.ctx {
			panic("filch: " + op + ": called by a task of the group, so it would wait for itself: return from the task, " +
				"and wait where the group was made\n\nsubmitted at\n" + tell.Stack(c.submittedAt()) + "\nwaits at\n" + tell.Stack(tell.Callers()))
		}
	}
}

// closesItself panics if the calling goroutine is in a Do of p, which op would wait for.
func (p *Pool) closesItself(op string) {
	if p.checks == nil {
		return
	}
	if h := p.has(); h != nil && !p.inside() { // else op returns ErrInside
		panic("filch: " + op + ": called inside a Do of the pool, which it would wait for: close the pool when Do has returned" +
			"\n\nhanded out " + placeOf(h) + "\ncloses at\n" + tell.Stack(tell.Callers()))
	}
}
