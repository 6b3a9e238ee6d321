package span

import (
	"math"
	"math/bits"
	"time"
)

// A Recorder finds the work and the span of a program that runs on one goroutine, which calls it where the
// program forks and joins. Nothing else uses it at that time.
//
// It walks along the serial order, and knows at each moment how long the longest path is that leads there:
//
//	Fork              notes the path at the fork; what follows goes on from there
//	Join … End        runs the child, from the fork on: then the longer path counts, that of
//	                  the child or that before the join
//	Spawn … EndChild  the same where the child runs first: what follows starts from the spawn,
//	                  and the next Sync of its block counts the child's end
//	Open … Sync, End  a block: ends when the children that were spawned or queued in it have
//	Queue, Begin … End  a child of the block around it that runs later
//	Loop … EndPiece … EndLoop  pieces that all start where the loop does
//
// The path with burdens is known beside it. What is stolen pays: the child of a Fork, and what follows a Spawn.
//
// What is open is a stack. End, Sync and EndLoop take the depth that Join, Open, Begin and Loop return, and
// close what is above: what a panic has left open.
type Recorder struct {
	now  func() int64 // in nanoseconds
	last int64        // what it was at the last event

	lost  func() int64 // see Lost; nil where nothing is
	asked int64        // when it was called last
	shape Shape        // nil where no graph is made

	// Times are in picoseconds, since what instrumentation costs is a mean.
	burden int64
	cost   [forms][events]int64 // of instrumentation, up to an event: what is not the program's
	least  [forms]int64         // what is the program's up to an event, if it is but a fork; see Calibrate
	owed   int64                // see tick
	at     point                // the end of the longest path to here
	work   int64
	forks  int64
	open   []entry

	took [events]int64 // up to all events of a kind; see Calibrate
}

// point is how far it is to a place in the program, by the longest path, without and with burdens.
type point struct{ span, burdened int64 }

// after moves p to q where that is further.
func (p *point) after(q point) {
	p.span, p.burdened = max(p.span, q.span), max(p.burdened, q.burdened)
}

// Point is where a child was queued.
type Point struct {
	at     point
	shaped shaped
}

// entry is what is open: a fork, a child that runs, a block.
type entry struct {
	kind   kind
	form   Form  // of a fork
	at     point // where a fork was made; or where what is around a child goes on
	ends   point // of a block: the furthest end of its children
	work   int64 // of a loop: when it began, all of it, and
	piece  int64 // when the piece did
	pieces int64
	most   int    // how many pieces run at once, or 0 for any number
	shaped shaped // mark is where what is joined at its end begins
}

type kind uint8

const (
	forked  kind = iota // not joined yet
	joined              // a child that was forked, and runs; at is that of the join
	block               // ends with its children
	spawned             // a child that runs before what is around it; and the block of its own children
	queued              // a child that was queued, and runs
	loop
)

// The kinds of events, by what leads up to them.
type event uint8

const (
	atFork event = iota
	atJoin
	atEnd
	events
)

// A Form is one of forks. The ways to the Recorder differ by some nanoseconds.
type Form uint8

const (
	Frame Form = iota // and all others
	Link
	forms
)

// ps is how many picoseconds a nanosecond has.
const ps = 1000

// NewRecorder returns a Recorder that asks now for the time, in nanoseconds, and takes burden for what it costs
// to steal.
func NewRecorder(now func() int64, burden time.Duration) *Recorder {
	return &Recorder{now: now, burden: int64(burden) * ps, open: make([]entry, 0, 64)}
}

// Start begins, with nothing open.
func (r *Recorder) Start() {
	r.at, r.work, r.forks, r.open, r.took, r.owed = point{}, 0, 0, r.open[:0], [events]int64{}, 0
	if r.shape != nil {
		r.shape.Start()
	}
	r.last = r.now()
}

// Stop ends what Start began, and returns what it came to.
func (r *Recorder) Stop() Profile {
	r.tick(atEnd, Frame)
	r.close(0)
	// The cost of instrumentation is that of a mean event. Where there is next to nothing between two of
	// them, the sums may be off by a little, to either side.
	work := r.work / ps
	span := min(max(r.at.span/ps, 1), work)
	return Profile{time.Duration(work), time.Duration(span), time.Duration(max(r.at.burdened/ps, span)), r.forks}
}

