package filch

import (
	"context"
	"testing"
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
		q.init(nil)
		for i := range n {
			q.push(numbered(i, &got))
		}
		q.moved = n
		return q
	}
	q := fill(3)
	q.takeBack(func(body) bool { return true })
	q.push(numbered(10, &got))
	for _, want := range []int{10, 0, 1, -1} {
		if n := newest(q); n != want {
			t.Errorf("task %d is taken, not %d", n, want)
		}
	}
	for _, n := range []int{5, 40, 200} { // one by one, and by the chunk
		victim := fill(n)
		p := New(WithWorkers(2))
		thief := newWorker(p, 0)
		if _, ok := thief.takeFrom(victim, 2, true); !ok {
			t.Fatal("nothing was taken")
		}
		for _, q := range []*taskQueue{victim, &thief.tasks} {
			if q.moved != q.q.Len() {
				t.Errorf("%d tasks: %d of %d count as moved", n, q.moved, q.q.Len())
			}
		}
		if victim.q.Len()+thief.tasks.q.Len() != n-1 || thief.tasks.q.Len() == 0 {
			t.Errorf("%d tasks: %d are left and %d were moved", n, victim.q.Len(), thief.tasks.q.Len())
		}
		thief.tasks.push(numbered(1000, &got))
		if k := newest(&thief.tasks); k != 1000 {
			t.Errorf("%d tasks: task %d is taken before the worker's own", n, k)
		}
	}
}
