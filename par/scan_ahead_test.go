package par

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
)

// When the function panics, other workers of the scan stop at the next block, not at the end of their thirds.
func TestAScanWhoseFunctionPanicsEndsSoon(t *testing.T) {
	if race.Enabled {
		t.Skip("it counts how far a loop gets in virtual time")
	}
	for _, at := range []int64{50, 200, 900} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(4))
			defer p.Close()
			var calls, after atomic.Int64
			var ended atomic.Bool
			bad := errors.New("it ends")
			defer func() {
				e, ok := recover().(*filch.PanicError)
				if !ok || !errors.Is(e, bad) {
					t.Errorf("recover(): %v", e)
				}
				if n := after.Load(); n > 100 {
					t.Errorf("%d calls after the panic at call %d", n, at)
				}
			}()
			x := make([]int, 3000)
			Scan(p, x, x, func(a, b int) int {
				time.Sleep(time.Millisecond)
				if ended.Load() {
					after.Add(1)
				}
				if calls.Add(1) == at {
					ended.Store(true)
					panic(bad)
				}
				return a + b
			})
		})
	}
}
