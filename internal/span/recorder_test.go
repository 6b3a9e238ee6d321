package span

import (
	"math/rand/v2"
	"testing"
	"time"
)

// run is a program on a Recorder with a clock of its own.
type run struct {
	*Recorder
	time int64
}

func start(burden time.Duration) *run {
	r := &run{}
	r.Recorder = NewRecorder(func() int64 { return r.time }, burden)
	r.Start()
	return r
}

func (r *run) works(d int64) { r.time += d }

func (r *run) child(d int64) {
	depth := r.Join()
	r.works(d)
	r.End(depth)
}

func (r *run) is(t *testing.T, what string, work, span, burdened time.Duration, forks int64) {
	t.Helper()
	if got, want := r.Stop(), (Profile{work, span, burdened, forks}); got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
	if r.Depth() != 0 {
		t.Errorf("%s: %d are open in the end", what, r.Depth())
	}
}

// A child that runs at its join belongs to the path up to its fork.
func TestForksAreCountedFromWhereTheyWereMade(t *testing.T) {
	r := start(10)
	r.works(5)
	r.is(t, "no fork", 5, 5, 5, 0)

	r = start(10)
	r.works(1)
	r.Fork(Frame)
	r.works(100)
	r.child(7)
	r.works(2)
	r.is(t, "a short child", 110, 103, 103, 1)

	r = start(10)
	r.works(1)
	r.Fork(Link)
	r.works(100)
	r.child(200)
	r.works(2)
	r.is(t, "a long child", 303, 203, 213, 1)

	r = start(10)
	r.works(1)
	r.Fork(Frame)
	r.works(100)
	r.child(95)
	r.is(t, "a child that is the longer one only with its burden", 196, 101, 106, 1)

	r = start(10)
	for range 100 { // a comb: each tooth is forked 1 after the one before
		r.works(1)
		r.Fork(Frame)
	}
	for range 100 {
		r.child(50)
	}
	r.is(t, "a comb", 5100, 150, 160, 100)

	r = start(0)
	for range 100 { // phases
		r.Fork(Frame)
		r.works(3)
		r.child(4)
	}
	r.is(t, "phases", 700, 400, 400, 100)

	r = start(10)
	r.tree(10, 8)
	r.is(t, "a balanced tree", 8<<10, 8, 8+10*10, 1<<10-1)

	r = start(10)
	r.list(100)
	r.is(t, "a list: each forks the rest, and works", 100, 1, 100*10, 100)
}

func (r *run) tree(height int, leaf int64) {
	if height == 0 {
		r.works(leaf)
		return
	}
	r.Fork(Frame)
	r.tree(height-1, leaf)
	depth := r.Join()
	r.tree(height-1, leaf)
	r.End(depth)
}

func (r *run) list(n int) {
	if n == 0 {
		return
	}
	r.Fork(Frame)
	r.works(1)
	depth := r.Join()
	r.list(n - 1)
	r.End(depth)
}

// What follows a spawn starts where that was, and pays for being stolen. A block waits for its children, and a
// child for its own.
func TestContinuationsAreCountedFromTheSpawn(t *testing.T) {
	r := start(10)
	block := r.Open()
	for range 100 {
		child := r.Spawn()
		r.works(50)
		r.EndChild(child)
		r.works(1)
	}
	r.Sync(block)
	r.works(3)
	r.End(block)
	r.is(t, "a loop of spawns", 5103, 99+50+3, 99*11+50+3, 100)

	r = start(0)
	block = r.Open()
	child := r.Spawn()
	r.works(1)
	grandchild := r.Spawn()
	r.works(20)
	r.EndChild(grandchild)
	r.works(2)
	r.EndChild(child) // with its own
	r.works(5)
	r.Sync(block)
	r.works(1)
	child = r.Spawn()
	r.works(7)
	r.EndChild(child)
	r.works(6)
	r.End(block)
	r.is(t, "children of children, and two syncs", 42, 22+7, 22+7, 3)
}

// A child that is queued runs later, and counts from where it was queued. Its block ends with it.
func TestQueuedChildrenAreCountedFromWhereTheyWereQueued(t *testing.T) {
	r := start(10)
	block := r.Open()
	r.works(1)
	first := r.Queue()
	r.works(2)
	second := r.Queue()
	r.works(30)
	d := r.Begin(second)
	r.works(40)
	third := r.Queue()
	r.works(1)
	r.End(d)
	d = r.Begin(third)
	r.works(5)
	r.End(d)
	d = r.Begin(first)
	r.works(4)
	r.End(d)
	r.End(block)
	r.works(1)
	r.is(t, "asyncs", 84, 3+40+5+1, 3+40+5+1+20, 3)
}

