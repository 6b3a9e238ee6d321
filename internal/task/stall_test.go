package task

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/poll"
)

// A watch begins if something is queued, nobody is idle, and there is none.
func TestWhenAWatchBegins(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *Pool)
		begins bool
	}{
		"queued":            {func(*Pool) {}, true},
		"in another queue":  {func(p *Pool) { p.Global.some.Store(false); p.laden.Store(1) }, true},
		"one gave way":      {func(p *Pool) { p.Global.some.Store(false); p.way.n.Store(1) }, true},
		"nothing is queued": {func(p *Pool) { p.Global.some.Store(false) }, false},
		"one is idle":       {func(p *Pool) { p.Engine.SetLimit(2, true) }, false},
		"one too many":      {func(p *Pool) { p.Engine.SetLimit(0, true) }, true},
		"paused":            {func(p *Pool) { p.Paused.Store(true) }, false},
		"no timeout":        {func(p *Pool) { p.StallAfter = 0 }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(1, LIFO, stallAfter(time.Second))
			p.Engine.TakePlace()
			p.Global.some.Store(true)
			c.change(p)
			if p.mayHaveTasks() != (p.Global.some.Load() || p.laden.Load() > 0) {
				t.Errorf("%s: there may be tasks: %t", name, p.mayHaveTasks())
			}
			p.EnsureWatch()
			w := p.watch.Load()
			if (w != nil) != c.begins {
				t.Errorf("%s: it begins: %t", name, w != nil)
			}
			if w == nil {
				return
			}
			if p.soon.Load() != clock.Now()+int64(time.Second)/4 || w.looked.Load() != clock.Now() || w.queued != clock.Now() {
				t.Errorf("%s: the next look is in %v", name, time.Duration(p.soon.Load()-clock.Now()))
			}
			if p.EnsureWatch(); p.watch.Load() != w {
				t.Errorf("%s: a second watch begins", name)
			}
			w.end()
		})
	}
}

// A watch ends once, and takes its places back; one that has ended touches nothing of the next.
func TestWhenAWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, LIFO, stallAfter(time.Second))
		begin := func() *stallWatch {
			w := &stallWatch{pool: p}
			p.watch.Store(w)
			p.soon.Store(7)
			p.Engine.SetExtra(3)
			p.way.wanted.Store(true)
			return w
		}
		is := func(w *stallWatch, soon int64, extra int32, wanted bool) {
			t.Helper()
			if p.watch.Load() != w || p.soon.Load() != soon || p.Engine.Extra() != int(extra) || p.way.wanted.Load() != wanted {
				t.Errorf("%p, %d, %d, %t", p.watch.Load(), p.soon.Load(), p.Engine.Extra(), p.way.wanted.Load())
			}
		}
		first := begin()
		first.end()
		is(nil, 0, 0, false)
		second := begin()
		first.end()
		first.look()
		is(second, 7, 3, true)
		if first.rest(); p.soon.Load() != 7 {
			t.Errorf("one that has ended tells when it looks: %d", p.soon.Load())
		}
		for late, lost := range map[time.Duration]bool{
			0: false, time.Second: false, 10 * time.Second: false, 10*time.Second + 9: false, 10*time.Second + 10: true, -1: true,
		} {
			w := begin()
			w.looked.Store(clock.Now() - int64(late))
			if p.forgetLostWatch(); (p.watch.Load() == nil) != lost {
				t.Errorf("%v late: forgotten: %t", late, !lost)
			}
		}
		p.watch.Store(nil)
		p.forgetLostWatch()
		p.Engine.SetExtra(3)
		p.Phase.Store(Cancelled)
		last := begin()
		last.look()
		is(nil, 0, 0, false)
	})
}

// A pool that is paused while a watch looks has none; what was queued is noted.
func TestAPauseEndsTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, LIFO, stallAfter(time.Second))
		p.Engine.TakePlace()
		p.Global.push(0, none)
		p.EnsureWatch()
		w := p.watch.Load()
		p.Paused.Store(true)
		p.Engine.SetExtra(1)
		time.Sleep(300 * time.Millisecond)
		if p.watch.Load() != nil || p.Engine.Extra() != 0 {
			t.Errorf("there is a watch: %v, and %d places more", w, p.Engine.Extra())
		}
		time.Sleep(time.Second)
		if d := p.Global.age(); d < time.Second {
			t.Errorf("the task is %v old", d)
		}
	})
}

