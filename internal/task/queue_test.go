package task

import (
	"testing"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/steal"
)

// What came from other queues is at the front, and first come, first served; a
// worker's own tasks after it are newest first. That holds whatever is taken out.
func TestMovedTasksAreCounted(t *testing.T) {
	var got int
	newest := func(q *Queue) int {
		task, ok := q.pop(true)
		if !ok {
			return -1
		}
		task.run()
		return got
	}
	fill := func(n int) *Queue {
		q := &newWorker(newPool(1, LIFO), 1).Own
		for i := range n {
			q.push(0, numbered(i, &got))
		}
		q.list().foreign = n
		return q
	}
	q := fill(3)
	q.TakeBack(func(Body) bool { return true })
	q.push(0, numbered(10, &got))
	for _, want := range []int{10, 0, 1, -1} {
		if n := newest(q); n != want {
			t.Errorf("task %d is taken, not %d", n, want)
		}
	}
	for _, n := range []int{5, 40, 200} { // one by one, and by the chunk
		victim := fill(n)
		p := newPool(2, LIFO)
		thief := newWorker(p, 0)
		setPlaces(p, counted{Active: p.Engine.Size()}) // so that nobody is woken
		if _, ok := thief.takeFrom(victim, 2, true); !ok {
			t.Fatal("nothing was taken")
		}
		for _, q := range []*Queue{victim, &thief.Own} {
			if q.list().foreign != q.len() {
				t.Errorf("%d tasks: %d of %d count as moved", n, q.list().foreign, q.len())
			}
		}
		if victim.len()+thief.Own.len() != n-1 || thief.Own.len() == 0 {
			t.Errorf("%d tasks: %d are left and %d were moved", n, victim.len(), thief.Own.len())
		}
		thief.Own.push(0, numbered(1000, &got))
		if k := newest(&thief.Own); k != 1000 {
			t.Errorf("%d tasks: task %d is taken before the worker's own", n, k)
		}
	}
}

// A thief takes half of a queue, or one task, whatever the order, and the victim knows by which worker it was robbed.
func TestHowMuchAThiefTakes(t *testing.T) {
	for _, order := range []Order{LIFO, FIFO, ByPriority} {
		for one, moved := range map[bool]int{false: 4, true: 0} {
			p := newPool(2, order, func(p *Pool) {
				p.Engine.Stealing.One, p.Engine.Stealing.Order = one, steal.Localized
			})
			setPlaces(p, counted{Active: 2}) // so that nobody is woken
			thief, victim := of(p.Engine.Hire()), of(p.Engine.Hire())
			for range 6 {
				p.Engine.Hire()
			}
			for range 10 {
				victim.Own.push(0, none)
			}
			if _, ok := thief.stealTask(); !ok {
				t.Fatal("nothing was stolen")
			}
			if n := thief.Own.len(); n != moved || victim.Own.len() != 9-moved {
				t.Errorf("%v, one: %t: %d were moved, and %d are left", order, one, n, victim.Own.len())
			}
			for range 10 {
				all, look := victim.Engine.Others()
				if at, _ := look.Next(); all[at] != &thief.Engine {
					t.Error("the victim does not look at the thief first")
				}
			}
		}
	}
}

// A thief takes half of the tasks of the best priority, those that came first, and
// keeps the others for later; but nothing if the global queue has a more urgent one.
func TestStealByPriority(t *testing.T) {
	p := newPool(2, ByPriority)
	var got int
	victim, thief := newWorker(p, 0), newWorker(p, 1)
	setPlaces(p, counted{Active: p.Engine.Size()}) // so that nobody is woken
	for i := range 10 {
		victim.Own.push(5, numbered(50+i, &got))
		if i < 7 {
			victim.Own.push(3, numbered(30+i, &got))
		}
	}
	take := func(q *Queue, steal bool) int {
		task, ok := thief.takeFrom(q, 2, steal)
		if !ok {
			return -1
		}
		task.run()
		return got
	}
	if n := take(&victim.Own, true); n != 30 || thief.Own.len() != 3 || victim.Own.items.bests(100) != 3 {
		t.Errorf("task %d stolen, and %d more", n, thief.Own.len())
	}
	for _, want := range []int{31, 32, 33} {
		if task, ok := thief.Own.pop(false); ok {
			task.run()
		}
		if got != want {
			t.Errorf("task %d, not %d", got, want)
		}
	}
	p.Global.push(2, numbered(20, &got))
	if n := take(&victim.Own, true); n != -1 {
		t.Errorf("task %d stolen, though there was a more urgent one", n)
	}
	if n := take(&p.Global, false); n != 20 {
		t.Errorf("task %d taken", n)
	}
	p.Global.push(3, numbered(37, &got))
	if n := take(&victim.Own, true); n != 34 {
		t.Errorf("task %d stolen, not the equal of the global one", n)
	}
}

// A full queue spills the worse half, and the newcomer.
func TestAFullQueueSpillsTheWorseHalf(t *testing.T) {
	p := newPool(1, ByPriority)
	setPlaces(p, counted{Active: 1}) // so that nobody is woken
	var got int
	w := newWorker(p, 0)
	for i := range policy.OwnQueue {
		w.Own.push(i, numbered(i, &got))
	}
	if p.Global.some.Load() {
		t.Error("a queue that was not full has spilled")
	}
	w.Own.push(-1, numbered(-1, &got))
	if w.Own.len() != policy.Spilled || p.Global.len() != policy.Spilled+1 {
		t.Fatalf("%d tasks, and %d global ones", w.Own.len(), p.Global.len())
	}
	p.Engine.Workers.Store(engines(w))
	for want := range policy.OwnQueue + 1 {
		task, ok := w.nextTask()
		if !ok {
			t.Fatalf("%d tasks", want)
		}
		if task.run(); got != want-1 && want < policy.Every {
			t.Errorf("task %d, not %d", got, want-1)
		}
	}
	if task, ok := w.nextTask(); ok {
		t.Errorf("%v is too many", task)
	}
}

// The order of search: a worker's own tasks, those of others, global ones; and after 60
// that are not global, of any worker, a global one, or if there is none, after 60 more.
func TestSearchByPriority(t *testing.T) {
	p := newPool(2, ByPriority)
	var got int
	w, other := newWorker(p, 0), newWorker(p, 1)
	p.Engine.Workers.Store(engines(w, other))
	setPlaces(p, counted{Active: p.Engine.Size()}) // so that nobody is woken
	next := func() int {
		task, ok := w.nextTask()
		if !ok {
			return -1
		}
		task.run()
		return got
	}
	p.Global.push(0, numbered(3, &got))
	other.Own.push(0, numbered(2, &got))
	w.Own.push(0, numbered(1, &got))
	for _, want := range []int{1, 2, 3, -1} {
		if n := next(); n != want {
			t.Fatalf("task %d, not %d", n, want)
		}
	}
	const none, misses = 7, 58 // two were not global already
	for i := range 400 {
		if i%2 == 0 {
			w.Own.push(0, numbered(none, &got))
		} else {
			other.Own.push(0, numbered(none, &got))
		}
		if i == misses+1 {
			p.Global.push(5, numbered(100, &got)) // the turn at 60 was missed
		}
		n := next()
		if want := i == misses+60; (n == 100) != want {
			t.Fatalf("search %d: task %d", i, n)
		} else if want {
			return
		}
	}
}
