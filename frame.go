package filch

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/filch-go/filch/internal/checks"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/span"
)

// Func is a fork-join function from A to R: its body may fork calls of the
// function itself. Make one with [NewFunc] and keep it; it is immutable, and
// may be called from any number of goroutines and pools at once. See [NewFunc] for
// what a fork costs.
type Func[A, R any] struct {
	body   func(f *Frame[A, R], arg A) R
	other  func(f *Frame[A, R], arg A) R // (*Frame).joinOther
	more   func(f *Frame[A, R]) Fork     // (*Frame).forkMore
	heed   func(f *Frame[A, R], arg A) R // (*Frame).dropIfStopped
	check  func(f *Frame[A, R], arg A) R // (*Frame).callChecked
	entry  uintptr                       // of body
	size   int                           // of A, in bytes
	frames sync.Pool                     // of *Frame[A, R], so that memory is given back in time
}

// NewFunc returns a Func with the given body, which must join every fork that
// it makes. It panics if body is nil.
//
// Inside the body, [Frame.Fork] offers a call to the other workers and
// [Frame.Join] gets its result. In between, the body usually makes a call of its own, by
// [Frame.Call] or plain recursion with the same frame. Joins go newest first. Nearly
// every fork is taken by no other worker, and then costs 0.8 ns more than the call on an
// AMD EPYC, so there is no need for a cutoff. A body with several arguments takes a
// struct. One without a result returns struct{}, which costs nothing: a function around it that
// hides that would be one more call for each fork.
//
// Keep the argument within four words, and its struct within four fields. The compiler
// passes what is larger in memory, as well as arrays, in calls and in forks. On one worker there,
// fib with an argument of four words takes 1.8 times as long as serial code,
// and 6.2 times with one of five.
//
//figure:all 0.8 ns, a fork and join more than a call, fib 38
//figure:wide 1.8 times, wide 4 filch 1 overhead
//figure:wide 6.2 times, wide 5 filch 1 overhead
func NewFunc[A, R any](body func(f *Frame[A, R], arg A) R) *Func[A, R] {
	needs(body != nil, "NewFunc", "body")
	return &Func[A, R]{
		body: body, other: (*Frame[A, R]).joinOther, more: (*Frame[A, R]).forkMore,
		heed: (*Frame[A, R]).dropIfStopped, check: (*Frame[A, R]).callChecked,
		entry: engine.EntryOf(body), size: sizeOf[A](),
	}
}

// Call runs the function with arg in the scope s, a *Pool or a *Worker, and
// returns its result when all its forks are done. It panics with a [*PanicError] if the
// body panics, here or on another worker. Forks that no worker has begun by then are
// dropped.
func (fn *Func[A, R]) Call(s Scope, arg A) R {
	if fn == nil || fn.body == nil {
		isNotMade("Func.Call", "Func", "NewFunc")
	}
	return call(s, fn.callee(), arg)
}

// funcCallee is a Func as the engine sees it.
type funcCallee[A, R any] Func[A, R]

func (fn *Func[A, R]) callee() engine.Callee[A, R] { return (*funcCallee[A, R])(fn) }

func (c *funcCallee[A, R]) Entry() uintptr { return c.entry }

// Run calls the body on w.
func (c *funcCallee[A, R]) Run(w *engine.Worker, arg A) R {
	fn := (*Func[A, R])(c)
	f := fn.enter(w)
	r := fn.body(f, arg)
	f.leave()
	return r
}

func (fn *Func[A, R]) enter(w *engine.Worker) *Frame[A, R] {
	var f *Frame[A, R]
	if !w.IsLogical() {
		f, _ = fn.frames.Get().(*Frame[A, R])
	}
	if f == nil {
		f = &Frame[A, R]{fn: fn, body: fn.body, callee: fn.callee(), more: fn.more, public: bottom}
		f.run = [4]func(*Frame[A, R], A) R{fn.body, fn.other, fn.other, fn.other}
		f.grow(atFirst(fn.size))
	}
	f.n = bottom // drops what was forked on it after its function returned
	f.w, f.demand = w, &w.Asked().Demand
	if w.Checked() {
		f.callOnly(fn.check, fn.callee(), nil)
	}
	w.Push((*frameForks[A, R])(f))
	return f
}

// leave ends the activation, which is w's newest.
func (f *Frame[A, R]) leave() {
	if n := f.n - bottom; n != 0 {
		panic(checks.NotJoined(f.fn.entry, int(n)))
	}
	f.w.Pop()
	(*frameForks[A, R])(f).Close()
}

