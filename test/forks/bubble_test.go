package forks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// waits are all the ways to wait for a pool, or to make it wait. In each, leaves sleep, so that
// in a bubble every goroutine blocks now and then.
var waits = map[string]func(t *testing.T, p *filch.Pool){
	"Do": func(t *testing.T, p *filch.Pool) {
		p.Do(func(w *filch.Worker) { time.Sleep(time.Second) })
		p.Do(func(w *filch.Worker) { p.Do(func(w *filch.Worker) { w.Do(rig.Nop) }) })
	},
	"forks": func(t *testing.T, p *filch.Pool) {
		for _, form := range rig.Forms {
			var n atomic.Int32
			leaf := func(w *filch.Worker) { time.Sleep(time.Second); n.Add(1) }
			form.Both(p,
				func(w *filch.Worker) { form.Both(w, leaf, leaf) },
				func(w *filch.Worker) { form.Both(w, leaf, func(w *filch.Worker) { form.Both(w, leaf, leaf) }) })
			if n.Load() != 5 {
				t.Errorf("%s: %d of 5 leaves ran", form.Name, n.Load())
			}
		}
	},
	"many forks": func(t *testing.T, p *filch.Pool) {
		if n := filch.NewFunc(naps(100)).Call(p, 0); n != 100 {
			t.Errorf("%d of 100 leaves ran", n)
		}
	},
	"a fork that panics": func(t *testing.T, p *filch.Pool) {
		for _, form := range rig.Forms {
			slow := func(w *filch.Worker) { time.Sleep(time.Second) }
			bad := func(w *filch.Worker) { time.Sleep(time.Second); panic(form.Name) }
			for _, arms := range [][2]rig.Step{{slow, bad}, {bad, slow}, {bad, bad}} {
				if v := rig.Catch(func() { form.Both(p, arms[0], arms[1]) }); v == nil {
					t.Errorf("%s: the panic is lost", form.Name)
				}
			}
		}
	},
	"a fork that exits": func(t *testing.T, p *filch.Pool) {
		for _, form := range rig.Forms {
			for _, first := range []bool{false, true} {
				var wg sync.WaitGroup
				wg.Go(func() {
					exit := func(w *filch.Worker) { time.Sleep(time.Second); runtime.Goexit() }
					slow := func(w *filch.Worker) { time.Sleep(2 * time.Second) }
					if first {
						form.Both(p, exit, slow)
					} else {
						form.Both(p, slow, exit)
					}
					t.Errorf("%s: Goexit is lost", form.Name)
				})
				wg.Wait()
			}
		}
	},
	"guests": func(t *testing.T, p *filch.Pool) {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { filch.NewFunc(naps(5)).Call(p, 0) })
		}
		wg.Wait()
	},
	"Go": func(t *testing.T, p *filch.Pool) {
		var n atomic.Int32
		done := make(chan bool)
		for range 50 {
			p.Go(context.Background(), func(ctx context.Context) {
				time.Sleep(time.Second)
				p.Go(ctx, func(ctx context.Context) {
					if n.Add(1) == 50 {
						close(done)
					}
				})
			})
		}
		<-done
	},
	"Go with options": func(t *testing.T, p *filch.Pool) {
		var wg sync.WaitGroup
		wg.Add(40)
		for _, opt := range []filch.TaskOption{filch.Named("x"), filch.Within(time.Hour), filch.Fair(), filch.LongRunning()} {
			for range 10 {
				p.Go(context.Background(), func(ctx context.Context) { time.Sleep(time.Second); wg.Done() }, opt)
			}
		}
		wg.Wait()
	},
	"Wait": func(t *testing.T, p *filch.Pool) {
		if n, err := rig.TaskFib(context.Background(), p, 10); n != 55 || err != nil {
			t.Error("taskFib(background, p, 10):", n, err)
		}
	},
	"Wait, of others": func(t *testing.T, p *filch.Pool) {
		first := filch.Submit(context.Background(), p, func(context.Context) (int, error) { time.Sleep(time.Second); return 1, nil })
		second := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return first.Wait(ctx) })
		third := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return second.Wait(ctx) })
		if n, err := third.Wait(context.Background()); n != 1 || err != nil {
			t.Error("third.Wait(background):", n, err)
		}
		<-first.Done()
		<-filch.Submit(context.Background(), p, rig.One).Done()
	},
	"Group": func(t *testing.T, p *filch.Pool) {
		_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			g := p.Group(ctx)
			for range 20 {
				g.Go(func(ctx context.Context) error {
					inner := p.Group(ctx)
					inner.Go(func(context.Context) error { time.Sleep(time.Second); return nil })
					inner.Go(func(context.Context) error { return nil }, filch.Named("x"))
					return inner.Wait()
				})
			}
			return 0, g.Wait()
		}).Wait(context.Background())
		if err != nil {
			t.Error("filch.Submit(background, p, …).Wait(background):", err)
		}
	},
	"Group, of others": func(t *testing.T, p *filch.Pool) {
		g := p.Group(context.Background(), filch.CollectErrors(3))
		for i := range 20 {
			g.Go(func(context.Context) error {
				time.Sleep(time.Second)
				switch i {
				case 3:
					panic(i)
				case 4:
					runtime.Goexit()
				}
				return nil
			})
		}
		if err := g.Wait(); !errors.Is(err, filch.ErrGoexit) {
			t.Error("g.Wait():", err)
		}
		g = p.Group(context.Background())
		for range 20 {
			g.Go(func(ctx context.Context) error { <-ctx.Done(); return nil })
		}
		if err := g.Stop(); err != nil {
			t.Error("g.Stop():", err)
		}
	},
	"Blocking": func(t *testing.T, p *filch.Pool) {
		ch := make(chan int)
		for i := range 10 {
			p.Go(context.Background(), func(ctx context.Context) { filch.Blocking(ctx, func() { ch <- i }) })
		}
		filch.Submit(context.Background(), p, rig.One).Wait(context.Background())
		for range 10 {
			<-ch
		}
	},
	"hidden blocking": func(t *testing.T, p *filch.Pool) {
		ch := make(chan int)
		for i := range 40 {
			p.Go(context.Background(), func(ctx context.Context) {
				if i < 20 {
					ch <- i
				} else {
					<-ch
				}
			})
		}
		filch.Submit(context.Background(), p, rig.One).Wait(context.Background())
	},
	"Help": func(t *testing.T, p *filch.Pool) {
		p.Pause()
		p.Go(context.Background(), rig.Nothing)
		p.Help(context.Background())
		p.Resume()
		for p.Help(context.Background()) {
		}
		filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			p.Help(ctx) // nothing
			p.Go(ctx, func(context.Context) { time.Sleep(time.Second) })
			p.Help(ctx)
			p.Help(ctx)
			return 0, nil
		}).Wait(context.Background())
	},
	"ScopeOf": func(t *testing.T, p *filch.Pool) {
		filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() { filch.NewFunc(naps(10)).Call(filch.ScopeOf(ctx), 0) })
			}
			go filch.NewFunc(naps(20)).Call(filch.ScopeOf(ctx), 0) // beyond the end
			filch.Blocking(ctx, wg.Wait)
			return 0, nil
		}).Wait(context.Background())
	},
	"Pause": func(t *testing.T, p *filch.Pool) {
		p.Pause()
		f := filch.Submit(context.Background(), p, rig.One)
		time.Sleep(time.Minute)
		if s := p.Stats().Tasks; s.Started > 0 || s.Queued != 1 {
			t.Errorf("p.Stats().Tasks: %+v", s)
		}
		p.Resume()
		f.Wait(context.Background())
	},
	"Resize": func(t *testing.T, p *filch.Pool) {
		var wg sync.WaitGroup
		wg.Add(30)
		for range 30 {
			p.Go(context.Background(), func(context.Context) { time.Sleep(time.Second); wg.Done() })
		}
		p.Resize(5)
		time.Sleep(time.Second)
		p.Resize(1)
		wg.Wait()
	},
	"panics and Goexit of tasks": func(t *testing.T, p *filch.Pool) {
		p.Go(context.Background(), func(context.Context) { runtime.Goexit() })
		if _, err := filch.Submit(context.Background(), p, func(context.Context) (int, error) { runtime.Goexit(); return 1, nil }).Wait(context.Background()); err != filch.ErrGoexit {
			t.Error("filch.Submit(background, p, …).Wait(background):", err)
		}
		f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			return filch.Submit(ctx, p, func(context.Context) (int, error) { panic("in place") }).Wait(ctx)
		})
		if _, err := f.Wait(context.Background()); err == nil {
			t.Error("the panic is lost")
		}
	},
	"Within": func(t *testing.T, p *filch.Pool) {
		f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }, filch.Within(time.Second))
		if _, err := f.Wait(context.Background()); !errors.Is(err, context.DeadlineExceeded) {
			t.Error("f.Wait(background):", err)
		}
	},
	"Cancel": func(t *testing.T, p *filch.Pool) {
		for range 5 {
			f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
			time.AfterFunc(time.Second, f.Cancel)
			if _, err := f.Wait(context.Background()); !errors.Is(err, context.Canceled) {
				t.Error("f.Wait(background):", err)
			}
		}
	},
	"Close inside": func(t *testing.T, p *filch.Pool) {
		for range 10 {
			p.Go(context.Background(), func(context.Context) { time.Sleep(time.Second) })
		}
		p.Go(context.Background(), func(context.Context) {
			if err := p.Close(); !errors.Is(err, filch.ErrInside) {
				t.Error("p.Close():", err)
			}
		}, filch.LongRunning())
	},
	"Shutdown that gives up": func(t *testing.T, p *filch.Pool) {
		for range 20 {
			p.Go(context.Background(), func(ctx context.Context) { <-ctx.Done() })
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error("p.Shutdown(ctx):", err)
		}
	},
	"a full queue": func(t *testing.T, p *filch.Pool) {
		var n atomic.Int32
		g := p.Group(context.Background())
		for range 30 {
			g.Go(func(ctx context.Context) error {
				time.Sleep(time.Second)
				return p.Go(ctx, func(context.Context) { n.Add(1) })
			})
		}
		if err := g.Wait(); err != nil && !errors.Is(err, filch.ErrQueueFull) {
			t.Error("g.Wait():", err)
		}
	},
}

