package filch

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/span"
)

// Async queues f and returns at once; f runs once, on any worker of the pool, and receives that worker. The async
// belongs to the innermost enclosing [Worker.Finish], [Pool.Do], or other Do of a pool or task; [Worker.Do] does not
// count. That call returns when f and all asyncs that f has queued have returned. An async may queue others at any
// call depth: they belong to the same call, whichever worker runs them.
//
// A forked function opens its own Finish before it calls Async. Without one, Async panics in the body of a [Func] or
// a [Chain], in the functions of a [Worker.Join], and in the body of a par loop unless the loop is too short to fork.
//
// A worker runs its newest async first; thieves take the oldest. Asyncs run only after the function that queued them
// has returned, one after the other, so nesting them to any depth needs no deep stack. Until another worker asks for
// work, Async touches no shared memory.
//
// If an async panics or calls runtime.Goexit, those not yet begun are dropped; see [Worker.Finish]. Async costs a few
// nanoseconds and allocates only to grow its queue. The closure f itself is heap-allocated if it captures variables,
// which costs several times as much. Async panics if f is nil.
//
// The call of Async synchronizes before the start of f.
func (w *Worker) Async(f func(w *Worker)) {
	needs(f != nil, "Async", "f")
	if race.Enabled || w.tasks.Engine.Checked() {
		w.tasks.Engine.CheckUse()
	}
	a, ok := w.tasks.Engine.Newest().(*asyncs)
	if !ok {
		a = w.openAsyncs()
	}
	if w.tasks.Engine.Spans != nil {
		f = measuredAsync(w.tasks.Engine.Spans, f)
	}
	a.push(f)
	if atomic.LoadUint32(&w.tasks.Engine.Demand) != engine.None { // (R12)
		w.tasks.Engine.Answer()
	}
}

// Finish calls body on w and returns when body and all asyncs that belong to it have returned; see [Worker.Async]. w
// runs them, with other workers if those ask for work. When every async has begun, w waits for the rest; meanwhile it
// helps with their forks or yields its slot to another goroutine. Finish may be nested, and used in asyncs and any
// fork-join work; it waits only for its own asyncs.
//
// If body or an async panics or calls runtime.Goexit, asyncs that have not begun are dropped, and Finish waits for
// those running on other workers. Then it panics with a [*PanicError], or the Goexit ends the caller. If several
// fail, the first counts.
//
// A fork made in body on an outer [Frame] or [Link] must be joined in body, and like any forked function, its
// function opens its own Finish for its asyncs. Finish costs some tens of nanoseconds and no allocation. It panics if
// body is nil.
//
// The end of each async synchronizes before the return from Finish.
func (w *Worker) Finish(body func(w *Worker)) {
	needs(body != nil, "Finish", "body")
	e := &w.tasks.Engine
	e.CheckUse()
	if e.Spans != nil {
		defer e.Spans.End(e.Spans.Open())
	}
	b := finishing{w: e, before: e.Checkpoint()}
	defer b.end()
	openFinish(e)
	body(w)
	b.join()
	b.returned = true
}

// doAll is Do for calls that wait for asyncs. Most have none, so the first Async makes what belongs to a Finish.
func (w *Worker) doAll(f func(w *Worker)) {
	e := &w.tasks.Engine
	b := finishing{w: e, before: e.Checkpoint()}
	w.joins, b.do = true, w
	defer b.end()
	f(w)
	b.join()
	e.EndViews()
	b.returned = true
}

// measuredAsync returns f for a measured worker, as part of the Finish that is open now.
func measuredAsync(spans *span.Recorder, f func(w *Worker)) func(w *Worker) {
	queued := spans.Queue()
	return func(w *Worker) {
		defer spans.End(spans.Begin(queued))
		f(w)
	}
}

// asyncs holds the asyncs of one Finish on one worker that have not begun; the worker is the owner or a thief. It is
// an activation, like the forks of a Frame, and the newest one while Async is called, since forked calls have their
// own.
type asyncs struct {
	// Private asyncs are in a ring whose length is a power of 2. Only the owner touches it.
	ring           []func(w *Worker)
	oldest, newest uint // the first, and one past the last; they only grow
	public         int  // pieces that were published, and not found stolen
	w              *engine.Worker
	finish         *engine.Finish // own, or that of the worker that these were stolen from
	own            engine.Finish
	children       []*engine.Piece // published ones, with logical races
}

var spareAsyncs sync.Pool // of *asyncs, so that memory is released in time

// enterAsyncs begins an activation.
func enterAsyncs(w *engine.Worker) *asyncs {
	var a *asyncs
	if !race.Enabled || !w.IsLogical() {
		a, _ = spareAsyncs.Get().(*asyncs)
	}
	if a == nil {
		a = &asyncs{ring: make([]func(w *Worker), 32)}
	}
	a.w = w
	w.Push(a)
	return a
}