// What the watch sees: what is queued, how many have started, and which workers have.
func TestWhatTheWatchSees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(4, LIFO)
		var ws []*Worker
		for i := range 3 {
			p.Engine.TakePlace()
			w := newWorker(p, i)
			ws = append(ws, w)
			if n := i + 1; i < 2 {
				for range n {
					w.Own.push(0, none)
				}
				w.Own.taken = int64(10 * n)
			}
		}
		ws[1].Own.InPlace.Begun.Store(100)
		p.Engine.Workers.Store(engines(ws...))
		p.Global.push(0, none)
		p.Global.taken = 1000
		p.Engine.SetExtra(2)
		o, queued := p.sight()
		if queued != 4 || o.Started != 1130 || o.Fresh != 2 || o.Extra != 2 || o.Active != 3 || o.Now != clock.Now() || o.Running < 0 {
			t.Errorf("%d are queued; %+v", queued, o)
		}
		ws[0].Own.taken++
		if o, _ = p.sight(); o.Fresh != 1 || o.Started != 1131 {
			t.Errorf("p.sight(): %+v", o)
		}
		if o, _ = p.sight(); o.Fresh != 0 {
			t.Errorf("p.sight(): %+v", o)
		}
		for active := range 3 { // of which all are guests
			if n := p.Lost(active); n != active {
				t.Errorf("of %d places, none with tasks that run, %d are lost", active, n)
			}
		}
	})
}

// Goroutines that could run count as running, about.
func TestGoroutinesThatCouldRun(t *testing.T) {
	var over atomic.Bool
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			for !over.Load() {
				runtime.Gosched()
			}
		})
	}
	defer all.Wait()
	defer over.Store(true)
	poll.Patiently(t, "of 40 goroutines that only yield, 30 are seen to be able to run", func() (bool, any) {
		n := runningGoroutines()
		return n >= 30, n
	})
}

// Places that are added are counted and told of, and those that are taken back are not.
func TestPlacesThatAreAddedAreCounted(t *testing.T) {
	var out strings.Builder
	p := newPool(2, LIFO, logging(&out))
	stalls := int64(0)
	for _, c := range []struct{ to, is, added int }{
		{0, 0, 0}, {1, 1, 1}, {1, 1, 0}, {3, 3, 2}, {2, 2, 0}, {3, 3, 1}, {place.MaxCrowd + 1, place.MaxCrowd, place.MaxCrowd - 3}, {0, 0, 0},
	} {
		out.Reset()
		p.stallTold.Store(0) // or it is told once in a while
		p.setExtra(c.to, 7)
		if c.added > 0 {
			stalls++
		}
		if p.Engine.Extra() != c.is || p.Totals.Stalls.Load() != stalls || c.added > 0 != strings.Contains(out.String(), fmt.Sprintf(" active=7 added=%d\n", c.added)) {
			t.Errorf("%+v: %d, %d times; told: %s", c, p.Engine.Extra(), p.Totals.Stalls.Load(), &out)
		}
	}
}

// How long something has been queued counts from when that was noted, and is never negative.
func TestAnAgeCountsFromWhenItWasNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for by, want := range map[int64]time.Duration{0: 10, 9: 1, 10: 0, 11: 0} {
			if d := since(by, 10); d != want {
				t.Errorf("since %d: %d", by, d)
			}
		}
		lifo, prio, aged := newPool(1, LIFO), newPool(1, ByPriority), newPool(1, ByPriority, func(p *Pool) { p.Ageing = time.Second })
		for _, c := range []struct {
			name string
			p    *Pool
			soon int64
			stop bool
			want int64
		}{
			{"stamps tell", lifo, 7, false, 0},
			{"stamps tell nothing in a pause", lifo, 7, true, clock.Now()},
			{"the watch looks soon", prio, 7, false, 7},
			{"there is no watch", prio, 0, false, clock.Now()},
			{"there is none in a pause", prio, 7, true, clock.Now()},
			{"ageing is exact", aged, 7, false, clock.Now()},
		} {
			c.p.soon.Store(c.soon)
			c.p.Paused.Store(c.stop)
			if at := c.p.pushTime(); at != c.want {
				t.Errorf("%s: %d, not %d", c.name, at, c.want)
			}
			c.p.Paused.Store(false)
		}
		q := &lifo.Global
		if d := q.age(); d != 0 {
			t.Errorf("an empty queue: %v", d)
		}
		q.push(0, none) // into the inbox
		time.Sleep(time.Second)
		if d := q.age(); d != 0 {
			t.Errorf("it is %v old at the first look", d)
		}
		time.Sleep(time.Second)
		if d := q.age(); d != time.Second {
			t.Errorf("it is %v old at the second", d)
		}
		q.mu.Lock()
		q.items.refill(q)
		q.mu.Unlock()
		time.Sleep(time.Second)
		q.push(0, none)
		if d := q.age(); d != 2*time.Second {
			t.Errorf("the oldest is %v old", d)
		}
		var unlimited *Room
		if unlimited.Waiting() != 0 {
			t.Error("somebody waits for room where there is no limit")
		}
	})
}

// When a worker has begun with a task is noted at the first look after that.
func TestTheBeginOfATaskIsNotedOnce(t *testing.T) {
	w := newWorker(newPool(1, LIFO), 0)
	q := &w.Own
	for _, c := range []struct{ taken, now, when int64 }{{0, 5, 0}, {1, 6, 6}, {1, 7, 6}, {2, 8, 8}, {2, 9, 8}} {
		q.taken = c.taken
		if q.stamp(c.now); q.when != c.when || q.before != c.taken {
			t.Errorf("w.Own: %+v: %d", c, q.when)
		}
	}
}