// Frame is what a body forks and joins on: the open forks of one activation of
// a [Func] on one worker. It must be used only by the call it was passed to,
// and by the calls that it is passed on to, and not after they return. If two goroutines
// fork or join on one Frame, memory is corrupted, as by a data race on a slice.
type Frame[A, R any] struct {
	// A fork is a plain store of its argument: only the owner looks. These fields are what
	// Fork and Join need.
	slots  unsafe.Pointer                   // &args[0]
	n      Fork                             // position of the newest open fork; bottom if there is none
	limit  Fork                             // the last position of args, which is free
	demand *uint32                          // of w; or misjoined, from Join to joinOther
	run    [4]func(f *Frame[A, R], arg A) R // what Join calls, by demand: body or joinOther
	more   func(f *Frame[A, R]) Fork        // forkMore

	// args holds the arguments of the open forks at their positions, the oldest at
	// bottom+1. Those up to public have been published as well.
	args   []A
	public Fork
	w      *engine.Worker
	body   func(f *Frame[A, R], arg A) R // as fn.body, or dropIfStopped, or callChecked
	fn     *Func[A, R]
	callee engine.Callee[A, R] // what thieves call: fn, or an untilCallee
	stop   *Stop               // that these heed, or nil
	jobs   engine.Published[A, R]

	newest  Fork   // the newest open fork, if demand is misjoined: then n is below what Join was called with
	handles []Fork // of the open forks; only if uses of w are checked
	made    int    // how many handles were
}

// Fork names an open fork of a [Frame], until that fork is joined. After that it names
// another fork, or none, and must not be used. Join panics for such a Fork with [WithChecks] and under the race
// detector. Otherwise it may return the result of the other fork. Only [Frame.Fork] makes a
// Fork: Join may run anything for one that was made from a number. The zero Fork is none.
type Fork int

// bottom is the position below the first. It is not 0, so that the zero Fork is none.
const bottom = 1

// A handle is what Fork returns if it is checked: the position of the fork, as without checks, and above that
// the number of the handle, which is not 0. A position that needs those bits has none.
const handleBits = strconv.IntSize / 2

// mostHandles is how many handles there are for a position, before they are given out again.
const mostHandles = 1<<(strconv.IntSize-1-handleBits) - 1

// handle returns the handle of the newest fork.
func (f *Frame[A, R]) handle() Fork {
	n := f.n
	h := Fork(n)
	if n < 1<<handleBits {
		h |= Fork(f.made%mostHandles+1) << handleBits
	}
	f.made++
	f.handles = append(f.handles[:n-bottom-1], h)
	return h
}

// position returns the position of the fork that h names, and panics if that was
// joined.
func (f *Frame[A, R]) position(h Fork) Fork {
	if h>>handleBits <= 0 { // no handle
		return h
	}
	n := h & (1<<handleBits - 1)
	if i := int(n) - bottom - 1; n == f.n && i < len(f.handles) && f.handles[i] != h {
		panic(fmt.Sprintf("filch: Join of fork %d, which was joined: the newest open fork has its place; join each fork once", n-bottom))
	}
	return n
}

// Fork offers the call of the function with arg to the other workers, and
// returns at once. The call happens when another worker takes it or at
// [Frame.Join], whichever is first. It happens at most once, and not at all if a panic or
// runtime.Goexit ends the body first, or a stop comes first; see [Func.CallUntil]. Fork
// allocates only to make room for more open forks than the frame has had so far. Unless
// another worker has asked for work, it touches no memory that others do.
//
// The newest fork is joined first, so what looks most promising is forked last, or called right
// away by [Frame.Call]. The worker itself then goes from the best to the worst, and a search that
// leaves out what cannot beat the best so far, or stops at the first solution, has it early. Other
// workers take the oldest, which is the least promising here, but in recursion also the largest
// piece as a rule. See [Best] and [Func.CallUntil].
//
// On P workers, forks that take long are offered as soon as they are made. Many fine
// forks just before them may use up what may be offered unasked: then some stay with this worker until its next fork or join,
// so that k equal calls take the time of ⌈k/P⌉+1 rather than ⌈k/P⌉.
//
// An argument of more than four words costs several times as much; see [NewFunc].
//
// The fork synchronizes before the start of the call.
func (f *Frame[A, R]) Fork(arg A) Fork {
	// This is inlined only as long as it stays about as cheap as it is.
	n := f.n + 1
	f.n = n
	// The check of bounds is needless, since the position after the newest fork is free.
	*(*A)(unsafe.Add(f.slots, uintptr(n)*unsafe.Sizeof(arg))) = arg
	if race.Enabled || n >= f.limit || atomic.LoadUint32(f.demand) != engine.None { // (R12)
		return callMore(f.more, f)
	}
	return Fork(n)
}

