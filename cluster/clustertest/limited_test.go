package clustertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// While as many tasks of a handler run as may, and more wait, its lane keeps no place from other handlers, and leaves no requests at the
// servers but the one that waits.
func TestALaneAtItsLimitHoldsNoPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lane   string
		limit  cluster.HandlerOption
		submit []cluster.SubmitOption
	}{
		"limit": {"few_p1", cluster.WithLimit(1), nil},
		"keys":  {"few_k0", cluster.WithKeys(1), []cluster.SubmitOption{cluster.Key("key")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes, js := share(t, places(2), places(2))
			began, release := make(chan string, 10), make(chan struct{})
			var futures []*cluster.Future[string]
			for _, n := range nodes {
				cluster.Handle(n, "few", blocker(began, release), c.limit)
			}
			for range 5 {
				f, err := cluster.Submit[string, string](t.Context(), nodes[0], "few", "x", c.submit...)
				if err != nil {
					t.Fatal("cluster.Submit:", err)
				}
				futures = append(futures, f)
			}
			<-began
			var others []*cluster.Future[int]
			for i, n := range nodes {
				other := cluster.Handle(n, []string{"other", "another"}[i], func(ctx context.Context, _ int) (int, error) {
					filch.Blocking(ctx, func() { time.Sleep(10 * time.Millisecond) })
					return 1, nil
				})
				for range 200 { // some of them wait at each time, so that the node is busy
					f, err := other.Submit(t.Context(), 0)
					if err != nil {
						t.Fatal("other.Submit:", err)
					}
					others = append(others, f)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			for i, f := range others {
				if _, err := f.Wait(ctx); err != nil {
					t.Fatal("other task", i, err)
				}
			}
			until(t, js, c.lane, func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting <= 2 && i.NumAckPending == 1 })
			close(release)
			for _, f := range futures {
				if got, err := wait(t, f, nil); got != "x" || err != nil {
					t.Error(got, err)
				}
			}
		})
	}
}
