package filch

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
)

// Fork-join work that blocks keeps its place, and the forks that it has not published. Tasks that
// wait for a place are served by the watch for stalls; nobody sees forks that wait. With WithChecks a
// timer looks at the stacks of all goroutines from time to time, for as long as workers are handed
// out, and logs where one has been blocked from one look to the next, and if all have. The timer keeps Go from
// seeing a deadlock: "all goroutines are asleep" is not said while one is due.

// The time to the next look, which doubles.
const (
	firstLook = 100 * time.Millisecond
	restLook  = time.Second / 2
)

// shownFrames is how many frames messages have of a stack.
const shownFrames = 12

// watch sees to it that somebody looks, if a worker of p is handed out.
func (k *checks) watch(p *Pool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.watching {
		k.watching = true
		time.AfterFunc(firstLook, func() { k.look(p, firstLook) })
	}
}

// look looks, the given time after the look before.
func (k *checks) look(p *Pool, after time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	out, places := p.handedOut() // each was noted before its watch was asked for
	if len(out) == 0 {
		k.watching = false
		return
	}
	useful := p.tasks.Engine.Idlers() > 0 || p.tasks.Engine.Public()
	all := goroutinesIn(textOfStacks())
	stuck := 0 // of out, which only another goroutine can let go on
	for i := range all {
		g := &all[i]
		h := out[g.number]
		if h == nil {
			continue
		}
		before := h.blocked
		if h.blocked = ""; !g.blocks() {
			continue
		}
		if h.blocked = g.place(); before != h.blocked {
			continue
		}
		if g.waitsForOthers() {
			stuck++
		}
		if useful && k.tells(h.blocked) {
			p.logger.Warn("filch: fork-join work has been blocked for "+after.String()+" or more, and keeps its place and its forks; "+
				"call what blocks inside Worker.Blocking", "pool", p.name, "state", g.state, "stack", g.stack())
		}
	}
	if active := p.tasks.Engine.Counts(p.tasks.Engine.Places.Load()).Active; !useful && stuck == len(out) && places == active {
		k.tellStuck(p, after, all[1:]) // without the goroutine that looks, the first
	}
	next := min(2*after, restLook)
	time.AfterFunc(next, func() { k.look(p, next) })
}

// tells reports whether what is to be told of was not told of before.
func (k *checks) tells(what string) bool {
	if k.told[what] {
		return false
	}
	if k.told == nil {
		k.told = map[string]bool{}
	}
	k.told[what] = true
	return true
}

// tellStuck logs, once for the same stacks, that work in all places is blocked: what Go itself would say, if
// there were no timer, as soon as nothing else runs.
func (k *checks) tellStuck(p *Pool, after time.Duration, all []goroutineText) {
	var stacks []string
	for _, g := range all {
		if len(g.frames) > 0 {
			stacks = append(stacks, g.state+" at "+strings.Join(g.frames, " < "))
		}
	}
	slices.Sort(stacks)
	if text := strings.Join(stacks, "; "); k.tells(text) {
		p.logger.Warn("filch: fork-join work has been blocked in all places for "+after.String()+" or more, so no fork and no task runs: "+
			"it is a deadlock, unless another goroutine ends it", "pool", p.name, "workers", p.tasks.Engine.Size(), "stacks", text)
	}
}

// handedOut returns what notes of the workers of p that are handed out and have their places, by the
// numbers of their goroutines, and how many workers these are.
func (p *Pool) handedOut() (out map[uint64]*handout, places int) {
	out = map[uint64]*handout{}
	for _, w := range *p.tasks.Engine.Workers.Load() {
		if h := asWorker(w).lent.Load(); h != nil && h.goroutine.Load() != 0 && w.Hold.Load().HasPlace() {
			out[h.number] = h
			places++
		}
	}
	return out, places
}

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
func (g *goroutineText) blocks() bool {
	for _, state := range []string{"chan ", "select", "sleep", "sync.", "semacquire", "IO wait", "syscall"} {
		if strings.HasPrefix(g.state, state) {
			return !g.pools && len(g.frames) > 0
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
