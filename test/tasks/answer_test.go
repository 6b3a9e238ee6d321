package tasks

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// A goroutine that waits for a task goes on before the worker is through with the tasks behind it, also on one processor.
func TestWhoWaitsGoesOnBeforeTheNextTasks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.FIFO))
	defer p.Close()
	ctx := context.Background()
	spin := func() {
		for begin := time.Now(); time.Since(begin) < 50*time.Microsecond; {
		}
	}
	const rounds = 100
	early := 0
	for range rounds {
		var wentOn, sawIt atomic.Bool
		first := filch.Submit(ctx, p, func(context.Context) (int, error) { spin(); return 0, nil })
		second := filch.Submit(ctx, p, func(context.Context) (int, error) { sawIt.Store(wentOn.Load()); return 0, nil })
		if _, err := first.Wait(ctx); err != nil {
			t.Fatal("first.Wait(ctx):", err)
		}
		wentOn.Store(true)
		if _, err := second.Wait(ctx); err != nil {
			t.Fatal("second.Wait(ctx):", err)
		}
		if sawIt.Load() {
			early++
		}
	}
	if early < rounds/2 { // now and then the runtime chooses the worker first
		t.Errorf("in %d of %d rounds", early, rounds)
	}
}
