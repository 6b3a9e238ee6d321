package limits

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

// With one place, all open forks run while the worker blocks, those of outer activations too.
func TestAllOpenForksRunWhileAWorkerBlocks(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	const each = 20
	var wg sync.WaitGroup
	leaf := func() int { wg.Done(); return 1 }
	var chain *filch.Chain[int, int]
	chain = filch.NewChain(func(l *filch.Link[int, int], n int) int {
		switch n {
		case -1:
			return leaf()
		case 0:
			w := l.Worker()
			w.Join(func(w *filch.Worker) { w.Blocking(wg.Wait) }, func(*filch.Worker) { leaf() })
			return 1
		}
		l.Fork(-1)
		sum := chain.Call(l.Worker(), n-1)
		return sum + l.Join()
	})
	function := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			return leaf()
		}
		forks := make([]filch.Fork, n)
		for i := range forks {
			forks[i] = f.Fork(0)
		}
		sum := chain.Call(f.Worker(), n)
		for i := range forks {
			sum += f.Join(forks[n-1-i])
		}
		return sum
	})
	for range 3 {
		wg.Add(2*each + 1)
		if got := function.Call(p, each); got != 2*each+1 {
			t.Errorf("function.Call(p, each): %d", got)
		}
	}
	rig.AtRest(t, p)
}

// wherever calls f on a worker of p: in a guest, a stolen fork, and a task.
func wherever(t *testing.T, p *filch.Pool, f func(t *testing.T, w *filch.Worker)) {
	t.Run("guest", func(t *testing.T) { p.Do(func(w *filch.Worker) { f(t, w) }) })
	t.Run("thief", func(t *testing.T) {
		var done atomic.Bool
		p.Do(func(w *filch.Worker) {
			w.Join(func(w *filch.Worker) {
				for !done.Load() {
					w.Poll()
					runtime.Gosched()
				}
			}, func(w *filch.Worker) {
				defer done.Store(true)
				f(t, w)
			})
		})
	})
	t.Run("task", func(t *testing.T) {
		g := p.Group(context.Background())
		g.Go(func(ctx context.Context) error {
			filch.ScopeOf(ctx).Do(func(w *filch.Worker) { f(t, w) })
			return nil
		})
		if err := g.Wait(); err != nil {
			t.Error("g.Wait():", err)
		}
	})
	rig.AtRest(t, p)
}

// A task that is queued behind one that blocks runs meanwhile, though there is one place.
func TestTasksRunWhileAWorkerBlocks(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	overtaken := func(w *filch.Worker) {
		w.Blocking(func() {
			w.Blocking(func() {}) // its end is not that of the other
			ran := make(chan bool)
			p.Go(context.Background(), func(context.Context) { close(ran) })
			<-ran
		})
	}
	p.Do(overtaken)
	g := p.Group(context.Background())
	g.Go(func(ctx context.Context) error {
		filch.ScopeOf(ctx).Do(overtaken)
		return nil
	})
	if err := g.Wait(); err != nil {
		t.Error("g.Wait():", err)
	}
	rig.AtRest(t, p)
}

// Who comes back does not wait for a place, though the one it had is taken.
func TestAfterBlockingAWorkerGoesOnAtOnce(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	taken, back := make(chan bool), make(chan bool)
	p.Do(func(w *filch.Worker) {
		w.Join(func(w *filch.Worker) {
			w.Blocking(func() { <-taken })
			if s := p.Stats(); s.Active != 2 || s.Blocked != 0 {
				t.Errorf("%d places are taken, %d goroutines blocked", s.Active, s.Blocked)
			}
			close(back)
		}, func(*filch.Worker) {
			close(taken)
			<-back
		})
	})
	rig.AtRest(t, p)
}

func TestStatsCountWhatBlocks(t *testing.T) {
	wherever(t, filch.New(filch.WithWorkers(2)), func(t *testing.T, w *filch.Worker) {
		p := w.Pool()
		before := p.Stats().Blocked
		w.Blocking(func() {
			if got := p.Stats().Blocked; got != before+1 {
				t.Errorf("%d blocked, %d before", got, before)
			}
			w.Blocking(func() {}) // which is harmless
			if got := p.Stats().Blocked; got != before+1 {
				t.Errorf("%d blocked after another within, %d before", got, before)
			}
		})
		if got := p.Stats().Blocked; got != before {
			t.Errorf("%d blocked, %d before", got, before)
		}
	})
}

func TestClosingWaitsForWhatBlocks(t *testing.T) {
	for name, end := range rig.Shut {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			goOn, blocks := make(chan bool), make(chan bool)
			go p.Do(func(w *filch.Worker) {
				w.Blocking(func() {
					close(blocks)
					<-goOn
				})
				if got := rig.FibFunc.Call(w, 15); got != 610 {
					t.Error("fibFunc.Call(w, 15):", got)
				}
			})
			<-blocks
			ended := false
			go func() {
				if err := end(p); err != nil {
					t.Error("end(p):", err)
				}
				ended = true
			}()
			synctest.Wait()
			if ended {
				t.Errorf("%s does not wait", name)
			}
			close(goOn)
			synctest.Wait()
			if !ended {
				t.Errorf("%s still waits", name)
			}
		})
	}
}

func TestAPanicGoesThroughBlocking(t *testing.T) {
	wherever(t, filch.New(filch.WithWorkers(2)), func(t *testing.T, w *filch.Worker) {
		defer func() {
			if err, ok := recover().(*filch.PanicError); !ok || err.Value != "boom" {
				t.Errorf("%v", err)
			}
			if got := rig.FibFunc.Call(w, 15); got != 610 { // w is fit for use
				t.Error("fibFunc.Call(w, 15):", got)
			}
		}()
		w.Join(func(w *filch.Worker) { w.Blocking(func() { panic("boom") }) }, rig.Nop)
	})
}

