package filch

import (
	"context"
	"slices"
	"testing"

	"github.com/filch-go/filch/internal/place"
)

// Who looks at the others looks at each once, and not at itself, wherever it is among them.
func TestOthersAreLookedAtOnce(t *testing.T) {
	p := New(WithWorkers(4))
	var all []*engineWorker
	for i := range 5 {
		all = append(all, &testWorker(p, i).engine)
	}
	p.engine.workers.Store(&all)
	forkers := []*engineWorker{all[3], all[1], all[4]}
	for _, w := range forkers {
		p.engine.addForker(w)
	}
	check := func(w *engineWorker, what string, want []*engineWorker, others func() (all []*engineWorker, at func(i int) int, n int)) {
		t.Helper()
		for range 3 {
			list, at, n := others()
			var got []*engineWorker
			for i := range n {
				got = append(got, list[at(i)])
			}
			if len(got) != len(want) {
				t.Errorf("worker %d looks at %d %s, not %d", w.id, len(got), what, len(want))
			}
			for _, o := range want {
				if !slices.Contains(got, o) {
					t.Errorf("worker %d does not look at worker %d of the %s", w.id, o.id, what)
				}
			}
		}
	}
	without := func(list []*engineWorker, w *engineWorker) (others []*engineWorker) {
		for _, o := range list {
			if o != w {
				others = append(others, o)
			}
		}
		return others
	}
	for _, index := range []int{0, 2, 4, 5, 100} { // where it was when it last looked
		for _, w := range all {
			w.index, w.forker = index, index
			check(w, "workers", without(all, w), func() ([]*engineWorker, func(int) int, int) {
				all, pass, n := w.others()
				return all, pass.At, n
			})
			check(w, "forkers", without(forkers, w), func() ([]*engineWorker, func(int) int, int) {
				all, pass, n := w.otherForkers()
				return all, pass.At, n
			})
		}
	}
}

// Who gives up a place looks for work to fill it if it may be the first that is free, and
// nobody searches: then it asks those that may have some.
func TestWhoLooksForWorkWhenItLeaves(t *testing.T) {
	leave, leaveSearching := func(p *Pool) { p.engine.leave() }, func(p *Pool) { p.engine.leaveSearching() }
	block, leaveBlocked := func(p *Pool) { p.engine.block() }, func(p *Pool) { p.engine.leaveBlocked() }
	for _, c := range []struct {
		limit, extra  int32
		before, after counted
		step          func(p *Pool)
		looks         bool
	}{
		{2, 0, counted{2, 0, 0}, counted{1, 0, 0}, leave, true},
		{2, 0, counted{3, 0, 0}, counted{2, 0, 0}, leave, false}, // there is none
		{2, 0, counted{1, 0, 0}, counted{0, 0, 0}, leave, false}, // another was free before
		{2, 1, counted{3, 0, 0}, counted{2, 0, 0}, leave, true},
		{2, 1, counted{2, 0, 0}, counted{1, 0, 0}, leave, false},
		{2, 0, counted{2, 1, 0}, counted{1, 1, 0}, leave, false},
		{2, 0, counted{2, 1, 0}, counted{1, 0, 0}, leaveSearching, true},
		{2, 0, counted{2, 2, 0}, counted{1, 1, 0}, leaveSearching, false},
		{2, 0, counted{1, 0, 0}, counted{0, 0, 1}, block, true},
		{2, 0, counted{2, 0, 1}, counted{2, 0, 0}, leaveBlocked, true},
	} {
		p := New(WithWorkers(int(c.limit)), WithStallTimeout(0))
		p.engine.extra.Store(c.extra)
		w := testWorker(p, 0)
		p.engine.addForker(&w.engine)
		setPlaces(p, c.before)
		c.step(p)
		if looks := w.engine.demand == hunger; looks != c.looks || placesOf(p) != c.after {
			t.Errorf("%+v: it looks: %t; the places are %v", c, looks, p.engine.places.Load())
		}
	}
}

// A free place is taken once, and no more than there are.
func TestPlacesAreCounted(t *testing.T) {
	p := New(WithWorkers(2), WithStallTimeout(0))
	p.engine.extra.Store(1)
	for i := range 5 {
		if p.engine.takePlace() != (i < 3) || placesOf(p) != (counted{active: min(i+1, 3)}) {
			t.Errorf("place %d of 3: %v", i+1, p.engine.places.Load())
		}
	}
	w := testWorker(p, 0)
	w.engine.hold.YieldPlace()
	if w.engine.regain() || w.engine.hold.Load().HasPlace() {
		t.Error("a place was regained that is not free")
	}
	_ = p.engine.places.Leave()
	if !w.engine.regain() || !w.engine.hold.Load().HasPlace() || placesOf(p) != (counted{active: 3}) {
		t.Errorf("the place was not regained: %v", p.engine.places.Load())
	}
	setPlaces(p, counted{4, 2, 5})
	if c := p.engine.counts(p.engine.places.Load()); c.Active != 4 || c.Searching != 2 || c.Limit != 3 {
		t.Errorf("%+v", c)
	}
}

