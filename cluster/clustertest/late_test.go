package clustertest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// An attempt that ends after its task was given to another node changes nothing there: the task is neither given away once more,
// nor a dead letter.
func TestALateAttemptDoesNotDisturbTheNext(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]error{"error": errors.New("too late"), "permanent error": cluster.Permanent(errors.New("too late"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ahead [2]atomic.Int64 // of the nodes' clocks
			clock := func(i int) []cluster.Option {
				return append(places(1), cluster.WithClock(func() time.Time { return time.Now().Add(time.Duration(ahead[i].Load())) }))
			}
			nodes, js := share(t, clock(0), clock(1))
			late, next := make(chan struct{}), make(chan struct{})
			var runs atomic.Int64
			began := make(chan int, 10)
			for i, n := range nodes {
				cluster.Handle(n, "late", func(ctx context.Context, _ int) (int64, error) {
					r := runs.Add(1)
					began <- i
					if r == 1 {
						filch.Blocking(ctx, func() { <-late })
						return 0, end
					}
					filch.Blocking(ctx, func() { <-next })
					return r, nil
				}, cluster.WithAckWait(time.Second), cluster.WithRetry(cluster.Retry{First: time.Millisecond}))
			}
			f, err := cluster.Submit[int, int64](t.Context(), nodes[0], "late", 0)
			if err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			i := <-began
			first := nodes[i]
			ahead[i].Add(int64(time.Hour)) // longer than the silence of a handler may be
			if <-began == i {
				t.Fatal("the only place of the first node has two tasks")
			}
			close(late)
			eventually(t, "the first attempt is settled", func() bool { return first.Stats().Failed == 1 && first.Stats().Running == 0 })
			ackWaits(t, js, 2)
			close(next)
			if got, err := wait(t, f, nil); got != 2 || err != nil {
				t.Error(got, err)
			}
			if n := runs.Load(); n != 2 || deadLetters(t, js) != 0 {
				t.Error(n, "runs and", deadLetters(t, js), "dead letters")
			}
		})
	}
}
