package task

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/filch-go/filch/internal/engine"
)

// wayPool returns a pool with one place, which w has.
func wayPool(order Order) (p *Pool, w *Worker) {
	p = newPool(1, order)
	p.Engine.TakePlace()
	return p, of(p.Engine.Hire())
}

// Who may go on: all in a pause, those that gave way for nothing more urgent, and one after
// each task.
func TestWhoMayGoOn(t *testing.T) {
	for _, c := range []struct {
		order       Order
		paused      bool
		best, laden int64
		turn        bool
		level       int64
		ok          bool
	}{
		{LIFO, true, noPriority, 1, false, math.MaxInt64, true},
		{ByPriority, true, 3, 1, false, math.MaxInt64, true},
		{ByPriority, true, 3, 1, true, math.MaxInt64, true},
		{FIFO, false, noPriority, 0, false, math.MaxInt64, true},
		{FIFO, false, noPriority, 1, false, math.MaxInt64, false},
		{FIFO, false, noPriority, 1, true, math.MaxInt64, true},
		{ByPriority, false, 3, 1, true, 3, true},
		{ByPriority, false, noPriority, 0, false, noPriority, true},
		{ByPriority, false, noPriority, 1, false, noPriority, false},
		{ByPriority, false, 3, 0, false, 2, true},
		{ByPriority, false, engine.Nothing + 1, 0, false, engine.Nothing, true},
		{ByPriority, false, engine.Nothing, 0, false, math.MaxInt64, false},
	} {
		p := newPool(1, c.order)
		p.Paused.Store(c.paused)
		p.best.Store(c.best)
		p.laden.Store(c.laden)
		if level, ok := p.goesOn(c.turn); level != c.level || ok != c.ok {
			t.Errorf("p.goesOn(c.turn): %+v: %d, %t", c, level, ok)
		}
		if c.turn && p.mayPass() != c.ok {
			t.Errorf("%+v: mayPass is %t", c, !c.ok)
		}
	}
}

// A worker gives way for what is more urgent, or if the watch asks; and for nothing if it
// could not go on, or an idle worker can take the task.
func TestWhoGivesWay(t *testing.T) {
	type state struct {
		p *Pool
		w *Worker
	}
	for _, order := range []Order{LIFO, ByPriority} {
		for name, c := range map[string]struct {
			change func(s state)
			gives  bool
		}{
			"asked":             {func(state) {}, true},
			"guest":             {func(s state) { s.w.Guest = true }, false},
			"paused":            {func(s state) { s.p.Paused.Store(true) }, false},
			"closed":            {func(s state) { s.p.Phase.Store(Cancelled) }, false},
			"shut down":         {func(s state) { s.p.Phase.Store(Draining) }, true},
			"without a slot":    {func(s state) { s.w.Engine.Hold.YieldPlace() }, false},
			"one too many":      {func(s state) { _ = s.p.Engine.Places.Enter() }, false},
			"another is idle":   {func(s state) { s.p.Engine.SetLimit(2, true) }, false},
			"not asked":         {func(s state) { s.p.way.wanted.Store(false) }, false},
			"nothing is queued": {func(s state) { s.p.laden.Store(0) }, order == LIFO},
		} {
			p, w := wayPool(order)
			w.Engine.Level.Store(5)
			p.way.wanted.Store(true)
			p.laden.Store(1) // some other worker has tasks
			c.change(state{p, w})
			if got := w.mayGiveWay(); got != c.gives {
				t.Errorf("w.mayGiveWay(): %v, %s: %t", order, name, got)
			}
			if c.gives && p.way.wanted.Load() {
				t.Errorf("%v, %s: one more would give way", order, name)
			}
		}
	}
	for _, c := range []struct {
		queued []int
		level  int64
		wanted bool
		gives  bool
	}{
		{[]int{4}, 5, false, true},
		{[]int{4}, 5, true, true},
		{[]int{5}, 5, false, false},
		{[]int{5}, 5, true, true},
		{[]int{6}, 5, true, false}, // less urgent
	} {
		p, w := wayPool(ByPriority)
		w.Engine.Level.Store(c.level)
		p.way.wanted.Store(c.wanted)
		for _, priority := range c.queued {
			p.Global.push(priority, none)
		}
		if got := w.mayGiveWay(); got != c.gives {
			t.Errorf("w.mayGiveWay(): %+v: %t", c, got)
		}
		if left := c.wanted && !(c.gives && c.level <= int64(c.queued[0])); p.way.wanted.Load() != left {
			t.Errorf("%+v: asked still: %t", c, !left)
		}
		w.Guest = true
		if w.mayGiveWay() {
			t.Errorf("%+v: a guest gives way", c)
		}
	}
}

