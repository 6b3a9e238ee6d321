package filch

import (
	"context"
	"testing"

	"github.com/filch-go/filch/internal/policy"
)

// numbered is a task to be told from others.
func numbered(n int, got *int) task {
	return task{context.Background(), plainTask(func(context.Context) { *got = n })}
}

// What came from other queues is at the front, and first come, first served; a
// worker's own tasks after it are newest first. That holds whatever is taken out.
func TestMovedTasksAreCounted(t *testing.T) {
	var got int
	newest := func(q *taskQueue) int {
		task, ok := q.pop(true)
		if !ok {
			return -1
		}
		task.body.(plainTask)(context.Background())
		return got
	}
	fill := func(n int) *taskQueue {
		q := &taskQueue{}
		q.init(New())
		for i := range n {
			q.push(0, numbered(i, &got))
		}
		q.foreign = n
		return q
	}
	q := fill(3)
	q.takeBack(func(runnable) bool { return true })
	q.push(0, numbered(10, &got))
	for _, want := range []int{10, 0, 1, -1} {
		if n := newest(q); n != want {
			t.Errorf("task %d is taken, not %d", n, want)
		}
	}
	for _, n := range []int{5, 40, 200} { // one by one, and by the chunk
		victim := fill(n)
		p := New(WithWorkers(2))
		thief := newWorker(p, 0)
		setPlaces(p, counted{Active: p.Workers()}) // so that nobody is woken
		if _, ok := thief.takeFrom(victim, 2, true); !ok {
			t.Fatal("nothing was taken")
		}
		for _, q := range []*taskQueue{victim, &thief.tasks} {
			if q.foreign != q.q.Len() {
				t.Errorf("%d tasks: %d of %d count as moved", n, q.foreign, q.q.Len())
			}
		}
		if victim.q.Len()+thief.tasks.q.Len() != n-1 || thief.tasks.q.Len() == 0 {
			t.Errorf("%d tasks: %d are left and %d were moved", n, victim.q.Len(), thief.tasks.q.Len())
		}
		thief.tasks.push(0, numbered(1000, &got))
		if k := newest(&thief.tasks); k != 1000 {
			t.Errorf("%d tasks: task %d is taken before the worker's own", n, k)
		}
	}
}

// A thief takes half of the tasks of the best priority, those that came first, and
// keeps the others for later; but nothing if the global queue has a more urgent one.
func TestStealByPriority(t *testing.T) {
	p := New(WithWorkers(2), WithOrder(ByPriority))
	var got int
	victim, thief := newWorker(p, 0), newWorker(p, 1)
	setPlaces(p, counted{Active: p.Workers()}) // so that nobody is woken
	for i := range 10 {
		victim.tasks.push(5, numbered(50+i, &got))
		if i < 7 {
			victim.tasks.push(3, numbered(30+i, &got))
		}
	}
	take := func(q *taskQueue, steal bool) int {
		task, ok := thief.takeFrom(q, 2, steal)
		if !ok {
			return -1
		}
		task.body.(plainTask)(context.Background())
		return got
	}
	if n := take(&victim.tasks, true); n != 30 || thief.tasks.len() != 3 || victim.tasks.levels.Bests(100) != 3 {
		t.Errorf("task %d stolen, and %d more", n, thief.tasks.len())
	}
	for _, want := range []int{31, 32, 33} {
		if task, ok := thief.tasks.pop(false); ok {
			task.body.(plainTask)(context.Background())
		}
		if got != want {
			t.Errorf("task %d, not %d", got, want)
		}
	}
	p.tasks.push(2, numbered(20, &got))
	if n := take(&victim.tasks, true); n != -1 {
		t.Errorf("task %d stolen, though there was a more urgent one", n)
	}
	if n := take(&p.tasks, false); n != 20 {
		t.Errorf("task %d taken", n)
	}
	p.tasks.push(3, numbered(37, &got))
	if n := take(&victim.tasks, true); n != 34 {
		t.Errorf("task %d stolen, not the equal of the global one", n)
	}
}

// A full queue spills the worse half, and the newcomer.
func TestSpill(t *testing.T) {
	p := New(WithWorkers(1), WithOrder(ByPriority))
	setPlaces(p, counted{Active: 1}) // so that nobody is woken
	var got int
	w := newWorker(p, 0)
	for i := range policy.OwnQueue {
		w.tasks.push(i, numbered(i, &got))
	}
	if p.tasks.some.Load() {
		t.Error("a queue that was not full has spilled")
	}
	w.tasks.push(-1, numbered(-1, &got))
	if w.tasks.len() != policy.Spilled || p.tasks.len() != policy.Spilled+1 {
		t.Fatalf("%d tasks, and %d global ones", w.tasks.len(), p.tasks.len())
	}
	p.engine.Workers.Store(engines(w))
	for want := range policy.OwnQueue + 1 {
		task, ok := w.nextTask()
		if !ok {
			t.Fatalf("%d tasks", want)
		}
		if task.body.(plainTask)(context.Background()); got != want-1 && want < policy.Every {
			t.Errorf("task %d, not %d", got, want-1)
		}
	}
	if task, ok := w.nextTask(); ok {
		t.Errorf("%v is too many", task)
	}
}

// The order of search: a worker's own tasks, those of others, global ones; and after 60
// that are not global, whoever's they were, a global one, or if there is none, after 60 more.
func TestSearchByPriority(t *testing.T) {
	p := New(WithWorkers(2), WithOrder(ByPriority))
	var got int
	w, other := newWorker(p, 0), newWorker(p, 1)
	p.engine.Workers.Store(engines(w, other))
	setPlaces(p, counted{Active: p.Workers()}) // so that nobody is woken
	next := func() int {
		task, ok := w.nextTask()
		if !ok {
			return -1
		}
		task.body.(plainTask)(context.Background())
		return got
	}
	p.tasks.push(0, numbered(3, &got))
	other.tasks.push(0, numbered(2, &got))
	w.tasks.push(0, numbered(1, &got))
	for _, want := range []int{1, 2, 3, -1} {
		if n := next(); n != want {
			t.Fatalf("task %d, not %d", n, want)
		}
	}
	const none, misses = 7, 58 // two were not global already
	for i := range 400 {
		if i%2 == 0 {
			w.tasks.push(0, numbered(none, &got))
		} else {
			other.tasks.push(0, numbered(none, &got))
		}
		if i == misses+1 {
			p.tasks.push(5, numbered(100, &got)) // the turn at 60 was missed
		}
		n := next()
		if want := i == misses+60; (n == 100) != want {
			t.Fatalf("search %d: task %d", i, n)
		} else if want {
			return
		}
	}
}
