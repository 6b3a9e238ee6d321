package filch

import (
	"bytes"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"

	"github.com/filch-go/filch/internal/tag"
)

// mark calls then with the mark of p below it on the stack.
func (p *Pool) mark(then tag.Step) { tag.Below(p.number, then) }

// inside reports whether the calling goroutine runs a task of p.
func (p *Pool) inside() bool {
	pcs := make([]uintptr, 64)
	n := runtime.Callers(1, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 2*n)
		n = runtime.Callers(1, pcs)
	}
	for number := range tag.Numbers(tag.Frames(pcs[:n])) {
		if number == p.number {
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
func (p *Pool) startInPlace(t task, s seat) (ran bool) {
	ran = t.body.start(p, s, t.ctx, false)
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

// census is what a profile of the goroutines tells of a pool's workers.
type census struct {
	waiting int // those that wait where the pool cannot see it: on a channel, say
	lending int // those that wait, or block, where it can; so they gave up a place
}

// census looks at the stacks of all goroutines. It takes about 3 us for each, most
// of it while they run. A goroutine is not found if more than 100 frames are above
// its worker's.
func (p *Pool) census() (c census) {
	var text bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&text, 1) // a Buffer does not fail
	for line := range strings.Lines(text.String()) {
		count, stack, ok := strings.Cut(line, " @ 0x")
		n, err := strconv.Atoi(count)
		if !ok || err != nil {
			continue // the frames and the labels of the one before
		}
		switch runs, waits, lends := p.workerAt(tag.Frames(tag.PCs(stack))); {
		case runs && lends:
			c.lending += n
		case runs && waits:
			c.waiting += n
		}
	}
	return c
}

// workerAt reports whether a stack is that of a goroutine that fills a place of p,
// whether it waits, and whether it is in a function that gives up a place.
func (p *Pool) workerAt(frames iter.Seq[runtime.Frame]) (runs, waits, gives bool) {
	top, inRuntime := "", true
	gc, parked := false, false // waits for the collector, which is not for long; has no work
	for frame := range frames {
		inRuntime = inRuntime && strings.HasPrefix(frame.Function, "runtime.")
		gc = gc || inRuntime && strings.HasPrefix(frame.Function, "runtime.gc")
		if top == "" {
			top = frame.Function
		}
		if name, ours := strings.CutPrefix(frame.Function, thisPackage); ours {
			runs = runs || name == "(*Worker).run"
			gives = gives || lends[name]
			parked = parked || name == "(*Worker).park"
		}
	}
	waits = top == "runtime.gopark" && !gc
	last := uint64(tag.Max)
	for last = range tag.Numbers(frames) { // the last is the worker's
	}
	return runs && !parked && last == p.number, waits, gives
}

// lends are the functions that give up a place while they run, if they can.
var lends = map[string]bool{
	"Blocking":           true,
	"(*latch).wait":      true,
	"(*Worker).block":    true,
	"(*Worker).Blocking": true,
}

// thisPackage is how the names of its functions begin.
var thisPackage = reflect.TypeFor[Pool]().PkgPath() + "."
