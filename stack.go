package filch

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"

	"github.com/filch-go/filch/internal/tag"
	"github.com/filch-go/filch/internal/task"
)

// What stacks tell: whether a call comes from inside a task of a pool, and what all goroutines do.

// inside reports whether the calling goroutine runs a task of p.
func (p *Pool) inside() bool {
	pcs := make([]uintptr, 64)
	n := runtime.Callers(1, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 2*n)
		n = runtime.Callers(1, pcs)
	}
	for number := range tag.Numbers(tag.Frames(pcs[:n])) {
		if number == p.tasks.Engine.Number {
			return true
		}
	}
	for frame := range tag.Frames(pcs[:n]) {
		if frame.Function == thisPackage+"(*Pool).startInPlace" {
			return p.runsInPlace()
		}
	}
	return false
}

// startInPlace starts t where a stack tells that it is a task of p: a traceback
// shows the receiver. A mark would cost each task that runs in place an allocation.
//
//go:noinline
func (p *Pool) startInPlace(t task.Task, s task.Seat) (ran bool) {
	ran = t.Body.Start(&p.tasks, s, t.Ctx, false)
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
	return bytes.Contains(stack[:n], fmt.Appendf(nil, "(*Pool).startInPlace(%p,", p))
}

// textOfStacks returns a traceback of all goroutines. The world stops for some microseconds a
// goroutine.
func textOfStacks() string {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 2) // a Builder does not fail
	return b.String()
}

// addressOf returns how a traceback prints c.
func addressOf(c *taskContext) string { return fmt.Sprintf("%p", c) }
