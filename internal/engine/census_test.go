package engine

import (
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/tag"
)

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
	run, park, block := atRun, atPark, atWait
	our := func(name string) string { return "pool." + name }
	p := &Pool{Number: 65}
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
		if runs, waits, gives := p.workerAt(framesNamed(c.frames...), lends); runs != c.runs || waits != c.waits || gives != c.gives {
			t.Errorf("%s: runs %t, waits %t, gives %t", name, runs, waits, gives)
		}
	}
}

// What fills places is the workers with a goroutine of the pool; those that have lent theirs are
// counted by themselves.
func TestWhoFillsPlaces(t *testing.T) {
	p := newPool(4)
	var all []*Worker
	for i := range 4 {
		all = append(all, testWorker(p, i))
	}
	p.Workers.Store(&all)
	if held, lent := p.Fill(); held != 0 || lent != 0 {
		t.Errorf("without goroutines, %d fill a place, and %d have lent one", held, lent)
	}
	for _, w := range all[:3] { // the last is a guest
		w.runs.Store(true)
	}
	all[1].Hold.YieldPlace()
	if held, lent := p.Fill(); held != 2 || lent != 1 {
		t.Errorf("%d fill a place, and %d have lent one", held, lent)
	}
}