// Join returns the result of fork h, which must be the newest that is open. It
// runs the call itself unless another worker has taken it; then it waits, and
// meanwhile helps with that worker's forks, or gives its place to another
// goroutine. Join panics if h is not the newest open fork; see [Fork] for one that was
// joined before. It panics with a
// [*PanicError] if the call panicked on another worker. [Mark.JoinAll] joins all forks that
// a loop has made.
//
// The end of the call synchronizes before the return from Join.
func (f *Frame[A, R]) Join(h Fork) R {
	// This is inlined only as long as it gets no more expensive. That n is right where it differs from h, and not the
	// other way round, leaves nothing to choose between after the comparison: a tenth of a tree of 1,023 nodes.
	n := f.n
	if f.n = h - 1; h != n {
		f.newest, f.demand = n, misjoined // so that joinOther is called
	}
	// The check of bounds is needless, since there is such a fork, or else the position below the first.
	return run(f.run[atomic.LoadUint32(f.demand)&3], f, (*A)(unsafe.Add(f.slots, uintptr(n)*unsafe.Sizeof(*new(A)))))
}

// misjoined is the demand of a Frame whose Join was called with something else than the position of the
// newest open fork. The inliner has room for stores there, and not for a call.
var misjoined = new(uint32(engine.GiveWay))

// joinOdd is the rest of Join then, which has removed the newest fork, with arg: the handle of that fork is
// right, and all else a mistake.
func (f *Frame[A, R]) joinOdd(arg A) R {
	h := f.n + 1
	f.n, f.newest, f.demand = f.newest, 0, &f.w.Asked().Demand
	f.args[f.n] = arg
	if f.w.Checked() {
		f.w.CheckUse() // first: on another goroutine the newest fork can be any
		h = f.position(h)
	}
	if h != f.n {
		panic(outOfOrder{h, f.n})
	}
	return f.joinNewest()
}

// joinNewest is Join of the newest open fork.
func (f *Frame[A, R]) joinNewest() R {
	n := f.n
	f.n = n - 1
	return run(f.run[atomic.LoadUint32(f.demand)&3], f, (*A)(unsafe.Add(f.slots, uintptr(n)*unsafe.Sizeof(*new(A)))))
}

// Call calls the body with arg, now and on this worker. After a stop it does not, and returns
// the zero value; see [Func.CallUntil].
func (f *Frame[A, R]) Call(arg A) R { return f.body(f, arg) }

// Worker returns the worker that runs this activation.
func (f *Frame[A, R]) Worker() *Worker { return asWorker(f.w) }

// run calls body with the argument at slot, which it forgets. It is there because a call of
// a parameter costs the inliner 40 less than that of anything else that is not known.
func run[A, R any](body func(f *Frame[A, R], arg A) R, f *Frame[A, R], slot *A) R {
	var arg A
	arg, *slot = *slot, arg // costs the inliner less than a variable for the zero value
	return body(f, arg)
}

// callMore calls more. It is there for the same reason.
func callMore[A, R any](more func(f *Frame[A, R]) Fork, f *Frame[A, R]) Fork { return more(f) }

// forkMore is the rest of Fork if others want forks, there is no room for the next, or it is checked.
func (f *Frame[A, R]) forkMore() Fork {
	if f.n >= f.limit { // first, since Answer panics on a Frame that is out of use
		f.grow(2 * len(f.args))
	}
	if atomic.LoadUint32(f.demand) != engine.None { // (R12)
		f.w.Answer()
	} else if f.w.Checked() {
		f.w.CheckUse()
	}
	if f.w.Spans != nil {
		f.w.Spans.Fork(span.Frame)
	}
	if f.w.Checked() {
		return f.handle()
	}
	return Fork(f.n)
}

// grow makes room for n positions.
func (f *Frame[A, R]) grow(n int) {
	args := make([]A, n)
	copy(args, f.args)
	f.args, f.slots, f.limit = args, unsafe.Pointer(unsafe.SliceData(args)), Fork(n-1)
}

// joinOther is the rest of Join if the fork with arg, which was removed, may be public, or
// others want some.
func (f *Frame[A, R]) joinOther(arg A) R {
	if f.demand == misjoined {
		return f.joinOdd(arg)
	}
	if f.w.Checked() {
		f.w.CheckUse()
	}
	if f.w.Spans != nil {
		return f.joinMeasured(arg)
	}
	f.n++
	f.args[f.n] = arg
	arg, here, r := f.takeBack()
	if !here {
		return r
	}
	n, told := f.n, engine.TookBack(f.w)
	f.run[engine.None] = f.body // all that the call forks is private, until Publish
	defer f.goOn(n)             // also if what is around the call recovers a panic
	r = f.body(f, arg)
	f.hasJoined(n)
	told.TellJoined(f.w)
	return r
}

// joinMeasured is joinOther where forks and joins are measured: none is ever public.
func (f *Frame[A, R]) joinMeasured(arg A) R {
	n := f.n
	defer f.w.Spans.End(f.w.Spans.Join())
	r := f.body(f, arg)
	f.hasJoined(n)
	return r
}