func TestGoexitGoesThroughBlocking(t *testing.T) {
	for _, where := range []string{"guest", "fork"} {
		p := filch.New(filch.WithWorkers(2))
		var wg sync.WaitGroup
		wg.Go(func() {
			p.Do(func(w *filch.Worker) {
				exit := func(w *filch.Worker) { w.Blocking(runtime.Goexit) }
				if where == "fork" {
					w.Join(rig.Nop, exit)
				} else {
					w.Join(exit, rig.Nop)
				}
			})
			t.Error("goes on after runtime.Goexit")
		})
		wg.Wait()
		rig.AtRest(t, p)
	}
}

// Any of many workers may block at any time, and nothing is lost or done twice.
func TestBlockingAnywhereLosesNothing(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		p := filch.New(filch.WithWorkers(workers))
		var leaves atomic.Int64
		tree := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n == 0 {
				leaves.Add(1)
				return 1
			}
			h := f.Fork(n - 1)
			if rand.IntN(50) == 0 {
				f.Worker().Blocking(runtime.Gosched)
			}
			return f.Call(n-1) + f.Join(h)
		})
		const depth = 10
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if got := tree.Call(p, depth); got != 1<<depth {
					t.Errorf("%d leaves, want %d", got, 1<<depth)
				}
			})
			wg.Go(func() {
				g := p.Group(context.Background())
				for range 4 {
					g.Go(func(ctx context.Context) error {
						if got := tree.Call(filch.ScopeOf(ctx), depth); got != 1<<depth {
							t.Errorf("%d leaves, want %d", got, 1<<depth)
						}
						return nil
					})
				}
				if err := g.Wait(); err != nil {
					t.Error("g.Wait():", err)
				}
			})
		}
		wg.Wait()
		if got := leaves.Load(); got != 4*5<<depth {
			t.Errorf("%d leaves ran, want %d", got, 4*5<<depth)
		}
		rig.AtRest(t, p)
	}
}

// Both kinds of Blocking may be in one another.
func TestBlockingOfTheContextWithinThatOfTheWorker(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	g := p.Group(context.Background())
	g.Go(func(ctx context.Context) error {
		filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
			w.Blocking(func() {
				filch.Blocking(ctx, func() {
					ran := make(chan bool)
					p.Go(context.Background(), func(context.Context) { close(ran) })
					<-ran
				})
			})
		})
		filch.Blocking(ctx, func() {
			filch.ScopeOf(ctx).Do(func(w *filch.Worker) { w.Blocking(runtime.Gosched) })
		})
		return nil
	})
	if err := g.Wait(); err != nil {
		t.Error("g.Wait():", err)
	}
	rig.AtRest(t, p)
}

func TestMisuseOfBlocking(t *testing.T) {
	p := filch.New(filch.WithWorkers(1)) // so that nobody asks for forks
	p.Do(func(w *filch.Worker) {
		rig.MustPanic(t, "filch: Blocking: f is nil", func() { w.Blocking(nil) })
	})
	if !race.Enabled {
		return
	}
	inside := "used inside of its Blocking"
	for name, use := range map[string]func(w *filch.Worker){
		"Do":   func(w *filch.Worker) { w.Do(rig.Nop) },
		"Call": func(w *filch.Worker) { rig.FibFunc.Call(w, 2) },
		"Join": func(w *filch.Worker) { w.Join(rig.Nop, rig.Nop) },
	} {
		t.Run(name, func(t *testing.T) {
			rig.MustPanic(t, inside, func() {
				p.Do(func(w *filch.Worker) { w.Blocking(func() { use(w) }) })
			})
		})
	}
	t.Run("Fork", func(t *testing.T) {
		rig.MustPanic(t, inside, func() {
			filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
				f.Worker().Blocking(func() { f.Fork(1) })
				return n
			}).Call(p, 1)
		})
	})
	t.Run("Frame.Join", func(t *testing.T) {
		rig.MustPanic(t, inside, func() {
			begun := make(chan bool) // another worker runs it
			filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
				if n == 0 {
					close(begun)
					return 0
				}
				h := f.Fork(0)
				f.Worker().Blocking(func() {
					<-begun
					f.Join(h)
				})
				return n
			}).Call(p, 1)
		})
	})
	t.Run("Link", func(t *testing.T) {
		rig.MustPanic(t, inside, func() {
			filch.NewChain(func(l *filch.Link[int, int], n int) int {
				if n > 0 {
					l.Worker().Blocking(func() { l.Fork(0) })
				}
				return n
			}).Call(p, 1)
		})
	})
	rig.AtRest(t, p)
}

// A Blocking inside of another calls its function, and gives nothing up again.
func TestBlockingWithinBlockingJustCalls(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	defer p.Close()
	ran := 0
	p.Do(func(w *filch.Worker) {
		w.Blocking(func() {
			w.Blocking(func() {
				ran++
				w.Blocking(func() { ran++ })
				if n := p.Stats().Blocked; n != 1 {
					t.Errorf("%d are counted as blocked", n)
				}
			})
		})
		if s := p.Stats(); s.Blocked != 0 || s.Active != 1 {
			t.Errorf("p.Stats(): %+v", s)
		}
	})
	if ran != 2 {
		t.Errorf("%d of 2 functions ran", ran)
	}
}
