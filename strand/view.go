package strand

import (
	"fmt"
	"unsafe"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/views"
)

// engineOf returns w as the engine's type, at the same address; see worker.go of package filch.
func engineOf(w *filch.Worker) *engine.Worker { return (*engine.Worker)(unsafe.Pointer(w)) }

// view returns the view of k in the scope s, and makes one if there is none. It is not generic, and has a fast path:
// with a dictionary's loads, or with all of find, an update would take longer than an addition.
func view(s filch.Scope, k *views.Key) unsafe.Pointer {
	if w, ok := s.(*filch.Worker); ok && w != nil {
		if v := engineOf(w).Views.Noted(k); v != nil {
			return v
		}
	}
	if t, ok := s.(*Strand); ok && t != nil && t.c != nil && t.c.open == t.depth && t.c.l != nil {
		if v := t.c.l.w.Views.Noted(k); v != nil {
			return v
		}
	}
	return find(s, k)
}

// find is the slow path of view.
//
//go:noinline
func find(s filch.Scope, k *views.Key) unsafe.Pointer {
	if k == nil || !k.Made() {
		panic(notMade("View"))
	}
	w := workerOf(s)
	w.CheckUse()
	v := w.Views.Find(k)
	if v == nil {
		v = k.Fresh() // may use other views
		w.Views = views.Add(w.Views, k, v)
	}
	if !w.UsesAreChecked() { // else each use must come here
		w.Views.Note(k, v)
	}
	return v
}

// workerOf returns the worker that s runs on, which has the table of its views.
func workerOf(s filch.Scope) *engine.Worker {
	var w *engine.Worker
	switch s := s.(type) {
	case *filch.Worker:
		w = engineOf(s)
	case *Strand:
		s.check("View")
		w = s.c.l.w
	case nil:
	default:
		panic("strand: View: s is " + nameOf(s) + ", which several goroutines may use: call its Do, and pass on the Worker")
	}
	if w == nil {
		panic("strand: View: s is nil")
	}
	return w
}

// nameOf names s as users know it.
func nameOf(s filch.Scope) string {
	_, pool := s.(*filch.Pool)
	if _, ok := s.(interface{ Closed() bool }); ok && !pool {
		return "the Scope of a task"
	}
	return fmt.Sprintf("a %T", s)
}

// notMade is the panic message of op.
func notMade(op string) string {
	return "strand: " + op + ": the Reducer or Holder is nil or zero: make one with NewReducer or NewHolder"
}

// needs panics unless ok: an argument of op is nil.
func needs(ok bool, op, argument string) {
	if !ok {
		panic("strand: " + op + ": " + argument + " is nil")
	}
}
