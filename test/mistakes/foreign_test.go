package mistakes

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// A task that waits with a context that is not its own is told of once; others are
// not.
func TestWaitWithAForeignContextIsLogged(t *testing.T) {
	for name, test := range map[string]struct {
		wait    func(own, outer context.Context, f *filch.Future[int])
		foreign bool
	}{
		"Background": {func(_, _ context.Context, f *filch.Future[int]) { f.Wait(context.Background()) }, true},
		"outer":      {func(_, outer context.Context, f *filch.Future[int]) { f.Wait(outer) }, true},
		"own":        {func(own, _ context.Context, f *filch.Future[int]) { f.Wait(own) }, false},
		"derived": {func(own, _ context.Context, f *filch.Future[int]) {
			ctx, cancel := context.WithCancel(own)
			defer cancel()
			f.Wait(ctx)
		}, false},
		"goroutine": {func(own, _ context.Context, f *filch.Future[int]) {
			var wg sync.WaitGroup
			wg.Go(func() { f.Wait(own) })
			wg.Go(func() { f.Wait(context.Background()) })
			wg.Wait()
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var out rig.SyncBuffer
			p := filch.New(filch.WithWorkers(4), filch.WithName("pool"), filch.WithLogger(slog.New(slog.NewTextHandler(&out, nil))), filch.WithStallTimeout(0))
			for range 2 {
				gate, runs := make(chan bool), make(chan bool)
				slow := filch.Submit(context.Background(), p, func(context.Context) (int, error) { close(runs); <-gate; return 1, nil }, filch.Named("slow"))
				<-runs
				waits := make(chan bool)
				outer := filch.Submit(context.Background(), p, func(outer context.Context) (int, error) {
					filch.Submit(outer, p, func(own context.Context) (int, error) {
						close(waits)
						test.wait(own, outer, slow)
						return 1, nil
					}, filch.Named("waits")).Wait(outer)
					return 1, nil
				})
				<-waits
				if test.foreign {
					for out.String() == "" {
						runtime.Gosched()
					}
				}
				close(gate)
				outer.Wait(context.Background())
			}
			s := out.String()
			if !test.foreign && s != "" {
				t.Error("out.String():", s)
			}
			if test.foreign && (strings.Count(s, "WARN") != 1 || !strings.Contains(s, "pool=pool") || !strings.Contains(s, `"waits for"=slow`) ||
				!strings.Contains(s, "task=") || strings.Contains(s, `task=""`) || !strings.Contains(s, "pass the context")) {
				t.Error("out.String():", s)
			}
			p.Close()
		})
	}
}

// A pool without a logger does not look.
func TestForeignContextsWithoutALogger(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	gate := make(chan bool)
	slow := filch.Submit(context.Background(), p, func(context.Context) (int, error) { <-gate; return 1, nil })
	f := filch.Submit(context.Background(), p, func(context.Context) (int, error) { close(gate); return slow.Wait(context.Background()) })
	if v, err := f.Wait(context.Background()); v != 1 || err != nil {
		t.Error("f.Wait(background):", v, err)
	}
}

// A task of another pool that runs on a goroutine of this one, inside one of its tasks, waits with its own context:
// that is as it should be. With the context of no task it is told of.
func TestAWaitOfAnotherPoolsTaskIsNotForeign(t *testing.T) {
	for _, checks := range []bool{false, true} {
		for name, foreign := range map[string]bool{"own": false, "none": true} {
			synctest.Test(t, func(t *testing.T) {
				var out rig.SyncBuffer
				opts := []filch.Option{filch.WithWorkers(2), filch.WithStallTimeout(0), filch.WithLogger(slog.New(slog.NewTextHandler(&out, nil)))}
				if checks {
					opts = append(opts, filch.WithChecks())
				}
				p, other := filch.New(opts...), filch.New(filch.WithWorkers(1))
				defer p.Close()
				defer other.Close()
				gate, runs := make(chan bool), make(chan bool)
				f := filch.Submit(context.Background(), p, func(context.Context) (int, error) { close(runs); <-gate; return 1, nil })
				<-runs // so it does not run in place
				w := filch.Submit(context.Background(), p, func(outer context.Context) (int, error) {
					m := filch.NewMemo(other, func(own context.Context, _ int) (int, error) {
						return f.Wait(map[string]context.Context{"own": own, "none": context.Background()}[name])
					})
					return m.Get(outer, 1)
				})
				synctest.Wait()
				close(gate)
				if _, err := w.Wait(context.Background()); err != nil || strings.Contains(out.String(), "not its own") != foreign {
					t.Errorf("%s, with checks %t: %v\n%s", name, checks, err, out.String())
				}
			})
		}
	}
}
