package tasks

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// A goroutine that waits for a task goes on before the worker is through with the tasks behind it, also on one processor.
func TestWhoWaitsGoesOnBeforeTheNextTasks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ctx := context.Background()
	spin := func() {
		for begin := time.Now(); time.Since(begin) < 50*time.Microsecond; {
		}
	}
	seen := filch.WithObserver(rig.Observer(func(filch.Event) {}))
	future := func(p *filch.Pool) (wait func()) {
		f := filch.Submit(ctx, p, func(context.Context) (int, error) { spin(); return 0, nil })
		return func() { _, _ = f.Wait(ctx) }
	}
	group := func(p *filch.Pool) (wait func()) {
		g := p.Group(ctx)
		g.Go(func(context.Context) error { spin(); return nil })
		return func() { _ = g.Wait() }
	}
	for name, c := range map[string]struct {
		submit func(p *filch.Pool) (wait func())
		opts   []filch.Option
	}{
		"a future": {future, nil}, "a future, observed": {future, []filch.Option{seen}},
		"a group": {group, nil}, "a group, observed": {group, []filch.Option{seen}},
	} {
		p := filch.New(append(c.opts, filch.WithWorkers(1), filch.WithOrder(filch.FIFO))...)
		const rounds = 100
		early := 0
		for range rounds {
			var wentOn, sawIt atomic.Bool
			wait := c.submit(p)
			second := filch.Submit(ctx, p, func(context.Context) (int, error) { sawIt.Store(wentOn.Load()); return 0, nil })
			wait()
			wentOn.Store(true)
			if _, err := second.Wait(ctx); err != nil {
				t.Fatal("second.Wait(ctx):", err)
			}
			if sawIt.Load() {
				early++
			}
		}
		if early < rounds/2 { // now and then the runtime chooses the worker first
			t.Errorf("%s: in %d of %d rounds", name, early, rounds)
		}
		p.Close()
	}
}

// A task that comes alone wakes one worker, and the worker that takes it no other.
func TestATaskAloneWakesOneWorker(t *testing.T) {
	for _, order := range rig.Orders {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(8), filch.WithOrder(order))
			defer p.Close()
			const n = 50
			for range n {
				p.Go(t.Context(), func(context.Context) {})
				synctest.Wait()
			}
			if wakes := p.Stats().Wakes; wakes != n {
				t.Errorf("order %v: %d wake-ups for %d tasks", order, wakes, n)
			}
		})
	}
}
