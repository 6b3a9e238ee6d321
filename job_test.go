package filch

import (
	"runtime"
	"testing"
	"weak"
)

// aJob runs f inside a call that has forked one call of fn, which some other
// worker has stolen but not begun.
func aJob(p *Pool, f func(thief *engineWorker, j *job)) int {
	fn := NewFunc(func(f2 *Frame[int, int], arg int) int {
		if arg == 0 {
			return 1
		}
		h := f2.Fork(0)
		w := f2.w
		w.raise(hunger)
		w.answer()
		thief := p.engine.hireSlow()
		j := thief.steal(w)
		f(thief, j)
		return f2.Join(h) + 1
	})
	return fn.Call(p, 1)
}

// A job that was stolen by one that must not run it is run by its owner if
// nobody else comes, and by whoever comes first.
func TestAJobThatWasHandedOnRunsOnce(t *testing.T) {
	p := New(WithWorkers(1))
	if n := aJob(p, func(thief *engineWorker, j *job) { thief.handOn(j) }); n != 2 {
		t.Errorf("by its owner: %d", n)
	}
	if n := p.engine.global.n.Load(); n != 0 {
		t.Errorf("%d jobs left", n)
	}
	if n := aJob(p, func(thief *engineWorker, j *job) {
		thief.handOn(j)
		if k, _ := thief.look(false); k != j {
			t.Fatalf("found %p, not %p", k, j)
		}
		thief.execute(j)
	}); n != 2 {
		t.Errorf("by another: %d", n)
	}
	// The owner is blocked already, and its place free for who comes.
	if n := aJob(p, func(thief *engineWorker, j *job) {
		go func() {
			for p.Stats().Blocked == 0 {
				runtime.Gosched()
			}
			thief.handOn(j)
		}()
	}); n != 2 {
		t.Errorf("while its owner is blocked: %d", n)
	}
	if s := p.engine.places.Load(); s.Active() > 1 {
		t.Errorf("%v", s)
	}
}

// What was joined is not retained, nor is what a call leaves behind.
func TestNothingIsRetained(t *testing.T) {
	type big = *[1 << 10]byte
	p := New(WithWorkers(1))
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
		return result
	}
	call := func(publish bool) func() (x, y weak.Pointer[[1 << 10]byte]) {
		return func() (weak.Pointer[[1 << 10]byte], weak.Pointer[[1 << 10]byte]) {
			fn := NewFunc(func(f *Frame[big, big], arg big) big {
				if arg != nil {
					return body(arg)
				}
				h := f.Fork(new([1 << 10]byte))
				if publish {
					f.w.raise(hunger)
					f.w.answer()
					thief := p.engine.hireSlow()
					thief.execute(thief.steal(f.w))
				}
				f.Join(h)
				runtime.GC()
				if a.Value() != nil {
					t.Errorf("published %v: the argument is retained after the join", publish)
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

// A worker that leaves asks those that work for forks, and starts a worker if
// work is public that nobody looks for.
func TestWhoLeavesLooksForWork(t *testing.T) {
	p := New(WithWorkers(2))
	stays, leaves := p.mustEnter("Do"), p.mustEnter("Do")
	stays.engine.demand = none
	p.exit(leaves)
	if stays.engine.demand != hunger {
		t.Errorf("demand %d after a place became free, want %d", stays.engine.demand, hunger)
	}
	leaves = p.mustEnter("Do")
	ran := make(chan bool)
	p.engine.global.add(&job{run: func(*engineWorker) { close(ran) }, owner: &stays.engine})
	p.exit(leaves)
	<-ran
	p.exit(stays)
}
