package task

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// holdable is a HeldBody that counts what becomes of it.
type holdable struct {
	job
	freed, dropped atomic.Int32
	onDrop         func()
}

func (b *holdable) Free() { b.freed.Add(1) }

func (b *holdable) Admit(*Worker) { panic("it is of no Subpool") }

func (b *holdable) Drop(_ *Pool, err error) {
	if err != ErrClosed {
		panic(err)
	}
	b.dropped.Add(1)
	if b.onDrop != nil {
		b.onDrop()
	}
}

func newHeld() (*Held, *holdable) {
	b := &holdable{job: func() {}}
	return &Held{Body: b}, b
}

// isReleased reports whether l was released.
func (l *Latch) isReleased() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.released
}

// heldModel is what a pool in a pause has of held tasks, told in plain words.
type heldModel struct {
	all            []*Held // in the order in which they were held
	queued, direct int
	blocked        int
}

func (m *heldModel) remove(h *Held) bool {
	i := slices.Index(m.all, h)
	if i < 0 {
		return false
	}
	m.all = slices.Delete(m.all, i, i+1)
	return true
}

func (m *heldModel) release(h *Held) bool {
	ok := m.remove(h)
	switch {
	case !ok || h.Caller != nil:
	case h.Long:
		m.blocked++
		m.direct++
	default:
		m.queued++
	}
	return ok
}

func (m *heldModel) unhold(h *Held) bool {
	ok := m.remove(h)
	if ok && h.Caller == nil {
		m.direct++
	}
	return ok
}

// Whatever is held and let go, in any order and of each kind, is what a list says.
func TestHeldTasksByAModel(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 0))
		p := newPool(1, Order(seed%3), func(p *Pool) { p.Room = NewRoom(2, nil) })
		p.Pause()
		var m heldModel
		var every []*Held
		released := map[*Held]bool{}
		for step := range 200 {
			switch k := rng.IntN(5); {
			case k < 2 || len(every) == 0:
				h, _ := newHeld()
				switch rng.IntN(4) {
				case 0:
					h.Caller = &Latch{}
				case 1:
					h.Long = true
				}
				if !p.Hold(h) {
					t.Fatal("an open pool holds nothing")
				}
				p.DropIfCancelled(h)
				every, m.all = append(every, h), append(m.all, h)
			case k == 2:
				h := every[rng.IntN(len(every))]
				got, want := p.Release(h, nil, 0), m.release(h)
				if got != want || want && h.Caller != nil && !h.Caller.isReleased() {
					t.Fatalf("seed %d, step %d: Release: %v; %+v", seed, step, got, h)
				}
				released[h] = released[h] || got
			default:
				h := every[rng.IntN(len(every))]
				if got, want := p.Unhold(h), m.unhold(h); got != want || want && h.Caller != nil && !h.Caller.isReleased() {
					t.Fatalf("seed %d, step %d: Unhold: %v; %+v", seed, step, got, h)
				}
			}
			m.compare(t, p)
			if t.Failed() {
				t.Fatalf("seed %d, step %d", seed, step)
			}
		}
		for _, h := range every {
			if b := h.Body.(*holdable); (b.freed.Load() == 1) != released[h] || b.freed.Load() > 1 || b.dropped.Load() != 0 {
				t.Errorf("seed %d: freed %d times, dropped %d times, released: %v", seed, b.freed.Load(), b.dropped.Load(), released[h])
			}
		}
	}
}

// compare tells where p differs from m.
func (m *heldModel) compare(t *testing.T, p *Pool) {
	t.Helper()
	most := len(m.all) / 2
	if got := p.AllHeld(most); !slices.Equal(got, m.all[:most]) {
		t.Errorf("the first %d that are held are %d others", most, len(got))
	}
	n := 0
	for _, h := range m.all {
		if h.Caller == nil {
			n++
		}
	}
	if p.Held() != n {
		t.Errorf("%d are held, not %d", p.Held(), n)
	}
	if got := int(p.Room.count.load().taken()); p.Depth() != m.queued || got != m.queued {
		t.Errorf("%d are queued, and %d have room, not %d", p.Depth(), got, m.queued)
	}
	if got := p.Totals.Direct.Load(); int(got) != m.direct {
		t.Errorf("%d are counted as begun or dropped without a queue, not %d", got, m.direct)
	}
	if got := p.Engine.Places.Load().Blocked(); got != m.blocked {
		t.Errorf("%d have a goroutine of their own, not %d", got, m.blocked)
	}
}

