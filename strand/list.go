package strand

import (
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
)

// list has the continuations that wait on one worker, the newest last. The worker owns a run, or has stolen one of its
// continuations. A list is an activation of the worker, as the forks of a Frame are.
type list struct {
	// Only the worker touches these. They form a ring whose length is a power of 2.
	ring           []*carrier
	oldest, newest uint // the first, and the one after the last; they only grow
	public         int  // published continuations not known to be stolen

	w      *engine.Worker
	mark   engine.Checkpoint // of w with the list as its newest activation
	run    *run
	spares []*carrier // idle
	pay    pay

	user    engine.User // of w before enter: w moves with the carriers
	checked bool        // whether uses of w are checked,
	strict  bool        // and each spawn is
	ends    func()      // if checked: unregisters the goroutine that uses w
}

var spareLists = sync.Pool{New: func() any { return &list{ring: make([]*carrier, 32)} }}

// enter begins a list on w. The caller starts its pay.
func enter(w *engine.Worker, r *run) *list {
	l := spareLists.Get().(*list)
	l.w, l.run, l.public, l.checked, l.strict = w, r, 0, w.Checked(), w.Strict()
	l.user = w.Roam()
	l.open()
	return l
}

// open makes l its worker's newest activation.
func (l *list) open() {
	l.w.Push(l)
	l.mark = l.w.Checkpoint()
}

// leave ends the list, which is empty and the newest activation.
func (l *list) leave() {
	l.run.take(l.spares)
	clear(l.spares)
	l.spares = l.spares[:0]
	l.w.Pop()
	l.w.User = l.user
	l.Close()
}

// limit returns the depth up to which strands on a carrier of the given level must check before a plain call.
func (l *list) limit(level int) int {
	if l.run.eager || l.run.limited || l.strict || l.pay.looks() {
		return always
	}
	return l.pay.shallow - level
}

// hold and release are called where another goroutine takes over the worker.
func (l *list) hold() {
	if l.checked {
		l.ends = l.w.Pool().Checks.Begins(l.w)
	}
}

func (l *list) release() {
	if l.checked {
		l.ends()
	}
}

// spare returns an idle carrier.
func (l *list) spare() *carrier {
	if n := len(l.spares); n > 0 {
		c := l.spares[n-1]
		l.spares[n-1] = nil
		l.spares = l.spares[:n-1]
		return c
	}
	if c := l.run.spare(); c != nil {
		return c
	}
	return newCarrier(l.run)
}

// keep keeps an idle carrier for reuse.
func (l *list) keep(c *carrier) {
	c.body, c.parent = nil, nil
	l.spares = append(l.spares, c)
}

func (l *list) push(c *carrier) {
	if l.newest-l.oldest == uint(len(l.ring)) {
		l.grow()
	}
	l.ring[l.newest&uint(len(l.ring)-1)] = c
	l.newest++
	if atomic.LoadUint32(&l.w.Demand) != engine.None { // R12 of the engine
		l.w.Answer()
	}
}

//go:noinline
func (l *list) grow() {
	n := uint(len(l.ring))
	to := make([]*carrier, 2*n)
	for i := l.oldest; i != l.newest; i++ {
		to[i&(2*n-1)] = l.ring[i&(n-1)]
	}
	l.ring = to
}

// pop removes and returns the newest continuation, or returns nil if all were stolen.
func (l *list) pop() *carrier {
	if l.oldest != l.newest {
		l.newest--
		slot := &l.ring[l.newest&uint(len(l.ring)-1)]
		c := *slot
		*slot = nil
		return c
	}
	if l.public == 0 {
		return nil
	}
	p := l.run.finish.TakeBack(l.w)
	if p == nil {
		l.public = 0
		return nil
	}
	l.public--
	body := p.Body.(*piece)
	c := body.c
	c.heir.after = nil
	body.Release()
	return c
}

// Publish makes a piece of the oldest continuation.
func (l *list) Publish() *engine.Job {
	if l.oldest == l.newest {
		return nil
	}
	slot := &l.ring[l.oldest&uint(len(l.ring)-1)]
	p := sparePieces.Get().(*piece)
	c := *slot
	p.c, p.run, p.pay, p.bound = c, l.run, l.pay.legacy(), &boundary{}
	c.heir.after = p.bound
	*slot = nil
	l.oldest++
	l.public++
	return p.Offer(&l.run.finish, l.run.entry)
}

// Forks does not count continuations, which are no forks of a strand that fails.
func (l *list) Forks() int { return 1 }

// Drop does nothing: each strand waits for its own children.
func (l *list) Drop(int) {}

func (l *list) Close() {
	l.w, l.run = nil, nil
	if l.ring != nil { // else it belongs to a carrier in place, which runtime.Goexit has left
		spareLists.Put(l)
	}
}

// piece is a published continuation.
type piece struct {
	engine.Piece
	c     *carrier // the publisher writes, then the thief or the publisher reads
	run   *run
	bound *boundary // where it is stolen, if it is
	pay   legacy    // likewise
}

var sparePieces = sync.Pool{New: func() any {
	p := &piece{}
	p.Init(p)
	return p
}}

// Release makes p ready for reuse.
func (p *piece) Release() {
	p.c, p.run, p.bound = nil, nil, nil
	sparePieces.Put(p)
}

// Run continues the continuation on w, which has stolen it.
func (p *piece) Run(w *engine.Worker, _ *engine.Finish) {
	l := enter(w, p.run)
	l.pay.follow(p.pay, w.Pool().Size())
	p.c.childOf.crosses(p.bound)
	l.run.pump(l, p.c, nil)
	l.leave()
}
