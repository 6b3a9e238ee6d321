package task

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/tag"
)

// wide is a number that takes many digits in a traceback.
const wide = ^uintptr(0) >> 4

// below calls f below n frames whose text in a traceback is long.
//
//go:noinline
func below(n int, a, b, c, d, e uintptr, f func()) {
	if n == 0 {
		f()
		return
	}
	below(n-1, a+1, b+1, c+1, d+1, e+1, f)
	runtime.KeepAlive(n)
}

// A pool is found below any number of frames, and no other is.
func TestPoolsAreFoundBelowDeepStacks(t *testing.T) {
	p, other := newPool(1, LIFO), newPool(1, LIFO)
	for _, n := range []int{0, 50, 64, 100, 200, 1000} {
		p.Engine.Tag(func(uint64, tag.Step) {
			below(n, wide, wide, wide, wide, wide, func() {
				if !p.Inside() || other.Inside() {
					t.Errorf("%d frames: inside: %t, inside of another: %t", n, p.Inside(), other.Inside())
				}
			})
		})
	}
}

// onTop runs f in place on the calling goroutine, of which the stack has no mark.
func onTop(p *Pool, f func()) {
	p.startInPlace(Task{Ctx: context.Background(), Body: Plain(func(context.Context) { f() })}, Seat{})
}

// A task that runs in place is found below a traceback of many bytes, and that of another
// goroutine is not.
func TestTasksInPlaceAreFoundBelowLongStacks(t *testing.T) {
	p, other := newPool(1, LIFO), newPool(1, LIFO)
	runs, leave, over := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		onTop(other, func() { close(runs); <-leave })
		close(over)
	}()
	<-runs
	for _, n := range []int{0, 20, 40, 60, 80} { // of a hundred frames, a traceback tells
		onTop(p, func() {
			below(n, wide, wide, wide, wide, wide, func() {
				if !p.Inside() || other.Inside() {
					t.Errorf("%d frames: inside: %t, inside of another: %t", n, p.Inside(), other.Inside())
				}
			})
		})
	}
	close(leave)
	<-over
}

// A stack tells the pool's number, with at most three frames for it.
func TestStacksSpellNumbers(t *testing.T) {
	for _, n := range []uint64{0, 1, 63, 64, 65, 4095, 4096, 12345, tag.Max - 1} {
		ran := false
		tag.Below(n, func(uint64, tag.Step) {
			ran = true
			p := poolNumbered(n)
			other := poolNumbered((n + 64) % tag.Max)
			if !p.Inside() || other.Inside() {
				t.Errorf("%d: inside: %t, inside of another: %t", n, p.Inside(), other.Inside())
			}
			other.Engine.Tag(func(uint64, tag.Step) {
				if !p.Inside() || !other.Inside() {
					t.Errorf("%d: not inside of both", n)
				}
			})
			buf := make([]byte, 1<<16)
			stack := string(buf[:runtime.Stack(buf, false)])
			if frames := strings.Count(stack, "tag.Below("); frames > 3 || frames == 0 {
				t.Errorf("%d: %d frames:\n%s", n, frames, stack)
			}
		})
		if !ran || poolNumbered(n).Inside() {
			t.Errorf("%d: ran: %t", n, ran)
		}
	}
}

func poolNumbered(n uint64) *Pool {
	p := &Pool{}
	p.Engine.Number = n
	return p
}
