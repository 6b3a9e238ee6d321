package filch

import (
	"sync/atomic"
	"testing"
	"time"
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
		}
		close(done)
	}()
	end := time.Now().Add(8 * time.Second)
	for i := 0; time.Now().Before(end); i++ {
		w.level.Store(nothing)
		p.way.least.Store(10)
		for range i % 50 {
			turns.Load()
		}
		w.setLevel(10)
		for n := turns.Load(); turns.Load() < n+2; {
		}
		if l := p.way.least.Load(); l < 10 {
			t.Errorf("after %d turns: least is %d, while a worker runs what has level 10", i, l)
			break
		}
	}
	over.Store(true)
	<-done
}
