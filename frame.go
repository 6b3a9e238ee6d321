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

// Func is a fork-join function from A to R whose body may fork calls of the function itself. Make one with [NewFunc], which
// says what a fork costs, and keep it; it is immutable, and any number of goroutines and pools may call it at once.
type Func[A, R any] struct {
	body   func(f *Frame[A, R], arg A) R
	other  func(f *Frame[A, R], arg A) R // (*Frame).joinOther
	more   func(f *Frame[A, R]) Fork     // (*Frame).forkMore
	heed   func(f *Frame[A, R], arg A) R // (*Frame).dropIfStopped
	check  func(f *Frame[A, R], arg A) R // (*Frame).callChecked
	entry  uintptr                       // of body
	size   int                           // of A, in bytes
	frames sync.Pool                     // of *Frame[A, R], so that memory is released in time
}

// NewFunc returns a Func with the given body, which must join every fork that it makes. It panics if body is nil.
//
// In the body, [Frame.Fork] offers a call to other workers and [Frame.Join] gets its result. In between, the body usually
// makes a call of its own, by [Frame.Call] or by plain recursion with the same frame. Join forks in LIFO order. Nearly every
// fork is taken by no other worker and costs 1.0 ns more than the call on an AMD EPYC, so no cutoff is needed. A body with
// several arguments takes a struct. A body without a result returns struct{}, which costs nothing; a wrapper to hide that
// would cost a call per fork.
//
// Keep the argument within four words, and its struct within four fields: the compiler passes larger ones, and arrays, in
// memory, in calls as in forks. On one worker of that machine, fib with an argument of four words takes 1.7 times as long as
// serial code, and with one of five 8.1 times.
//
//figure:all 1.0 ns, a fork and join more than a call, fib 38
//figure:wide 1.7 times, wide 4 filch 1 overhead
//figure:wide 8.1 times, wide 5 filch 1 overhead
func NewFunc[A, R any](body func(f *Frame[A, R], arg A) R) *Func[A, R] {
	needs(body != nil, "NewFunc", "body")
	return &Func[A, R]{
		body: body, other: (*Frame[A, R]).joinOther, more: (*Frame[A, R]).forkMore,
		heed: (*Frame[A, R]).dropIfStopped, check: (*Frame[A, R]).callChecked,
		entry: engine.EntryOf(body), size: sizeOf[A](),
	}
}

// Call runs the function with arg in the scope s, a *Pool or a *Worker, and returns its result when all its forks are done.
// If the body panics on any worker, Call drops the forks not yet begun and panics with a [*PanicError].
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
	f.n = bottom // drops late forks, made after its function returned
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

// Frame holds the open forks of one activation of a [Func] on one worker; the body forks and joins on it. Only the call that
// receives it, and calls that it is passed on to, may use it, until they return. If two goroutines fork or join on one Frame,
// memory is corrupted, as by a data race on a slice.
type Frame[A, R any] struct {
	// A fork is a plain store of its argument: only the owner reads it. Fork and Join need these fields.
	slots  unsafe.Pointer                   // &args[0]
	n      Fork                             // position of the newest open fork; bottom if there is none
	limit  Fork                             // the last position of args, which is free
	demand *uint32                          // of w; or misjoined, from Join to joinOther
	run    [4]func(f *Frame[A, R], arg A) R // what Join calls, indexed by demand: body or joinOther
	more   func(f *Frame[A, R]) Fork        // forkMore

	// args holds the arguments of the open forks at their positions, the oldest at bottom+1. Those up to public are published
	// too.
	args   []A
	public Fork
	w      *engine.Worker
	body   func(f *Frame[A, R], arg A) R // as fn.body, or dropIfStopped, or callChecked
	fn     *Func[A, R]
	callee engine.Callee[A, R] // what thieves call: fn, or an untilCallee
	stop   *Stop               // that these heed, or nil
	jobs   engine.Published[A, R]

	newest  Fork   // the newest open fork, if demand is misjoined: n is then below Join's argument
	handles []Fork // of the open forks; only with checks
	made    int    // handles made so far
}

// Fork names an open fork of a [Frame]; only [Frame.Fork] makes one. It must not be used once that fork is joined: it then
// names another fork, or none. Join of such a Fork panics with [WithChecks] and under the race detector, and may otherwise
// return the other fork's result. Joining a Fork converted from a number is undefined. The zero Fork names none.
type Fork int

// bottom is the position below the first one. It is not 0, so that the zero Fork names none.
const bottom = 1

// With checks, Fork returns a handle: the fork's position in the low bits, and above them the handle's number, which is not
// 0. A position that needs those bits has no handle.
const handleBits = strconv.IntSize / 2

// mostHandles is the number of handles for a position before they repeat.
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