// A goroutine that waits goes on in the end, and a pool comes to rest. One that waits for ever in a bubble, with
// nothing under way that could help, is reported at once.
func TestNobodyWaitsForEver(t *testing.T) {
	for kind, opts := range map[string][]filch.Option{
		"one worker":     {filch.WithWorkers(1)},
		"two workers":    {filch.WithWorkers(2)},
		"eight, FIFO":    {filch.WithWorkers(8), filch.WithOrder(filch.FIFO)},
		"by priority":    {filch.WithWorkers(2), filch.WithOrder(filch.ByPriority)},
		"parked workers": {filch.WithWorkers(2), filch.WithIdleTimeout(time.Minute)},
		"a short queue":  {filch.WithWorkers(2), filch.WithQueueLimit(2, filch.Block)},
		"caller runs":    {filch.WithWorkers(2), filch.WithQueueLimit(2, filch.CallerRuns)},
		"observed":       {filch.WithWorkers(2), filch.WithObserver(rig.Observer(func(filch.Event) {})), filch.WithLabels()},
	} {
		for name, wait := range waits {
			if kind == "a short queue" && (name == "hidden blocking" || name == "Blocking" || name == "Pause" || name == "Help" || name == "Group, of others" || name == "Shutdown that gives up") ||
				kind == "caller runs" && (name == "hidden blocking" || name == "Shutdown that gives up" || name == "Blocking" || name == "Group, of others") {
				continue // the submitter waits for itself
			}
			t.Run(fmt.Sprint(kind, "/", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := filch.New(opts...)
					wait(t, p)
					if err := p.Shutdown(context.Background()); err != nil {
						t.Error("p.Shutdown(background):", err)
					}
					s := p.Stats()
					if s.Active != 0 || s.Searching != 0 || s.Blocked != 0 || s.Tasks.Queued != 0 {
						t.Errorf("at rest: %+v", s)
					}
					if k := s.Tasks; k.Submitted != k.Done+k.Cancelled || k.Started != k.Done {
						t.Errorf("at rest: %+v", k)
					}
					if s.Published != s.TakenBack+s.Steals {
						t.Errorf("of %d published forks, %d were taken back and %d stolen", s.Published, s.TakenBack, s.Steals)
					}
				})
			})
		}
	}
}