// A worker searches only while there is no worker too many, and others do not search enough.
func TestWhoSearches(t *testing.T) {
	for _, c := range []struct {
		state    counted
		searches bool
	}{
		{counted{active: 1}, true}, {counted{active: 4}, true}, {counted{active: 5}, false},
		{counted{active: place.MaxSearching, searching: place.MaxSearching}, false},
	} {
		p := New(WithWorkers(4), WithStallTimeout(0))
		w := testWorker(p, 0)
		setPlaces(p, c.state)
		want := c.state
		if c.searches {
			want.searching++
		}
		if got := w.engine.startSearching(); got != c.searches || w.engine.searching != got || placesOf(p) != want {
			t.Errorf("%+v: %t, %t; %v", c.state, got, w.engine.searching, p.engine.places.Load())
		}
		if c.searches {
			if w.describeDoing(false) != "searches" {
				t.Errorf("it %s", w.describeDoing(false))
			}
			full := c.state.active == 4 // else another worker is woken
			if w.engine.stopSearching(); w.engine.searching || full && placesOf(p) != c.state {
				t.Errorf("it searches still: %v", p.engine.places.Load())
			}
		}
	}
}

// What a worker has counted is added once, each to its own figure.
func TestFiguresAreAddedOnce(t *testing.T) {
	p := New(WithWorkers(1), WithStallTimeout(0))
	p.engine.takePlace()
	w := p.engine.hire()
	for range 2 {
		w.count = counters{published: 1, takenBack: 2, attempts: 3, steals: 4, helped: 5, waits: 6, wakes: 7, looks: 8}
		w.flush()
		w.flush()
		if w.count != (counters{}) {
			t.Errorf("%+v is left", w.count)
		}
	}
	s := p.Stats()
	if got := []int64{s.Published, s.TakenBack, s.Attempts, s.Steals, s.Helped, s.Waits, s.Wakes, s.Tasks.Attempts}; !slices.Equal(got, []int64{2, 4, 6, 8, 10, 12, 14, 16}) {
		t.Error(got)
	}
	w.count.wakes = 1
	if p.Stats().Wakes != 14 {
		t.Error("the figures of a worker at work are its own")
	}
	p.engine.fire(w)
	if p.Stats().Wakes != 15 {
		t.Error("those of one at rest are exact")
	}
	setPlaces(p, counted{3, 1, 2})
	if s := p.Stats(); s.Workers != 1 || s.Active != 3 || s.Busy != 2 || s.Searching != 1 || s.Idle != 0 || s.Blocked != 2 {
		t.Errorf("%+v", s)
	}
	setPlaces(p, counted{})
	if s := p.Stats(); s.Idle != 1 || s.Busy != 0 {
		t.Errorf("%+v", s)
	}
}

// Workers that a crowd has left behind are let go, but for those that still have tasks; what they
// have counted is kept, and their numbers are given again.
func TestWorkersOfACrowdAreLetGo(t *testing.T) {
	p := New(WithWorkers(1), WithOrder(LIFO), WithStallTimeout(0))
	var crowd []*engineWorker
	for range 100 {
		crowd = append(crowd, p.engine.hire())
	}
	crowd[90].as().tasks.push(0, task{context.Background(), plainTask(func(context.Context) {})})
	ids := map[int]bool{}
	for _, w := range crowd {
		w.count.wakes = 1
		w.forks.Store(true)
		p.engine.addForker(w)
		if ids[w.id] || w.number != uint32(w.id)+1 {
			t.Errorf("worker %d has the number %d", w.id, w.number)
		}
		ids[w.id] = true
	}
	for _, w := range crowd {
		p.engine.fire(w)
	}
	left := *p.engine.workers.Load()
	if len(left) > 40 || !slices.Contains(left, crowd[90]) || len(p.engine.ids) != 100-len(left) || len(*p.engine.forkers.Load()) != len(left) {
		t.Errorf("%d of 100 are left, %d of them forkers; %d numbers are free", len(left), len(*p.engine.forkers.Load()), len(p.engine.ids))
	}
	free := map[*engineWorker]bool{p.engine.spare.Load(): true}
	for _, w := range p.engine.free {
		if free[w] {
			t.Errorf("worker %d is free twice", w.id)
		}
		free[w] = true
	}
	for _, w := range left {
		if !free[w] {
			t.Errorf("worker %d is lost", w.id)
		}
	}
	for _, w := range p.engine.free[len(p.engine.free):cap(p.engine.free)] {
		if w != nil {
			t.Errorf("worker %d is kept, and was let go", w.id)
		}
	}
	for _, w := range crowd {
		if gone := !slices.Contains(left, w); gone && !w.as().tasks.gone || !gone && w.as().tasks.gone {
			t.Errorf("worker %d: let go: %t; takes tasks: %t", w.id, gone, !w.as().tasks.gone)
		}
	}
	if s := p.Stats(); s.Wakes != 100 || s.Tasks.Queued != 1 {
		t.Errorf("%+v", s)
	}
	most := 0
	for range 100 {
		most = max(most, p.engine.hire().id)
	}
	if most != 99 {
		t.Errorf("of 100, one is number %d", most)
	}
}

// A worker that was woken counts as one that fills its place, however long its goroutine
// waits for a processor: else the watch for stalls takes it for one that is lost.
func TestAWokenWorkerIsNotLost(t *testing.T) {
	p := New(WithWorkers(1), WithStallTimeout(0))
	p.engine.takePlace()
	w := p.engine.hire()
	w.unparked = make(chan bool, 1) // nobody receives
	p.engine.parked = append(p.engine.parked, w)
	if !p.engine.unpark() || !w.runs.Load() {
		t.Fatal("it does not count")
	}
	if n := p.lost(1); n != 0 {
		t.Errorf("%d places are lost", n)
	}
}
