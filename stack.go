package filch

import (
	"bytes"
	"fmt"
	"iter"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
)

// Go has no name for goroutines, but their stacks tell what they are. Below all that
// a pool's goroutines do are calls of digit that spell the pool's number, to the base
// of 64: which digit it is, the line tells. So Close knows whether it is called from
// inside a task, and the watch for stalls which workers wait. Three frames tell a
// pool from the 262,143 that are made next.
const (
	digitBase  = 64
	maxNumbers = digitBase * digitBase * digitBase
)

// A step is what digit calls; it gets digits that are left, and itself.
type step func(left uint64, then step)

// mark calls then with the mark of p below it on the stack.
func (p *Pool) mark(then step) { digit(p.number, then) }

// digit calls then below frames that spell n, the highest digit last.
//
//go:noinline
func digit(n uint64, then step) {
	call := then
	if n >= digitBase {
		call = digit
	}
	switch n % digitBase {
	case 0:
		call(n/digitBase, then)
	case 1:
		call(n/digitBase, then)
	case 2:
		call(n/digitBase, then)
	case 3:
		call(n/digitBase, then)
	case 4:
		call(n/digitBase, then)
	case 5:
		call(n/digitBase, then)
	case 6:
		call(n/digitBase, then)
	case 7:
		call(n/digitBase, then)
	case 8:
		call(n/digitBase, then)
	case 9:
		call(n/digitBase, then)
	case 10:
		call(n/digitBase, then)
	case 11:
		call(n/digitBase, then)
	case 12:
		call(n/digitBase, then)
	case 13:
		call(n/digitBase, then)
	case 14:
		call(n/digitBase, then)
	case 15:
		call(n/digitBase, then)
	case 16:
		call(n/digitBase, then)
	case 17:
		call(n/digitBase, then)
	case 18:
		call(n/digitBase, then)
	case 19:
		call(n/digitBase, then)
	case 20:
		call(n/digitBase, then)
	case 21:
		call(n/digitBase, then)
	case 22:
		call(n/digitBase, then)
	case 23:
		call(n/digitBase, then)
	case 24:
		call(n/digitBase, then)
	case 25:
		call(n/digitBase, then)
	case 26:
		call(n/digitBase, then)
	case 27:
		call(n/digitBase, then)
	case 28:
		call(n/digitBase, then)
	case 29:
		call(n/digitBase, then)
	case 30:
		call(n/digitBase, then)
	case 31:
		call(n/digitBase, then)
	case 32:
		call(n/digitBase, then)
	case 33:
		call(n/digitBase, then)
	case 34:
		call(n/digitBase, then)
	case 35:
		call(n/digitBase, then)
	case 36:
		call(n/digitBase, then)
	case 37:
		call(n/digitBase, then)
	case 38:
		call(n/digitBase, then)
	case 39:
		call(n/digitBase, then)
	case 40:
		call(n/digitBase, then)
	case 41:
		call(n/digitBase, then)
	case 42:
		call(n/digitBase, then)
	case 43:
		call(n/digitBase, then)
	case 44:
		call(n/digitBase, then)
	case 45:
		call(n/digitBase, then)
	case 46:
		call(n/digitBase, then)
	case 47:
		call(n/digitBase, then)
	case 48:
		call(n/digitBase, then)
	case 49:
		call(n/digitBase, then)
	case 50:
		call(n/digitBase, then)
	case 51:
		call(n/digitBase, then)
	case 52:
		call(n/digitBase, then)
	case 53:
		call(n/digitBase, then)
	case 54:
		call(n/digitBase, then)
	case 55:
		call(n/digitBase, then)
	case 56:
		call(n/digitBase, then)
	case 57:
		call(n/digitBase, then)
	case 58:
		call(n/digitBase, then)
	case 59:
		call(n/digitBase, then)
	case 60:
		call(n/digitBase, then)
	case 61:
		call(n/digitBase, then)
	case 62:
		call(n/digitBase, then)
	case 63:
		call(n/digitBase, then)
	}
}

// lines are what tells frames apart: the name of digit, and the line of its first
// call; the others follow at a distance of two.
var lines = sync.OnceValue(func() (at struct {
	digit string
	first int
}) {
	digit(0, func(uint64, step) {
		pcs := make([]uintptr, 1)
		runtime.Callers(2, pcs)
		frame, _ := runtime.CallersFrames(pcs).Next()
		at.digit, at.first = frame.Function, frame.Line
	})
	return at
})

// marks returns the numbers of the pools that frames, the newest first, are marked
// with.
func marks(frames iter.Seq[runtime.Frame]) iter.Seq[uint64] {
	at := lines()
	return func(yield func(uint64) bool) {
		number, reading := uint64(0), false
		for frame := range frames {
			switch {
			case frame.Function == at.digit:
				number, reading = number*digitBase+uint64(frame.Line-at.first)/2, true
			case reading && !yield(number):
				return
			default:
				number, reading = 0, false
			}
		}
		// Below a number there is what has started the goroutine, unless the stack was cut off.
	}
}

// framesOf returns the frames of a stack.
func framesOf(pcs []uintptr) iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		frames := runtime.CallersFrames(pcs)
		for more := len(pcs) > 0; more; {
			var frame runtime.Frame
			if frame, more = frames.Next(); !yield(frame) {
				return
			}
		}
	}
}

// inside reports whether the calling goroutine runs a task of p.
func (p *Pool) inside() bool {
	pcs := make([]uintptr, 64)
	n := runtime.Callers(1, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 2*n)
		n = runtime.Callers(1, pcs)
	}
	for number := range marks(framesOf(pcs[:n])) {
		if number == p.number {
			return true
		}
	}
	for frame := range framesOf(pcs[:n]) {
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
		switch runs, waits, lends := p.workerAt(framesOf(pcsOf(stack))); {
		case runs && lends:
			c.lending += n
		case runs && waits:
			c.waiting += n
		}
	}
	return c
}

// pcsOf parses what a profile says of a stack.
func pcsOf(stack string) (pcs []uintptr) {
	for word := range strings.SplitSeq(strings.TrimSpace(stack), " 0x") {
		if pc, err := strconv.ParseUint(word, 16, 64); err == nil {
			pcs = append(pcs, uintptr(pc))
		}
	}
	return pcs
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
	last := uint64(maxNumbers)
	for last = range marks(frames) { // the last is the worker's
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
var thisPackage = strings.TrimSuffix(lines().digit, "digit")