// position returns the position of the fork that h names. It panics if that fork was joined.
func (f *Frame[A, R]) position(h Fork) Fork {
	if h>>handleBits <= 0 { // not a handle
		return h
	}
	n := h & (1<<handleBits - 1)
	if i := int(n) - bottom - 1; n == f.n && i < len(f.handles) && f.handles[i] != h {
		panic(fmt.Sprintf("filch: Join of fork %d, which was joined: the newest open fork has its place; join each fork once", n-bottom))
	}
	return n
}

// Fork offers the call of the function with arg to other workers and returns at once. The call happens when another worker
// takes it or at [Frame.Join], whichever is first, and at most once; it is dropped if a panic, runtime.Goexit, or a stop
// comes first (see [Func.CallUntil]). Fork allocates only to grow the frame. Unless another worker has asked for work, it
// touches no shared memory.
//
// Join forks in LIFO order. Thieves take the oldest fork, as a rule the largest piece of a recursion; this worker runs the
// newest first. A search should therefore fork its most promising branch last, or call it right away by [Frame.Call], so that
// it finds good bounds or a first solution early; see [Best] and [Func.CallUntil].
//
// On P workers, long forks are offered as soon as they are made. Many fine forks just before may use up the number that may
// be published unasked; the rest stay with this worker until its next fork or join, and k equal calls take the time of
// ⌈k/P⌉+1 instead of ⌈k/P⌉.
//
// An argument of more than four words costs several times as much; see [NewFunc].
//
// The fork synchronizes before the start of the call.
func (f *Frame[A, R]) Fork(arg A) Fork {
	// This is inlined only while it stays about as cheap as it is.
	n := f.n + 1
	f.n = n
	// No bounds check is needed: the position after the newest fork is free.
	*(*A)(unsafe.Add(f.slots, uintptr(n)*unsafe.Sizeof(arg))) = arg
	if race.Enabled || n >= f.limit || atomic.LoadUint32(f.demand) != engine.None { // (R12)
		return callMore(f.more, f)
	}
	return Fork(n)
}

// Join returns the result of fork h, which must be the newest open one. It runs the call itself unless another worker has
// taken it. If one has, Join waits, and meanwhile helps with that worker's forks or yields its slot to another goroutine. It
// panics if h is not the newest open fork (see [Fork] for one already joined), and with a [*PanicError] if the call panicked
// on another worker. [Mark.JoinAll] joins all forks of a loop.
//
// The end of the call synchronizes before the return from Join.
func (f *Frame[A, R]) Join(h Fork) R {
	// This is inlined only while it gets no more expensive. Using n where it may differ from h, rather than h, leaves nothing
	// to select after the comparison, which saves a tenth of a tree of 1,023 nodes.
	n := f.n
	if f.n = h - 1; h != n {
		f.newest, f.demand = n, misjoined // so that joinOther is called
	}
	// No bounds check is needed: such a fork exists, or else the position below the first does.
	return run(f.run[atomic.LoadUint32(f.demand)&3], f, (*A)(unsafe.Add(f.slots, uintptr(n)*unsafe.Sizeof(*new(A)))))
}

// misjoined is the demand of a Frame whose Join was called with anything but the position of the newest open fork. The
// inliner has room there for stores, but not for a call.
var misjoined = new(uint32(engine.GiveWay))

// joinOdd is the rest of such a Join, which has removed the newest fork, with arg. The handle of that fork is correct;
// anything else is a mistake.
func (f *Frame[A, R]) joinOdd(arg A) R {
	h := f.n + 1
	f.n, f.newest, f.demand = f.newest, 0, &f.w.Asked().Demand
	f.args[f.n] = arg
	if f.w.Checked() {
		f.w.CheckUse() // first: on another goroutine the newest fork may be any
		h = f.position(h)
	}
	if h != f.n {
		panic(outOfOrder{h, f.n})
	}
	return f.joinNewest()
}

// joinNewest joins the newest open fork.
func (f *Frame[A, R]) joinNewest() R {
	n := f.n
	f.n = n - 1
	return run(f.run[atomic.LoadUint32(f.demand)&3], f, (*A)(unsafe.Add(f.slots, uintptr(n)*unsafe.Sizeof(*new(A)))))
}

// Call calls the body with arg, now and on this worker. After a stop it returns the zero value instead; see [Func.CallUntil].
func (f *Frame[A, R]) Call(arg A) R { return f.body(f, arg) }

// Worker returns the worker that runs this activation.
func (f *Frame[A, R]) Worker() *Worker { return asWorker(f.w) }

