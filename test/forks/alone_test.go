package forks

import (
	"context"
	"sync"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// A pool of one place publishes nothing, whatever has asked for it: nobody would take it. Each
// program asks for forks in its way, and then makes many.
func TestOneWorkerPublishesNothing(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	n := 0
	tree := rig.Build(10, &n)
	asyncs := func(w *filch.Worker) {
		w.Finish(func(w *filch.Worker) {
			for range 100 {
				w.Async(func(*filch.Worker) {})
			}
		})
	}
	work := func(s filch.Scope) {
		rig.SumFunc.Call(s, tree)
		rig.SumChain.Call(s, tree)
		s.Do(func(w *filch.Worker) { rig.JoinFib(w, 10); asyncs(w) })
	}
	for name, program := range workOfOne(t, work) {
		t.Run(name, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0)) // a stall would add a place
			for range rig.Fewer(20) {
				program(p)
			}
			p.Close()
			if s := p.Stats(); s.Published != 0 {
				t.Errorf("%d forks were published, %d of them taken back", s.Published, s.TakenBack)
			}
		})
	}
}

// workOfOne are ways in which work comes to a pool of one worker.
func workOfOne(t *testing.T, work func(s filch.Scope)) map[string]func(p *filch.Pool) {
	ctx := context.Background()
	return map[string]func(p *filch.Pool){
		"from outside": func(p *filch.Pool) { work(p) },
		"in Do":        func(p *filch.Pool) { p.Do(func(w *filch.Worker) { work(w) }) },
		"a guest on top": func(p *filch.Pool) {
			p.Do(func(w *filch.Worker) {
				p.Do(func(w *filch.Worker) { work(w) })
				work(w)
			})
		},
		"two places for a while": func(p *filch.Pool) {
			p.Do(func(w *filch.Worker) {
				p.Resize(2)
				p.Resize(1)
				work(w)
			})
		},
		"guests at once": func(p *filch.Pool) {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { work(p) })
			}
			wg.Wait()
		},
		"in tasks": func(p *filch.Pool) {
			g := p.Group(ctx)
			for range 20 {
				g.Go(func(ctx context.Context) error { work(filch.ScopeOf(ctx)); return nil })
				work(p)
			}
			if err := g.Wait(); err != nil {
				t.Error("g.Wait():", err)
			}
		},
		"after a wait": func(p *filch.Pool) {
			outer := filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
				inner := filch.Submit(ctx, p, func(ctx context.Context) (int, error) { work(filch.ScopeOf(ctx)); return 0, nil })
				work(filch.ScopeOf(ctx))
				return inner.Wait(ctx)
			})
			work(p)
			outer.Wait(ctx)
		},
		"beside what blocks": func(p *filch.Pool) {
			begun, over, done := make(chan bool), make(chan bool), make(chan bool)
			go p.Do(func(w *filch.Worker) {
				w.Blocking(func() { close(begun); <-over })
				close(done)
			})
			<-begun
			p.Do(func(w *filch.Worker) {
				work(w)
				close(over)
				<-done
				work(w)
			})
		},
	}
}

// One worker publishes what others may take: when it lends its slot, and when there is a second one.
func TestOneWorkerPublishesWhenAnotherMayCome(t *testing.T) {
	for name, ask := range map[string]func(w *filch.Worker, begun <-chan bool){
		"Blocking": func(w *filch.Worker, begun <-chan bool) { w.Blocking(func() { <-begun }) },
		"Resize": func(w *filch.Worker, begun <-chan bool) {
			w.Pool().Resize(2)
			w.Poll()
			<-begun
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0)) // a stall would add a place
			begun := make(chan bool)
			fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
				if n > 0 {
					close(begun)
					return n
				}
				h := f.Fork(1)
				ask(f.Worker(), begun) // returns once another worker has begun the fork
				return f.Join(h)
			})
			if r := fn.Call(p, 0); r != 1 {
				t.Error("fn.Call(p, 0):", r)
			}
		})
	}
}
