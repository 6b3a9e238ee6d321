package order

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/conform"
	"github.com/filch-go/filch/internal/rig"
)

// forkJoin is an Executor by Join.
type forkJoin struct{ p *filch.Pool }

func (e forkJoin) Run(ctx context.Context, fs ...func(ctx context.Context)) {
	e.p.Do(func(w *filch.Worker) { runAll(ctx, w, fs) })
}

func runAll(ctx context.Context, w *filch.Worker, fs []func(ctx context.Context)) {
	switch n := len(fs); n {
	case 0:
	case 1:
		fs[0](ctx)
	default:
		w.Join(
			func(w *filch.Worker) { runAll(ctx, w, fs[:n/2]) },
			func(w *filch.Worker) { runAll(ctx, w, fs[n/2:]) })
	}
}

func (e forkJoin) Close() { e.p.Close() }

// tasks is an Executor by a Group.
type tasks struct{ p *filch.Pool }

func (e tasks) Run(ctx context.Context, fs ...func(ctx context.Context)) {
	g := e.p.Group(ctx, filch.CollectErrors(1))
	for _, f := range fs {
		g.Go(func(ctx context.Context) error { f(ctx); return nil })
	}
	end(g.Wait())
}

func (e tasks) Close() { e.p.Close() }

// futures is an Executor by Submit and Wait.
type futures struct{ p *filch.Pool }

func (e futures) Run(ctx context.Context, fs ...func(ctx context.Context)) {
	var all []*filch.Future[int]
	for _, f := range fs {
		all = append(all, filch.Submit(ctx, e.p, func(ctx context.Context) (int, error) { f(ctx); return 0, nil }))
	}
	var err error
	for _, f := range all {
		if _, e := f.Wait(ctx); e != nil {
			err = e
		}
	}
	end(err)
}

func (e futures) Close() { e.p.Close() }

// end ends a Run as the contract says.
func end(err error) {
	switch {
	case err == nil:
	case errors.Is(err, filch.ErrGoexit):
		runtime.Goexit()
	default:
		panic(err)
	}
}

// taskPool is a TaskExecutor by Submit; and Group, for each task, if grouped.
type taskPool struct {
	p       *filch.Pool
	grouped bool
}

func (e taskPool) Submit(ctx context.Context, f func(ctx context.Context) error) func(ctx context.Context) error {
	if e.grouped {
		g := e.p.Group(ctx)
		g.Go(f, filch.Named("grouped"))
		return func(ctx context.Context) error {
			done := make(chan error, 1)
			go func() { done <- g.Wait() }()
			select {
			case err := <-done:
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	future := filch.Submit(ctx, e.p, func(ctx context.Context) (int, error) { return 0, f(ctx) })
	return func(ctx context.Context) error { _, err := future.Wait(ctx); return err }
}

func (e taskPool) Shutdown(ctx context.Context) error { return e.p.Shutdown(ctx) }

func (e taskPool) Close() { e.p.Close() }

func TestTaskConformance(t *testing.T) {
	for _, n := range []int{1, 2, 8} {
		for _, order := range rig.Orders {
			for _, grouped := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v, %d workers, grouped %v", order, n, grouped), func(t *testing.T) {
					newPool := func() conform.TaskExecutor {
						return taskPool{filch.New(filch.WithWorkers(n), filch.WithOrder(order), filch.WithStallTimeout(0)), grouped}
					}
					conform.ExerciseTasks(t, newPool, conform.TaskProperties{Workers: n, Contexts: true, Waits: !grouped})
				})
			}
		}
	}
}

func TestConformance(t *testing.T) {
	exercise := func(name string, workers int, newExecutor func() conform.Executor) {
		t.Run(fmt.Sprintf("%s, %d workers", name, workers), func(t *testing.T) {
			conform.Exercise(t, newExecutor, conform.Properties{Workers: workers, Nested: true})
		})
	}
	for _, n := range []int{1, 2, 3, 8} {
		exercise("forks", n, func() conform.Executor { return forkJoin{filch.New(filch.WithWorkers(n))} })
		for _, order := range rig.Orders {
			newPool := func() *filch.Pool { return filch.New(filch.WithWorkers(n), filch.WithOrder(order)) }
			exercise("groups, "+order.String(), n, func() conform.Executor { return tasks{newPool()} })
			exercise("futures, "+order.String(), n, func() conform.Executor { return futures{newPool()} })
		}
	}
}
