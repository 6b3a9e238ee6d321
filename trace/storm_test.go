package trace_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/trace"
)

// Recorders start, stop, overlap, are read and written, and call the pool from their alarms, while the pool forks, blocks, panics,
// exits, resizes, pauses and closes. Each task that was accepted ends or is cancelled, and no goroutine stays.
func TestStormOfRecorders(t *testing.T) {
	rounds := 10
	if thorough.Sampled() {
		rounds = 3
	}
	for range rounds {
		seed := uint64(time.Now().UnixNano())
		if storm(t, seed); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func storm(t *testing.T, seed uint64) {
	before := runtime.NumGoroutine()
	rnd := rand.New(rand.NewPCG(seed, 1))
	p := filch.New(filch.WithWorkers(1+rnd.IntN(4)), filch.WithPanicHandler(func(*filch.PanicError) {}), filch.WithStallTimeout(time.Millisecond))
	var over atomic.Bool
	var alarms atomic.Int64
	var all sync.WaitGroup
	for range 3 {
		var r *trace.Recorder
		alarm := func(tr *trace.Trace) {
			alarms.Add(1)
			p.Stats()
			p.TryGo(background, func(context.Context) {})
			r.Stop()
			r.Start()
			tr.Last(time.Millisecond).WriteText(io.Discard)
		}
		r = trace.New(p, trace.WithCapacity(1<<rnd.IntN(10)), trace.OnPanic(alarm), trace.OnStall(alarm))
		choices := rand.New(rand.NewPCG(rnd.Uint64(), 2))
		all.Go(func() {
			defer r.Stop()
			for !over.Load() {
				switch choices.IntN(5) {
				case 0, 1:
					r.Start()
				case 2:
					r.Stop()
				case 3:
					r.Snapshot().Last(time.Millisecond).WriteText(io.Discard)
				case 4:
					r.WriteChrome(&failing{choices.IntN(5000)})
				}
			}
		})
	}
	var accepted atomic.Int64
	var working sync.WaitGroup
	for range 4 {
		choices := rand.New(rand.NewPCG(rnd.Uint64(), 3))
		working.Go(func() {
			for range 150 {
				if p.Go(background, oneOf(p, choices.IntN(6))) == nil {
					accepted.Add(1)
				}
				if choices.IntN(20) == 0 {
					p.Resize(1 + choices.IntN(6))
				}
				if choices.IntN(30) == 0 {
					p.Pause()
					p.Resume()
				}
			}
		})
	}
	working.Wait()
	if rnd.IntN(2) == 0 {
		p.Close()
	}
	over.Store(true)
	all.Wait()
	if err := p.Shutdown(background); err != nil && !errors.Is(err, filch.ErrClosed) {
		t.Error("p.Shutdown(background):", err)
	}
	if s := p.Stats().Tasks; s.Done+s.Cancelled != s.Submitted || s.Submitted < accepted.Load() || s.Queued+s.Running != 0 {
		t.Errorf("%d tasks were accepted: %+v", accepted.Load(), s)
	}
	for runtime.NumGoroutine() > before { // alarms end, and goroutines that are at their ends
		runtime.Gosched()
	}
}

// oneOf returns a task of a kind.
func oneOf(p *filch.Pool, kind int) func(ctx context.Context) {
	return [...]func(ctx context.Context){
		func(context.Context) {},
		func(context.Context) { panic("x") },
		func(context.Context) { runtime.Goexit() },
		func(ctx context.Context) { filch.Blocking(ctx, runtime.Gosched) },
		func(ctx context.Context) {
			filch.ScopeOf(ctx).Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) { runtime.Gosched() }, func(*filch.Worker) {}) })
		},
		func(ctx context.Context) { working.Call(filch.ScopeOf(ctx), work{0, []work{{0, []work{{}, {}}}, {}}}) },
	}[kind]
}
