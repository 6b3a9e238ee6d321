package tasks

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

// Of several that complete a promise one does, and all that wait have its result.
func TestPromiseIsCompletedOnce(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		for range 100 {
			promise := filch.NewPromise[int](p)
			var won, sum atomic.Int64
			var all sync.WaitGroup
			g := p.Group(context.Background())
			for range 4 {
				g.Go(func(ctx context.Context) error {
					v, err := promise.Future().Wait(ctx)
					sum.Add(int64(v))
					return err
				})
			}
			after := filch.Submit(context.Background(), p, rig.Value(1), filch.After(promise.Future()))
			for i := range 4 {
				all.Go(func() {
					if promise.Complete(1+i, nil) {
						won.Add(int64(1 + i))
					}
				})
			}
			all.Wait()
			if err := g.Wait(); err != nil {
				t.Fatal("g.Wait():", err)
			}
			if _, err := after.Wait(context.Background()); err != nil {
				t.Fatal("after.Wait(context.Background()):", err)
			}
			if w := won.Load(); w < 1 || w > 4 || sum.Load() != 4*w {
				t.Fatalf("%d has won, and the sum is %d", w, sum.Load())
			}
		}
		if s := p.Stats().Tasks; s.Submitted != 500 {
			t.Errorf("promises count as tasks: %+v", s)
		}
	}, filch.WithTaskLimit(10, filch.Block))
}

// What a promise is completed with, and by what: an error, a Cancel; and a closed pool leaves it alone.
func TestAPromiseTellsByWhatItWasCompleted(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithTaskLimit(3, filch.Block))
	ctx := context.Background()
	failed, cancelled, late := filch.NewPromise[string](p), filch.NewPromise[string](p), filch.NewPromise[string](p)
	if !failed.Complete("so far", errDep) || failed.Complete("", nil) {
		t.Error("not completed once")
	}
	if v, err := failed.Future().Wait(ctx); v != "so far" || err != errDep {
		t.Error("failed.Future().Wait(ctx):", v, err)
	}
	cancelled.Future().Cancel()
	if cancelled.Complete("", nil) {
		t.Error("completed after Cancel")
	}
	if _, err := cancelled.Future().Wait(ctx); err != context.Canceled {
		t.Error("cancelled.Future().Wait(ctx):", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := late.Future().Wait(ended); err != context.Canceled {
		t.Error("late.Future().Wait(ended):", err)
	}
	waiting := filch.Submit(ctx, p, func(ctx context.Context) (string, error) { return late.Future().Wait(ctx) })
	for p.Stats().Blocked == 0 {
	}
	p.Close()
	if _, err := waiting.Wait(ctx); !errors.Is(err, filch.ErrClosed) {
		t.Error("waiting.Wait(ctx):", err)
	}
	if !late.Complete("v", nil) {
		t.Error("the pool has completed it")
	}
	if v, err := late.Future().Wait(ctx); v != "v" || err != nil {
		t.Error("late.Future().Wait(ctx):", v, err)
	}
	<-late.Future().Done()
	if s := p.Stats().Tasks; s.Submitted != 1 || s.Cancelled != 0 || s.Held != 0 || s.Done != 1 {
		t.Errorf("p.Stats().Tasks: %+v", s)
	}
}

func TestPromiseAllocatesOnce(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := filch.New()
	if n := testing.AllocsPerRun(100, func() { filch.NewPromise[int](p).Complete(1, nil) }); n != 1 {
		t.Errorf("%v allocations", n)
	}
}
