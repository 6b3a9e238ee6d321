package filch

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
)

// Func is a fork-join function from A to R: its body may fork calls of the
// function itself. Make one with [NewFunc] and keep it; it is immutable, and
// may be called from any number of goroutines and pools at once. See [NewFunc] for
// what a fork costs.
type Func[A, R any] struct {
	body   func(f *Frame[A, R], arg A) R
	entry  uintptr   // of body
	size   int       // of A, in bytes
	frames sync.Pool // of *Frame[A, R], so that memory is given back in time
}

// NewFunc returns a Func with the given body, which must join every fork that
// it makes. It panics if body is nil.
//
// Inside the body, [Frame.Fork] offers a call to the other workers and
// [Frame.Join] gets its result. In between, the body usually makes a call of its own, by
// [Frame.Call] or plain recursion with the same frame. Joins go newest first. Nearly
// every fork is taken by no other worker, and then costs 2.9 ns more than the call on an
// AMD EPYC, so there is no need for a cutoff. A body with several arguments takes a
// struct.
//
// Keep the argument within four words, and its struct within four fields. The compiler
// passes what is larger in memory, as well as arrays, in calls and in forks. On one worker of
// an Intel Xeon, fib with an argument of four words takes 2.3 times as long as serial code,
// and 8.0 times with one of five.
//
//figure:all 2.9 ns, a fork and join more than a call, fib 38
//figure:wide 2.3 times, wide 4 filch 1 overhead
//figure:wide 8.0 times, wide 5 filch 1 overhead
func NewFunc[A, R any](body func(f *Frame[A, R], arg A) R) *Func[A, R] {
	needs(body != nil, "NewFunc", "body")
	return &Func[A, R]{body: body, entry: engine.EntryOf(body), size: sizeOf[A]()}
}

// Call runs the function with arg in the scope s, a *Pool or a *Worker, and
// returns its result when all its forks are done. It panics with a [*PanicError] if the
// body panics, here or on another worker. Forks that no worker has begun by then are
// dropped.
func (fn *Func[A, R]) Call(s Scope, arg A) R { return call(s, fn.callee(), arg) }

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
	f, _ := fn.frames.Get().(*Frame[A, R])
	if f == nil {
		f = &Frame[A, R]{fn: fn, body: fn.body}
	}
	if f.args == nil {
		f.args = make([]A, 0, atFirst(fn.size))
	}
	f.args = f.args[:0] // whatever was forked on it after its function returned
	f.w = w
	w.Push((*frameForks[A, R])(f))
	return f
}

// leave ends the activation, which is w's newest.
func (f *Frame[A, R]) leave() {
	if n := len(f.args); n > 0 {
		panic(fmt.Sprintf("filch: a function returned with %d of its forks not joined", n))
	}
	f.w.Pop()
	(*frameForks[A, R])(f).Close()
}

// Frame is what a body forks and joins on: the open forks of one activation of
// a [Func] on one worker. It must be used only by the call it was passed to,
// and by the calls that it is passed on to, and not after they return.
type Frame[A, R any] struct {
	// args holds the arguments of the open forks, oldest first. A fork is a
	// plain store here: only the owner looks. The first public of them
	// have been published as well.
	args   []A
	w      *engine.Worker
	public int
	body   func(f *Frame[A, R], arg A) R // as fn.body
	fn     *Func[A, R]
	jobs   engine.Published[A, R]

	handles []Fork // of the open forks; only if checked
	made    int    // how many handles were
}

// Fork names an open fork of a [Frame], until that fork is joined. After that it names
// another fork, or none, and must not be used. Join panics for such a Fork under the race
// detector. Otherwise it may return the result of the other fork.
type Fork int

// A handle is the position of a fork, as it is if nothing is checked, and above that
// the number of the handle.
const handleBits = strconv.IntSize / 2

// handle returns the handle of the newest fork.
func (f *Frame[A, R]) handle() Fork {
	n := len(f.args)
	f.made++
	h := Fork(f.made<<handleBits | n)
	f.handles = append(f.handles[:n-1], h)
	return h
}

// position returns the position of the fork that h names, and panics if that was
// joined.
func (f *Frame[A, R]) position(h Fork) Fork {
	if h < 0 { // no handle
		return h
	}
	n := h & (1<<handleBits - 1)
	if n > 0 && int(n) == len(f.args) && f.handles[n-1] != h {
		panic(fmt.Sprintf("filch: Join of fork %d, which was joined: the newest open fork has its place", n))
	}
	return n
}

