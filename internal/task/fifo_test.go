package task

import (
	"math/rand/v2"
	"testing"
)

// With FIFO, tasks leave the global queue in the order in which they came, whichever workers take them, and however
// these come to it. No rest of what a worker took waits in its own queue while another takes what came later.
func TestFIFOFromOutsideInOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		p := newPool(workers, FIFO)
		setPlaces(p, counted{Active: workers}) // so that nobody is woken
		var got int
		var all []*Worker
		for i := range workers {
			all = append(all, newWorker(p, i))
		}
		p.Engine.Workers.Store(engines(all...))
		const tasks = 500
		pushed := 0
		r := rand.New(rand.NewPCG(1, 2))
		for want := 0; want < tasks; {
			for range r.IntN(100) {
				if pushed < tasks {
					p.Global.push(0, numbered(pushed, &got))
					pushed++
				}
			}
			w := all[r.IntN(workers)]
			if r.IntN(10) == 0 { // others may steal it, and must not take part of what is global
				w.Own.push(0, numbered(-1, &got))
			}
			ok := false
			if r.IntN(2) == 0 {
				if ok = p.Source().Look(&w.Engine); ok {
					w.next.run()
				}
			} else {
				var next Task
				if next, ok = w.nextTask(); ok {
					next.run()
				}
			}
			switch {
			case !ok && pushed > want:
				t.Fatalf("%d workers: worker %d found nothing, and %d tasks are queued", workers, w.Engine.ID, p.Depth())
			case !ok || got == -1:
			case got != want:
				t.Fatalf("%d workers: worker %d took task %d of the global queue, not %d, which came before", workers, w.Engine.ID, got, want)
			default:
				want++
			}
		}
	}
}

// With FIFO, a task that comes to a worker's own queue while it takes a batch of the global queue does not part that batch.
func TestFIFOBatchesHoldTogether(t *testing.T) {
	p := newPool(2, FIFO)
	setPlaces(p, counted{Active: 2})
	w, v := newWorker(p, 0), newWorker(p, 1)
	p.Engine.Workers.Store(engines(w, v))
	got := -1
	const tasks = 40
	for i := range tasks {
		p.Global.push(0, numbered(i, &got))
	}
	w.Own.push(0, numbered(-1, &got)) // as from a goroutine that has the context of a task, when the worker found its queue empty
	first, ok := w.takeFrom(&p.Global, 2, false)
	if !ok {
		t.Fatalf("the worker took nothing of %d tasks", tasks)
	}
	first.run()
	for want := got + 1; want < tasks; { // w goes on with its first task, and the other worker takes all the rest
		next, ok := v.nextTask()
		if !ok {
			next, ok = v.stealTask()
		}
		if !ok {
			t.Fatalf("nothing was found, and %d tasks are queued", p.Depth())
		}
		if next.run(); got == -1 {
			continue
		}
		if got != want {
			t.Fatalf("task %d of the global queue was taken, not %d, which came before", got, want)
		}
		want++
	}
}
