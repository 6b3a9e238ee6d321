package forks

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// A bush is a tree with any number of children.
type bush struct {
	v        int
	children []*bush
}

func grow(r *rand.Rand, depth int) *bush {
	b := &bush{v: r.IntN(100)}
	if depth > 0 {
		for range r.IntN(6) {
			b.children = append(b.children, grow(r, depth-1))
		}
	}
	return b
}

// sum weighs children, so that the order of the results matters.
func (b *bush) sum() int {
	s := b.v
	for i, c := range b.children {
		s += (i + 1) * c.sum()
	}
	return s
}

var bushFunc = filch.NewFunc(func(f *filch.Frame[*bush, int], b *bush) int {
	m := f.Mark()
	for _, c := range b.children {
		f.Fork(c)
	}
	s, last := b.v, len(b.children)
	for i, r := range m.JoinAll {
		if last--; i != last {
			panic(fmt.Sprintf("fork %d was joined, not %d", i, last))
		}
		s += (i + 1) * r
	}
	return s
})

func TestJoinAllJoinsTheForksOfALoop(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for seed := range uint64(rig.Fewer(40)) {
			b := grow(rand.New(rand.NewPCG(seed, 1)), 6)
			if got, want := bushFunc.Call(p, b), b.sum(); got != want {
				t.Fatalf("%d workers, seed %d: %d, not %d", workers, seed, got, want)
			}
		}
	}
}

// Forks that were open before the mark are left alone: the caller's, and the body's own.
func TestJoinAllStopsAtTheMark(t *testing.T) {
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n < 2 {
			return n
		}
		a := f.Fork(n - 1)
		m := f.Mark()
		f.Fork(n - 2)
		f.Fork(0)
		s := 0
		for _, r := range m.JoinAll {
			s += r
		}
		for range m.JoinAll {
			panic("none is left")
		}
		return s + f.Join(a)
	})
	for _, workers := range []int{1, 2, 8} {
		if r := fn.Call(filch.New(filch.WithWorkers(workers)), 15); r != rig.SerialFib(15) {
			t.Errorf("%d workers: %d", workers, r)
		}
	}
}

// A loop may fork as it goes: a list of what is to do, of which others take the oldest.
func TestJoinAllJoinsWhatItsLoopForks(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		var ran atomic.Int64
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n >= 0 {
				ran.Add(1)
				return n
			}
			m := f.Mark()
			f.Fork(10)
			for i, r := range m.JoinAll {
				if i < 0 {
					t.Error(i)
				}
				for range min(r, 2) {
					f.Fork(r - 1)
				}
			}
			return 0
		})
		fn.Call(filch.New(filch.WithWorkers(workers)), -1)
		if n := ran.Load(); n != 3<<9-1 {
			t.Errorf("%d workers: %d ran", workers, n)
		}
	}
}

// What is open when a loop is left does not run, unless another worker has begun it.
func TestALoopThatIsLeftDropsItsForks(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for range rig.Fewer(200) {
			var begun, ended [100]atomic.Int32
			fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
				if n >= 0 {
					begun[n].Add(1)
					runtime.Gosched()
					ended[n].Add(1)
					return n
				}
				before := f.Fork(0)
				m := f.Mark()
				for i := range len(begun) - 1 {
					f.Fork(i + 1)
				}
				for i, r := range m.JoinAll {
					if r != i+1 {
						t.Errorf("fork %d: %d", i, r)
					}
					if r == 90 {
						break
					}
				}
				for i := range begun {
					if b, e := begun[i].Load(), ended[i].Load(); i > 0 && b != e {
						t.Errorf("fork %d was begun %d times, and ended %d times, when the loop was left", i, b, e)
					}
				}
				return f.Join(before)
			})
			fn.Call(p, -1)
			for i := range begun {
				n := begun[i].Load()
				if n > 1 || n != 1 && (i == 0 || i >= 90) || n != 0 && workers == 1 && i > 0 && i < 90 {
					t.Fatalf("%d workers: fork %d ran %d times", workers, i, n)
				}
			}
		}
	}
}

// A panic of a fork that is dropped, while it runs on another worker, is not lost.
func TestAPanicInADroppedForkArrives(t *testing.T) {
	begun, left := make(chan bool), make(chan bool)
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		switch n {
		case 1:
			close(begun)
			<-left
			panic("out of the dropped one")
		case 0:
			m := f.Mark()
			f.Fork(1)
			f.Worker().Blocking(func() { <-begun })
			f.Fork(2)
			for range m.JoinAll {
				close(left)
				break
			}
		}
		return n
	})
	defer func() {
		if e, _ := recover().(*filch.PanicError); e == nil || e.Value != "out of the dropped one" {
			t.Errorf("%v", e)
		}
	}()
	fn.Call(filch.New(filch.WithWorkers(2)), 0)
	t.Error("no panic")
}

