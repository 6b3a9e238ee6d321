package filch

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/race"
)

// Fifty thousand that wait may all give up, in any order, and so may tasks that wait
// for one latch.
func TestManyInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), WithQueueLimit(1, Block))
		p.Pause()
		p.Go(context.Background(), func(context.Context) {})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		n := 50_000
		if race.Enabled {
			n = 5_000 // of which each takes 40 kB then
		}
		for range n {
			all.Go(func() { p.Go(ctx, func(context.Context) {}) })
		}
		all.Wait()
		if r := p.tasks.Room; r.Waiting() != 0 || r.Taken() != 1 {
			t.Errorf("somebody stands in line, %d have room", r.Taken())
		}
		p.Close()
	})
}
