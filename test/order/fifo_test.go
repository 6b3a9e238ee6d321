package order

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// With FIFO, the tasks that a goroutine submits from outside begin in that order on any number of workers, also if
// others of them run for long.
func TestFIFOBeginsInTheOrderOfSubmission(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers), filch.WithOrder(filch.FIFO), filch.WithStallTimeout(0))
			defer p.Close()
			gates := make([]chan bool, 200)
			var begun []int // written by one goroutine at a time: each waits until the others wait
			p.Pause()
			for i := range gates {
				gates[i] = make(chan bool)
				p.Go(t.Context(), func(context.Context) {
					if i >= workers { // the first ones begin at once
						begun = append(begun, i)
					}
					<-gates[i]
				})
			}
			p.Resume()
			for i := range gates {
				synctest.Wait()
				close(gates[i])
			}
			synctest.Wait()
			if !slices.IsSorted(begun) || len(begun) != len(gates)-workers {
				t.Errorf("%d workers: of %d tasks that one goroutine submitted, these began after the first %d: %v", workers, len(gates), workers, begun)
			}
		})
	}
}

// With FIFO, an observer is told in the order of submission that tasks from outside start, whatever the workers that
// run them, and whether those between them are dropped, or what the observer does panics.
func TestFIFOTellsStartsInTheOrderOfSubmission(t *testing.T) {
	for name, submit := range map[string]func(ctx context.Context, p *filch.Pool, i int){
		"Go": func(ctx context.Context, p *filch.Pool, i int) { p.Go(ctx, func(context.Context) {}) },
		"names": func(ctx context.Context, p *filch.Pool, i int) {
			p.Go(ctx, func(context.Context) {}, filch.Named(fmt.Sprint(i)))
		},
		"Submit": func(ctx context.Context, p *filch.Pool, i int) {
			filch.Submit(ctx, p, func(context.Context) (int, error) { return i, nil })
		},
		"Group": func(ctx context.Context, p *filch.Pool, i int) {
			p.Group(ctx).Go(func(context.Context) error { return nil })
		},
		"dropped": func(ctx context.Context, p *filch.Pool, i int) {
			f := filch.Submit(ctx, p, func(context.Context) (int, error) { return i, nil })
			if i%3 == 0 {
				f.Cancel()
			}
		},
	} {
		for _, workers := range []int{1, 2, 4} {
			var mu sync.Mutex
			var started []uint64
			p := filch.New(filch.WithWorkers(workers), filch.WithOrder(filch.FIFO), filch.WithPanicHandler(func(*filch.PanicError) {}),
				filch.WithObserver(rig.Observer(func(e filch.Event) {
					if e.Kind != filch.TaskStarted {
						return
					}
					mu.Lock()
					defer mu.Unlock()
					if started = append(started, e.ID); e.ID%100 == 0 {
						panic("an observer")
					}
				})))
			tasks := rig.Fewer(4000)
			p.Pause()
			for i := range tasks {
				if submit(t.Context(), p, i); i == tasks/2 {
					p.Resume()
				}
			}
			if err := p.Shutdown(t.Context()); err != nil {
				t.Fatal("p.Shutdown(t.Context()):", err)
			}
			if !slices.IsSorted(started) || len(started) < tasks*2/3 {
				i := 1
				for i < len(started) && started[i-1] < started[i] {
					i++
				}
				t.Errorf("%s, %d workers: of %d tasks, %d were told to start; the start of %v was told after that of the one before", name, workers, tasks, len(started), started[i:min(i+1, len(started))])
			}
		}
	}
}

// What an observer is told of starts in order keeps no task from its start for which the observer waits with the context
// of the task that starts.
func TestFIFOObserverWaitsForALaterTask(t *testing.T) {
	for _, workers := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			later := make(chan *filch.Future[int], 1)
			waits := true
			p := filch.New(filch.WithWorkers(workers), filch.WithOrder(filch.FIFO), filch.WithStallTimeout(0),
				filch.WithObserver(rig.Observer(func(e filch.Event) {
					if e.Kind == filch.TaskStarted && e.Task == "first" && waits {
						waits = false
						time.Sleep(time.Second) // the other worker has taken the later one by then
						if v, err := (<-later).Wait(e.Context); v != 7 || err != nil {
							t.Errorf("%d workers: the later task returned %d, %v", workers, v, err)
						}
					}
				})))
			p.Pause()
			p.Go(t.Context(), func(context.Context) {}, filch.Named("first"))
			later <- filch.Submit(t.Context(), p, func(context.Context) (int, error) { return 7, nil }, filch.Named("later"))
			p.Resume()
			if err := p.Shutdown(t.Context()); err != nil {
				t.Error("p.Shutdown(t.Context()):", err)
			}
			if s := p.Stats().Tasks; s.Done != 2 {
				t.Errorf("%d workers: of 2 tasks, %d are done", workers, s.Done)
			}
		})
	}
}
