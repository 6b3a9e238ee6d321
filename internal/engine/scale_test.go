package engine

import (
	"sync"
	"testing"

	"github.com/filch-go/filch/steal"
)

// A turn of a worker that finds nothing takes no more looks at deques on a
// thousand workers than on a few; and none if nobody has ever forked.
func TestATurnInVainIsShort(t *testing.T) {
	const workers = 1000
	p := newPool(workers)
	all := make([]*Worker, workers)
	for i := range all {
		all[i] = p.hireSlow()
	}
	look := func() (attempts int, asked int64) {
		w := all[workers/2]
		w.count = counters{}
		before := tasksOf(p).asked.Load()
		if j, found := w.look(true); j != nil || found {
			t.Fatal("something was found")
		}
		if w.count != (counters{attempts: w.count.attempts}) {
			t.Errorf("it has counted %+v", w.count)
		}
		return w.count.attempts, tasksOf(p).asked.Load() - before
	}
	if n, asked := look(); n != 0 || asked != 1 {
		t.Errorf("%d looks at deques and %d into the Source where nobody has worked", n, asked)
	}
	for _, w := range all {
		w.Start()
	}
	if n, asked := look(); n == 0 || n > steal.Glance || asked != 1 {
		t.Errorf("%d looks at deques and %d into the Source in a turn", n, asked)
	}
}

// Glances miss nobody for long, and never look at the worker itself.
func TestGlancesReachEverybody(t *testing.T) {
	p := newPool(100)
	all := make([]*Worker, 100)
	for i := range all {
		all[i] = p.hireSlow()
		all[i].Start()
	}
	for _, w := range all {
		w.Demand = None
	}
	thief := all[0]
	asked := func() (n int) {
		for _, w := range all {
			if w.Demand == Hunger {
				n++
			}
		}
		return n
	}
	for turns := 0; asked() < 99; turns++ {
		if thief.look(true); turns > 1000 {
			t.Fatalf("%d of 99 were asked", asked())
		}
	}
	if thief.Demand != None {
		t.Error("a worker asks itself")
	}
}

// A thief that looks for tasks at all others in between sees the forks of all others nonetheless, whatever their number.
func TestALookAtAllHidesNobodyFromTheNextGlance(t *testing.T) {
	for _, order := range append(steal.Orders(), steal.NearestOn(&house{})) {
		for _, others := range []int{steal.Glance, steal.Glance + 1, 2 * steal.Glance, 4 * steal.Glance, 100} {
			_, all := poolThatSteals(Stealing{Order: order}, others+1)
			seen := map[*Worker]bool{}
			for range 100 {
				all[3].Others()
				list, look := all[3].otherForkers()
				for at, ok := look.Next(); ok; at, ok = look.Next() {
					seen[list[at]] = true
				}
			}
			if len(seen) != others {
				t.Errorf("%v: of %d others, %d were looked at", order, others, len(seen))
			}
		}
	}
}

// Workers that were let go are forkers no more.
func TestForkersAreLetGo(t *testing.T) {
	p := newPool(2)
	var crowd, in sync.WaitGroup
	in.Add(200)
	for range 200 {
		crowd.Go(func() {
			w := enter(p)
			defer exit(w)
			in.Done()
			in.Wait()
		})
	}
	crowd.Wait()
	all := map[*Worker]bool{}
	for _, w := range *p.Workers.Load() {
		all[w] = true
	}
	forkers := *p.forkers.Load()
	if len(forkers) > 100 || len(forkers) != len(all) {
		t.Errorf("%d forkers of %d workers", len(forkers), len(all))
	}
	for _, w := range forkers {
		if !all[w] {
			t.Fatal("a forker is no worker")
		}
	}
}
