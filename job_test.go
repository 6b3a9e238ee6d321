package filch

import (
	"runtime"
	"sync/atomic"
	"testing"
	"weak"
)

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