// Lost makes r ask f at each event that comes so late that the program may have been interrupted: f returns
// for how many nanoseconds it was, since it was asked last. They do not count.
func (r *Recorder) Lost(f func() int64) { r.lost = f }

const (
	// late is after how many nanoseconds an event comes late. Another thread in the way takes longer, and
	// to ask much less.
	late = 20_000
	// often is after how many it is asked anyway, so that not much is in what is asked for.
	often = 1_000_000
	// mostOwed is how many picoseconds are owed at most, so that a long part does not pay for thousands of short
	// ones, which may be on other paths.
	mostOwed = 1_000_000
)

// tick counts the time up to an event. An event that comes sooner than a mean one, less what that costs, counts as
// the least that a program takes up to one, and owes the rest to the next. So the sums are those of the clock where
// some events are quick and some are slow, and no path is shorter than its forks. They would be less than nothing
// where all are quick: on a machine that was busier in Calibrate than it is now.
func (r *Recorder) tick(e event, f Form) {
	now := r.now()
	took := now - r.last
	if r.lost != nil && (took >= late || now-r.asked >= often) {
		if lost := r.lost(); took >= late {
			took = max(0, took-lost)
		}
		now = r.now()
		r.asked = now
	}
	took = took*ps - r.cost[f][e] - r.owed
	if r.owed = 0; took < r.least[f] {
		r.owed, took = min(r.least[f]-took, mostOwed), r.least[f]
	}
	r.last = now
	r.took[e] += took
	r.work += took
	r.at.span += took
	r.at.burdened += took
	if r.shape != nil {
		r.shape.Work(took)
	}
}

// Depth returns how much is open.
func (r *Recorder) Depth() int { return len(r.open) }

// Fork notes a fork, which is joined later. Forks are joined the newest first.
func (r *Recorder) Fork(f Form) {
	r.tick(atFork, f)
	r.forks++
	r.open = append(r.open, entry{kind: forked, form: f, at: r.burdenedHere(), shaped: forkOf(r)})
}

// burdenedHere is where what is stolen here begins.
func (r *Recorder) burdenedHere() point { return point{r.at.span, r.at.burdened + r.burden} }

// Join begins the child of the newest fork. End ends it.
func (r *Recorder) Join() (depth int) {
	depth = len(r.open) - 1
	e := &r.open[depth]
	r.tick(atJoin, e.form)
	e.kind = joined
	e.at, r.at = r.at, e.at
	e.shaped.run(r)
	return depth
}

// Drop forgets the newest fork, whose child does not run.
func (r *Recorder) Drop() { r.open = r.open[:len(r.open)-1] }

// Open begins a block. End ends it.
func (r *Recorder) Open() (depth int) {
	r.open = append(r.open, entry{kind: block, ends: r.at, shaped: blockOf(r)})
	return len(r.open) - 1
}

// Sync waits for the children of a block so far.
func (r *Recorder) Sync(depth int) {
	r.tick(atEnd, Frame)
	r.close(depth + 1)
	e := &r.open[depth]
	r.at.after(e.ends)
	if e.kind == spawned { // of whose strand all children are
		shaped{}.join(r, 0)
	} else {
		e.shaped.join(r, 0)
	}
}

// End ends what Join, Open or Begin has begun, and what is open above it.
func (r *Recorder) End(depth int) {
	r.tick(atEnd, r.open[depth].form)
	r.close(depth)
}

// Unwind closes what is open above a depth, after a panic perhaps, without a look at the clock. It costs
// nothing if there is nothing.
func (r *Recorder) Unwind(depth int) {
	if depth < len(r.open) {
		r.close(depth)
	}
}

// close closes what is open from a depth on.
func (r *Recorder) close(depth int) {
	for n := len(r.open) - 1; n >= depth; n-- {
		e := r.open[n]
		r.open = r.open[:n]
		switch e.kind {
		case forked: // it did not run
		case joined:
			r.at.after(e.at)
			e.shaped.leave(r)
			e.shaped.join(r, 0)
		case block:
			r.at.after(e.ends)
			e.shaped.join(r, 0)
		case loop:
			r.at.after(e.ends)
			e.shaped.leave(r)
			e.shaped.join(r, e.most)
		case spawned:
			r.at.after(e.ends)
			r.endChild(e)
			e.shaped.leave(r)
		case queued:
			r.endChild(e)
			e.shaped.leave(r)
		}
	}
}

