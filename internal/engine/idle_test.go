package engine

import (
	"slices"
	"testing"

	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/steal"
)

// Who looks at the others looks at each once, and not at itself, wherever it is among them.
func TestOthersAreLookedAtOnce(t *testing.T) {
	p := newPool(4)
	var all []*Worker
	for i := range 5 {
		all = append(all, testWorker(p, i))
	}
	p.Workers.Store(&all)
	forkers := []*Worker{all[3], all[1], all[4]}
	for _, w := range forkers {
		p.addForker(w)
	}
	check := func(w *Worker, what string, want []*Worker, others func() ([]*Worker, *steal.Look)) {
		t.Helper()
		for range 3 {
			list, look := others()
			var got []*Worker
			for at, ok := look.Next(); ok; at, ok = look.Next() {
				got = append(got, list[at])
			}
			if len(got) != len(want) {
				t.Errorf("worker %d looks at %d %s, not %d", w.ID, len(got), what, len(want))
			}
			for _, o := range want {
				if !slices.Contains(got, o) {
					t.Errorf("worker %d does not look at worker %d of the %s", w.ID, o.ID, what)
				}
			}
		}
	}
	without := func(list []*Worker, w *Worker) (others []*Worker) {
		for _, o := range list {
			if o != w {
				others = append(others, o)
			}
		}
		return others
	}
	for _, at := range []int{-1, 0, 2, 4, 5, 100} { // where it was when it last looked
		for _, w := range all {
			s := w.seeks()
			s.all.self, s.forkers.self = at, at
			check(w, "workers", without(all, w), w.Others)
			check(w, "forkers", without(forkers, w), w.otherForkers)
		}
	}
}

// Who gives up a place looks for work to fill it if it may be the first that is free, and
// nobody searches: then it asks those that may have some.
func TestWhoLooksForWorkWhenItLeaves(t *testing.T) {
	leave, leaveSearching := func(p *Pool) { p.Leave() }, func(p *Pool) { p.leaveSearching() }
	block, leaveBlocked := func(p *Pool) { p.Block() }, func(p *Pool) { p.LeaveBlocked() }
	for _, c := range []struct {
		limit, extra  int32
		before, after counted
		step          func(p *Pool)
		looks         bool
	}{
		{2, 0, counted{2, 0, 0}, counted{1, 0, 0}, leave, true},
		{1, 0, counted{1, 0, 0}, counted{0, 0, 0}, leave, false}, // nobody is left to ask
		{1, 0, counted{1, 0, 1}, counted{0, 0, 1}, leave, true},
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
		p := newPool(int(c.limit))
		p.extra.Store(c.extra)
		w := testWorker(p, 0)
		p.addForker(w)
		setPlaces(p, c.before)
		c.step(p)
		if looks := w.Demand == Hunger; looks != c.looks || placesOf(p) != c.after {
			t.Errorf("%+v: it looks: %t; the places are %v", c, looks, p.Places.Load())
		}
	}
}

// A free place is taken once, and no more than there are.
func TestPlacesAreCounted(t *testing.T) {
	p := newPool(2)
	p.extra.Store(1)
	for i := range 5 {
		if p.TakePlace() != (i < 3) || placesOf(p) != (counted{Active: min(i+1, 3)}) {
			t.Errorf("place %d of 3: %v", i+1, p.Places.Load())
		}
	}
	w := testWorker(p, 0)
	w.Hold.YieldPlace()
	if w.tryPlace() || w.Hold.Load().HasPlace() {
		t.Error("a place was regained that is not free")
	}
	_ = p.Places.Leave()
	if !w.tryPlace() || !w.Hold.Load().HasPlace() || placesOf(p) != (counted{Active: 3}) {
		t.Errorf("the place was not regained: %v", p.Places.Load())
	}
	setPlaces(p, counted{4, 2, 5})
	if c := p.Counts(p.Places.Load()); c.Active != 4 || c.Searching != 2 || c.Limit != 3 {
		t.Errorf("p.Counts(p.Places.Load()): %+v", c)
	}
}

// A worker searches only while there is no worker too many, and others do not search enough.
func TestWhoSearches(t *testing.T) {
	for _, c := range []struct {
		state    counted
		searches bool
	}{
		{counted{Active: 1}, true}, {counted{Active: 4}, true}, {counted{Active: 5}, false},
		{counted{Active: place.MaxSearching, Searching: place.MaxSearching}, false},
	} {
		p := newPool(4)
		w := testWorker(p, 0)
		setPlaces(p, c.state)
		want := c.state
		if c.searches {
			want.Searching++
		}
		if got := w.startSearching(); got != c.searches || w.searching != got || placesOf(p) != want {
			t.Errorf("w.startSearching(): %+v: %t, %t; %v", c.state, got, w.searching, p.Places.Load())
		}
		if c.searches {
			if w.Doing().Kind != AtSearch {
				t.Errorf("it is at %+v", w.Doing())
			}
			full := c.state.Active == 4 // else another worker is woken
			if w.stopSearching(); w.searching || full && placesOf(p) != c.state {
				t.Errorf("it searches still: %v", p.Places.Load())
			}
		}
	}
}