// A loop takes as long as its longest piece, and a fork for each level of the tree above it.
func TestLoopsTakeAsLongAsTheirLongestPiece(t *testing.T) {
	for _, c := range []struct {
		pieces         int64
		most           int
		span, burdened time.Duration
	}{
		{1, 0, 1, 1}, {2, 0, 2, 12}, {3, 0, 3, 23}, {4, 0, 4, 24}, {5, 0, 5, 35},
		{64, 0, 64, 124}, {65, 0, 65, 135},
		{64, 1, 2080, 2080}, {64, 2, 1040, 1040}, {64, 64, 64, 124},
	} {
		r := start(10)
		loop := r.Loop()
		for i := range c.pieces {
			r.works(i + 1)
			if took := r.EndPiece(loop); took != i+1 {
				t.Errorf("piece %d took %d", i+1, took)
			}
		}
		r.EndLoop(loop, c.most)
		r.is(t, "a loop", time.Duration(c.pieces*(c.pieces+1)/2), c.span, c.burdened, c.pieces-1)
	}
	r := start(10)
	r.EndLoop(r.Loop(), 0)
	r.is(t, "a loop of nothing", 0, 0, 0, 0)
	r = start(0)
	loop := r.Loop()
	r.Fork(Frame)
	r.works(3)
	r.child(5)
	r.EndPiece(loop)
	r.works(4)
	r.EndPiece(loop)
	r.EndLoop(loop, 0)
	r.is(t, "a fork in a piece", 12, 5, 5, 2)
}

// A panic leaves things open; what it is recovered in closes them, and what is open around that stays.
func TestWhatAPanicLeavesOpenIsClosed(t *testing.T) {
	r := start(0)
	r.Fork(Frame)
	r.works(1)
	depth := r.Depth()
	r.Fork(Frame)
	r.Open()
	r.Spawn()
	r.works(2)
	r.Loop()
	r.Begin(r.Queue())
	r.Fork(Link)
	r.works(4)
	r.Unwind(depth)
	r.Unwind(depth)
	r.child(20)
	r.is(t, "unwound", 27, 20, 20, 5)

	r = start(0)
	r.Fork(Frame)
	r.works(1)
	child := r.Join()
	r.Fork(Frame)
	r.Fork(Frame)
	r.works(5)
	r.End(child)
	r.is(t, "a child that leaves forks", 6, 5, 5, 3)

	r = start(0)
	r.Fork(Frame)
	r.Fork(Frame)
	r.works(1)
	r.Drop()
	r.child(2)
	r.is(t, "a fork that is dropped", 3, 2, 2, 2)
}

// What the calls cost themselves is not the program's: not in counts, where they differ by form.
func TestCostOfMeasuringIsNotCounted(t *testing.T) {
	r := start(0)
	calls := map[Form][3]int64{Frame: {70, 40, 10}, Link: {50, 30, 10}}
	pairs := func(f Form, measured bool, work int64) {
		for range 10 {
			r.works(2) // of a fork and join as such
			if measured {
				r.works(calls[f][0])
				r.Fork(f)
				r.works(calls[f][1])
				depth := r.Join()
				r.works(calls[f][2] + work)
				r.End(depth)
			}
		}
	}
	for f := range calls {
		r.Calibrate(f, 10, func() { pairs(f, false, 0) }, func() { pairs(f, true, 0) })
	}
	r.Start()
	pairs(Frame, true, 0)
	pairs(Link, true, 5)
	r.works(calls[Frame][2]) // up to Stop
	// A third of the 2 is counted in the child, and a third beside it.
	r.is(t, "calibrated", 10*2+10*7, 10*2+10*7-13, 10*2+10*7-13, 20)
}

// On a machine that is faster than in Calibrate, calls cost less than is taken for them. Then forks count as what they
// cost as such, and no path as nothing; but where some events are quick and some are slow, the sums are those of the clock.
func TestNoRunIsShorterThanItsForks(t *testing.T) {
	r := start(0)
	call := int64(90)
	pairs := func(measured bool) {
		for range 10 {
			r.works(6) // of a fork and join as such
			if measured {
				r.works(call)
				r.Fork(Frame)
				r.works(call)
				depth := r.Join()
				r.works(call)
				r.End(depth)
			}
		}
	}
	r.Calibrate(Frame, 10, func() { pairs(false) }, func() { pairs(true) })
	r.Start()
	call = 50
	pairs(true)
	r.is(t, "all are quick", 10*6+2, 10*6+2-10*2, 10*6+2-10*2, 10)

	r.Start()
	for i := range 10 {
		r.works(96 - 30 + int64(i%2)*80) // 96 in Calibrate
		r.Fork(Frame)
		r.Drop()
	}
	r.works(90)
	r.is(t, "some are quick", 5*2+5*(2-30+50)+2, 5*2+5*(2-30+50)+2, 5*2+5*(2-30+50)+2, 10)

	r.Start()
	for range 1000 {
		r.Fork(Frame)
		r.Drop()
	}
	r.works(90 + 50*mostOwed/ps)
	work := time.Duration(1000*2 + 2 + 49*mostOwed/ps)
	r.is(t, "a long part does not pay for many short ones", work, work, work, 1000)
}