// Fork offers the call of the function with arg to the other workers, and
// returns at once. The call happens when another worker takes it or at
// [Frame.Join], whichever is first. It happens at most once, and not at all if a panic or
// runtime.Goexit ends the body first. Fork allocates only to make room for more open
// forks than the frame has had so far. Unless another worker has asked for work, it
// touches no memory that others do.
//
// The fork synchronizes before the start of the call.
func (f *Frame[A, R]) Fork(arg A) Fork {
	// This is inlined only as long as it stays exactly as cheap as it is.
	f.args = append(f.args, arg)
	if atomic.LoadUint32(&f.w.Demand) != engine.None { // (R12)
		f.w.Answer()
	}
	if race.Enabled {
		return f.handle()
	}
	return Fork(len(f.args))
}

// Join returns the result of fork h, which must be the newest that is open. It
// runs the call itself unless another worker has taken it; then it waits, and
// meanwhile helps with that worker's forks, or gives its place to another
// goroutine. Join panics if h is not the newest open fork; see [Fork] for one that was
// joined before. It panics with a
// [*PanicError] if the call panicked on another worker.
//
// The end of the call synchronizes before the return from Join.
func (f *Frame[A, R]) Join(h Fork) R {
	n := int(h)
	if n == len(f.args) && f.public < n && atomic.LoadUint32(&f.w.Demand) == 0 {
		arg := f.args[n-1]
		var zero A
		f.args[n-1] = zero
		f.args = f.args[:n-1]
		return f.body(f, arg)
	}
	return f.join(h)
}

// Call calls the body with arg, now and on this worker.
func (f *Frame[A, R]) Call(arg A) R { return f.body(f, arg) }

// Worker returns the worker that runs this activation.
func (f *Frame[A, R]) Worker() *Worker { return asWorker(f.w) }

// join is Join if the fork is public, or others want some, or it is the wrong
// one.
//
//go:noinline
func (f *Frame[A, R]) join(h Fork) R {
	if race.Enabled {
		h = f.position(h)
	}
	if int(h) != len(f.args) || h < 1 {
		panic(fmt.Sprintf("filch: Join of fork %d out of order: the newest open fork is %d (0 is none)", h, len(f.args)))
	}
	arg, here, r := f.takeBack()
	if !here {
		return r
	}
	f.w.Poll()
	return f.body(f, arg)
}

// takeBack removes the newest fork. If it was not stolen, the caller must do
// the call; else takeBack waits for the result.
func (f *Frame[A, R]) takeBack() (arg A, here bool, r R) {
	n := len(f.args) - 1
	here = true
	if f.public > n {
		here = f.jobs.TakeBack(f.w)
		f.public = n
	}
	arg = f.args[n]
	var zero A
	f.args[n] = zero
	f.args = f.args[:n]
	if !here {
		r = f.jobs.Collect()
	}
	return arg, here, r
}

// frameForks is a Frame as the engine sees it.
type frameForks[A, R any] Frame[A, R]

func (f *frameForks[A, R]) Publish() *engine.Job {
	if f.public == len(f.args) {
		return nil
	}
	j := f.jobs.Add(f.fn.callee(), f.args[f.public])
	f.public++
	return j
}

func (f *frameForks[A, R]) Forks() int { return len(f.args) }

func (f *frameForks[A, R]) Drop(n int) {
	clear(f.args[max(f.public, n):])
	for f.public > n {
		f.jobs.Forget(f.w)
		f.public--
		var zero A
		f.args[f.public] = zero
	}
	f.args = f.args[:n]
}

func (f *frameForks[A, R]) Close() {
	f.w = noWorker
	f.fn.frames.Put((*Frame[A, R])(f))
}

// noWorker is the worker of a Frame whose function has returned. Its demand
// never ends, so that Fork comes upon it.
var noWorker = func() *engine.Worker {
	w := &Worker{}
	w.tasks.Engine.Demand, w.tasks.Engine.Face = engine.Hunger, w
	return &w.tasks.Engine
}()

// atFirst returns for how many forks an activation has room at first, if an argument
// takes size bytes. What it has grown to it keeps while it is out of use, which is until
// the next but one garbage collection at most, so that forks cost no allocation at any
// depth.
func atFirst(size int) int { return max(4, min(64, 4096/max(1, size))) }

func sizeOf[A any]() int { return int(reflect.TypeFor[A]().Size()) }
