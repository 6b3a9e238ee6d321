// Package tag marks goroutines by their stacks. Go has no name for a goroutine, but its stack
// tells what it is. Below all that the goroutines of a pool do are calls of [Below] that
// spell the number of the pool, to the base of 64: the line of the call is the digit. So
// Close knows whether it is called from inside a task, and the watch for stalls which workers
// wait. Three frames tell a pool from the 262,143 that are made next.
package tag

import (
	"iter"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

const (
	digitBase = 64

	// Max is how many numbers there are.
	Max = digitBase * digitBase * digitBase
)

// A Step is what Below calls. It gets the digits that are left, and itself.
type Step func(left uint64, then Step)

// Below calls then below frames that spell n, the highest digit last, 0 <= n < Max.
//
//go:noinline
func Below(n uint64, then Step) {
	call := then
	if n >= digitBase {
		call = Below
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

// lines are what tells frames apart: the name of Below, and the line of its first
// call; the others follow at a distance of two.
var lines = sync.OnceValue(func() (at struct {
	name  string
	first int
}) {
	Below(0, func(uint64, Step) {
		pcs := make([]uintptr, 1)
		runtime.Callers(2, pcs)
		frame, _ := runtime.CallersFrames(pcs).Next()
		at.name, at.first = frame.Function, frame.Line
	})
	return at
})

// Numbers returns the numbers of the pools that frames, the newest first, are marked
// with.
func Numbers(frames iter.Seq[runtime.Frame]) iter.Seq[uint64] {
	at := lines()
	return func(yield func(uint64) bool) {
		number, reading := uint64(0), false
		for frame := range frames {
			switch {
			case frame.Function == at.name:
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

// Frames returns the frames of a stack.
func Frames(pcs []uintptr) iter.Seq[runtime.Frame] {
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

// PCs parses what a profile says of a stack.
func PCs(stack string) (pcs []uintptr) {
	for word := range strings.SplitSeq(strings.TrimSpace(stack), " 0x") {
		if pc, err := strconv.ParseUint(word, 16, 64); err == nil {
			pcs = append(pcs, uintptr(pc))
		}
	}
	return pcs
}
