package forks

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

// A signed bush is summed up with signs that change from row to row.
func (b *bush) signed() int {
	s := b.v
	for i, c := range b.children {
		s -= (i + 1) * c.signed()
	}
	return s
}

// even and odd are two Funcs for that, one for each second row. Each forks calls of the other, and one of
// its own, which stays open meanwhile.
var even *filch.Func[*bush, int]
var odd *filch.Func[leveled, int64]

type leveled struct {
	b    *bush
	leaf bool
}

func init() {
	even = filch.NewFunc(func(f *filch.Frame[*bush, int], b *bush) int {
		s, m := b.v, f.Mark()
		if len(b.children) > 2 {
			f.Fork(&bush{v: 1})
		}
		odd.On(f.Worker(), func(g *filch.Frame[leveled, int64]) {
			m := g.Mark()
			for _, c := range b.children {
				g.Fork(leveled{b: c})
			}
			for i, r := range m.JoinAll {
				s -= (i + 1) * int(r)
			}
		})
		for _, r := range m.JoinAll {
			s += r - 1
		}
		return s
	})
	odd = filch.NewFunc(func(f *filch.Frame[leveled, int64], x leveled) int64 {
		if x.leaf {
			return 1
		}
		b, s := x.b, x.b.v
		h := f.Fork(leveled{leaf: true})
		even.On(f.Worker(), func(g *filch.Frame[*bush, int]) {
			if len(b.children) == 0 {
				return
			}
			m := g.Mark()
			for _, c := range b.children[1:] {
				g.Fork(c)
			}
			s -= g.Call(b.children[0])
			for i, r := range m.JoinAll {
				s -= (i + 2) * r
			}
		})
		return int64(s) + f.Join(h) - 1
	})
}

func TestTwoFuncsForkOneAnother(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for seed := range uint64(rig.Fewer(60)) {
			b := grow(rand.New(rand.NewPCG(seed, 3)), 6)
			if got, want := even.Call(p, b), b.signed(); got != want {
				t.Fatalf("%d workers, seed %d: %d, not %d", workers, seed, got, want)
			}
			if got, stopped := odd.CallUntil(p, new(filch.Stop), leveled{b: b}); int(got) != b.signed() || stopped {
				t.Fatalf("%d workers, seed %d: %d, %t by CallUntil", workers, seed, got, stopped)
			}
		}
	}
}

// On is for the outermost call as well, where there is no body yet.
func TestOnIsForTheOutermostCallAsWell(t *testing.T) {
	filch.New(filch.WithWorkers(2)).Do(func(w *filch.Worker) {
		rig.FibFunc.On(w, func(f *filch.Frame[int, int]) {
			h := f.Fork(15)
			if f.Call(10) != 55 || f.Join(h) != 610 || f.Worker() != w {
				t.Error("wrong")
			}
		})
	})
}

// After a panic in the body of On, or a fork of it, its forks are gone, and those around it
// are as they were.
func TestAPanicInOnLeavesTheForksAroundIt(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		bad := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n == 5 {
				panic("five")
			}
			return n
		})
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n > 0 {
				return n
			}
			a, b := f.Fork(1), f.Fork(2)
			func() {
				defer func() {
					if e, _ := recover().(*filch.PanicError); e == nil || e.Value != "five" {
						t.Errorf("%d workers: %v", workers, e)
					}
				}()
				bad.On(f.Worker(), func(g *filch.Frame[int, int]) {
					m := g.Mark()
					for i := range 10 {
						g.Fork(i)
						f.Worker().Poll()
					}
					for range m.JoinAll {
					}
				})
				t.Error("no panic")
			}()
			return 10*f.Join(b) + f.Join(a)
		})
		for range rig.Fewer(100) {
			if r := fn.Call(p, 0); r != 21 {
				t.Fatalf("%d workers: %d", workers, r)
			}
		}
	}
}

func TestGoexitInOn(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		done := make(chan bool)
		go func() {
			defer close(done)
			p.Do(func(w *filch.Worker) {
				rig.FibFunc.On(w, func(f *filch.Frame[int, int]) {
					f.Fork(10)
					w.Poll()
					f.Fork(11)
					runtime.Goexit()
				})
				t.Error("it returned")
			})
		}()
		<-done
		if r := rig.FibFunc.Call(p, 10); r != 55 {
			t.Errorf("%d workers: %d", workers, r)
		}
	}
}