// Of several that let a task go, one does; and the pool does not end before.
func TestHeldTasksAreLetGoOnce(t *testing.T) {
	for range 50 {
		p := newPool(2, LIFO)
		var won, ran atomic.Int32
		const n = 20
		var all []*Held
		for range n {
			h := &Held{Body: &holdable{job: func() { ran.Add(1) }}}
			p.Hold(h)
			all = append(all, h)
		}
		p.Drain()
		end := p.Close()
		var released atomic.Int32
		var wg sync.WaitGroup
		for k := range 4 {
			wg.Go(func() {
				for _, h := range all {
					switch {
					case k%2 == 0 && p.Release(h, nil, 0):
						released.Add(1)
						won.Add(1)
					case k%2 == 1 && p.Unhold(h):
						won.Add(1)
					}
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
		p.endMu.Lock() // as what drops the last one does, in package filch, by its place
		p.closeIfDone()
		p.endMu.Unlock()
		<-end
		if won.Load() != n || ran.Load() != released.Load() || p.Held() != 0 {
			t.Fatalf("%d of %d were let go; %d were queued, and %d have run", won.Load(), n, released.Load(), ran.Load())
		}
	}
}

// A pool does not end while a task is held that no caller runs.
func TestAPoolEndsWhenNothingIsHeld(t *testing.T) {
	p := newPool(1, LIFO)
	h, _ := newHeld()
	caller, _ := newHeld()
	caller.Caller = &Latch{}
	p.Hold(h)
	p.Hold(caller)
	p.Drain()
	p.Close()
	if p.Engine.Places.Load().Ended() {
		t.Error("it has ended, and a task is held")
	}
	p.Unhold(h)
	p.endMu.Lock()
	over := p.closeIfDone()
	p.endMu.Unlock()
	if !over {
		t.Error("a caller that runs its task itself keeps the pool from its end")
	}
	if late, _ := newHeld(); p.Hold(late) || p.Held() != 0 {
		t.Error("a pool that has ended holds a task")
	}
}

// Cancel drops all that is held, also if some do not return from that, and what comes too late.
func TestDropsThatDoNotReturn(t *testing.T) {
	p := newPool(1, LIFO)
	var all []*holdable
	for i := range 9 {
		h, b := newHeld()
		if i%3 == 1 {
			b.onDrop = runtime.Goexit
		}
		if i%3 == 2 {
			b.onDrop = func() { panic("bad") }
		}
		p.Hold(h)
		all = append(all, b)
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		defer func() { recover() }()
		p.Cancel()
	}()
	<-ended
	late, b := newHeld()
	p.Hold(late)
	p.DropIfCancelled(late)
	for i, b := range append(all, b) {
		if b.dropped.Load() != 1 || b.freed.Load() != 0 {
			t.Errorf("%d: dropped %d times, freed %d times", i, b.dropped.Load(), b.freed.Load())
		}
	}
	if p.Held() != 0 {
		t.Errorf("%d are held", p.Held())
	}
}

// What waits comes out in the order of its queue: the newest, the oldest, or the most urgent, of equals the oldest.
func TestWaitingByAModel(t *testing.T) {
	type entry struct {
		priority int
		h        *Held
	}
	next := map[Order]func(all []entry) int{
		LIFO: func(all []entry) int { return len(all) - 1 },
		FIFO: func([]entry) int { return 0 },
		ByPriority: func(all []entry) (best int) {
			for i, e := range all {
				if e.priority < all[best].priority {
					best = i
				}
			}
			return best
		},
	}
	for order, first := range next {
		for seed := range uint64(30) {
			rng := rand.New(rand.NewPCG(seed, 1))
			q := Waiting{Order: order}
			var all []entry
			for step := range 300 {
				switch rng.IntN(3 + step/100) {
				case 0:
					e := entry{rng.IntN(5) - 2, &Held{}}
					q.Push(e.priority, e.h)
					all = append(all, e)
				case 1:
					if len(all) > 0 {
						i := rng.IntN(len(all))
						q.Remove(all[i].h)
						all = slices.Delete(all, i, i+1)
					}
				default:
					h, ok := q.Pop()
					if ok != (len(all) > 0) || !ok && h != nil {
						t.Fatalf("order %d, seed %d, step %d: Pop: %v of %d", order, seed, step, ok, len(all))
					}
					if ok {
						i := first(all)
						if h != all[i].h {
							t.Fatalf("order %d, seed %d, step %d: not the next one", order, seed, step)
						}
						all = slices.Delete(all, i, i+1)
					}
				}
				if q.Len() != len(all) || q.entries() > 2*len(all)+64 {
					t.Fatalf("order %d, seed %d, step %d: Len is %d of %d, with %d entries", order, seed, step, q.Len(), len(all), q.entries())
				}
			}
		}
	}
}
