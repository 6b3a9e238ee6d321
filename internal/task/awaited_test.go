package task

import (
	"context"
	"testing"
)

// awaited is a Body that can be compared.
type awaited struct{ job }

// A task that is waited for leaves the queue if it is the newest, or the best, and then counts as
// begun in place. Any other stays, and so does all that is behind it.
func TestOnlyTheNewestIsTakenByItsWaiter(t *testing.T) {
	for _, order := range []Order{LIFO, FIFO, ByPriority} {
		p := newPool(1, order)
		w := newWorker(p, 0)
		q := &w.Own
		first, last := &awaited{func() {}}, &awaited{func() {}}
		if q.TakeNewest(first) {
			t.Fatalf("order %d: a task was found in an empty queue", order)
		}
		q.push(2, Task{context.Background(), first})
		q.push(1, Task{context.Background(), last})
		if q.TakeNewest(first) || q.len() != 2 {
			t.Errorf("order %d: a task was taken that another is in front of", order)
		}
		for i, b := range []*awaited{last, first} {
			if !q.TakeNewest(b) || q.len() != 1-i {
				t.Errorf("order %d: what came first in the queue was not taken", order)
			}
		}
		var f Figures
		w.addTo(&f, 0)
		if f.InPlace != 2 || f.Done != 2 || f.Submitted != 2 || f.Started != 0 {
			t.Errorf("order %d: %+v", order, f)
		}
		o, _ := p.sight()
		if p.Engine.Workers.Store(engines(w)); o.Started != 0 {
			t.Errorf("order %d: %d have started in a pool without the worker", order, o.Started)
		}
		if o, _ = p.sight(); o.Started != 2 {
			t.Errorf("order %d: the watch for stalls sees that %d have started, not 2", order, o.Started)
		}
	}
}
