package loops

import (
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/par"
)

// With checks, what uses a pool rightly says nothing, and what uses it inside its own loop is told by the
// function of par that it calls.
func TestChecksOfAPool(t *testing.T) {
	n := 100_000
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		n = 2000 // a check reads the goroutine's ID from its stack trace, which takes some microseconds
	}
	for _, workers := range []int{1, 2, 8} {
		var out strings.Builder
		p := filch.New(filch.WithWorkers(workers), filch.WithChecks(), filch.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
		x := make([]int, n)
		par.For(p, len(x), func(i int) { x[i] = len(x) - i })
		par.ForScope(p, 100, func(s filch.Scope, i int) { par.For(s, 100, func(int) {}) })
		if par.Sort(p, x); !slices.IsSorted(x) || par.Sum(p, x) != len(x)*(len(x)+1)/2 {
			t.Error("a wrong result")
		}
		p.Do(func(w *filch.Worker) { par.ForErr(w, 1000, func(int) error { return nil }) })
		if err := par.Stage(par.From(slices.Values(x[:1000])), 0, func(v int) (int, error) { return v, nil }).Run(p, func(int) error { return nil }); err != nil {
			t.Error("Stage(From(slices.Values(x[:1000])), 0, …).Run(p, …):", err)
		}
		if s := out.String(); s != "" {
			t.Errorf("%d workers: %s", workers, s)
		}
		p.Do(func(w *filch.Worker) { // what takes some microseconds in all would run on the caller, and need no pool
			par.For(p, 2000, func(int) {
				for range 1000 {
				}
			})
		})
		if s := out.String(); strings.Count(s, "WARN") != 1 || !strings.Contains(s, "inside its own work") || !strings.Contains(s, "call=par.For ") {
			t.Errorf("%d workers: %s", workers, s)
		}
		var kept *filch.Worker
		p.Do(func(w *filch.Worker) { kept = w })
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "filch: par.For: a Worker is used after the call") {
					t.Errorf("%q", s)
				}
			}()
			par.For(kept, 100_000, func(int) {})
		}()
		p.Close()
	}
}

// A panic in the only element, which the caller runs alone, inside of a pool, does not count as a use of that pool in its own
// work. With checks in all pools, it would be logged.
func TestAPanicIsNoMistake(t *testing.T) {
	filch.Default().Do(func(w *filch.Worker) {
		if err, ok := rig.Catch(func() { par.For(w, 1, func(int) { panic("bad") }) }).(*filch.PanicError); !ok || err.Value != "bad" {
			t.Error(err)
		}
	})
}
