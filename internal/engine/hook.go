package engine

import (
	"errors"
	"fmt"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
)

// The pool tells its Hook where something happens that takes long anyway: a fork is made
// public or leaves the deque, a worker gets a place or gives it up. A private fork and its
// join tell nothing, so their code is the same with hooks and without. Without a hook, each
// point costs a load of a field that is never written. With one, it costs a look at the clock, an
// interface call, and what the hook does.

// Tell tells the hook, if there is one, what happens to w. other may be nil.
func (w *Worker) Tell(k event.Kind, other *Worker) {
	if w.pool.Hook != nil {
		w.tell(k, other, 0)
	}
}

// tellOf is Tell, of a fork.
func (w *Worker) tellOf(k event.Kind, other *Worker, j *Job) {
	if w.pool.Hook != nil {
		w.tell(k, other, j.id)
	}
}

func (w *Worker) tell(k event.Kind, other *Worker, id uint64) {
	e := event.Event{Kind: k, Worker: w.ID, Other: -1, ID: id}
	if other != nil {
		e.Other = other.ID
	}
	w.pool.call(e)
}

// Tell tells the hook, if there is one, what happens to a task, or to p: then worker is -1 and
// there is no name.
func (p *Pool) Tell(k event.Kind, worker int, id uint64, name string) {
	if p.Hook != nil {
		p.call(event.Event{Kind: k, Worker: worker, Other: -1, ID: id, Name: name})
	}
}

// named gives j, which w is about to publish, an ID, if there is a hook.
func (w *Worker) named(j *Job) {
	if w.pool.Hook != nil {
		w.told++
		j.id = event.ForkID(w.ID, uint64(w.told))
	}
}

// call calls the hook. It returns in any case, since no caller of it could go on from
// where it is: w has stolen a fork, say, which another worker waits for.
func (p *Pool) call(e event.Event) {
	e.At = clock.Now()
	returned := false
	defer func() {
		if returned {
			return
		}
		err := errors.New("it called runtime.Goexit")
		if v := recover(); v != nil {
			err = p.wrap(v)
		}
		hookFailed(fmt.Errorf("filch: the hook of a pool has not returned: %w", err))
	}()
	p.Hook.Event(e)
	returned = true
}

// hookFailed ends the program.
var hookFailed = func(err error) { go func() { panic(err) }() }
