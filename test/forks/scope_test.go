package forks

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/thorough"
)

// The context of a task that is over does not lead to the worker that runs another.
func TestStaleScopeLeavesTheNextTaskItsWorker(t *testing.T) {
	racetest.Skip(t, "it checks which goroutine runs what")
	synctest.Test(t, staleScope)
}

func staleScope(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	var first context.Context
	background := context.Background()
	p.Go(background, func(ctx context.Context) { first = ctx })
	synctest.Wait() // till the worker has left: tasks that it runs in a row share a context
	workerOf := func(ctx context.Context) (worker *filch.Worker) {
		filch.ScopeOf(ctx).Do(func(w *filch.Worker) { worker = w })
		return worker
	}
	done := make(chan bool)
	p.Go(background, func(ctx context.Context) {
		defer close(done)
		own := workerOf(ctx)
		filch.ScopeOf(first).Do(func(w *filch.Worker) {
			if w == own {
				t.Error("a context that is over leads to the next task's worker")
			}
			if workerOf(ctx) != own {
				t.Error("a task is a guest in its own Scope")
			}
		})
	})
	<-done
}

// Goroutines that use a task's Scope while the task ends get a worker each.
func TestScopeWhileTheTaskEnds(t *testing.T) {
	n := 2000
	if thorough.Sampled() {
		n = 200
	}
	p := filch.New(filch.WithWorkers(2))
	var mu sync.Mutex
	used := map[*filch.Worker]bool{}
	var users sync.WaitGroup
	for range n {
		ended := make(chan bool)
		users.Add(1)
		p.Go(context.Background(), func(ctx context.Context) {
			defer users.Done()
			defer close(ended)
			for range 2 {
				users.Go(func() {
					for more := true; more; {
						select {
						case <-ended:
							more = false
						default:
						}
						filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
							mu.Lock()
							if used[w] {
								t.Error("two goroutines have one worker")
							}
							used[w] = true
							mu.Unlock()
							w.Join(func(*filch.Worker) {}, func(*filch.Worker) {})
							mu.Lock()
							delete(used, w)
							mu.Unlock()
						})
					}
				})
			}
		})
	}
	users.Wait()
	p.Close()
	if s := p.Stats(); s.Active != 0 || s.Searching != 0 || s.Blocked != 0 {
		t.Errorf("left over: %+v", s)
	}
}