// endChild counts the end of e among the children of the block around it, and goes on after it.
func (r *Recorder) endChild(e entry) {
	for n := len(r.open) - 1; n >= 0; n-- {
		if around := &r.open[n]; around.kind == block || around.kind == spawned {
			around.ends.after(r.at)
			r.at = e.at
			return
		}
	}
	r.at.after(e.at) // no block: the child is awaited here
}

// Spawn begins a child of the block around it, which runs before what follows. EndChild ends it. The child
// is a block for its own children.
func (r *Recorder) Spawn() (depth int) {
	r.tick(atFork, Frame)
	r.forks++
	r.open = append(r.open, entry{kind: spawned, at: r.burdenedHere(), ends: r.at, shaped: forkOf(r)})
	r.open[len(r.open)-1].shaped.run(r)
	return len(r.open) - 1
}

// EndChild ends the child that Spawn has begun, with all of its own children. What follows starts from the spawn.
func (r *Recorder) EndChild(depth int) { r.End(depth) }

// Queue notes a child that runs later, in the block that is open now.
func (r *Recorder) Queue() Point {
	r.tick(atFork, Frame)
	r.forks++
	return Point{r.burdenedHere(), forkOf(r)}
}

// Begin begins a child that was queued. End ends it.
func (r *Recorder) Begin(p Point) (depth int) {
	r.tick(atJoin, Frame)
	r.open = append(r.open, entry{kind: queued, at: r.at})
	r.at = p.at
	p.shaped.run(r)
	return len(r.open) - 1
}

// Loop begins a loop, and its first piece.
func (r *Recorder) Loop() (depth int) {
	r.tick(atFork, Frame)
	r.open = append(r.open, entry{kind: loop, at: r.at, ends: r.at, work: r.work, piece: r.work, shaped: forkOf(r)})
	r.open[len(r.open)-1].shaped.run(r)
	return len(r.open) - 1
}

// EndPiece ends a piece of a loop, and begins the next one. It returns how many nanoseconds it took.
func (r *Recorder) EndPiece(depth int) (took int64) {
	r.tick(atEnd, Frame)
	r.close(depth + 1)
	e := &r.open[depth]
	e.ends.after(r.at)
	r.at = e.at
	e.pieces++
	took = (r.work - e.piece) / ps
	e.piece = r.work
	e.shaped.leave(r)
	forkOf(r).run(r)
	return took
}

// EndLoop ends a loop after a piece. Its pieces are the leaves of a tree: each waits for as many forks as the
// tree is high. If no more than so many of them run at once, and not 0, the loop takes no less than its work
// divided by that.
func (r *Recorder) EndLoop(depth, most int) {
	e := &r.open[depth]
	if e.pieces > 1 {
		r.forks += e.pieces - 1
		e.ends.burdened += int64(bits.Len64(uint64(e.pieces-1))) * r.burden
	}
	e.most = most
	if most > 0 {
		share := (r.work - e.work) / int64(most)
		e.ends.after(point{e.at.span + share, e.at.burdened + share})
	}
	r.close(depth)
}

// Calibrate finds what forks of a form cost because r is told of them, and counts that no longer. plain
// runs n forks and joins of nothing, one after the other, and measured the same with calls of r. Each
// is run some times, and the fastest counts: it was not interrupted.
func (r *Recorder) Calibrate(f Form, n int64, plain, measured func()) {
	r.cost[f], r.least[f] = [events]int64{}, 0
	bare, least, took := int64(math.MaxInt64), int64(math.MaxInt64), [events]int64{}
	for range 20 {
		begin := r.now()
		plain()
		bare = min(bare, r.now()-begin)
		r.Start()
		measured()
		if r.work < least {
			least, took = r.work, r.took
		}
	}
	r.least[f] = bare * ps / int64(events) / n // what the forks cost themselves is the program's
	for e := range took {
		r.cost[f][e] = took[e]/n - r.least[f]
	}
}
