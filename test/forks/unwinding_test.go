package forks

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// A panic on its way out waits for what thieves have of its forks, and does not help them: what
// ends in runtime.Goexit there would end the unwinding as well.
func TestUnwindingDoesNotHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		var got any
		var wg sync.WaitGroup
		ended := false
		wg.Go(func() {
			defer func() { got = recover() }()
			stolen := make(chan bool)
			p.Do(func(w *filch.Worker) {
				w.Join(func(*filch.Worker) {
					<-stolen
					panic(rig.ErrBoom)
				}, func(w *filch.Worker) {
					defer func() { ended = true }()
					w.Join(func(*filch.Worker) {
						close(stolen)
						time.Sleep(time.Minute)
					}, func(*filch.Worker) { runtime.Goexit() })
				})
			})
			t.Error("Do returned")
		})
		wg.Wait()
		if err, _ := got.(error); !errors.Is(err, rig.ErrBoom) || !ended {
			t.Errorf("what arrived is %v; what was stolen had ended: %v", got, ended)
		}
		p.Close()
	})
}

// The handler of panics is called once for each panic in a task of Go, in each form, and for no
// other.
func TestPanicHandlerIsForGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		handled := map[any]int{}
		p := filch.New(filch.WithWorkers(2), filch.WithPanicHandler(func(err *filch.PanicError) {
			mu.Lock()
			defer mu.Unlock()
			handled[err.Value]++
			if len(err.Stack) == 0 {
				t.Error("without a stack")
			}
		}))
		bad := func(v any) func(context.Context) { return func(context.Context) { panic(v) } }
		p.Go(context.Background(), bad("plain"))
		p.Go(context.Background(), bad("named"), filch.Named("x"))
		p.Go(context.Background(), bad("long"), filch.LongRunning())
		p.Go(context.Background(), bad("fair"), filch.Fair())
		p.Go(context.Background(), func(context.Context) { runtime.Goexit() })
		p.Go(context.Background(), func(context.Context) { runtime.Goexit() }, filch.Named("x"))
		submitted := filch.Submit(context.Background(), p, func(context.Context) (int, error) { panic("Submit") })
		g := p.Group(context.Background())
		g.Go(func(context.Context) error { panic("Group") })
		var err *filch.PanicError
		if _, e := submitted.Wait(context.Background()); !errors.As(e, &err) || err.Value != "Submit" {
			t.Error("submitted.Wait(background):", e)
		}
		if e := g.Wait(); !errors.As(e, &err) || err.Value != "Group" {
			t.Error("g.Wait():", e)
		}
		p.Go(context.Background(), func(ctx context.Context) { // in place
			filch.Submit(ctx, p, func(context.Context) (int, error) { panic("Wait") }).Wait(ctx)
			p.Go(ctx, bad("Help"))
			p.Help(ctx)
		})
		p.Shutdown(context.Background())
		if len(handled) != 5 || handled["plain"] != 1 || handled["named"] != 1 || handled["long"] != 1 || handled["fair"] != 1 || handled["Help"] != 1 {
			t.Errorf("handled: %v", handled)
		}
		if k := p.Stats().Tasks; k.Panicked != 8 || k.Failed != 2 || k.Done != 11 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
	})
}

// A panic is wrapped once, however many boundaries it crosses, and keeps its error.
func TestPanicsAreWrappedOnce(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	v := rig.Catch(func() {
		p.Do(func(w *filch.Worker) {
			w.Do(func(w *filch.Worker) {
				w.Join(rig.Nop, func(w *filch.Worker) { p.Do(func(w *filch.Worker) { panic(rig.ErrBoom) }) })
			})
		})
	})
	err, ok := v.(*filch.PanicError)
	if !ok || err.Value != rig.ErrBoom || !errors.Is(err, rig.ErrBoom) {
		t.Errorf("catch(…): %v", v)
	}
	v = rig.Catch(func() { p.Do(func(w *filch.Worker) { panic("no error") }) })
	if err, ok = v.(*filch.PanicError); !ok || err.Unwrap() != nil {
		t.Errorf("catch(…): %v", v)
	}
}

// So does one that leaves a loop of JoinAll: the body that recovers it goes on.
func TestAPanicOutOfJoinAllDoesNotHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		stolen, ended := make(chan bool), false
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			switch n {
			case 1:
				defer func() { ended = true }()
				f.Worker().Join(func(*filch.Worker) {
					close(stolen)
					time.Sleep(time.Minute)
				}, func(*filch.Worker) { runtime.Goexit() })
			case 2:
				<-stolen
				panic(rig.ErrBoom)
			}
			m := f.Mark()
			f.Fork(1)
			f.Fork(2)
			if s := rig.Recovered(func() {
				for range m.JoinAll {
				}
			}); s != rig.ErrBoom.Error() || !ended {
				t.Errorf("what arrived is %q; what was stolen had ended: %v", s, ended)
			}
			return 5
		})
		var got int
		var wg sync.WaitGroup
		wg.Go(func() { got = fn.Call(p, 0) })
		if wg.Wait(); got != 5 {
			t.Error("the body did not go on")
		}
	})
}
