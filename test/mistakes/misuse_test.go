package mistakes

import (
	"context"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// Whatever is wrong is told, and the next call is none the worse for it.
func TestMisuseIsToldAndLeavesNoTrace(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	var leaked *filch.Frame[int, int]
	leak := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 1 {
			leaked = f
		}
		return n
	})
	leak.Call(p, 1)
	for _, c := range []struct {
		what, want string
		do         func() int
	}{
		{"a link forked on twice", "forked on twice", func() int {
			return filch.NewChain(func(l *filch.Link[int, int], n int) int {
				if n == 0 {
					return 0
				}
				l.Fork(0)
				l.Fork(0)
				if l.TakeBack() {
					return 1
				}
				return l.Join()
			}).Call(p, 1)
		}},
		{"a link forked on twice and left", "not joined", func() int {
			return filch.NewChain(func(l *filch.Link[int, int], n int) int {
				if n > 0 {
					l.Fork(0)
					l.Fork(0)
				}
				return n
			}).Call(p, 1)
		}},
		{"a Frame after its function returned", "after its function has returned", func() int {
			return int(leaked.Fork(1))
		}},
	} {
		if got := rig.Recovered(func() { c.do() }); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	if n := leak.Call(p, 2); n != 2 {
		t.Errorf("the next call: %d", n)
	}
}

// A link that was not forked on may be passed by: a panic beyond it must not
// spoil the chain for the next call.
func TestPanicBeyondACleanLink(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	var fn *filch.Chain[int, int]
	bad := true
	var body func(l *filch.Link[int, int], n int) int
	body = func(l *filch.Link[int, int], n int) int {
		if n < 2 {
			if bad {
				panic("bad")
			}
			return n
		}
		if bad && n == 10 {
			return body(l.Next(), n-1)
		}
		l.Fork(n - 1)
		b := body(l.Next(), n-2)
		if l.TakeBack() {
			return body(l, n-1) + b
		}
		return l.Join() + b
	}
	fn = filch.NewChain(body)
	if got := rig.Recovered(func() { fn.Call(p, 10) }); !strings.Contains(got, "bad") {
		t.Errorf("a Chain whose body panics with bad panicked with %q", got)
	}
	bad = false
	if n := fn.Call(p, 10); n != 55 {
		t.Errorf("after a panic, fib(10) by the same Chain is %d, not 55", n)
	}
}

// A Frame may be used by what its call calls on the same goroutine, the arms of
// a Join included, where nobody steals them.
func TestAFrameInsideAJoin(t *testing.T) {
	p := filch.New(filch.WithWorkers(4))
	var fn *filch.Func[int, int]
	fn = filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n < 2 {
			return n
		}
		a, b := filch.Join(f.Worker(),
			func(*filch.Worker) int {
				h := f.Fork(n - 1)
				return f.Join(h)
			},
			func(w *filch.Worker) int { return fn.Call(w, n-2) })
		return a + b
	})
	for range 20 {
		if n := fn.Call(p, 15); n != 610 {
			t.Fatalf("fib(15) is %d, not 610", n)
		}
	}
}

func TestNilPanicErrorIsAPanic(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	if got := rig.Recovered(func() { p.Do(func(*filch.Worker) { panic((*filch.PanicError)(nil)) }) }); !strings.Contains(got, "panic in a function called by filch: <nil>") {
		t.Errorf("a panic with a nil *PanicError arrived as %q", got)
	}
}

// Large arguments and results link and work.
func TestLargeArgumentsAndResultsWork(t *testing.T) {
	type large [4096]byte
	p := filch.New(filch.WithWorkers(2))
	fn := filch.NewFunc(func(f *filch.Frame[large, large], a large) large {
		if a[0] == 0 {
			return a
		}
		a[0]--
		h := f.Fork(a)
		b := f.Call(a)
		c := f.Join(h)
		a[1] = b[1] + c[1] + 1
		return a
	})
	if r := fn.Call(p, large{6}); r[1] != 63 {
		t.Errorf("the sum of the second field of a large result is %d, not 63", r[1])
	}
}

