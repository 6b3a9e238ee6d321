package flows

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/flow"
)

// A task that runs a graph waits for it without its slot of a Subpool, which a node may need.
func TestAGraphInATaskNeedsNoSlot(t *testing.T) {
	for workers := 1; workers <= 4; workers++ {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers), filch.WithStallTimeout(0))
			sub := p.Subpool(1)
			f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				g, l := flow.New("g"), flow.NewLimit(1)
				for i := range 4 {
					flow.Node(g, fmt.Sprint("n", i), func(ctx context.Context) (int, error) {
						filch.Blocking(ctx, func() { time.Sleep(time.Duration(i+1) * time.Millisecond) })
						return filch.Submit(ctx, p, func(context.Context) (int, error) { return 1, nil }, sub).Wait(ctx)
					}).Take(l, 1)
				}
				return 1, g.Run(ctx, p)
			}, sub)
			ctx, stop := context.WithTimeout(context.Background(), time.Hour)
			defer stop()
			if _, err := f.Wait(ctx); err != nil {
				t.Errorf("%d workers: the task of Subpool(1) that runs a graph ends with %v; %d run, %d wait", workers, err, sub.Running(), sub.Queued())
			}
			p.Close()
		})
	}
}
