package filch

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
)

// A size that was asked for stays, whatever the pool was about to take over.
func TestResizeIsNotLostAgainstFollowing(t *testing.T) {
	p := New()
	n := p.Workers()
	p.Resize(n)
	if p.tasks.Engine.SetLimit(int32(n+1), false) || p.Workers() != n {
		t.Errorf("%d workers, not %d", p.Workers(), n)
	}
}

// Workers has the limit of GOMAXPROCS, and Resize that it was given; bad numbers are told.
func TestLimitsOfResize(t *testing.T) {
	p := New(WithWorkers(3))
	for _, n := range []int{1, 2, engine.MaxWorkers} {
		if p.Resize(n); p.Workers() != n || p.Idle() != n {
			t.Errorf("resized to %d: %d, %d are idle", n, p.Workers(), p.Idle())
		}
	}
	for _, n := range []int{0, -1, engine.MaxWorkers + 1} {
		if s := recoveredFrom(func() { p.Resize(n) }); !strings.Contains(s, "from 1 to 1048575") {
			t.Errorf("Resize(%d): %q", n, s)
		}
	}
	p.Resize(1)
	p.tasks.Engine.TakePlace()
	p.tasks.Engine.TakePlace()
	p.Pause()
	_ = p.tasks.Engine.Places.Enter() // more than there are
	if n := p.Idle(); n != 0 {
		t.Errorf("%d are idle", n)
	}
	if n := p.tasks.Takers(); n != 0 {
		t.Errorf("%d could take a task in a pause", n)
	}
	p.tasks.Paused.Store(false)
	if n := p.tasks.Takers(); n != 0 {
		t.Errorf("%d could take a task", n)
	}
	p.tasks.Engine.SetLimit(5, true)
	if n := p.tasks.Takers(); n != p.Idle() || n == 0 {
		t.Errorf("%d could take a task, and %d are idle", n, p.Idle())
	}
}

// Fifty thousand that wait may all give up, in any order, and so may tasks that wait
// for one latch.
func TestManyInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), WithQueueLimit(1, Block))
		p.Pause()
		p.Go(context.Background(), func(context.Context) {})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		n := 50_000
		if race.Enabled {
			n = 5_000 // of which each takes 40 kB then
		}
		for range n {
			all.Go(func() { p.Go(ctx, func(context.Context) {}) })
		}
		all.Wait()
		if r := p.tasks.Room; r.Waiting() != 0 || r.Taken() != 1 {
			t.Errorf("somebody stands in line, %d have room", r.Taken())
		}
		p.Close()
	})
}

// Stats follows GOMAXPROCS, counts all that wait for room or a slot, and loses no worker.
func TestStatsOfPlacesAndLines(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	p := New()
	runtime.GOMAXPROCS(procs + 1)
	s := p.Stats()
	runtime.GOMAXPROCS(procs)
	if s.Workers != procs+1 || s.Idle != procs+1 {
		t.Errorf("with %d processors: %+v", procs+1, s)
	}
	if n := p.Workers(); n != procs {
		t.Errorf("with %d processors: %d workers", procs, n)
	}
	for range 3 {
		p.Do(func(*Worker) {})
		if p.Stats(); len(*p.tasks.Engine.Workers.Load()) != 1 {
			t.Errorf("there are %d workers", len(*p.tasks.Engine.Workers.Load()))
		}
	}
	p.Close()
	for name, opt := range map[string]Option{"room": WithQueueLimit(1, Block), "slots": WithTaskLimit(2, Block)} {
		synctest.Test(t, func(t *testing.T) {
			p := New(WithWorkers(1), opt, WithStallTimeout(0))
			gate := make(chan bool)
			p.Go(context.Background(), func(context.Context) { <-gate })
			synctest.Wait()
			for range 4 {
				go p.Go(context.Background(), func(context.Context) {})
			}
			if synctest.Wait(); p.Stats().Tasks.Waiting != 3 {
				t.Errorf("New(WithWorkers(1), opt, WithStallTimeout(0)): %s: %+v", name, p.Stats().Tasks)
			}
			close(gate)
			if synctest.Wait(); p.Stats().Tasks.Waiting != 0 || p.Stats().Tasks.Done != 5 {
				t.Errorf("New(WithWorkers(1), opt, WithStallTimeout(0)): %s: %+v", name, p.Stats().Tasks)
			}
			p.Close()
		})
	}
}

// joinsOf returns the forks of a Join, if they are of w's newest activation.
func joinsOf(w *Worker) *joinFrame {
	f, _ := w.tasks.Engine.Newest().(*frameForks[forked, any])
	return (*joinFrame)(f)
}

// A call inside of a Join leaves the forks of the Join where they were.
func TestJoinsGoOnAfterACall(t *testing.T) {
	p := New(WithWorkers(1))
	frame := NewFunc(func(f *Frame[int, int], n int) int { return n })
	chain := NewChain(func(l *Link[int, int], n int) int { return n })
	nested := NewFunc(func(f *Frame[int, int], n int) int {
		w := f.Worker()
		if joinsOf(w) != nil {
			t.Error("the forks of a Join around a call are open to it")
		}
		w.Join(func(*Worker) {}, func(*Worker) {})
		if joinsOf(w) != nil {
			t.Error("a Join inside of a call is open when it is over")
		}
		return n
	})
	bad := NewChain(func(l *Link[int, int], n int) int { panic("bad") })
	p.Do(func(w *Worker) {
		w.Join(func(w *Worker) {
			before := joinsOf(w)
			if before == nil || before.n != bottom+1 {
				t.Error("a Join has no fork open")
			}
			for _, f := range []func(){
				func() { frame.Call(w, 1) }, func() { chain.Call(w, 1) }, func() { nested.Call(w, 1) },
				func() { defer func() { recover() }(); bad.Call(w, 1) },
				func() { w.Join(func(*Worker) {}, func(*Worker) {}) },
			} {
				if f(); joinsOf(w) != before || before.n != bottom+1 || w.tasks.Engine.Checkpoint() != w.tasks.Engine.CheckpointAt(bottom+1) {
					t.Errorf("after a call: %v, not %v", joinsOf(w), before)
				}
			}
		}, func(*Worker) {})
	})
}

// What a panic leaves open is cleared before the memory is used again.
func TestAPanicLeavesNoArguments(t *testing.T) {
	p := New(WithWorkers(1))
	for forks := range 5 {
		var args []*int
		f := NewFunc(func(f *Frame[*int, int], _ *int) int {
			for range forks {
				f.Fork(new(int))
			}
			args = f.args[bottom+1 : f.n+1]
			panic("over")
		})
		func() {
			defer func() { recover() }()
			f.Call(p, nil)
		}()
		if len(args) != forks || slices.ContainsFunc(args, func(p *int) bool { return p != nil }) {
			t.Errorf("%d forks: %v", forks, args)
		}
	}
}