func openFinish(w *engine.Worker) *asyncs {
	a := enterAsyncs(w)
	a.finish = &a.own
	a.own.Open(w)
	return a
}

// openAsyncs begins the first Async of a Do.
//
//go:noinline
func (w *Worker) openAsyncs() *asyncs {
	if w.tasks.Engine.Newest() != nil {
		panic("filch: Async without a Finish: what is forked, and the body of a Func, Chain or loop, opens a Finish of its own: call Async inside Worker.Finish")
	}
	if !w.joins {
		panic("filch: Async on a Worker after the call that it was handed to: call it in that call, or in what that calls")
	}
	return openFinish(&w.tasks.Engine)
}

func (a *asyncs) push(f func(w *Worker)) {
	if a.newest-a.oldest == uint(len(a.ring)) {
		a.grow()
	}
	a.ring[a.newest&uint(len(a.ring)-1)] = f
	a.newest++
}

//go:noinline
func (a *asyncs) grow() {
	n := uint(len(a.ring))
	to := make([]func(w *Worker), 2*n)
	for i := a.oldest; i != a.newest; i++ {
		to[i&(2*n-1)] = a.ring[i&(n-1)]
	}
	a.ring = to
}

// drain runs the asyncs of w, newest first, until all have begun here or elsewhere. After a failure it drops them.
func (a *asyncs) drain() {
	w := asWorker(a.w)
	if race.Enabled && a.w.IsLogical() {
		a.runChildren()
		return
	}
	for !a.finish.Failed() {
		if a.oldest == a.newest && !a.takeBack() {
			return
		}
		a.newest--
		slot := &a.ring[a.newest&uint(len(a.ring)-1)]
		f := *slot // released once it runs
		*slot = nil
		if atomic.LoadUint32(&a.w.Demand) != engine.None { // (R12)
			a.w.Answer()
		}
		f(w)
	}
	a.drop()
}

// takeBack takes back the newest piece. It returns false if there is none.
func (a *asyncs) takeBack() bool {
	if a.public == 0 {
		return false
	}
	p := a.finish.TakeBack(a.w)
	if p == nil {
		a.public = 0
		return false
	}
	a.public--
	body := p.Body.(*piece)
	for _, f := range body.asyncs {
		a.push(f)
	}
	body.Release()
	return true
}

// drop drops all asyncs that have not begun.
func (a *asyncs) drop() {
	if race.Enabled {
		a.dropChildren()
	}
	for a.oldest != a.newest || a.takeBack() {
		a.newest--
		a.ring[a.newest&uint(len(a.ring)-1)] = nil
	}
}

// leave ends the activation, which is the newest.
func (a *asyncs) leave() {
	a.w.Pop()
	a.Close()
}

func (a *asyncs) Publish() *engine.Job {
	n := a.newest - a.oldest
	if n == 0 || a.finish.Failed() {
		return nil
	}
	p := a.newPiece()
	for range min(max(1, n/shareOfPiece), mostInPiece) {
		slot := &a.ring[a.oldest&uint(len(a.ring)-1)]
		p.asyncs = append(p.asyncs, *slot)
		*slot = nil
		a.oldest++
	}
	if race.Enabled && a.w.IsLogical() {
		a.children = append(a.children, &p.Piece)
	} else {
		a.public++
	}
	return p.Offer(a.finish, engine.EntryOf(p.asyncs[0]))
}

// Forks does not count the asyncs: those queued in a call that panicked belong to the enclosing Finish.
func (a *asyncs) Forks() int { return 1 }

// Drop ends failed asyncs. If they belong to the Finish itself, it waits for those that run elsewhere.
func (a *asyncs) Drop(n int) {
	if n > 0 {
		return
	}
	a.drop()
	if a.finish == &a.own {
		a.finish.Wait(a.w)
	}
}

func (a *asyncs) Close() {
	if a.finish == &a.own && a.own.Failed() {
		return // its end must still be reported, and failures are rare
	}
	logical := race.Enabled && a.w.IsLogical()
	a.w, a.finish = nil, nil
	if !logical {
		spareAsyncs.Put(a)
	}
}

// A piece is published as a unit: the oldest async, or the oldest few if there are many, so that a thief of tiny
// asyncs need not return for each.
type piece struct {
	engine.Piece
	asyncs []func(w *Worker) // oldest first; the publisher writes, then the thief
}

const (
	shareOfPiece = 64 // a piece has one in this many of the private asyncs
	mostInPiece  = 64
)

var sparePieces = sync.Pool{New: func() any {
	p := &piece{}
	p.Init(p)
	return p
}}

