package filch

import (
	"iter"
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
)

// What a traceback tells of goroutines: which of their frames are the user's, what they wait for, and whose they are.

// shownFrames is how many frames messages have of a stack.
const shownFrames = 12

// thisPackage is how the names of its functions begin.
var thisPackage = reflect.TypeFor[goroutineText]().PkgPath() + "."

// A goroutineText is what a traceback tells of a goroutine.
type goroutineText struct {
	number uint64
	state  string
	frames []string // "function file:line", the newest first, of the user's functions
	pools  bool     // it waits in a function of a pool, which sees it
	call   string   // the function of ours in which the user's code waits for tasks, promises or room, if it does

	minutes int      // that it has waited, if it has for one
	workers []string // the addresses of workers that it runs in the name of
	inPlace []string // and those of pools that it runs tasks of in place,
	task    string   // with the function of the newest
	long    bool     // it is that of a LongRunning task,
	futures []string // and runs the tasks with these addresses
}

// goroutinesIn reads a traceback of goroutines.
func goroutinesIn(text string) (all []goroutineText) {
	for text := range strings.SplitSeq(text, "\n\n") {
		all = append(all, goroutineIn(text))
	}
	return all
}

// goroutineIn reads what a traceback tells of one goroutine.
func goroutineIn(text string) (g goroutineText) {
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
			race.Enabled && (function == race.AtRun || function == atLend)
		if file := fileOf(place); isCode(function, file) {
			if g.frames = append(g.frames, function+" "+file); latched && len(g.frames) == 1 {
				g.call = inShort(called)
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
func (g *goroutineText) begin(head string) {
	number, state, _ := strings.Cut(strings.TrimPrefix(head, "goroutine "), " [")
	g.number, _ = strconv.ParseUint(number, 10, 64)
	state, _, _ = strings.Cut(state, "]")
	for i, part := range strings.Split(state, ", ") {
		if i == 0 {
			g.state = strings.TrimSuffix(part, " (durable)") // in a bubble of testing/synctest
		} else if n, ok := strings.CutSuffix(part, " minutes"); ok {
			g.minutes, _ = strconv.Atoi(n)
		}
	}
}

// What stacks show of waits that a pool sees, and of our functions.
var (
	ourModule     = strings.TrimSuffix(thisPackage, ".")
	atWaitBlocked = strings.Replace(engine.NameOf((*engine.Worker).Suspend), "Suspend", "waitBlocked", 1)
	atSuspend     = engine.NameOf((*engine.Worker).Suspend)
	atLend        = strings.Replace(atSuspend, "Suspend", "lendBase", 1) // with logical races
)

// What the methods of a worker look like, on each of its levels; what runs a task in place, or on a goroutine of
// its own; and what has the address of a task.
var (
	workerMethod  = ".(*Worker)."
	inPlaceMethod = thisPackage + "(*Pool).startInPlace"
	longMethod    = thisPackage + "(*Pool).startLong"
	futureMethod  = ".(*Future[...]).run"
)

// caller notes whose goroutine g is: it is in a function of ours, as a line of a traceback has it.
func (g *goroutineText) caller(function, line string) {
	address := strings.TrimPrefix(line[len(function):], "(")
	if end := strings.IndexAny(address, ",)"); end >= 0 {
		address = address[:end] // a "?" after it marks what may be an older value
	}
	switch {
	case strings.Contains(function, workerMethod):
		g.workers = append(g.workers, address)
	case strings.HasSuffix(function, inPlaceMethod):
		g.inPlace = append(g.inPlace, address)
		if g.task == "" && len(g.frames) > 0 {
			g.task, _, _ = strings.Cut(g.frames[len(g.frames)-1], " ")
		}
	case strings.HasPrefix(function, longMethod):
		g.long = true
	case strings.HasSuffix(function, futureMethod):
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

// isOurs reports whether a function is one of ours, and not of those that use us, as tests do. place
// begins with its file, or is that and the line.
func isOurs(function, place string) bool {
	rest, ok := strings.CutPrefix(function, ourModule)
	file, _, _ := strings.Cut(place, ":")
	return ok && (rest[0] == '.' || rest[0] == '/') && !strings.HasSuffix(file, "_test.go")
}

// inShort returns the name of a function of ours as its documentation has it: "Future.Wait", "flow.Graph.Run".
func inShort(function string) string {
	name := strings.TrimLeft(strings.TrimPrefix(function, ourModule), "./")
	return strings.NewReplacer("(*", "", ")", "", "[...]", "").Replace(name)
}

// blocks reports whether g waits for something, where no pool sees it.
func (g *goroutineText) blocks() bool { return g.waits() && !g.pools && len(g.frames) > 0 }

// keepsPlace reports whether g, which has a place, waits for something and keeps it: also for a task, with a context
// that is none of its own.
func (g *goroutineText) keepsPlace() bool { return g.blocks() || g.call != "" && g.waits() }

// waits reports whether g does not run.
func (g *goroutineText) waits() bool {
	for _, state := range []string{"chan ", "select", "sleep", "sync.", "semacquire", "IO wait", "syscall"} {
		if strings.HasPrefix(g.state, state) {
			return true
		}
	}
	return false
}

// waitsForOthers reports whether g, which blocks, goes on only if another goroutine lets it.
func (g *goroutineText) waitsForOthers() bool {
	for _, state := range []string{"sleep", "IO wait", "syscall"} {
		if strings.HasPrefix(g.state, state) {
			return false
		}
	}
	return true
}

func (g *goroutineText) place() string { return g.frames[0] }

// stack returns the frames in a line.
func (g *goroutineText) stack() string {
	return strings.Join(g.frames[:min(len(g.frames), shownFrames)], " < ")
}

// addresses returns the addresses of the first array among the arguments of a call.
func addresses(call string) []string {
	_, args, _ := strings.Cut(call, "{")
	args, _, ok := strings.Cut(args, "}")
	if !ok || strings.ContainsAny(args, "?.") {
		return nil
	}
	return strings.Split(args, ", ")
}

// callers returns the stack of the calling function, as far as messages have use for it.
func callers() []uintptr {
	pcs := make([]uintptr, 64)
	return pcs[:runtime.Callers(2, pcs)]
}