// hasJoined panics unless the call of a fork that had n below it has left those open, and no others.
func (f *Frame[A, R]) hasJoined(n Fork) {
	if f.n != n {
		panic(checks.NotItsOwn(f.fn.entry, int(f.n-n)))
	}
}

// goOn ends the call of a private fork that had n below it. If the call has joined some of
// those, they are open again: what is public must be taken back.
func (f *Frame[A, R]) goOn(n Fork) {
	f.n = max(f.n, n)
	f.aim()
}

// dropIfStopped is the body of calls and joins that heed a Stop. It stands where the body
// stands otherwise, so that what is called by Call pays nothing for it.
func (f *Frame[A, R]) dropIfStopped(arg A) (r R) {
	if f.w.Checked() {
		f.w.CheckUse()
	}
	if f.stop.Stopped() {
		return r
	}
	return f.fn.body(f, arg)
}

// callChecked is the body of calls and joins where uses of w are checked.
func (f *Frame[A, R]) callChecked(arg A) R {
	if f.w == noWorker {
		panic("filch: Frame.Call after its function has returned: a Frame is for the call that gets it, and what that calls")
	}
	f.w.CheckUse()
	return f.fn.body(f, arg)
}

// callOnly sets what joins and calls call, what thieves call, and the Stop that these heed.
func (f *Frame[A, R]) callOnly(body func(f *Frame[A, R], arg A) R, callee engine.Callee[A, R], stop *Stop) {
	f.body, f.callee, f.stop = body, callee, stop
	f.aim()
}

// aim sees to it that Join calls joinOther as long as forks are public.
func (f *Frame[A, R]) aim() {
	f.run[engine.None] = f.body
	if f.public > bottom {
		f.run[engine.None] = f.fn.other
	}
}

// outOfOrder is what Join panics with for the wrong fork.
type outOfOrder struct{ h, newest Fork }

func (o outOfOrder) Error() string {
	h := o.h
	if h >= bottom { // else it was never a fork's
		h -= bottom
	}
	return fmt.Sprintf("filch: Join of fork %d out of order: the newest open fork is %d (0 is none); join each fork once, the newest first, in the call that has made it", h, o.newest-bottom)
}

// takeBack removes the newest fork, and answers demand. If the fork was not stolen, the
// caller must do the call; else takeBack waits for the result.
func (f *Frame[A, R]) takeBack() (arg A, here bool, r R) {
	n := f.n
	private := f.public < n
	here = true
	if !private {
		here = f.jobs.TakeBack(f.w)
		f.public--
		f.aim()
	}
	arg = f.args[n]
	var zero A
	f.args[n] = zero
	f.n--
	switch {
	case !here:
		r = f.jobs.Collect()
	case private:
		f.w.Poll()
	default:
		f.w.PollPublic()
	}
	return arg, here, r
}

// frameForks is a Frame as the engine sees it.
type frameForks[A, R any] Frame[A, R]

func (f *frameForks[A, R]) Publish() *engine.Job {
	if f.public >= f.n { // greater if a call has joined what is public, by mistake
		return nil
	}
	f.public++
	(*Frame[A, R])(f).aim()
	return f.jobs.Add(f.callee, f.args[f.public])
}

func (f *frameForks[A, R]) Forks() int { return int(f.n) }

func (f *frameForks[A, R]) Drop(to int) {
	n := Fork(max(to, bottom))
	clear(f.args[max(f.public, n)+1 : max(f.public, f.n)+1])
	for f.public > n {
		f.jobs.Forget(f.w)
		var zero A
		f.args[f.public] = zero
		f.public--
	}
	f.n = n
	(*Frame[A, R])(f).aim()
}

func (f *frameForks[A, R]) Close() {
	if f.w.Strict() { // no other call gets it, so that each use is known to be late
		f.w = asWorker(f.w).late()
		f.demand = &f.w.Demand
		return
	}
	logical := f.w.IsLogical() // what is used again would order children
	f.w, f.demand = noWorker, &noWorker.Demand
	if f.stop != nil {
		(*Frame[A, R])(f).callOnly(f.fn.body, f.fn.callee(), nil)
	}
	if !logical {
		f.fn.frames.Put((*Frame[A, R])(f))
	}
}

// noWorker is the worker of a Frame whose function has returned. Its demand
// never ends, so that Fork comes upon it.
var noWorker = func() *engine.Worker {
	w := &Worker{}
	w.tasks.Engine.Demand = engine.Hunger
	return &w.tasks.Engine
}()

// atFirst returns for how many forks an activation has room at first, if an argument
// takes size bytes. What it has grown to it keeps while it is out of use, which is until
// the next but one garbage collection at most, so that forks cost no allocation at any
// depth.
func atFirst(size int) int { return max(4, min(64, 4096/max(1, size))) }

func sizeOf[A any]() int { return int(reflect.TypeFor[A]().Size()) }
