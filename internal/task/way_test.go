package task

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch/internal/engine"
)

// The least urgent level that may run is no less than that of any worker.
func TestTheLeastUrgentLevelIsNotForgotten(t *testing.T) {
	p := newPool(1, ByPriority)
	p.Engine.TakePlace()
	w := of(p.Engine.Hire())
	p.best.Store(5)
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
		w.Engine.Level.Store(engine.Nothing)
		p.way.least.Store(10)
		for range i % 50 {
			turns.Load()
		}
		w.SetLevel(10)
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

// busyWithLessUrgent returns a pool by priority all of whose workers run what has level 10, and an
// urgent task, which is pushed.
func busyWithLessUrgent(n int) (p *Pool, workers []*Worker) {
	p = newPool(n, ByPriority)
	for range n {
		p.Engine.TakePlace()
		w := of(p.Engine.Hire())
		w.Guest = true // gives way to nothing
		w.SetLevel(10)
		workers = append(workers, w)
	}
	p.Global.push(5, none)
	return p, workers
}

// All workers that run what is less urgent are asked at the first push. The next pushes do
// not look at them again until one has answered, but for one in many.
func TestNotEachPushAsksAllWorkers(t *testing.T) {
	p, workers := busyWithLessUrgent(1024)
	looks := 0
	for i := range 1000 {
		p.Global.push(5+i%3, none)
		atomic.StoreUint32(&workers[7].Engine.Demand, engine.None) // as nobody does
		p.urge()
		for j, w := range workers {
			if d := atomic.LoadUint32(&w.Engine.Demand); d == engine.GiveWay && j == 7 {
				looks++
			} else if d != engine.GiveWay && j != 7 {
				t.Fatalf("push %d: worker %d is not asked", i, j)
			}
		}
	}
	if looks != 1+1000/65 {
		t.Errorf("%d of 1000 pushes looked at all", looks)
	}
	p.Global.push(4, none)
	if p.urge(); atomic.LoadUint32(&workers[7].Engine.Demand) != engine.GiveWay {
		t.Error("a push of what is more urgent does not look")
	}
}

// A worker that has answered, and goes on with what is less urgent, is asked again at the
// next push.
func TestWhatHasAnsweredIsAskedAgain(t *testing.T) {
	p, workers := busyWithLessUrgent(4)
	p.urge()
	if workers[2].giveWay(); atomic.LoadUint32(&workers[2].Engine.Demand) == engine.GiveWay {
		t.Fatal("it has not answered")
	}
	if p.urge(); atomic.LoadUint32(&workers[2].Engine.Demand) != engine.GiveWay {
		t.Error("it is not asked again")
	}
}

// A worker that begins what is less urgent than all that were asked asks itself, since the
// next push may not look at it.
func TestWhatBeginsLaterIsAsked(t *testing.T) {
	p, workers := busyWithLessUrgent(4)
	w := workers[2]
	w.Engine.Level.Store(engine.Nothing)
	p.urge()
	p.best.Store(noPriority) // it was taken
	w.SetLevel(10)
	p.best.Store(5)
	if p.urge(); atomic.LoadUint32(&w.Engine.Demand) != engine.GiveWay {
		t.Error("it is not asked")
	}
}

// A demand to give way that comes while the worker answers another stays up for the next fork.
func TestTheDemandToGiveWayIsNotForgotten(t *testing.T) {
	p := newPool(1, ByPriority)
	p.Engine.TakePlace()
	w := of(p.Engine.Hire())
	w.SetLevel(10)
	p.best.Store(5) // of a task that is taken when the worker looks for it
	w.Engine.Raise(engine.GiveWay)
	p.Global.mu.Lock()
	done := make(chan bool)
	go func() {
		w.Engine.Answer()
		close(done)
	}()
	for atomic.LoadUint32(&w.Engine.Demand) == engine.GiveWay {
		runtime.Gosched()
	}
	w.Engine.Raise(engine.GiveWay)
	p.Global.mu.Unlock()
	if <-done; atomic.LoadUint32(&w.Engine.Demand) != engine.GiveWay {
		t.Error("the demand is forgotten")
	}
}
