package filch

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race/racetest"
)

// However often a Frame is forked on after its function has returned, no memory is written that
// is not the Frame's.
func TestForksOnAFrameOutOfUseHaveRoom(t *testing.T) {
	var out *Frame[int, int]
	fn := NewFunc(func(f *Frame[int, int], n int) int { out = f; return n })
	fn.Call(New(WithWorkers(1)), 0)
	for range 1000 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			out.Fork(1)
		}()
		if out.n > out.limit || int(out.limit) != len(out.args)-1 {
			t.Fatalf("position %d of %d, limit %d", out.n, len(out.args), out.limit)
		}
	}
}

// twoTaken returns a pool of one place and an extra one, which is taken. So forks are published on
// demand, and no worker comes to take them.
func twoTaken() *Pool {
	p := New(WithWorkers(1))
	p.tasks.Engine.SetExtra(1)
	p.tasks.Engine.Enter()
	return p
}

// While forks are public, Join looks; in the call of a private fork it need not, until one more
// is published.
func TestJoinLooksAsLongAsForksArePublic(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	p := twoTaken()
	looks := func(f *Frame[int, int]) bool {
		return fmt.Sprintf("%p", f.run[engine.None]) != fmt.Sprintf("%p", f.body)
	}
	var runs int
	want := func(f *Frame[int, int], n int, public, look bool) {
		t.Helper()
		if f.public > bottom != public || looks(f) != look {
			t.Errorf("in the call with %d: %d public, Join looks: %v", n, f.public-bottom, looks(f))
		}
	}
	fn := NewFunc(func(f *Frame[int, int], n int) int {
		runs++
		switch n {
		case 3:
			want(f, n, false, false)
			f.w.Raise(engine.Hunger)
			a := f.Fork(2)
			want(f, n, true, true)
			b := f.Fork(1)
			r := f.Join(b)
			want(f, n, true, true)
			r += f.Join(a)
			want(f, n, false, false)
			return r
		case 1:
			want(f, n, true, false)
			h := f.Fork(0)
			f.w.Raise(engine.Hunger)
			f.w.Poll()
			want(f, n, true, true)
			r := f.Join(h)
			want(f, n, true, true)
			return r
		}
		return 1
	})
	if r := fn.Call(p, 3); r != 2 || runs != 4 {
		t.Errorf("%d, in %d calls", r, runs)
	}
}

// A call inside of a Join that joins a public fork of the call around it is told so, and the fork does
// not run once more. One that leaves a fork is told what a call from outside is told.
func TestACallJoinsItsOwnForksAndNoOthers(t *testing.T) {
	racetest.Skip(t, "it checks which goroutine runs what")
	var around Fork
	for want, inner := range map[string]func(f *Frame[int, int]) int{
		"joined 1 of its caller's forks":          func(f *Frame[int, int]) int { return f.Join(around) },
		"returned with 1 of its forks not joined": func(f *Frame[int, int]) int { return int(f.Fork(0)) },
	} {
		runs := 0
		fn := NewFunc(func(f *Frame[int, int], n int) int {
			switch n {
			case 2:
				f.w.Raise(engine.Hunger)
				around = f.Fork(0)
				return f.Join(f.Fork(1)) // private
			case 1:
				return inner(f)
			}
			runs++
			return n
		})
		func() {
			defer func() {
				if v := recover(); !strings.Contains(fmt.Sprint(v), "TestACallJoinsItsOwnForksAndNoOthers.func3 "+want) || runs != strings.Count(want, "caller") {
					t.Errorf("panic: %v; the fork ran %d times", v, runs)
				}
			}()
			fn.Call(twoTaken(), 2)
		}()
	}
}