// Forks of the Frame around it that are made and joined in the body of On keep to its rules all
// the same: each runs once, and gives its own result.
func TestOtherForksInsideOfOn(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n > 0 {
				return n
			}
			a, s := f.Fork(1), 0
			rig.FibFunc.On(f.Worker(), func(g *filch.Frame[int, int]) {
				b := g.Fork(10)
				c := f.Fork(2)
				d := g.Fork(11)
				f.Worker().Poll()
				s = g.Join(d) + 1000*f.Join(c) + g.Join(b)
			})
			return s + 10000*f.Join(a)
		})
		for range rig.Fewer(400) {
			if r := fn.Call(p, 0); r != 12000+89+55 {
				t.Fatalf("%d workers: %d", workers, r)
			}
		}
	}
}

func TestOnRefuses(t *testing.T) {
	for want, call := range map[string]func(w *filch.Worker){
		"filch: On: w is nil":    func(*filch.Worker) { rig.FibFunc.On(nil, func(*filch.Frame[int, int]) {}) },
		"filch: On: body is nil": func(w *filch.Worker) { rig.FibFunc.On(w, nil) },
		"returned with 2 of its forks not joined": func(w *filch.Worker) {
			rig.FibFunc.On(w, func(f *filch.Frame[int, int]) { f.Fork(1); f.Fork(2) })
		},
	} {
		p := filch.New(filch.WithWorkers(1))
		func() {
			defer func() {
				if e, _ := recover().(*filch.PanicError); e == nil || !strings.Contains(e.Error(), want) {
					t.Errorf("%v, not %q", e, want)
				}
			}()
			p.Do(call)
		}()
		if r := rig.FibFunc.Call(p, 10); r != 55 {
			t.Error("fibFunc.Call(p, 10):", r)
		}
	}
}

func TestOnDoesNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := filch.New(filch.WithWorkers(1))
	b := grow(rand.New(rand.NewPCG(5, 1)), 5)
	if n := testing.AllocsPerRun(20, func() { sums.even.Call(p, b) }); n > 1 { // of Call, for its closure
		t.Errorf("%v allocations a call", n)
	}
}

// sums are the forms of a sum in which each second row is by another function.
var sums struct {
	even, odd *filch.Func[*bush, int]
	kinds     *filch.Func[kind, int]
}

type kind struct {
	b   *bush
	odd bool
}

func init() {
	by := func(other **filch.Func[*bush, int]) *filch.Func[*bush, int] {
		return filch.NewFunc(func(f *filch.Frame[*bush, int], b *bush) int {
			if len(b.children) == 0 {
				return b.v
			}
			s := b.v
			(*other).On(f.Worker(), func(g *filch.Frame[*bush, int]) {
				m := g.Mark()
				for _, c := range b.children {
					g.Fork(c)
				}
				for i, r := range m.JoinAll {
					s += (i + 1) * r
				}
			})
			return s
		})
	}
	sums.even, sums.odd = by(&sums.odd), by(&sums.even)
	sums.kinds = filch.NewFunc(func(f *filch.Frame[kind, int], x kind) int {
		if x.odd {
			return sumKind(f, x.b, false)
		}
		return sumKind(f, x.b, true)
	})
}

func sumKind(f *filch.Frame[kind, int], b *bush, odd bool) int {
	if len(b.children) == 0 {
		return b.v
	}
	s, m := b.v, f.Mark()
	for _, c := range b.children {
		f.Fork(kind{c, odd})
	}
	for i, r := range m.JoinAll {
		s += (i + 1) * r
	}
	return s
}

// One sum by a Func for all rows, by two that fork one another, and by one whose argument says the
// kind.
func BenchmarkTwoKinds(b *testing.B) {
	t := grow(rand.New(rand.NewPCG(3, 1)), 7)
	inner := 0
	var count func(t *bush)
	count = func(t *bush) {
		if len(t.children) > 0 {
			inner++
		}
		for _, c := range t.children {
			count(c)
		}
	}
	count(t)
	p := filch.New(filch.WithWorkers(1))
	for _, c := range []struct {
		name string
		call func() int
	}{
		{"serial", t.sum},
		{"one kind", func() int { return bushFunc.Call(p, t) }},
		{"On", func() int { return sums.even.Call(p, t) }},
		{"tagged", func() int { return sums.kinds.Call(p, kind{t, false}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rig.Sink = c.call()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(inner), "ns/inner")
		})
	}
}
