package filch

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
)

// Where the goroutines that run in a pool are, for Dump and for the watch for stalls. A traceback has the
// functions that a goroutine is in, and the addresses that they were called with: those of the pool's
// workers tell whose goroutine it is. So nothing is noted while there is no trouble.

// mostGoroutines is how many there may be for that: the world stands still for some microseconds for each.
const mostGoroutines = 10_000

// whereabouts are those of the goroutines that run in some pool.
type whereabouts []goroutineText

// lookForWorkers returns where goroutines are, or nothing if there are too many.
func lookForWorkers() whereabouts {
	if runtime.NumGoroutine() > mostGoroutines {
		return nil
	}
	return whereaboutsIn(textOfStacks())
}

// whereaboutsIn reads a traceback of goroutines.
func whereaboutsIn(text string) (all whereabouts) {
	for text := range strings.SplitSeq(text, "\n\n") {
		if strings.Contains(text, workerMethod) || strings.Contains(text, inPlaceMethod) {
			all = append(all, goroutineIn(text))
		}
	}
	return all
}

// runs reports whether g is the goroutine of w.
func (g *goroutineText) runs(w *Worker) bool { return slices.Contains(g.workers, fmt.Sprintf("%p", w)) }

// of returns the goroutine of w, or nil if it is not found.
func (all whereabouts) of(w *Worker) *goroutineText {
	for i := range all {
		if all[i].runs(w) {
			return &all[i]
		}
	}
	return nil
}

// where tells where g is in the user's code, and what it waits for, or returns "".
func (g *goroutineText) where() string {
	if g == nil || len(g.frames) == 0 {
		return ""
	}
	s, waits := "at "+g.place(), g.call
	if g.blocks() {
		waits = g.state
	}
	if waits == "" {
		return s
	}
	if g.minutes > 0 {
		s = "for " + count(g.minutes, "minute") + " " + s
	}
	return waits + " " + s
}

// told returns text, which is about the task that g runs at the bottom of its stack, with where that is.
func (g *goroutineText) told(text string) string {
	if where := g.where(); where != "" {
		text += "; " + where
	}
	return g.named(text)
}

// named returns text with the name of the function of that task, where it has no other.
func (g *goroutineText) named(text string) string {
	if g == nil || len(g.frames) == 0 {
		return text
	}
	function, _, _ := strings.Cut(g.frames[len(g.frames)-1], " ")
	return strings.Replace(text, withoutName, "task "+function, 1)
}

// inPlaceOutside returns the goroutines that run tasks of p in place, and no worker of p.
func (all whereabouts) inPlaceOutside(p *Pool) (some []*goroutineText) {
	for i := range all {
		g := &all[i]
		if g.long || !slices.Contains(g.inPlace, fmt.Sprintf("%p", p)) {
			continue
		}
		if !slices.ContainsFunc(*p.tasks.Engine.Workers.Load(), func(w *engine.Worker) bool { return g.runs(asWorker(w)) }) {
			some = append(some, g)
		}
	}
	return some
}

// ofLong returns the goroutine of b, a LongRunning task, or nil if it is not found.
func (all whereabouts) ofLong(b task.Body) *goroutineText {
	f, ok := bare(b).(interface{ task() *taskContext })
	if !ok {
		return nil
	}
	i := slices.IndexFunc(all, func(g goroutineText) bool { return g.long && slices.Contains(g.futures, addressOf(f.task())) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// taskInPlace tells which task g, one of inPlaceOutside, runs.
func (g *goroutineText) taskInPlace() string {
	if g.task != "" {
		return "task " + g.task
	}
	return g.named(withoutName)
}
