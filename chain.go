package filch

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/checks"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/span"
)

// Chain is the cheapest form of a fork-join function from A to R: a fork that is not stolen costs 0.4 ns more than
// the call on an AMD EPYC. In return, the caller makes the call itself when the fork is still its own, and passes on
// one link for each open fork:
//
//	func fib(l *filch.Link[int, int], n int) int {
//		if n < 2 {
//			return n
//		}
//		l.Fork(n - 1)
//		b := fib(l.Next(), n-2)
//		if l.TakeBack() {
//			return fib(l, n-1) + b
//		}
//		return l.Join() + b
//	}
//
// Make one with [NewChain] and keep it; it is immutable, and any number of goroutines and pools may call it at once.
// [Func] is easier to use and allows any number of forks at a time.
//
// The direct call of unstolen forks is from Wool's direct task stack (Faxén, "Efficient Work Stealing for Fine
// Grained Parallelism", ICPP 2010).
//
//figure:all 0.4 ns, the same in a chain
type Chain[A, R any] struct {
	body  func(l *Link[A, R], arg A) R
	entry uintptr   // of body
	size  int       // of A, in bytes
	spare sync.Pool // of *links[A, R]
}

// NewChain returns a Chain with the given body. It panics if body is nil.
func NewChain[A, R any](body func(l *Link[A, R], arg A) R) *Chain[A, R] {
	needs(body != nil, "NewChain", "body")
	return &Chain[A, R]{body: body, entry: engine.EntryOf(body), size: sizeOf[A]()}
}

// Call runs the function with arg in the scope s, a *Pool or a *Worker, and returns its result when all its forks are
// done. It panics with a [*PanicError] if the body panics on any worker.
func (c *Chain[A, R]) Call(s Scope, arg A) R {
	if c == nil || c.body == nil {
		isNotMade("Chain.Call", "Chain", "NewChain")
	}
	return call(s, c.callee(), arg)
}

// chainCallee is a Chain as the engine sees it.
type chainCallee[A, R any] Chain[A, R]

func (c *Chain[A, R]) callee() engine.Callee[A, R] { return (*chainCallee[A, R])(c) }

func (c *chainCallee[A, R]) Entry() uintptr { return c.entry }

func (c *chainCallee[A, R]) Run(w *engine.Worker, arg A) R {
	ls := (*Chain[A, R])(c).enter(w)
	r := c.body(ls.base, arg)
	ls.leave()
	return r
}

func (c *Chain[A, R]) enter(w *engine.Worker) *links[A, R] {
	var ls *links[A, R]
	if !w.IsLogical() {
		ls, _ = c.spare.Get().(*links[A, R])
	}
	if ls == nil {
		ls = &links[A, R]{fn: c, n: 1}
		ls.base = &Link[A, R]{links: ls, w: &endOfChain}
		ls.private = ls.base
		ls.grow(ls.base)
	}
	if ls.w != w {
		ls.w = w
		for l := ls.base; l.next != nil; l = l.next {
			l.w = w.Asked()
		}
	}
	w.Push(ls)
	return ls
}

// Link is one frame of a [Chain]: it holds one open fork, or none. Only the call that receives it may use it, until
// that call returns.
type Link[A, R any] struct {
	w     *engine.Worker // its demand is checked: the owner, or endOfChain
	next  *Link[A, R]
	arg   A
	state uint32
	links *links[A, R]
}

// The states of a link. Links that are not clean are at the start of the chain, public ones first. Fork adds
// linkOpen, so that a link that was forked on twice has none of these states.
const (
	linkClean    = 0                     // not forked on since the activation began
	linkOpen     = 1                     // holds a fork
	linkClosed   = 4                     // its fork was joined
	linkReopened = linkClosed + linkOpen // holds another fork
	linkPublic   = 16                    // holds a published fork
	linkMeasured = 32                    // holds a fork that Join must see, because it is measured
	linkChecked  = 64                    // holds a fork that Join must see, because each use of the worker is checked
)

func (l *Link[A, R]) isOpen() bool {
	return l.state|linkClosed == linkReopened || l.state == linkChecked
}

// endOfChain is the worker of the last link of a chain. Its demand never ends, so the check for demand also finds the
// end.
var endOfChain = engine.Worker{Demand: 1}

// Fork offers the call of the function with arg to other workers and returns at once. A link holds one fork: until it
// is taken back or joined, pass [Link.Next] to other calls of the function. Fork allocates only to lengthen the
// chain. Unless another worker has asked for work, it touches no shared memory.
//
// The fork synchronizes before the start of the call.
func (l *Link[A, R]) Fork(arg A) {
	// This is inlined only while it stays about as cheap as it is.
	l.arg = arg
	l.state += linkOpen
	if race.Enabled || atomic.LoadUint32(&l.w.Demand) != 0 {
		l.demanded()
	}
}

// Next returns the link for calls made while this link holds a fork. Call it after Fork, which makes the next link if
// needed.
func (l *Link[A, R]) Next() *Link[A, R] { return l.next }

// TakeBack takes the fork back if no other worker has taken it, and reports whether it did. If true, the caller must
// make the call itself, with this link; if false, it must call [Link.Join]. With [WithChecks] and in [Measure] it
// always returns false, so that Join sees each call.
func (l *Link[A, R]) TakeBack() bool {
	if race.Enabled && l.links.w.Checked() {
		l.links.w.CheckUse()
	}
	if l.state|linkClosed != linkReopened { // isOpen, except for forks that Join must see
		return false
	}
	l.state = linkClosed
	return true
}