// A pool may be used inside a bubble of synctest and outside, one after the
// other, when it rests in between.
func TestPoolSurvivesABubble(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	before := goroutines()
	p := filch.New(filch.WithWorkers(2))
	isNew := func(id string) bool { return !slices.Contains(before, id) } // not of a test before this one, and about to end
	blocks := func() {
		p.Do(func(w *filch.Worker) {
			started := make(chan bool)
			w.Join(
				func(*filch.Worker) { <-started },
				func(*filch.Worker) {
					close(started)
					time.Sleep(20 * time.Millisecond)
				})
		})
	}
	for range 3 {
		synctest.Test(t, func(t *testing.T) { blocks() })
		blocks()
		// A goroutine that has given up its place, or a timer, may still look for work, and would take that of the bubble.
		for p.Stats().Active > 0 || rig.Inside(p).Engine.IsHeld() || slices.ContainsFunc(goroutines(), isNew) {
			runtime.Gosched()
		}
	}
	if p.Stats().Waits == 0 {
		t.Error("nobody blocked: the test shows nothing")
	}
}

// goroutines returns the numbers of all goroutines.
func goroutines() (ids []string) {
	var stacks strings.Builder
	pprof.Lookup("goroutine").WriteTo(&stacks, 2)
	for line := range strings.Lines(stacks.String()) {
		if of, ok := strings.CutPrefix(line, "goroutine "); ok {
			id, _, _ := strings.Cut(of, " ")
			ids = append(ids, id)
		}
	}
	return ids
}

// A mutex, here one that synctest knows, is held around joins long enough for
// waiting workers to look for something else to do.
func TestMutexAroundLongJoins(t *testing.T) {
	for _, workers := range []int{2, 3, 8} {
		rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers))
				mutex := make(chan bool, 1)
				total := 0
				nap := func(d time.Duration) rig.Step { return func(*filch.Worker) { time.Sleep(d) } }
				var work func(depth int) rig.Step
				work = func(depth int) rig.Step {
					return func(w *filch.Worker) {
						if depth > 0 {
							both(w, work(depth-1), work(depth-1))
							return
						}
						mutex <- true
						both(w, nap(time.Microsecond), func(w *filch.Worker) { both(w, nap(time.Millisecond), nap(time.Millisecond)) })
						total++
						<-mutex
					}
				}
				p.Do(work(7))
				if total != 1<<7 {
					t.Errorf("%d workers: %d", workers, total)
				}
			})
		})
	}
}

// Waiting workers do help: without it, only places that are given up would go
// to others.
func TestWaitingHelps(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	p := filch.New(filch.WithWorkers(2))
	// The fork of the fork can run on the worker that waits, or on a third if that gives up
	// its place: if it is slow to look, so the test looks again.
	for range 10_000 {
		var begun [2]atomic.Bool
		until := func(f *filch.Frame[int, int], b *atomic.Bool) {
			for !b.Load() {
				f.Worker().Poll()
				runtime.Gosched()
			}
		}
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n > 0 {
				begun[n-1].Store(true)
			}
			if n < 2 {
				h := f.Fork(n + 1)
				until(f, &begun[n])
				f.Join(h)
			}
			return 0
		})
		if fn.Call(p, 0); p.Stats().Helped > 0 {
			return
		}
	}
	t.Fatalf("no worker that waited has helped the thief: %+v", p.Stats())
}

// Workers leave by themselves, without the clock moving on: nothing is left to
// sleep on when the work is done.
func TestIdleWorkersLeaveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(8))
		p.Do(func(w *filch.Worker) {
			for range 20 {
				w.Join(func(*filch.Worker) { time.Sleep(rig.Leaf) }, func(*filch.Worker) { time.Sleep(rig.Leaf) })
			}
		})
		start := time.Now()
		synctest.Wait()
		if s := p.Stats(); s.Active != 0 || s.Blocked != 0 || s.Wakes == 0 || !time.Now().Equal(start) {
			t.Errorf("after %v: %+v", time.Since(start), s)
		}
	})
}

// Close returns when no Do is under way any more, whatever its worker does at
// the time: it may have passed its place on while it helps.
func TestCloseWaitsForHelpers(t *testing.T) {
	for start := time.Now(); time.Since(start) < rig.StressTime()/4; {
		p := filch.New(filch.WithWorkers(2))
		var left atomic.Bool
		var wg sync.WaitGroup
		in, b, h := make(chan bool), make(chan bool), make(chan bool)
		wg.Go(func() {
			p.Do(func(w *filch.Worker) {
				close(in)
				w.Join(func(*filch.Worker) { <-b }, func(w *filch.Worker) {
					close(b)
					w.Join(func(*filch.Worker) { <-h }, func(*filch.Worker) {
						close(h)
						for s := time.Now(); time.Since(s) < 300*time.Microsecond; {
						}
					})
				})
				left.Store(true)
			})
		})
		<-in
		p.Close()
		if !left.Load() {
			t.Fatal("Close returned before Do")
		}
		wg.Wait()
	}
}

