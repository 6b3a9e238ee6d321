package filch_test

import (
	"fmt"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/conform"
)

// forkJoin is an Executor by Join.
type forkJoin struct{ p *filch.Pool }

func (e forkJoin) Run(fs ...func()) {
	e.p.Do(func(w *filch.Worker) { runAll(w, fs) })
}

func runAll(w *filch.Worker, fs []func()) {
	switch n := len(fs); n {
	case 0:
	case 1:
		fs[0]()
	default:
		w.Join(
			func(w *filch.Worker) { runAll(w, fs[:n/2]) },
			func(w *filch.Worker) { runAll(w, fs[n/2:]) })
	}
}

func (e forkJoin) Close() { e.p.Close() }

func TestConformance(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			conform.Exercise(t,
				func() conform.Executor { return forkJoin{filch.New(filch.WithWorkers(workers))} },
				conform.Properties{Workers: workers, Nested: true})
		})
	}
}