// Release prepares p for reuse.
func (p *piece) Release() {
	clear(p.asyncs)
	p.asyncs = p.asyncs[:0]
	sparePieces.Put(p)
}

// Run runs the asyncs of p on w, which has stolen them, oldest first, and then those they queued that no other worker
// has taken.
func (p *piece) Run(w *engine.Worker, f *engine.Finish) {
	b := finishing{w: w, before: w.Checkpoint()}
	defer b.endPiece()
	a := enterAsyncs(w)
	a.finish = f
	if race.Enabled && w.IsLogical() {
		a.runIn(p)
		a.finish.LeaveViews(w)
		b.returned = true
		a.leave()
		return
	}
	for i := len(p.asyncs) - 1; i >= 0; i-- {
		a.push(p.asyncs[i])
		p.asyncs[i] = nil
	}
	a.drain()
	a.finish.LeaveViews(w)
	b.returned = true
	a.leave()
}

// finishing is a Finish or Do in progress, or the run of a piece. Its end is the boundary of all that runs on this
// worker.
type finishing struct {
	w        *engine.Worker
	before   engine.Checkpoint
	returned bool
	do       *Worker // the worker of a Do, or nil
}

// asyncs returns the asyncs of this Finish, or nil for a Do without any.
func (b *finishing) asyncs() *asyncs {
	a, _ := b.w.Above(b.before).(*asyncs)
	return a
}

// join runs the asyncs and waits for those on other workers.
func (b *finishing) join() {
	a := b.asyncs()
	if a == nil {
		return
	}
	a.drain()
	a.finish.Wait(a.w)
	if a.finish.Failed() {
		if err := a.finish.Failure(); err != nil {
			panic(err)
		}
		runtime.Goexit()
	}
	a.finish.TakeViews(a.w)
	a.leave()
}

// end is deferred.
func (b *finishing) end() {
	if b.do != nil {
		b.do.joins = false
	}
	if b.returned {
		return
	}
	v := recover()
	a, err := b.fail(v)
	if v == nil { // the goroutine exits
		return
	}
	if a != nil && a.finish.Failure() != nil {
		err = a.finish.Failure() // the first
	}
	panic(err)
}

// endPiece is deferred. It reports a panic to the owner of the Finish.
func (b *finishing) endPiece() {
	if !b.returned {
		_, _ = b.fail(recover())
	}
}

// fail ends what is in progress here after a panic with v, or after runtime.Goexit if v is nil. It returns the
// activation, if there is one, and the error of the panic.
func (b *finishing) fail(v any) (a *asyncs, err error) {
	if v != nil {
		err = panicError(v)
	}
	if a = b.asyncs(); a != nil {
		a.finish.Fail(err) // now, so that other workers begin nothing more
	}
	if v == nil {
		_ = b.w.Caught(b.before, nil)
	} else {
		_ = b.w.Caught(b.before, err)
	}
	return a, err
}

// runChildren is drain with logical races: it runs each async of a in its child.
func (a *asyncs) runChildren() {
	for !a.finish.Failed() {
		n := len(a.children) - 1
		if n < 0 {
			return
		}
		p := a.children[n]
		a.children = a.children[:n]
		switch p.RunChild(a.w) {
		case engine.NotSeen:
			p.Body.(*piece).runAll(a.w)
		case engine.RunHere:
			a.children = append(a.children, p.Rest...)
		}
	}
	a.drop()
}

// runAll calls the asyncs of p on w.
func (p *piece) runAll(w *engine.Worker) {
	for _, f := range p.asyncs {
		f(asWorker(w))
	}
}

// runIn runs the asyncs of p in its child, with the activation a. Whoever ran the child also runs what they queue, so
// that children do not nest.
func (a *asyncs) runIn(p *piece) {
	if !a.finish.Failed() {
		p.runAll(a.w)
	}
	for n := len(a.children) - 1; n >= 0 && !a.finish.Failed(); n = len(a.children) - 1 {
		last := a.children[n]
		a.children = a.children[:n]
		if last.IsChild() {
			p.Rest = append(p.Rest, last)
		} else if last.RunChild(a.w) == engine.NotSeen {
			last.Body.(*piece).runAll(a.w)
		}
	}
	if a.finish.Failed() {
		a.children = append(a.children, p.Rest...)
		p.Rest = nil
		a.drop()
	}
}

// dropChildren drops the asyncs that have not begun.
func (a *asyncs) dropChildren() {
	for _, p := range a.children {
		p.DropChild(a.w)
	}
	a.children = nil
}

// newPiece returns a piece without asyncs.
func (a *asyncs) newPiece() *piece {
	if !race.Enabled || !a.w.IsLogical() {
		return sparePieces.Get().(*piece)
	}
	p := &piece{} // a reused one would order children
	p.Init(p)
	return p
}
