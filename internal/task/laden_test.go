package task

import (
	"math/rand/v2"
	"testing"
)

// The count of queues that may hold tasks is that of the flags, whatever is pushed,
// popped, moved or let go; so it is 0 only if no worker has a task.
func TestLadenQueuesAreCounted(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, order := range []Order{LIFO, FIFO, ByPriority} {
		p := newPool(1, order)
		setPlaces(p, counted{Active: 1}) // so that nobody is woken
		var workers []*Worker
		for range 100 {
			w := of(p.Engine.Hire())
			workers = append(workers, w)
		}
		check := func(when string) {
			flags := int64(0)
			for _, w := range *p.Engine.Workers.Load() {
				if of(w).Own.some.Load() {
					flags++
				} else if of(w).Own.len() > 0 {
					t.Errorf("seed %d, %v, %s: a queue seems to be empty", seed, order, when)
				}
			}
			if n := p.laden.Load(); n != flags {
				t.Fatalf("seed %d, %v, %s: %d queues are laden, %d by the count", seed, order, when, flags, n)
			}
		}
		for range 5000 {
			w, v := workers[rng.IntN(8)], workers[rng.IntN(8)]
			switch rng.IntN(5) {
			case 0, 1:
				w.Own.push(0, none)
			case 2:
				w.nextTask()
			case 3:
				if v != w && w.Own.len() == 0 {
					w.takeFrom(&v.Own, 2, true)
				}
			case 4:
				w.Own.TakeBack(func(Body) bool { return true })
			}
			check("at work")
		}
		for _, w := range workers[:50] { // those on whose queue the flag is left up, too
			for ok := true; ok; {
				_, ok = w.Own.TakeBack(func(Body) bool { return true })
			}
		}
		for _, w := range workers {
			p.Engine.Fire(&w.Engine)
		}
		check("after many were let go")
		if n := len(*p.Engine.Workers.Load()); n > 60 {
			t.Errorf("%v: %d workers are kept", order, n)
		}
	}
}