// Those that gave way stand in line, the most urgent first, then the longest waiting; and
// the line keeps none that has left.
func TestTheLineOfThoseThatGaveWay(t *testing.T) {
	p := newPool(1, ByPriority)
	ws := make([]*Worker, 7)
	for i, level := range []int64{5, 3, 5, 9, 3, 1, 5} {
		ws[i] = newWorker(p, i)
		ws[i].Engine.Level.Store(level)
		p.way.enter(ws[i])
		if n := p.way.n.Load(); int(n) != i+1 {
			t.Errorf("%d stand in line, and %d are counted", i+1, n)
		}
	}
	yes := func() bool { return true }
	if w := p.way.leave(0, yes); w != nil {
		t.Errorf("one of level %d leaves for one of level 0", w.Engine.Level.Load())
	}
	if w := p.way.leave(math.MaxInt64, func() bool { return false }); w != nil {
		t.Errorf("one leaves without a slot: %d", w.Engine.ID)
	}
	var got []int
	for range ws {
		n := len(p.way.waiting) - 1
		level := p.way.waiting[n].Engine.Level.Load()
		if p.way.leave(level-1, yes) != nil {
			t.Errorf("one of level %d leaves for a less urgent one", level)
		}
		w := p.way.leave(level, yes)
		if w == nil || int(p.way.n.Load()) != n || p.way.waiting[:n+1][n] != nil {
			t.Fatalf("after %v: %v, %d are counted", got, w, p.way.n.Load())
		}
		got = append(got, w.Engine.ID)
	}
	if want := []int{5, 1, 4, 0, 2, 6, 3}; !slices.Equal(got, want) {
		t.Errorf("they leave as %v, not %v", got, want)
	}
	if p.way.leave(math.MaxInt64, yes) != nil {
		t.Error("one leaves that is not there")
	}
}

// A task that comes makes those give way that run what is less urgent, unless a worker is
// idle or nothing may start.
func TestWhoIsUrged(t *testing.T) {
	for name, c := range map[string]struct {
		order        Order
		best, least  int64
		limit        int32
		paused       bool
		urged        []bool // those of level 5 and 1
		leastIsAtEnd int64
	}{
		"more urgent than one":  {ByPriority, 3, 5, 2, false, []bool{true, false}, 5},
		"more urgent than both": {ByPriority, 0, 5, 2, false, []bool{true, true}, 5},
		"as urgent":             {ByPriority, 5, 9, 2, false, []bool{false, false}, 5},
		"less urgent":           {ByPriority, 7, 9, 2, false, []bool{false, false}, 5},
		"one place more":        {ByPriority, 3, 5, 3, false, []bool{false, false}, 5},
		"one place less":        {ByPriority, 3, 5, 1, false, []bool{true, false}, 5},
		"paused":                {ByPriority, 3, 5, 2, true, []bool{false, false}, 5},
		"another order":         {FIFO, 3, 5, 2, false, []bool{false, false}, 5},
	} {
		p := newPool(2, c.order)
		var ws []*Worker
		for _, level := range []int64{5, 1} {
			p.Engine.TakePlace()
			w := of(p.Engine.Hire())
			w.Engine.Level.Store(level)
			ws = append(ws, w)
		}
		p.best.Store(c.best)
		p.way.least.Store(c.least)
		p.Engine.SetLimit(c.limit, true)
		p.Paused.Store(c.paused)
		p.urge()
		for i, w := range ws {
			if got := w.Engine.Demand == engine.GiveWay; got != c.urged[i] {
				t.Errorf("%s: the one of level %d: %t", name, w.Engine.Level.Load(), got)
			}
		}
		if l := p.way.least.Load(); l != c.leastIsAtEnd {
			t.Errorf("%s: the least urgent level is %d", name, l)
		}
		p.ask()
		if !p.way.wanted.Load() || ws[0].Engine.Demand != engine.GiveWay || ws[1].Engine.Demand != engine.GiveWay {
			t.Errorf("%s: not all are asked", name)
		}
	}
}