// Join answers every level of demand, by forks that are older than the one that it joins.
func TestJoinAnswersDemand(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	for _, level := range []uint32{engine.None, engine.None + 1, engine.Hunger, engine.GiveWay} {
		fn := NewFunc(func(f *Frame[int, int], n int) int {
			if n > 0 {
				return n
			}
			a, b := f.Fork(1), f.Fork(2)
			f.w.Raise(level)
			n = f.Join(b)
			if answered := f.public > bottom; answered != (level != engine.None) {
				t.Errorf("demand %d: answered: %t", level, answered)
			}
			return n + f.Join(a)
		})
		if n := fn.Call(twoTaken(), 0); n != 3 {
			t.Errorf("demand %d: %d", level, n)
		}
	}
}

// After a panic a Frame looks for public forks no more.
func TestAPanicLeavesNoPublicForks(t *testing.T) {
	var frame *Frame[int, int]
	fn := NewFunc(func(f *Frame[int, int], n int) int {
		frame = f
		f.w.Raise(engine.Hunger)
		f.Fork(1)
		if f.public == bottom {
			t.Error("the fork is private")
		}
		panic("over")
	})
	func() {
		defer func() { recover() }()
		fn.Call(twoTaken(), 0)
	}()
	if frame.public != bottom || frame.n != bottom || fmt.Sprintf("%p", frame.run[engine.None]) != fmt.Sprintf("%p", frame.body) {
		t.Errorf("%d forks are public", frame.public-bottom)
	}
}

// When a panic out of a Join is recovered, or a deferred function joins after it, the older forks
// that are public are taken back: each runs once, and none stays behind.
func TestForksRunOnceAfterAPanicInAJoin(t *testing.T) {
	for _, deferred := range []bool{false, true} {
		p := twoTaken()
		var runs, public int
		fn := NewFunc(func(f *Frame[int, int], n int) int {
			switch n {
			case 0:
				f.w.Raise(engine.Hunger)
				a, b := f.Fork(1), f.Fork(2) // b is private
				join := func() {
					recover()
					f.Join(a)
					public = int(f.public - bottom)
				}
				if deferred {
					defer join()
					return f.Join(b)
				}
				func() { defer func() { recover() }(); f.Join(b) }()
				join()
				return 0
			case 2:
				panic("over")
			}
			runs++
			return n
		})
		fn.Call(p, 0)
		if runs != 1 || public != 0 {
			t.Errorf("deferred: %t: the fork ran %d times; %d are public at the end", deferred, runs, public)
		}
	}
}

// A call that joins a public fork of the call around it, and panics, leaves the pool and the Frame
// in order.
func TestACallThatJoinsWhatIsAroundItMayPanic(t *testing.T) {
	racetest.Skip(t, "it checks which goroutine runs what")
	for _, caught := range []bool{false, true} {
		p := twoTaken()
		var around Fork
		var frame *Frame[int, int]
		fn := NewFunc(func(f *Frame[int, int], n int) (r int) {
			switch n {
			case 2:
				frame = f
				f.w.Raise(engine.Hunger)
				around = f.Fork(0)
				if caught {
					defer func() { recover(); r = f.Join(around) }()
				}
				return f.Join(f.Fork(1)) // private
			case 1:
				f.Join(around)
				f.w.Raise(engine.Hunger)
				if f.w.Poll(); f.public != bottom+1 {
					t.Errorf("%d forks are public, of 1", f.public-bottom)
				}
				func() {
					defer func() {
						if v := recover(); !strings.Contains(fmt.Sprint(v), ": inside") {
							t.Errorf("panic inside: %v", v)
						}
					}()
					f.Worker().Join(func(*Worker) { panic("inside") }, func(*Worker) {})
				}()
				panic("over")
			}
			return 7
		})
		func() {
			defer func() {
				if v := recover(); caught && v != nil || !caught && !strings.Contains(fmt.Sprint(v), ": over") {
					t.Errorf("caught in the body: %t; then %v", caught, v)
				}
			}()
			if r := fn.Call(p, 2); r != 7 {
				t.Errorf("fn.Call(p, 2): %d", r)
			}
		}()
		if frame.public != bottom || frame.n != bottom {
			t.Errorf("caught: %t: %d forks, %d of them public", caught, frame.n-bottom, frame.public-bottom)
		}
	}
}