// Join returns the result of the fork. It runs the call itself unless another worker has taken it. If one has, Join
// waits, and meanwhile helps with that worker's forks or yields its slot to another goroutine. It panics if the link
// holds no fork, or a later link still does, and with a [*PanicError] if the call panicked on another worker.
//
// The end of the call synchronizes before the return from Join.
func (l *Link[A, R]) Join() R {
	ls := l.links
	if ls.w.Checked() {
		ls.w.CheckUse()
	}
	if l.TakeBack() || l.state == linkChecked {
		l.state = linkClosed
		ls.w.Poll()
		return ls.fn.body(l, l.arg)
	}
	if l.state == linkMeasured {
		return l.joinMeasured()
	}
	if l.state != linkPublic {
		panic("filch: Join on a Link without a fork: was it forked on twice, or passed on in place of Next?")
	}
	if n := len(ls.public) - 1; ls.public[n] != l {
		panic(linkOutOfOrder)
	}
	here := ls.jobs.TakeBack(ls.w)
	ls.unpublish()
	if !here {
		return ls.jobs.Collect()
	}
	ls.w.PollPublic()
	told := engine.TookBack(ls.w)
	r := ls.fn.body(l, l.arg)
	told.TellJoined(ls.w)
	return r
}

const linkOutOfOrder = "filch: Join of a fork out of order: a later link still holds a fork; join the newest first"

// joinMeasured is Join in a measured run: TakeBack returns false, and no fork is ever public.
func (l *Link[A, R]) joinMeasured() R {
	if l.next.state == linkMeasured {
		panic(linkOutOfOrder)
	}
	l.state = linkClosed
	spans := l.links.w.Spans
	defer spans.End(spans.Join())
	return l.links.fn.body(l, l.arg)
}

// Worker returns the worker that runs this activation.
func (l *Link[A, R]) Worker() *Worker { return asWorker(l.links.w) }

// demanded is the rest of Fork, for when other workers ask for forks or the chain ends here.
//
//go:noinline
func (l *Link[A, R]) demanded() {
	if l.next == nil {
		l.links.grow(l)
		l.w = l.links.w.Asked()
	}
	if l.links.w.Checked() {
		l.links.w.CheckUse()
	}
	l.links.w.Poll()
	switch w := l.links.w; {
	case !l.isOpen():
	case w.Spans != nil:
		l.state = linkMeasured
		w.Spans.Fork(span.Link)
	case w.Strict():
		l.state = linkChecked
	}
}

// links is an activation of a Chain.
type links[A, R any] struct {
	w       *engine.Worker
	fn      *Chain[A, R]
	base    *Link[A, R]
	n       int           // links in the chain
	private *Link[A, R]   // the first private link
	public  []*Link[A, R] // those before it, with their jobs in jobs
	jobs    engine.Published[A, R]
}

// grow doubles the chain, which ends at l.
func (ls *links[A, R]) grow(l *Link[A, R]) {
	chunk := make([]Link[A, R], max(atFirst(ls.fn.size)-1, ls.n))
	asked := ls.w
	if asked != nil {
		asked = asked.Asked()
	}
	for i := range chunk {
		l.next = &chunk[i]
		l.w = asked
		l = l.next
		l.links = ls
	}
	l.w = &endOfChain
	ls.n += len(chunk)
}

// leave ends the activation, which is w's newest.
func (ls *links[A, R]) leave() {
	n := len(ls.public)
	for l := ls.private; l != nil && l.state != linkClean; l = l.next {
		if l.state != linkClosed {
			n++
		}
	}
	if n > 0 {
		panic(checks.NotJoined(ls.fn.entry, n))
	}
	ls.w.Pop()
	ls.Close()
}

// unpublish closes the last public link.
func (ls *links[A, R]) unpublish() {
	n := len(ls.public) - 1
	ls.private = ls.public[n]
	ls.private.state = linkClosed
	ls.public[n] = nil
	ls.public = ls.public[:n]
}

func (ls *links[A, R]) Publish() *engine.Job {
	l := ls.private
	if l == nil || !l.isOpen() {
		return nil
	}
	l.state = linkPublic
	ls.public = append(ls.public, l)
	ls.private = l.next
	return ls.jobs.Add(ls.fn.callee(), l.arg)
}

// Forks does not count the forks, which would take a scan of all links: leave finds those above it that were not
// joined.
func (ls *links[A, R]) Forks() int { return math.MaxInt }

func (ls *links[A, R]) Drop(n int) {
	if n == math.MaxInt {
		return
	}
	for len(ls.public) > 0 {
		ls.jobs.Forget(ls.w)
		ls.unpublish()
	}
	ls.n = math.MaxInt // not for reuse: a panic may have left it in any state
}

func (ls *links[A, R]) Close() {
	if ls.n == math.MaxInt {
		return
	}
	var zero A
	for l := ls.base; l != nil && l.state != linkClean; l = l.next {
		l.arg, l.state = zero, linkClean
	}
	if ls.w.Strict() { // no other call gets it, so that late uses are caught
		ls.w = asWorker(ls.w).late()
		for l := ls.base; l != nil; l = l.next {
			l.w = ls.w
		}
		return
	}
	if !ls.w.IsLogical() {
		ls.fn.spare.Put(ls)
	}
}