// A job that a worker helps with while it waits ends in Goexit, and takes the
// wait with it. What the worker does later must not think that it still waits.
func TestGoexitWhileHelping(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(3))
		var wg sync.WaitGroup
		second, third, helped := make(chan bool), make(chan bool), make(chan bool)
		wg.Go(func() {
			p.Do(func(w *filch.Worker) {
				w.Join(func(*filch.Worker) { <-second; <-helped }, func(w *filch.Worker) {
					close(second)
					w.Join(func(*filch.Worker) { <-third }, func(w *filch.Worker) {
						w.Join(func(*filch.Worker) { close(third); <-helped }, func(*filch.Worker) {
							close(helped)
							runtime.Goexit()
						})
					})
				})
			})
		})
		wg.Wait()
		synctest.Wait()
		if s := p.Stats(); s.Helped != 1 {
			t.Fatalf("nobody helped: the test shows nothing: %+v", s)
		}
		for range 3 {
			wg.Go(func() {
				p.Do(func(w *filch.Worker) {
					w.Join(func(*filch.Worker) { time.Sleep(rig.Leaf) }, func(w *filch.Worker) {
						w.Join(func(*filch.Worker) { time.Sleep(2 * rig.Leaf) }, func(*filch.Worker) { time.Sleep(3 * rig.Leaf) })
					})
				})
			})
			wg.Wait()
		}
		synctest.Wait()
		if s := p.Stats(); s.Active != 0 || s.Blocked != 0 || s.Waits == 0 {
			t.Errorf("after all is done: %+v", s)
		}
		p.Close()
	})
}

// A Func that is nil leaves no place behind.
// A Frame whose function has returned has a worker that belongs to no pool.
func TestWorkerOfAFrameThatIsOver(t *testing.T) {
	var kept *filch.Frame[int, int]
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int { kept = f; return n })
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	fn.Call(p, 1)
	if w := kept.Worker(); w == nil || w.Pool() != nil {
		t.Errorf("it has the worker %p", w)
	}
}

func TestCallOfANilFunc(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	if got := rig.Recovered(func() { (*filch.Func[int, int])(nil).Call(p, 1) }); got == "" {
		t.Error("it was called")
	}
	if s := p.Stats(); s.Active != 0 {
		t.Errorf("%d places are taken", s.Active)
	}
	p.Close()
}

// Small things that are refused, or told.
func TestSmallMistakesAreRefusedOrTold(t *testing.T) {
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(rig.ErrBoom)
	p := filch.New(filch.WithWorkers(1))
	if err := p.Go(ended, rig.Nothing, filch.LongRunning()); err != rig.ErrBoom {
		t.Errorf("LongRunning: %v", err)
	}
	_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(rig.ErrBoom)
		f := filch.Submit(context.WithoutCancel(ctx), p, rig.One)
		if _, err := f.Wait(ctx); err != rig.ErrBoom {
			t.Errorf("Wait: %v", err)
		}
		return f.Wait(context.Background())
	}).Wait(context.Background())
	if err != nil {
		t.Error("filch.Submit(background, p, …).Wait(background):", err)
	}
	g := p.Group(context.Background())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		g.Go(func(context.Context) error { return nil }, nil)
	}()
	if err := g.Wait(); err != nil {
		t.Error("g.Wait():", err)
	}
	other := filch.Submit(context.Background(), p, func(context.Context) (int, error) { panic("once") })
	_, err = other.Wait(context.Background())
	filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 0, err }).Wait(context.Background())
	p.Shutdown(context.Background())
	if s := p.Stats().Tasks; s.Panicked != 1 || s.Failed != 1 {
		t.Errorf("p.Stats().Tasks: %+v", s)
	}
}

func TestOptionMisusePanics(t *testing.T) {
	rig.MustPanic(t, "WithWorkers(0)", func() { filch.New(filch.WithWorkers(0)) })
	rig.MustPanic(t, "WithWorkers(-3)", func() { filch.New(filch.WithWorkers(-3)) })
	rig.MustPanic(t, "WithWorkers(1073741824)", func() { filch.New(filch.WithWorkers(1 << 30)) })
	rig.MustPanic(t, "option 1 is nil", func() { filch.New(filch.WithWorkers(1), nil) })
}
