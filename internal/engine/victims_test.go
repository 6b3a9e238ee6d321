package engine

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/steal"
)

// house is a machine: processors whose numbers are near are near.
type house struct{ at int }

func (h *house) Processor() int        { return h.at }
func (h *house) Distance(a, b int) int { return max(a-b, b-a) }

// poolThatSteals returns a pool, and so many workers of it, which all have run fork-join work.
func poolThatSteals(s Stealing, n int) (p *Pool, all []*Worker) {
	p = newPool(n)
	p.Stealing = s
	p.Stealing.complete()
	for range n {
		w := p.hireSlow()
		p.addForker(w)
		all = append(all, w)
	}
	return p, all
}

// order returns the IDs of those that w looks at, in their order.
func (w *Worker) order(others func() ([]*Worker, *steal.Look)) (ids []int) {
	all, look := others()
	for at, ok := look.Next(); ok; at, ok = look.Next() {
		ids = append(ids, all[at].ID)
	}
	return ids
}

// A worker that was robbed looks at its robber first, until it has found nothing for some time; others do not.
func TestARobbedWorkerLooksAtItsRobberFirst(t *testing.T) {
	for _, c := range []struct {
		name     string
		order    steal.Order
		localize bool
	}{{"localized", steal.Localized, true}, {"random", nil, false}} {
		_, all := poolThatSteals(Stealing{Order: c.order}, 8)
		victim, thief := all[2], all[6]
		victim.own.Push(&Job{})
		if thief.steal(victim) == nil {
			t.Fatal("nothing was stolen")
		}
		if got := victim.robber.Load(); (got == thief.Number) != c.localize {
			t.Errorf("%s: the robber is %d", c.name, got)
		}
		first := 0
		for range 16 {
			if victim.order(victim.otherForkers)[0] == thief.ID && victim.order(victim.Others)[0] == thief.ID {
				first++
			}
			victim.seeker.Missed()
		}
		if (first == 16) != c.localize {
			t.Errorf("%s: the robber came first %d times of 16", c.name, first)
		}
		firsts := map[int]bool{}
		for range 100 {
			firsts[victim.order(victim.Others)[0]] = true
		}
		if len(firsts) < 4 {
			t.Errorf("%s: first come %v", c.name, firsts)
		}
	}
}

// A worker looks first at the one that it has stolen from.
func TestAnAdaptiveWorkerLooksFirstWhereItFound(t *testing.T) {
	_, all := poolThatSteals(Stealing{Order: steal.Adaptive}, 6)
	w := all[1]
	for _, from := range []int{4, 0, 5} {
		w.Robbed(all[from])
		for range 10 {
			if ids := w.order(w.otherForkers); ids[0] != from {
				t.Errorf("after worker %d: %v", from, ids)
			}
		}
	}
}

// What a worker remembers of another holds wherever that is in the lists. If it was forgotten, the others are looked at
// all the same, and another worker that has its ID is as good.
func TestWhatIsRememberedOutlivesWorkers(t *testing.T) {
	for _, gone := range []int{0, 3, 5} {
		p, all := poolThatSteals(Stealing{Order: steal.Adaptive}, 8)
		w, favourite := all[7], all[5]
		w.Robbed(favourite)
		if ids := w.order(w.Others); ids[0] != favourite.ID {
			t.Fatal("w.order(w.Others):", ids)
		}
		p.forget(all[gone])
		want := []int{0, 1, 2, 3, 4, 5, 6}
		want = slices.DeleteFunc(want, func(id int) bool { return id == all[gone].ID })
		for name, others := range map[string]func() ([]*Worker, *steal.Look){"workers": w.Others, "forkers": w.otherForkers} {
			ids := w.order(others)
			if gone != 5 && ids[0] != favourite.ID {
				t.Errorf("without worker %d, of all %s the first is %d", gone, name, ids[0])
			}
			if slices.Sort(ids); !slices.Equal(ids, want) {
				t.Errorf("without worker %d: %v of all %s", gone, ids, name)
			}
		}
		next := p.hireSlow()
		if next.ID != all[gone].ID {
			t.Fatalf("the next has the ID %d", next.ID)
		}
		if ids := w.order(w.Others); len(ids) != 7 || ids[0] != favourite.ID {
			t.Errorf("with another in the place of worker %d: %v", gone, ids)
		}
	}
}

// To look for one that is not in a list takes a step for each that is. It is not done twice for a list of the same
// length.
func TestWhoIsNotInAListIsLookedUpOnce(t *testing.T) {
	_, all := poolThatSteals(Stealing{}, 9)
	list := all[:8]
	var last others
	placeOf := func(id int, list []*Worker) int {
		last.list = list
		return last.Place(id)
	}
	if at := placeOf(0, nil); at >= 0 {
		t.Errorf("worker 0 is at %d of an empty list", at)
	}
	if at := placeOf(8, list); at >= 0 {
		t.Fatalf("worker 8 is at %d", at)
	}
	list = append(slices.Clone(list[:7]), all[8])
	if at := placeOf(8, list); at >= 0 {
		t.Error("worker 8 is looked up again")
	}
	if at := placeOf(8, list[1:]); at != 6 {
		t.Errorf("in a shorter list, worker 8 is at %d, not 6", at)
	}
	for _, id := range []int{8, 2, 5} { // found where they are, also if they have moved
		for range 2 {
			slices.Reverse(list)
			if at := placeOf(id, list); at != slices.Index(list, all[id]) {
				t.Errorf("worker %d is at %d, not %d", id, at, slices.Index(list, all[id]))
			}
		}
	}
}

