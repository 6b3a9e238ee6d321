package filch

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// The least urgent level that may run is no less than that of any worker.
func TestTheLeastUrgentLevelIsNotForgotten(t *testing.T) {
	p := New(WithWorkers(1), WithOrder(ByPriority))
	p.takePlace()
	w := p.hire()
	p.tasks.best.Store(5)
	var turns atomic.Int64
	var over atomic.Bool
	done := make(chan bool)
	go func() {
		for !over.Load() {
			p.urge()
			turns.Add(1)
			if turns.Load()%64 == 0 {
				runtime.Gosched()
			}
		}
		close(done)
	}()
	for i := range 2000 {
		w.level.Store(nothing)
		p.way.least.Store(10)
		for range i % 50 {
			turns.Load()
		}
		w.setLevel(10)
		for n := turns.Load(); turns.Load() < n+2; {
			runtime.Gosched()
		}
		if l := p.way.least.Load(); l < 10 {
			t.Errorf("after %d turns: least is %d, while a worker runs what has level 10", i, l)
			break
		}
	}
	over.Store(true)
	<-done
}
