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