// What a worker has counted is added once, each to its own figure.
func TestFiguresAreAddedOnce(t *testing.T) {
	p := newPool(1)
	p.TakePlace()
	w := p.Hire()
	for range 2 {
		w.count = counters{published: 1, takenBack: 2, attempts: 3, steals: 4, helped: 5, waits: 6, wakes: 7, looks: 8}
		w.flush()
		w.flush()
		if w.count != (counters{}) {
			t.Errorf("%+v is left", w.count)
		}
	}
	figures := func() Figures {
		var also []*Worker
		f := p.Figures(func() { also = append(also, nil) }, func(w *Worker) { also = append(also, w) })
		if !slices.Equal(also, []*Worker{nil, w}) {
			t.Errorf("the Source adds those of %v", also)
		}
		return f
	}
	if f, want := figures(), (Figures{2, 4, 6, 8, 10, 12, 14, 16}); f != want {
		t.Errorf("figures(): %+v", f)
	}
	w.count.wakes = 1
	if figures().Wakes != 14 {
		t.Error("the figures of a worker at work are its own")
	}
	p.Fire(w)
	if figures().Wakes != 15 {
		t.Error("those of one at rest are exact")
	}
	p.free = append(p.free, p.spare.Swap(nil))
	w.count.wakes = 1
	if figures().Wakes != 16 {
		t.Error("those of one that is free are exact")
	}
	for _, c := range []struct {
		places counted
		idle   int
	}{{counted{3, 1, 2}, 0}, {counted{}, 1}} {
		setPlaces(p, c.places)
		if n := p.Counts(p.Places.Load()); p.Size() != 1 || n.Active != c.places.Active || n.Searching != c.places.Searching || max(0, n.Limit-n.Active) != c.idle {
			t.Errorf("p.Counts(p.Places.Load()): %+v", n)
		}
	}
}

// Workers that a crowd has left behind are let go, but for those that the Source has use for; what they
// have counted is kept, and their numbers are given again.
func TestWorkersOfACrowdAreLetGo(t *testing.T) {
	p := newPool(1)
	var crowd []*Worker
	for range 100 {
		crowd = append(crowd, p.Hire())
	}
	tasksOf(p).stays = crowd[90]
	ids := map[int]bool{}
	for _, w := range crowd {
		w.count.wakes = 1
		w.forks.Store(true)
		p.addForker(w)
		if ids[w.ID] || w.Number != uint32(w.ID)+1 {
			t.Errorf("worker %d has the number %d", w.ID, w.Number)
		}
		ids[w.ID] = true
	}
	for _, w := range crowd {
		p.Fire(w)
	}
	left := *p.Workers.Load()
	if len(left) > 40 || !slices.Contains(left, crowd[90]) || len(p.ids) != 100-len(left) || len(*p.forkers.Load()) != len(left) {
		t.Errorf("%d of 100 are left, %d of them forkers; %d numbers are free", len(left), len(*p.forkers.Load()), len(p.ids))
	}
	free := map[*Worker]bool{p.spare.Load(): true}
	for _, w := range p.free {
		if free[w] {
			t.Errorf("worker %d is free twice", w.ID)
		}
		free[w] = true
	}
	for _, w := range left {
		if !free[w] {
			t.Errorf("worker %d is lost", w.ID)
		}
	}
	for _, w := range p.free[len(p.free):cap(p.free)] {
		if w != nil {
			t.Errorf("worker %d is kept, and was let go", w.ID)
		}
	}
	for _, w := range crowd {
		if gone := !slices.Contains(left, w); gone != tasksOf(p).retired[w] {
			t.Errorf("worker %d: let go: %t; the Source has: %t", w.ID, gone, !gone)
		}
	}
	if f := p.Figures(func() {}, func(*Worker) {}); f.Wakes != 100 {
		t.Errorf("p.Figures(…): %+v", f)
	}
	most := 0
	for range 100 {
		most = max(most, p.Hire().ID)
	}
	if most != 99 {
		t.Errorf("of 100, one is number %d", most)
	}
}

// A worker that was woken counts as one that fills its place, however long its goroutine
// waits for a processor: else the watch for stalls takes it for one that is lost.
func TestAWokenWorkerIsNotLost(t *testing.T) {
	p := newPool(1)
	p.TakePlace()
	w := p.Hire()
	w.unparked = make(chan bool, 1) // nobody receives
	p.parked = append(p.parked, w)
	if !p.unpark() || !w.runs.Load() {
		t.Fatal("it does not count")
	}
	if held, lent := p.Fill(); held != 1 || lent != 0 {
		t.Errorf("%d fill a place, and %d have lent one", held, lent)
	}
	if c := p.Census(lends); c != (Census{}) {
		t.Errorf("p.Census(lends): %+v", c)
	}
}