// Those that are near are looked at first, and those that have not said where they are last.
func TestNearWorkersAreLookedAtFirst(t *testing.T) {
	h := &house{}
	_, all := poolThatSteals(Stealing{Order: steal.NearestOn(h)}, 6)
	for i, at := range []int{10, 13, 11, -1, 19, 12} {
		if h.at = at; at >= 0 {
			all[i].Locate()
		}
	}
	for w, want := range map[int][]int{0: {2, 5, 1, 4, 3}, 4: {1, 5, 2, 0, 3}, 5: {1, 2, 0, 4, 3}} {
		got := all[w].order(all[w].Others)
		if w == 5 { // two are as near
			slices.Sort(got[:2])
		}
		if !slices.Equal(got, want) {
			t.Errorf("worker %d looks at %v, not %v", w, got, want)
		}
	}
	for range 20 {
		if got := all[3].order(all[3].otherForkers); len(got) != 5 {
			t.Errorf("the worker that is nowhere looks at %v", got)
		}
	}
	_, all = poolThatSteals(Stealing{Order: steal.NearestOn(&house{at: -1})}, 3) // on a machine that is not known
	if all[0].Locate(); len(all[0].order(all[0].Others)) != 2 {
		t.Error("not all are looked at")
	}
}

// A worker is where it published now and then, and at first.
func TestWhoPublishesSaysWhereItIs(t *testing.T) {
	h := &house{at: 7}
	p := newPool(4)
	p.Stealing = Stealing{Order: steal.NearestOn(h)}
	p.Stealing.complete()
	w := testWorker(p, 0)
	f := body(func(f *forks, n int) int { return n }).enter(w)
	if w.publish(1); w.processor.Load() != nowhere {
		t.Errorf("before it publishes, it is at %d", w.processor.Load())
	}
	for i := range 64 {
		f.args = append(f.args, i)
		w.publish(1)
		if h.at = 8; i < 63 && w.processor.Load() != 7 {
			t.Fatalf("after %d forks, it is at %d", i+1, w.processor.Load())
		}
	}
	if w.processor.Load() != 8 {
		t.Errorf("in the end, it is at %d", w.processor.Load())
	}
}

// desk is a machine and its kernel. A thread that is pinned is at its processor, others are at 99.
type desk struct {
	house
	at atomic.Int32
}

func (d *desk) Processor() int                  { return int(d.at.Load()) }
func (d *desk) Thread() int                     { return affinity.System.Thread() }
func (d *desk) Mask(int) (affinity.Mask, error) { return affinity.Mask{3}, nil }
func (d *desk) SetMask(_ int, m affinity.Mask) error {
	d.at.Store(99)
	if ids := m.Processors(); len(ids) == 1 {
		d.at.Store(int32(ids[0]))
	}
	return nil
}

// A worker that is pinned is where it is pinned from its first work on, not where its goroutine began.
func TestAPinnedWorkerIsWhereItIsPinned(t *testing.T) {
	d := &desk{}
	d.at.Store(99)
	p := newPool(1)
	p.Stealing = Stealing{Order: steal.NearestOn(d)}
	p.Stealing.complete()
	p.Seats = affinity.New(d, []int{7}, func(err error) { t.Error(err) })
	at := make(chan int32)
	give(p, func() { at <- (*p.Workers.Load())[0].processor.Load() })
	if got := <-at; got != 7 {
		t.Errorf("the worker is at processor %d, not 7", got)
	}
}

// A thief yields before each attempt, and only if it is to, and is not pinned.
func TestYieldBeforeAnAttempt(t *testing.T) {
	for _, c := range []struct{ asked, pinned, yields bool }{{false, false, false}, {true, false, true}, {true, true, false}} {
		p := newPool(2)
		p.Stealing.Yield = c.asked
		if c.pinned {
			p.Seats = affinity.New(&desk{}, []int{1}, func(err error) { t.Error(err) })
		}
		v, w := testWorker(p, 0), testWorker(p, 1)
		w.takeSeat(p.Size())
		w.began = 0
		if w.steal(v) != nil {
			t.Error("something was stolen")
		}
		w.Looks()
		if (w.began > 0) != c.yields {
			t.Errorf("%+v: others had the processor for %d ns", c, w.began)
		}
		if w.count.attempts != 1 || w.count.looks != 1 {
			t.Errorf("testWorker(p, 1): %+v", w.count)
		}
		w.leaveSeat()
	}
}