// When the loop itself panics, or exits, nothing is left on the Frame.
func TestALoopOfJoinAllMayEndInAnyWay(t *testing.T) {
	racetest.Skip(t, "its parts share a variable, which one worker orders")
	p := filch.New(filch.WithWorkers(1))
	var ran int
	for name, c := range map[string]struct {
		end  func()
		want int
	}{
		"panic":  {func() { panic("in the loop") }, 2},
		"Goexit": {runtime.Goexit, 2},
	} {
		ran = 0
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n > 0 {
				ran++
				return n
			}
			m := f.Mark()
			for i := range 10 {
				f.Fork(i + 1)
			}
			for i := range m.JoinAll {
				if i == 8 {
					c.end()
				}
			}
			return n
		})
		done := make(chan any)
		go func() {
			defer func() { done <- recover() }()
			fn.Call(p, 0)
			t.Errorf("%s: it returned", name)
		}()
		if v := <-done; (name == "panic") != (v != nil) || ran != c.want {
			t.Errorf("%s: %v; %d forks ran", name, v, ran)
		}
		if r := fn.Call(p, 7); r != 7 {
			t.Errorf("%s: %d afterwards", name, r)
		}
	}
	if s := p.Stats(); s.Busy != 0 {
		t.Errorf("p.Stats(): %+v", s)
	}
}

func TestAWrongMarkIsRefused(t *testing.T) {
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		try := func(m filch.Mark[int, int], want string) {
			defer func() {
				if s := recover(); s != want {
					t.Errorf("panic: %v, not %q", s, want)
				}
			}()
			for range m.JoinAll {
				t.Errorf("a fork was joined for the mark %v", m)
			}
		}
		if n == 0 {
			h := f.Fork(1)
			try(filch.Mark[int, int]{}, "filch: JoinAll of a Mark that Frame.Mark has not made")
			m := f.Mark()
			f.Join(h)
			try(m, "filch: JoinAll of a Mark above fork 1, which was joined: the newest open fork is 0 (0 is none)")
		}
		return n
	})
	fn.Call(filch.New(filch.WithWorkers(1)), 0)
}

func TestJoinAllDoesNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := filch.New(filch.WithWorkers(1))
	b := grow(rand.New(rand.NewPCG(1, 1)), 5)
	if n := testing.AllocsPerRun(20, func() { bushFunc.Call(p, b) }); n > 1 { // of Call, for its closure
		t.Errorf("%v allocations a call", n)
	}
}

// The same forks, joined by handles in an array and by JoinAll.
func BenchmarkJoinAll(b *testing.B) {
	t := grow(rand.New(rand.NewPCG(3, 1)), 7)
	var forks int
	var count func(t *bush)
	count = func(t *bush) {
		forks += len(t.children)
		for _, c := range t.children {
			count(c)
		}
	}
	count(t)
	byHand := filch.NewFunc(func(f *filch.Frame[*bush, int], b *bush) int {
		var handles [6]filch.Fork
		for i, c := range b.children {
			handles[i] = f.Fork(c)
		}
		s := b.v
		for i, h := range slices.Backward(handles[:len(b.children)]) {
			s += (i + 1) * f.Join(h)
		}
		return s
	})
	p := filch.New(filch.WithWorkers(1))
	for _, c := range []struct {
		name string
		call func() int
	}{
		{"serial", t.sum},
		{"array", func() int { return byHand.Call(p, t) }},
		{"JoinAll", func() int { return bushFunc.Call(p, t) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rig.Sink = c.call()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(forks), "ns/fork")
		})
	}
}

// A body that recovers a panic out of a loop of JoinAll has none of its forks left, nor those of the call that has
// panicked: a second loop joins nothing, and forks from before are as they were.
func TestAfterAPanicInALoopOfJoinAllNothingIsLeft(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for range rig.Fewer(100) {
			var late atomic.Int32
			fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
				switch {
				case n == 2:
					f.Fork(10)
					f.Fork(20)
					panic("with forks open")
				case n > 0:
					late.Add(int32(n / 10)) // of the call that has panicked
					return n
				}
				before := f.Fork(5)
				m := f.Mark()
				for i := range 3 {
					f.Fork(i + 1)
				}
				if got := rig.Recovered(func() {
					for range m.JoinAll {
					}
				}); got == "" {
					t.Error("no panic")
				}
				for i, r := range m.JoinAll {
					t.Errorf("fork %d is joined: %d", i, r)
				}
				f.Fork(6)
				sum := 0
				for _, r := range m.JoinAll {
					sum += r
				}
				return 10*sum + f.Join(before)
			})
			if got := fn.Call(p, 0); got != 65 {
				t.Fatalf("%d workers: %d", workers, got)
			}
			if workers == 1 && late.Load() > 0 {
				t.Error("a fork of the call that has panicked ran")
			}
		}
		p.Close()
	}
}
