package engine

import (
	"bytes"
	"iter"
	"reflect"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"

	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/tag"
)

// Census is what a profile of the goroutines tells of a pool's workers.
type Census struct {
	Waiting int // those that wait where the pool cannot see it: on a channel, say
	Lending int // those that wait, or block, where it can; so they gave up a place
}

// Census looks at the stacks of all goroutines. It takes about 3 us for each, most
// of it while they run. A goroutine is not found if more than 100 frames are above
// its worker's. lends tells the functions that give up a place, beside those of the engine.
func (p *Pool) Census(lends func(function string) bool) (c Census) {
	for n, pcs := range stacks() {
		switch runs, waits, gives := p.workerAt(tag.Frames(pcs), lends); {
		case runs && gives:
			c.Lending += n
		case runs && waits:
			c.Waiting += n
		}
	}
	return c
}

// stacks yields the stacks that goroutines have, and how many have each.
func stacks() iter.Seq2[int, []uintptr] {
	return func(yield func(n int, pcs []uintptr) bool) {
		var text bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&text, 1) // a Buffer does not fail
		for line := range strings.Lines(text.String()) {
			count, stack, ok := strings.Cut(line, " @ 0x")
			n, err := strconv.Atoi(count)
			if !ok || err != nil {
				continue // the frames and the labels of the one before
			}
			if !yield(n, tag.PCs(stack)) {
				return
			}
		}
	}
}

// What stacks show of workers: a place that is filled, a wait without one, and a goroutine
// that is kept.
var atRun, atWait, atPark = NameOf((*Worker).run), NameOf((*Worker).waitBlocked), NameOf((*Worker).park)

// NameOf returns the name of a function, as stacks show it.
func NameOf(f any) string { return runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name() }

// With logical races a goroutine of the pool waits in race.AtRun while what it has taken runs in another
// one, in atStandIn; and in atLend for what another worker runs.
var atStandIn, atLend = NameOf(standIn), NameOf(lendBase)

// workerAt reports whether a stack is that of a goroutine that fills a place of p,
// whether it waits, and whether it is in a function that gives up a place.
func (p *Pool) workerAt(frames iter.Seq[runtime.Frame], lends func(function string) bool) (runs, waits, gives bool) {
	top, inRuntime := "", true
	gc, parked := false, false // waits for the collector, which is not for long; has no work
	for frame := range frames {
		inRuntime = inRuntime && strings.HasPrefix(frame.Function, "runtime.")
		gc = gc || inRuntime && strings.HasPrefix(frame.Function, "runtime.gc")
		if top == "" {
			top = frame.Function
		}
		runs = runs || frame.Function == atRun || frame.Function == atStandIn
		gives = gives || frame.Function == atWait || lends(frame.Function) || frame.Function == atLend
		parked = parked || frame.Function == atPark || race.AtRun != "" && frame.Function == race.AtRun
	}
	waits = top == "runtime.gopark" && !gc
	last := uint64(tag.Max)
	for last = range tag.Numbers(frames) { // the last is the worker's
	}
	return runs && !parked && last == p.Number, waits, gives
}

// Fill returns how many of the workers with a goroutine of the pool have their place, and how
// many do not.
func (p *Pool) Fill() (held, lent int) {
	for _, w := range *p.Workers.Load() {
		switch {
		case !w.runs.Load():
		case w.Hold.Load().HasPlace():
			held++
		default:
			lent++
		}
	}
	return held, lent
}
