package sight

import (
	"context"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/filch-go/filch"
)

// A pool that nobody uses any more is garbage at once, however long its stall timeout.
func TestAPoolWithALongStallTimeoutIsGarbage(t *testing.T) {
	for name, end := range map[string]func(p *filch.Pool){
		"closed":  func(p *filch.Pool) { p.Close() },
		"at rest": func(p *filch.Pool) {},
	} {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(24*time.Hour))
		g := p.Group(context.Background())
		for range 3 { // some are queued behind a worker, so that it is watched
			g.Go(func(context.Context) error { runtime.Gosched(); return nil })
		}
		g.Wait()
		for p.Stats().Active > 0 {
			runtime.Gosched()
		}
		end(p)
		left := weak.Make(p)
		p, g = nil, nil
		until := time.Now().Add(time.Minute)
		for left.Value() != nil && time.Now().Before(until) {
			runtime.GC()
		}
		if left.Value() != nil {
			t.Errorf("%s: it is still reachable", name)
		}
	}
}
