package tell

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/filch-go/filch/internal/race"
)

// What a traceback tells of goroutines: which of their frames are the user's, what they wait for, and whose they are. It has the
// functions that a goroutine is in, and the addresses that they were called with: those of a pool's
// workers tell whose goroutine it is. So nothing is noted while there is no trouble.

// mostTraced is how long a traceback is at most, as with runtime/pprof. That has all kinds of profiles in every program that asks it
// for one: half a megabyte.
const mostTraced = 64 << 20

// Traceback returns one of all goroutines. The world stops for some microseconds a goroutine.
func Traceback() string {
	for size := 1 << 20; ; size *= 2 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size || size >= mostTraced {
			return string(text[:n])
		}
	}
}

// TracebackOf is Traceback if there are no more goroutines than most, else "".
func TracebackOf(most int) string {
	if runtime.NumGoroutine() > most {
		return ""
	}
	return Traceback()
}

// A Goroutine is what a traceback tells of one.
type Goroutine struct {
	Number uint64
	State  string
	Frames []string // "function file:line", the newest first, of the user's functions
	Call   string   // the function of ours in which the user's code waits for tasks, promises or room, if it does

	pools   bool     // it waits in a function of a pool, which sees it
	minutes int      // that it has waited, if it has for one
	workers []string // the addresses of workers that it runs in the name of
	inPlace []string // and those of pools that it runs tasks of in place,
	task    string   // with the function of the newest
	long    bool     // it is that of a LongRunning task,
	futures []string // and runs the tasks with these addresses
}

// Goroutines are some of a traceback.
type Goroutines []Goroutine

// Read reads a traceback.
func Read(text string) (all Goroutines) {
	for text := range strings.SplitSeq(text, "\n\n") {
		all = append(all, goroutineIn(text))
	}
	return all
}

// ReadPools is Read for those that run in some pool.
func ReadPools(text string) (all Goroutines) {
	for text := range strings.SplitSeq(text, "\n\n") {
		if strings.Contains(text, workerMethod) || strings.Contains(text, atStandIn) || strings.Contains(text, inPlaceMethod) {
			all = append(all, goroutineIn(text))
		}
	}
	return all
}

// goroutineIn reads what a traceback tells of one goroutine.
func goroutineIn(text string) (g Goroutine) {
	head, rest, _ := strings.Cut(text, "\n")
	g.begin(head)
	called, latched := "", false
	for line, place := range framesIn(rest) {
		function := functionOf(line)
		if strings.HasPrefix(function, ourModule) {
			g.caller(function, line)
		}
		latched = latched || strings.HasSuffix(function, "task.(*Latch).Wait")
		g.pools = g.pools || latched || function == atWaitBlocked || function == atSuspend ||
			race.AtRun != "" && (function == race.AtRun || function == atLend)
		if file := fileOf(place); isCode(function, file) {
			if g.Frames = append(g.Frames, function+" "+file); latched && len(g.Frames) == 1 {
				g.Call = inShort(called)
			}
		}
		called = function
	}
	return g
}

// framesIn returns the frames of a goroutine in a traceback, the newest first: how the function was called, and
// the file with the line.
func framesIn(text string) iter.Seq2[string, string] {
	return func(yield func(call, place string) bool) {
		call := ""
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			place, isPlace := strings.CutPrefix(line, "\t")
			place, _, _ = strings.Cut(place, " +0x")
			switch {
			case strings.HasPrefix(line, "created by "):
				return
			case !isPlace:
				call = line
			case !yield(call, place):
				return
			}
		}
	}
}