// run calls body with the argument at slot, and clears the slot. It exists because to the inliner a call of a parameter costs
// 40 less than that of any other unknown function.
func run[A, R any](body func(f *Frame[A, R], arg A) R, f *Frame[A, R], slot *A) R {
	var arg A
	arg, *slot = *slot, arg // costs the inliner less than a variable for the zero value
	return body(f, arg)
}

// callMore calls more. It exists for the same reason.
func callMore[A, R any](more func(f *Frame[A, R]) Fork, f *Frame[A, R]) Fork { return more(f) }

// forkMore is the rest of Fork, for when others want forks, there is no room for the next one, or it is checked.
func (f *Frame[A, R]) forkMore() Fork {
	if f.n >= f.limit { // first: Answer panics on a Frame out of use
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

// joinOther is the rest of Join, for when the removed fork with arg may be public or others want forks.
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
	f.run[engine.None] = f.body // all forks of the call are private, until Publish
	defer f.goOn(n)             // also if an enclosing function recovers a panic
	r = f.body(f, arg)
	f.hasJoined(n)
	told.TellJoined(f.w)
	return r
}

// joinMeasured is joinOther in a measured run: no fork is ever public.
func (f *Frame[A, R]) joinMeasured(arg A) R {
	n := f.n
	defer f.w.Spans.End(f.w.Spans.Join())
	r := f.body(f, arg)
	f.hasJoined(n)
	return r
}

// hasJoined panics unless the call of a fork that had n below it has left exactly those open.
func (f *Frame[A, R]) hasJoined(n Fork) {
	if f.n != n {
		panic(checks.NotItsOwn(f.fn.entry, int(f.n-n)))
	}
}

// goOn ends the call of a private fork that had n below it. If the call has joined some of those, they are open again: public
// ones must be taken back.
func (f *Frame[A, R]) goOn(n Fork) {
	f.n = max(f.n, n)
	f.aim()
}

// dropIfStopped is the body of calls and joins that heed a Stop. It replaces the body, so that Call pays nothing for it.
func (f *Frame[A, R]) dropIfStopped(arg A) (r R) {
	if f.w.Checked() {
		f.w.CheckUse()
	}
	if f.stop.Stopped() {
		return r
	}
	return f.fn.body(f, arg)
}

// callChecked is the body of calls and joins with checks.
func (f *Frame[A, R]) callChecked(arg A) R {
	if f.w == noWorker {
		panic("filch: Frame.Call after its function has returned: a Frame is for the call that gets it, and what that calls")
	}
	f.w.CheckUse()
	return f.fn.body(f, arg)
}

// callOnly sets what joins and calls run, what thieves run, and the Stop that these heed.
func (f *Frame[A, R]) callOnly(body func(f *Frame[A, R], arg A) R, callee engine.Callee[A, R], stop *Stop) {
	f.body, f.callee, f.stop = body, callee, stop
	f.aim()
}

// aim makes Join call joinOther as long as forks are public.
func (f *Frame[A, R]) aim() {
	f.run[engine.None] = f.body
	if f.public > bottom {
		f.run[engine.None] = f.fn.other
	}
}

// outOfOrder is the panic value of Join for the wrong fork.
type outOfOrder struct{ h, newest Fork }

func (o outOfOrder) Error() string {
	h := o.h
	if h >= bottom { // else it was never returned by Fork
		h -= bottom
	}
	return fmt.Sprintf("filch: Join of fork %d out of order: the newest open fork is %d (0 is none); join each fork once, the newest first, in the call that has made it", h, o.newest-bottom)
}

// takeBack removes the newest fork and answers demand. If the fork was not stolen, the caller must make the call; otherwise
// takeBack waits for the result.
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
	if f.public >= f.n { // greater if a call has joined public forks by mistake
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
	if f.w.Strict() { // no other call gets it, so that late uses are caught
		f.w = asWorker(f.w).late()
		f.demand = &f.w.Demand
		return
	}
	logical := f.w.IsLogical() // a reused one would order children
	f.w, f.demand = noWorker, &noWorker.Demand
	if f.stop != nil {
		(*Frame[A, R])(f).callOnly(f.fn.body, f.fn.callee(), nil)
	}
	if !logical {
		f.fn.frames.Put((*Frame[A, R])(f))
	}
}

// noWorker is the worker of a Frame whose function has returned. Its demand never ends, so that Fork notices it.
var noWorker = func() *engine.Worker {
	w := &Worker{}
	w.tasks.Engine.Demand = engine.Hunger
	return &w.tasks.Engine
}()

// atFirst returns the initial room for forks of an activation, for arguments of size bytes. An activation out of use keeps
// what it has grown to until the next but one garbage collection at most, so that forks at any depth cost no allocation.
func atFirst(size int) int { return max(4, min(64, 4096/max(1, size))) }

func sizeOf[A any]() int { return int(reflect.TypeFor[A]().Size()) }