// A worker that begins to run something asks itself whether a task is more urgent.
func TestALevelIsNoted(t *testing.T) {
	for name, c := range map[string]struct {
		best, level int64
		limit       int32
		asks        bool
	}{
		"more urgent":     {3, 5, 1, true},
		"as urgent":       {5, 5, 1, false},
		"less urgent":     {7, 5, 1, false},
		"another is idle": {3, 5, 2, false},
		"one too many":    {3, 5, 0, true},
		"noted before":    {3, engine.Nothing, 1, false},
	} {
		p, w := wayPool(ByPriority)
		p.Engine.SetLimit(c.limit, true)
		p.best.Store(c.best)
		w.SetLevel(c.level)
		if got := w.Engine.Demand == engine.GiveWay; got != c.asks {
			t.Errorf("%s: %t", name, got)
		}
		if w.Engine.Level.Load() != c.level || p.way.least.Load() < c.level {
			t.Errorf("%s: level %d, the least urgent %d", name, w.Engine.Level.Load(), p.way.least.Load())
		}
	}
	var y way
	y.least.Store(4)
	for _, c := range [][2]int64{{3, 4}, {4, 4}, {5, 5}, {1, 5}, {9, 9}} {
		if y.raise(c[0]); y.least.Load() != c[1] {
			t.Errorf("raised to %d: %d", c[0], y.least.Load())
		}
	}
}

// When no task may come, all that gave way go on, each with a place; else as many as there
// are free places.
func TestThoseThatGaveWayGetPlaces(t *testing.T) {
	p := newPool(2, FIFO)
	total := 0
	wait := func(n int) {
		for i := range n {
			w, done := newWorker(p, i), make(chan bool)
			go func() {
				defer close(done)
				w.Engine.Suspend(func() {
					p.way.enter(w)
					runtime.Goexit()
				})
			}()
			<-done
		}
		total += n
	}
	goOn := func() int { return total - int(p.way.n.Load()) }
	wait(3)
	p.laden.Store(1)
	if p.letOneGoOn() || goOn() != 0 {
		t.Error("one goes on before a task")
	}
	p.laden.Store(0)
	for p.letOneGoOn() {
	}
	if n := placesOf(p).Active; goOn() != 2 || n != 2 {
		t.Errorf("%d go on, with %d places of 2", goOn(), n)
	}
	wait(2)
	if p.letAllGoOn(); goOn() != 5 || placesOf(p) != (counted{Active: 5}) || p.way.n.Load() != 0 {
		t.Errorf("%d of 5 go on, with %d places", goOn(), placesOf(p).Active)
	}
	wait(1)
	w := newWorker(p, 9)
	w.Engine.Hold.YieldPlace()
	if w.passPlace(); goOn() != 5 {
		t.Error("a place is passed on that is none")
	}
	w.Engine.Hold.RetakePlace()
	if w.passPlace(); goOn() != 6 || w.Engine.Hold.Load().HasPlace() || placesOf(p) != (counted{Active: 5}) {
		t.Errorf("%d of 6 go on; %v", goOn(), w.Engine.Hold.Load())
	}
	w.Engine.Hold.RetakePlace()
	if w.passPlace(); !w.Engine.Hold.Load().HasPlace() {
		t.Error("a place was passed to nobody")
	}
}