// UserFrames returns the frames of one goroutine in a traceback that are the user's, one a line, and an empty line; or nothing if it
// has none.
func UserFrames(text string) string {
	var b strings.Builder
	n := 0
	for call, place := range framesIn(text) {
		function := functionOf(call)
		if !isCode(function, fileOf(place)) || function == "panic" || strings.HasPrefix(function, "runtime/") {
			continue
		}
		if n++; n > shownFrames {
			b.WriteString("\t...\n")
			break
		}
		fmt.Fprintf(&b, "\t%s %s\n", function, place)
	}
	if n > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// fileOf returns a place without the folder.
func fileOf(place string) string { return place[strings.LastIndexAny(place, `/\`)+1:] }

// functionOf returns the function that a line of a traceback has, with its arguments.
func functionOf(line string) string {
	if i := strings.LastIndex(line, "("); i > 0 {
		return line[:i]
	}
	return line
}

// begin reads the first line of a goroutine.
func (g *Goroutine) begin(head string) {
	number, state, _ := strings.Cut(strings.TrimPrefix(head, "goroutine "), " [")
	g.Number, _ = strconv.ParseUint(number, 10, 64)
	state, _, _ = strings.Cut(state, "]")
	for i, part := range strings.Split(state, ", ") {
		if i == 0 {
			g.State = strings.TrimSuffix(part, " (durable)") // in a bubble of testing/synctest
		} else if n, ok := strings.CutSuffix(part, " minutes"); ok {
			g.minutes, _ = strconv.Atoi(n)
		}
	}
}

// What stacks show of waits that a pool sees.
var (
	atSuspend     = ourModule + "/internal/engine.(*Worker).Suspend"
	atWaitBlocked = ourModule + "/internal/engine.(*Worker).waitBlocked"
	atStandIn     = ourModule + "/internal/engine.StandIn"  // likewise, with the worker that a child stands in for
	atLend        = ourModule + "/internal/engine.lendBase" // with logical races
)

// What the methods of a worker look like, on each of its levels; with logical races also StandIn, see atStandIn; what runs a task in place, or on a goroutine of
// its own; and what has the address of a task. The last three are package task's.
var (
	workerMethod  = ".(*Worker)."
	inPlaceMethod = ofTasks + "(*Pool).startInPlace"
	longMethod    = ofTasks + "(*Pool).startLong"
	runFuture     = ofTasks + "runFuture"
)

// InPlace reports whether a traceback of the calling goroutine shows that it runs a task of a pool in place.
func InPlace(traceback, pool string) bool {
	return strings.Contains(traceback, "(*Pool).startInPlace("+pool+",")
}

// caller notes whose goroutine g is: it is in a function of ours, as a line of a traceback has it.
func (g *Goroutine) caller(function, line string) {
	address := strings.TrimPrefix(line[len(function):], "(")
	if end := strings.IndexAny(address, ",)"); end >= 0 {
		address = address[:end] // a "?" after it marks what may be an older value
	}
	switch {
	case strings.Contains(function, workerMethod), function == atStandIn:
		g.workers = append(g.workers, address)
	case function == inPlaceMethod:
		g.inPlace = append(g.inPlace, address)
		if g.task == "" && len(g.Frames) > 0 {
			g.task, _, _ = strings.Cut(g.Frames[len(g.Frames)-1], " ")
		}
	case strings.HasPrefix(function, longMethod):
		g.long = true
	case function == runFuture:
		if of := addresses(line); len(of) > 0 {
			g.futures = append(g.futures, of[0])
		}
	}
}

// isCode reports whether a function is neither ours nor one by which Go blocks. place is its file
// and line.
func isCode(function, place string) bool {
	if isOurs(function, place) {
		return false
	}
	for _, not := range []string{"runtime.", "sync.", "sync/", "time.", "internal/", "syscall.", "os.", "io.", "net.", "context."} {
		if strings.HasPrefix(function, not) {
			return false
		}
	}
	return true
}

// inShort returns the name of a function of ours as its documentation has it: "Future.Wait", "flow.Graph.Run".
func inShort(function string) string {
	name := strings.TrimLeft(strings.TrimPrefix(function, ourModule), "./")
	return plain(name)
}

// blocks reports whether g waits for something, where no pool sees it.
func (g *Goroutine) blocks() bool { return g.waits() && !g.pools && len(g.Frames) > 0 }

// KeepsPlace reports whether g, which has a place, waits for something and keeps it: also for a task, with a context
// that is none of its own.
func (g *Goroutine) KeepsPlace() bool { return g.blocks() || g.Call != "" && g.waits() }

// waits reports whether g does not run.
func (g *Goroutine) waits() bool {
	for _, state := range []string{"chan ", "select", "sleep", "sync.", "semacquire", "IO wait", "syscall"} {
		if strings.HasPrefix(g.State, state) {
			return true
		}
	}
	return false
}

// WaitsForOthers reports whether g, which blocks, goes on only if another goroutine lets it.
func (g *Goroutine) WaitsForOthers() bool {
	for _, state := range []string{"sleep", "IO wait", "syscall"} {
		if strings.HasPrefix(g.State, state) {
			return false
		}
	}
	return true
}

// Stack returns the frames in a line.
func (g *Goroutine) Stack() string {
	return strings.Join(g.Frames[:min(len(g.Frames), shownFrames)], " < ")
}

// Where tells where g is in the user's code, and what it waits for, or returns "".
func (g *Goroutine) Where() string {
	if g == nil || len(g.Frames) == 0 {
		return ""
	}
	s, waits := "at "+g.Frames[0], g.Call
	if g.blocks() {
		waits = g.State
	}
	if waits == "" {
		return s
	}
	if g.minutes > 0 {
		s = "for " + Count(g.minutes, "minute") + " " + s
	}
	return waits + " " + s
}

// Named returns text, which is about the task that g runs at the bottom of its stack, with the name of its function, where it has no
// other.
func (g *Goroutine) Named(text string) string {
	if g == nil || len(g.Frames) == 0 {
		return text
	}
	function, _, _ := strings.Cut(g.Frames[len(g.Frames)-1], " ")
	return strings.Replace(text, WithoutName, "task "+function, 1)
}

// TaskInPlace tells which task g, one of InPlace, runs.
func (g *Goroutine) TaskInPlace() string {
	if g.task != "" {
		return "task " + g.task
	}
	return g.Named(WithoutName)
}

// Runs reports whether g is the goroutine of the worker with the given address.
func (g *Goroutine) Runs(worker string) bool { return slices.Contains(g.workers, worker) }

// Of returns the goroutine of the worker with the given address, or nil if it is not found.
func (all Goroutines) Of(worker string) *Goroutine {
	return all.find(func(g *Goroutine) bool { return g.Runs(worker) })
}

// OfLong returns the goroutine of the LongRunning task with the given address, or nil if it is not found.
func (all Goroutines) OfLong(task string) *Goroutine {
	return all.find(func(g *Goroutine) bool { return g.long && slices.Contains(g.futures, task) })
}

// find returns one that is so: with code of the user on it, if there is one, since with logical races a worker's goroutine waits for another
// that runs in its name.
func (all Goroutines) find(is func(g *Goroutine) bool) (found *Goroutine) {
	for i := range all {
		if g := &all[i]; is(g) && (found == nil || len(found.Frames) == 0) {
			found = g
		}
	}
	return found
}

// InPlace returns the goroutines that run tasks of the pool with the given address in place, but those of LongRunning tasks.
func (all Goroutines) InPlace(pool string) (some []*Goroutine) {
	for i := range all {
		if g := &all[i]; !g.long && slices.Contains(g.inPlace, pool) {
			some = append(some, g)
		}
	}
	return some
}
