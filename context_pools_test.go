package filch

import (
	"context"
	"errors"
	"testing"

	"github.com/filch-go/filch/internal/task"
)

// A task that another pool's task has submitted ends with that pool, too.
func TestContextsEndWithTheSubmittersPool(t *testing.T) {
	first, second := New(WithWorkers(1)), New(WithWorkers(1))
	defer second.Close()
	running, queued := make(chan context.Context), make(chan error, 1)
	last := make(chan *Future[int], 1)
	first.Go(context.Background(), func(ctx1 context.Context) {
		second.Go(ctx1, func(ctx2 context.Context) {
			second.Go(ctx2, func(ctx3 context.Context) {
				running <- ctx3
				<-ctx3.Done()
				queued <- context.Cause(ctx3)
			})
		})
		last <- Submit(ctx1, second, func(context.Context) (int, error) { return 1, nil }, Fair())
		<-ctx1.Done()
	})
	ctx := <-running
	first.Close()
	if ctx.Err() == nil || !errors.Is(<-queued, ErrClosed) {
		t.Error("the context goes on")
	}
	if _, err := (<-last).Wait(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("what was queued ended with %v", err)
	}
}

// Tasks that submit tasks to one another's pools do not make chains of contexts.
func TestContextsBetweenPoolsDoNotGrow(t *testing.T) {
	pools := []*Pool{New(WithWorkers(1)), New(WithWorkers(1)), New(WithWorkers(1))}
	done := make(chan int)
	var next func(n int) func(ctx context.Context)
	next = func(n int) func(ctx context.Context) {
		return func(ctx context.Context) {
			if n > 0 {
				pools[n*n%len(pools)].Go(ctx, next(n-1))
				return
			}
			length := 0
			for c, ok := ctx.(*task.Context); ok; c, ok = c.Context.(*task.Context) {
				length++
			}
			done <- length
		}
	}
	pools[0].Go(context.Background(), next(1000))
	if n := <-done; n > len(pools) {
		t.Errorf("a chain of %d contexts", n)
	}
	for _, p := range pools {
		p.Close()
	}
}
