package filch

import (
	"context"
	"runtime"
	"testing"

	"github.com/filch-go/filch/internal/tag"
	"github.com/filch-go/filch/internal/task"
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
	p, other := New(WithWorkers(1)), New(WithWorkers(1))
	defer p.Close()
	defer other.Close()
	for _, n := range []int{0, 50, 64, 100, 200, 1000} {
		p.tasks.Engine.Tag(func(uint64, tag.Step) {
			below(n, wide, wide, wide, wide, wide, func() {
				if !p.inside() || other.inside() {
					t.Errorf("%d frames: inside: %t, inside of another: %t", n, p.inside(), other.inside())
				}
			})
		})
	}
}

// onTop runs f in place on the calling goroutine, of which the stack has no mark.
func onTop(p *Pool, f func()) {
	p.startInPlace(task.Task{Ctx: context.Background(), Body: plainTask(func(context.Context) { f() })}, task.Seat{})
}

// A task that runs in place is found below a traceback of many bytes, and that of another
// goroutine is not.
func TestTasksInPlaceAreFoundBelowLongStacks(t *testing.T) {
	p, other := New(WithWorkers(1)), New(WithWorkers(1))
	defer p.Close()
	defer other.Close()
	runs, leave, over := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		onTop(other, func() { close(runs); <-leave })
		close(over)
	}()
	<-runs
	for _, n := range []int{0, 20, 40, 60, 80} { // of a hundred frames, a traceback tells
		onTop(p, func() {
			below(n, wide, wide, wide, wide, wide, func() {
				if !p.inside() || other.inside() {
					t.Errorf("%d frames: inside: %t, inside of another: %t", n, p.inside(), other.inside())
				}
			})
		})
	}
	close(leave)
	<-over
}