// recoveredFrom returns what f panics with, as a string.
func recoveredFrom(f func()) (s string) {
	defer func() { s, _ = recover().(string) }()
	f()
	return ""
}

// A handle names one fork, and none that has its place later.
func TestAHandleNamesOneFork(t *testing.T) {
	f := Frame[int, int]{n: bottom}
	open := func() Fork { f.n++; return f.handle() }
	join := func() { f.n-- }
	place := func(h, want Fork) {
		t.Helper()
		if got := f.position(h); got != want {
			t.Errorf("handle %#x has place %d, not %d", h, got, want)
		}
	}
	taken := func(h Fork, at string) {
		t.Helper()
		if s := recoveredFrom(func() { f.position(h) }); !strings.Contains(s, "Join of fork "+at+", which was joined") {
			t.Errorf("handle %#x: panic %q", h, s)
		}
	}
	place(0, 0) // no handles
	place(-1, -1)
	a, b := open(), open()
	place(0, 0)
	place(-1, -1)
	place(a, bottom+1)
	place(b, bottom+2)
	join()
	c := open()
	place(c, bottom+2)
	taken(b, "2")
	join()
	place(c, bottom+2) // Join tells that it is not open
	place(a, bottom+1)
	join()
	place(a, bottom+1)
	d := open()
	place(d, bottom+1)
	taken(a, "1")
	if a <= 0 || b <= 0 || c <= 0 || d <= 0 {
		t.Errorf("handles are positive: %d %d %d %d", a, b, c, d)
	}
}

// What was joined is not retained, nor is what a call leaves behind.
func TestNothingIsRetained(t *testing.T) {
	type big = *[1 << 10]byte
	p := New(WithWorkers(2))
	var stolen atomic.Bool
	check := func(what string, call func() (arg, result weak.Pointer[[1 << 10]byte])) {
		t.Helper()
		a, r := call()
		runtime.GC()
		if a.Value() != nil || r.Value() != nil {
			t.Errorf("%s: argument retained: %v, result: %v", what, a.Value() != nil, r.Value() != nil)
		}
	}
	var a, r weak.Pointer[[1 << 10]byte]
	body := func(arg big) big {
		result := new([1 << 10]byte)
		a, r = weak.Make(arg), weak.Make(result)
		stolen.Store(true)
		return result
	}
	call := func(steal bool) func() (x, y weak.Pointer[[1 << 10]byte]) {
		return func() (weak.Pointer[[1 << 10]byte], weak.Pointer[[1 << 10]byte]) {
			fn := NewFunc(func(f *Frame[big, big], arg big) big {
				if arg != nil {
					return body(arg)
				}
				stolen.Store(false)
				h := f.Fork(new([1 << 10]byte))
				for steal && !stolen.Load() {
					f.Worker().Poll()
					runtime.Gosched()
				}
				f.Join(h)
				runtime.GC()
				if a.Value() != nil {
					t.Errorf("stolen %v: the argument is retained after the join", steal)
				}
				return nil
			})
			fn.Call(p, nil)
			runtime.KeepAlive(fn)
			return a, r
		}
	}
	check("Func", call(false))
	check("Func, stolen", call(true))
	var chain *Chain[big, big]
	chain = NewChain(func(l *Link[big, big], arg big) big {
		if arg != nil {
			return body(arg)
		}
		l.Fork(new([1 << 10]byte))
		if l.TakeBack() {
			return chain.body(l, l.arg)
		}
		return l.Join()
	})
	check("Chain", func() (x, y weak.Pointer[[1 << 10]byte]) {
		chain.Call(p, nil)
		return a, r
	})
	runtime.KeepAlive(chain)
}
