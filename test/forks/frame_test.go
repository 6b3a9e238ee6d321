package forks

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// A recursion allocates chunks of links that double, not one after the other, and a Func
// as good as nothing.
func TestDepthAllocatesLittle(t *testing.T) {
	const depth = 20_000
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	var down func(l *filch.Link[int, int], n int) int
	down = func(l *filch.Link[int, int], n int) int {
		if n == 0 {
			return 0
		}
		l.Fork(0)
		m := down(l.Next(), n-1)
		if l.TakeBack() {
			return down(l, 0) + m + 1
		}
		return l.Join() + m + 1
	}
	chain := func() {
		if n := filch.NewChain(down).Call(p, depth); n != depth {
			t.Errorf("chain: %d", n)
		}
	}
	fn := func() {
		f := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n == 0 {
				return 0
			}
			h := f.Fork(0)
			m := f.Call(n - 1)
			return f.Join(h) + m + 1
		})
		if n := f.Call(p, depth); n != depth {
			t.Errorf("func: %d", n)
		}
	}
	chain() // the stack grows
	for name, f := range map[string]func(){"chain": chain, "func": fn} {
		if n := testing.AllocsPerRun(5, f); n > 50 && !race.Enabled {
			t.Errorf("%s: %v allocations for a depth of %d", name, n, depth)
		}
	}
}

// What is used again needs no memory: a second run of a Func or a Chain, with or without forks
// that are published, up to the size that is kept.
func TestFramesAreUsedAgain(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector drops what is pooled")
	}
	p := filch.New(filch.WithWorkers(2)) // whose second place is free: forks are published
	defer p.Close()
	for name, f := range map[string]func(){
		"Func":  func() { rig.FibFunc.Call(p, 8) },
		"Chain": func() { rig.FibChain.Call(p, 8) },
		"Do":    func() { p.Do(rig.Nop) },
	} {
		for range 10 {
			f()
		}
		if n := testing.AllocsPerRun(200, f); n > 4 { // a goroutine is started for a free place now and then
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Joins out of order, of forks that are not there, and functions that return before they have
// joined all, are told at once and by name, whether forks are private or public.
func TestMistakesWithJoinsAreToldAtOnce(t *testing.T) {
	for _, workers := range []int{1, 4} { // with four, forks are published
		for want, f := range map[string]func(f *filch.Frame[int, int], n int) int{
			"Join of fork 1 out of order: the newest open fork is 2": func(f *filch.Frame[int, int], n int) int {
				h := f.Fork(0)
				f.Fork(0)
				return f.Join(h)
			},
			"Join of fork 1 out of order: the newest open fork is 0": func(f *filch.Frame[int, int], n int) int {
				h := f.Fork(0)
				return f.Join(h) + f.Join(h)
			},
			"Join of fork 0 out of order: the newest open fork is 0": func(f *filch.Frame[int, int], n int) int { return f.Join(0) },
			"Join of fork -1 out of order":                           func(f *filch.Frame[int, int], n int) int { f.Fork(0); return f.Join(-1) },
			"returned with 3 of its forks not joined":                func(f *filch.Frame[int, int], n int) int { f.Fork(0); f.Fork(0); f.Fork(0); return 1 },
		} {
			p := filch.New(filch.WithWorkers(workers))
			fn := filch.NewFunc(func(fr *filch.Frame[int, int], n int) int {
				if n == 0 {
					return 0
				}
				return f(fr, n)
			})
			var err *filch.PanicError
			if v := rig.Catch(func() { fn.Call(p, 1) }); !errors.As(v.(error), &err) || !strings.Contains(fmt.Sprint(err.Value), want) {
				t.Errorf("%d workers: %v, not %s", workers, v, want)
			}
			if n := rig.FibFunc.Call(p, 10); n != 55 {
				t.Errorf("afterwards: %d", n)
			}
			p.Close()
		}
	}
}

// The same for links.
func TestMistakesWithLinksAreToldAtOnce(t *testing.T) {
	for _, workers := range []int{1, 4} {
		for want, f := range map[string]func(l *filch.Link[int, int]) int{
			"Join on a Link without a fork": func(l *filch.Link[int, int]) int { return l.Join() },
			"returned with 1 of":            func(l *filch.Link[int, int]) int { l.Fork(0); return 1 },
			"returned with 2 of":            func(l *filch.Link[int, int]) int { l.Fork(0); l.Next().Fork(0); return 1 },
		} {
			p := filch.New(filch.WithWorkers(workers))
			c := filch.NewChain(func(l *filch.Link[int, int], n int) int {
				if n == 0 {
					return 0
				}
				return f(l)
			})
			var err *filch.PanicError
			if v := rig.Catch(func() { c.Call(p, 1) }); v == nil || !errors.As(v.(error), &err) || !strings.Contains(fmt.Sprint(err.Value), want) {
				t.Errorf("%d workers: %v, not %s", workers, v, want)
			}
			if n := rig.FibChain.Call(p, 10); n != 55 {
				t.Errorf("afterwards: %d", n)
			}
			p.Close()
		}
	}
	p := filch.New(filch.WithWorkers(1))
	c := filch.NewChain(func(l *filch.Link[int, int], n int) int {
		if l.TakeBack() {
			t.Error("TakeBack of nothing")
		}
		return n
	})
	c.Call(p, 1)
	p.Close()
}

// A worker that waits at a join for a thief helps with the forks of that thief, and of nobody
// else.
func TestWaitingHelpsTheThief(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		gate := make(chan bool)
		ran := false
		p.Do(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) { <-gate }, func(w *filch.Worker) { // stolen
				w.Join(func(*filch.Worker) { close(gate); time.Sleep(time.Second) }, func(*filch.Worker) { ran = true })
			})
		})
		synctest.Wait()
		if s := p.Stats(); !ran || s.Steals < 1 || s.Helped > s.Steals {
			t.Errorf("%+v", s)
		}
		p.Close()
	})
}
