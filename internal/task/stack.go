package task

import (
	"runtime"

	"github.com/filch-go/filch/internal/tell"
)

// Finds from its stack whether a call comes from inside a task of a pool.

// Inside reports whether the calling goroutine runs a task of p.
func (p *Pool) Inside() bool {
	pcs := make([]uintptr, 64)
	n := runtime.Callers(1, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 2*n)
		n = runtime.Callers(1, pcs)
	}
	yes, mayBeInPlace := tell.InTask(pcs[:n], p.Engine.Number)
	return yes || mayBeInPlace && p.runsInPlace()
}

// startInPlace starts t so that a stack shows it as a task of p: a traceback shows the receiver. A mark would cost each task
// that runs in place an allocation.
//
//go:noinline
func (p *Pool) startInPlace(t Task, s Seat) (ran bool) {
	ran = t.Body.Start(p, s, t.Ctx, false)
	runtime.KeepAlive(p)
	return ran
}

// runsInPlace reports whether the calling goroutine is in startInPlace of p.
func (p *Pool) runsInPlace() bool {
	stack := make([]byte, 1<<14)
	n := runtime.Stack(stack, false)
	for n == len(stack) {
		stack = make([]byte, 2*n)
		n = runtime.Stack(stack, false)
	}
	return tell.InPlace(string(stack[:n]), tell.Address(p))
}
