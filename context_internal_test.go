package filch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/task"
)

// sliceContext is a context that cannot be compared.
type sliceContext struct {
	context.Context
	_ []int
}

// Tasks with the same context that follow one another on a worker share theirs; others do
// not, and contexts that cannot be compared do no harm.
func TestWhoSharesAContext(t *testing.T) {
	racetest.Skip(t, "each task has a context of its own")
	type key struct{}
	plain, other := context.Background(), context.WithValue(context.Background(), key{}, 1)
	slice := sliceContext{Context: plain}
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), WithOrder(FIFO), WithStallTimeout(0))
		var got []context.Context
		p.Pause()
		for _, ctx := range []context.Context{plain, plain, other, plain, slice, slice, plain} {
			p.Go(ctx, func(ctx context.Context) { got = append(got, ctx) })
		}
		p.Resume()
		synctest.Wait()
		p.Go(plain, func(ctx context.Context) { got = append(got, ctx) })
		p.Shutdown(plain)
		if len(got) != 8 {
			t.Fatalf("%d of 8 ran", len(got))
		}
		for i, same := range []bool{true, false, false, false, false, false, false} {
			if (got[i] == got[i+1]) != same {
				t.Errorf("task %d and the next share a context: %t", i, !same)
			}
		}
		if v := got[2].Value(key{}); v != 1 || got[3].Value(key{}) != nil {
			t.Errorf("values: %v", v)
		}
		if s := fmt.Sprint(got[0]); !strings.HasSuffix(s, "Background.filchTask") {
			t.Error("fmt.Sprint(got[0]):", s)
		}
		for _, w := range *p.tasks.Engine.Workers.Load() {
			if asWorker(w).tasks.Kept != nil {
				t.Error("a worker at rest keeps the context of a task")
			}
		}
	})
}

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
