package filch

import (
	"context"
	"iter"
	"runtime"
	"slices"
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
	p, other := New(WithWorkers(1)), New(WithWorkers(1))
	defer p.Close()
	defer other.Close()
	for _, n := range []int{0, 50, 64, 100, 200, 1000} {
		p.engine.mark(func(uint64, tag.Step) {
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
	p.startInPlace(task{context.Background(), plainTask(func(context.Context) { f() })}, seat{})
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

// framesNamed returns frames of these functions. A number stands for the frames that spell it.
func framesNamed(names ...any) iter.Seq[runtime.Frame] {
	var all []runtime.Frame
	for _, name := range names {
		switch name := name.(type) {
		case int:
			tag.Below(uint64(name), func(uint64, tag.Step) {
				pcs := make([]uintptr, 10)
				for f := range tag.Frames(pcs[:runtime.Callers(2, pcs)]) {
					if !strings.HasSuffix(f.Function, "tag.Below") {
						break
					}
					all = append(all, f)
				}
			})
		case string:
			all = append(all, runtime.Frame{Function: name})
		}
	}
	return slices.Values(all)
}

// Of a goroutine's stack the census knows whether it is that of a worker of the pool, and why
// it does not run.
func TestWhatAWorkerWaitsFor(t *testing.T) {
	run, park, block := ofWorker+"run", ofWorker+"park", ofWorker+"block"
	our := func(name string) string { return thisPackage + name }
	p := &Pool{engine: enginePool{number: 65}}
	for name, c := range map[string]struct {
		frames             []any
		runs, waits, gives bool
	}{
		"runs":               {[]any{"main.f", run, 65, "runtime.goexit"}, true, false, false},
		"waits":              {[]any{"runtime.gopark", "runtime.chanrecv", "main.f", run, 65, "runtime.goexit"}, true, true, false},
		"waits at once":      {[]any{"runtime.gopark", run, 65, "runtime.goexit"}, true, true, false},
		"waits for memory":   {[]any{"runtime.gopark", "runtime.gcAssistAlloc", "main.f", run, 65, "runtime.goexit"}, true, false, false},
		"waits, named gc":    {[]any{"runtime.gopark", "runtime.chanrecv", "main.f", "runtime.gcStart", run, 65, "runtime.goexit"}, true, true, false},
		"named gopark below": {[]any{"main.f", "runtime.gopark", run, 65, "runtime.goexit"}, true, false, false},
		"lends":              {[]any{"runtime.gopark", our("(*latch).wait"), run, 65, "runtime.goexit"}, true, true, true},
		"lends below":        {[]any{"runtime.gopark", "main.f", our("Blocking"), "main.g", run, 65, "runtime.goexit"}, true, true, true},
		"joins":              {[]any{"runtime.gopark", block, "main.g", run, 65, "runtime.goexit"}, true, true, true},
		"blocks":             {[]any{"runtime.gopark", "main.f", our("(*Worker).Blocking"), run, 65, "runtime.goexit"}, true, true, true},
		"another's Blocking": {[]any{"runtime.gopark", "main.Blocking", run, 65, "runtime.goexit"}, true, true, false},
		"is parked":          {[]any{"runtime.gopark", park, run, 65, "runtime.goexit"}, false, true, false},
		"another's park":     {[]any{"runtime.gopark", "main.park", run, 65, "runtime.goexit"}, true, true, false},
		"another pool":       {[]any{"runtime.gopark", run, 2, "runtime.goexit"}, false, true, false},
		"on top of another":  {[]any{"runtime.gopark", 65, "main.f", run, 2, "runtime.goexit"}, false, true, false},
		"another on top":     {[]any{"runtime.gopark", 2, "main.f", run, 65, "runtime.goexit"}, true, true, false},
		"no worker":          {[]any{"runtime.gopark", "main.f", 65, "runtime.goexit"}, false, true, false},
		"no pool":            {[]any{"runtime.gopark", run, "runtime.goexit"}, false, true, false},
	} {
		if runs, waits, gives := p.engine.workerAt(framesNamed(c.frames...), lends); runs != c.runs || waits != c.waits || gives != c.gives {
			t.Errorf("%s: runs %t, waits %t, gives %t", name, runs, waits, gives)
		}
	}
}