// An event that comes late asks whether the program ran, and one that does not, now and then.
func TestInterruptionsAreNotCounted(t *testing.T) {
	r := start(0)
	asked, lost := 0, int64(0)
	r.Lost(func() int64 { asked++; l := lost; lost = 0; return l })
	step := func(d, l int64) {
		r.works(d)
		lost += l
		r.Fork(Frame)
		r.Drop()
	}
	step(late-1, 5)
	if asked != 0 {
		t.Error("asked at once")
	}
	step(late+100, 100) // 105, with what it has not asked for before
	step(30*late, 31*late)
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	for range 2 * often / (late - 1) {
		step(late-1, 0)
	}
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
	work := time.Duration(late - 1 + late + 100 - 105 + 2*often/(late-1)*(late-1))
	r.is(t, "interrupted", work, work, work, 3+2*often/(late-1))
}

// node is a part of a graph that is made of a random program.
type node struct {
	takes, burden int64
	before        []*node
	span, burdens int64
	seen          bool
}

// far returns how far the end of n is from the beginning, by the longest path.
func (n *node) far() (span, burdened int64) {
	if !n.seen {
		n.seen = true
		for _, b := range n.before {
			s, d := b.far()
			n.span, n.burdens = max(n.span, s), max(n.burdens, d)
		}
		n.span += n.takes
		n.burdens += n.takes + n.burden
	}
	return n.span, n.burdens
}

// pair is a Recorder, and the graph of what it is told.
type pair struct {
	*run
	rng  *rand.Rand
	at   *node
	work int64
}

func (p *pair) step() {
	d := p.rng.Int64N(20)
	p.works(d)
	p.work += d
	p.at = &node{takes: d, before: []*node{p.at}}
}

func (p *pair) program(left int) {
	p.step()
	if left == 0 {
		return
	}
	switch p.rng.IntN(4) {
	case 0: // forks, joined the newest first
		var forks []*node
		for range p.rng.IntN(4) {
			forks = append(forks, &node{burden: p.burdened(), before: []*node{p.at}})
			p.Fork(Frame)
			p.program(left - 1)
		}
		for len(forks) > 0 {
			around := p.at
			p.at, forks = forks[len(forks)-1], forks[:len(forks)-1]
			depth := p.Join()
			p.program(left - 1)
			p.End(depth)
			p.at = &node{before: []*node{around, p.at}}
			p.step()
		}
	case 1: // spawns
		depth := p.Open()
		p.spawns(left)
		p.End(depth)
	case 2: // asyncs
		depth := p.Open()
		var queued []Point
		var from []*node
		for range p.rng.IntN(4) {
			queued = append(queued, p.Queue())
			from = append(from, &node{burden: p.burdened(), before: []*node{p.at}})
			p.step()
		}
		ends := []*node{p.at}
		for i, q := range queued {
			d := p.Begin(q)
			p.at = from[i]
			p.program(left - 1)
			p.End(d)
			ends = append(ends, p.at)
		}
		p.End(depth)
		p.at = &node{before: ends}
	case 3: // a loop of as many pieces as a tree has leaves
		depth := p.Loop()
		levels := p.rng.IntN(3)
		top := p.at
		var ends []*node
		for range 1 << levels {
			p.at = top
			p.program(left - 1)
			ends = append(ends, p.at)
			p.EndPiece(depth)
		}
		p.EndLoop(depth, 0)
		p.at = &node{burden: int64(levels) * p.burdened(), before: ends}
	}
	p.step()
}

// spawns is a block of children, some of which have their own.
func (p *pair) spawns(left int) {
	var ends []*node
	for range p.rng.IntN(4) {
		here := p.at
		d := p.Spawn()
		p.step()
		if left > 1 {
			p.spawns(left - 2)
		}
		p.EndChild(d)
		ends = append(ends, p.at)
		p.at = &node{burden: p.burdened(), before: []*node{here}}
		p.step()
	}
	p.at = &node{before: append(ends, p.at)}
}

func (p *pair) burdened() int64 { return p.burden / ps }

// Work, span and burdened span are those of the graph, whatever the program.
func TestRandomProgramsAgainstTheirGraphs(t *testing.T) {
	for seed := range uint64(2000) {
		p := &pair{run: start(time.Duration(seed % 30)), rng: rand.New(rand.NewPCG(seed, 1)), at: &node{}}
		p.program(4)
		span, burdened := p.at.far()
		forks := p.forks
		p.is(t, "a random program", time.Duration(p.work), time.Duration(max(span, min(p.work, 1))), time.Duration(max(burdened, span, min(p.work, 1))), forks)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
