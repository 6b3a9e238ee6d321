package engine

import (
	"errors"
	"slices"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
)

// The pool tells its hooks where something happens that takes long anyway: a fork is made
// public or leaves the deque, a worker gets a place or gives it up. A private fork and its
// join tell nothing, so their code is the same with hooks and without. Without a hook, each
// point costs a load of a pointer that is seldom written. With one, it costs a look at the clock, an
// interface call, and what the hook does.

// AddHook makes p tell h what happens from now on. What is under way may be told in part.
func (p *Pool) AddHook(h event.Hook) {
	p.changeHooks(func(all []event.Hook) []event.Hook { return append(all, h) })
}

// RemoveHook ends what AddHook began. What is under way may still be told.
func (p *Pool) RemoveHook(h event.Hook) {
	p.changeHooks(func(all []event.Hook) []event.Hook {
		return slices.DeleteFunc(all, func(o event.Hook) bool { return o == h })
	})
}

func (p *Pool) changeHooks(change func(all []event.Hook) []event.Hook) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []event.Hook
	if before := p.hooks.Load(); before != nil {
		all = slices.Clone(*before)
	}
	if all = change(all); len(all) == 0 {
		p.hooks.Store(nil)
	} else {
		p.hooks.Store(&all)
	}
}

// IsHooked reports whether there is a hook.
func (p *Pool) IsHooked() bool { return p.hooks.Load() != nil }

// Tell tells the hooks, if there are any, what happens to w. other may be nil.
func (w *Worker) Tell(k event.Kind, other *Worker) {
	if w.pool.hooks.Load() != nil {
		w.tell(event.Event{Kind: k}, other)
	}
}

// tellOf is Tell, of a fork.
func (w *Worker) tellOf(k event.Kind, other *Worker, j *Job) {
	if w.pool.hooks.Load() != nil {
		w.tell(event.Event{Kind: k, ID: j.id, Func: j.entry}, other)
	}
}

// TellNumber is Tell with a number.
func (w *Worker) TellNumber(k event.Kind, other *Worker, n int) {
	if w.pool.hooks.Load() != nil {
		w.tell(event.Event{Kind: k, ID: uint64(n)}, other)
	}
}

// Call notes that w, which has just entered the pool, is at a call of a function, and tells the hooks.
func (w *Worker) Call(at DoingKind, entry uintptr) {
	w.Note(at, nil, entry)
	if w.pool.hooks.Load() != nil {
		w.tell(event.Event{Kind: event.Called, Func: entry}, nil)
	}
}

func (w *Worker) tell(e event.Event, other *Worker) {
	e.Worker, e.Other = w.ID, -1
	if other != nil {
		e.Other = other.ID
	}
	w.pool.Tell(e)
}

// nameFork gives j, which w is about to publish, an ID, if there is a hook.
func nameFork(w *Worker, j *Job) {
	j.id = 0
	if w.pool.hooks.Load() != nil {
		w.told++
		j.id = event.ForkID(w.ID, uint64(w.told))
	}
}

// Taken is a fork that was taken back, and is about to run.
type Taken struct {
	id    uint64 // or 0
	entry uintptr
}

// TookBack returns the fork that w took back just now, if hooks were told of it.
func TookBack(w *Worker) (t Taken) {
	if w.tookBack.id != 0 {
		t, w.tookBack.id = w.tookBack, 0
	}
	return t
}

// TellJoined tells hooks that t has run on w, if it is a fork.
func (t Taken) TellJoined(w *Worker) {
	if t.id != 0 && w.pool.hooks.Load() != nil {
		w.tell(event.Event{Kind: event.Joined, ID: t.id, Func: t.entry}, nil)
	}
}

// Tell tells the hooks, if there are any, what happens to a task, or to p: then the worker is -1. It
// sets the time, if there is none.
func (p *Pool) Tell(e event.Event) {
	hooks := p.hooks.Load()
	if hooks == nil {
		return
	}
	if e.At == 0 {
		e.At = clock.Now()
	}
	for _, h := range *hooks {
		p.call(h, e)
	}
}

// call calls a hook. It returns in any case, since no caller of it could go on from
// where it is: w has stolen a fork, say, which another worker waits for.
func (p *Pool) call(h event.Hook, e event.Event) {
	returned := false
	defer func() {
		if returned {
			return
		}
		err := errors.New("it called runtime.Goexit")
		if v := recover(); v != nil {
			err = p.wrap(v)
		}
		hookFailed(hookError{err})
	}()
	h.Event(e)
	returned = true
}

// hookError says that a hook has not returned, and why.
type hookError struct{ cause error }

func (e hookError) Error() string {
	return "filch: the hook of a pool has not returned: " + e.cause.Error()
}
func (e hookError) Unwrap() error { return e.cause }

// hookFailed ends the program.
var hookFailed = func(err error) { go func() { panic(err) }() }
