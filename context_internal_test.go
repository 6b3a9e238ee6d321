package filch

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch/internal/race/racetest"
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
