package filch

import (
	"context"
	"testing"
	"testing/synctest"
)

// Who need not wait for a latch has its place again, and leaves nothing behind.
func TestALatchThatIsOpenCostsNoPlace(t *testing.T) {
	never, always := func() bool { return false }, func() bool { return true }
	for name, c := range map[string]struct {
		released bool
		ready    func() bool
	}{
		"released": {true, never}, "ready": {false, always}, "both": {true, always},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := New(WithWorkers(1), WithStallTimeout(0))
			Submit(context.Background(), p, func(own context.Context) (int, error) {
				for _, ctx := range []context.Context{own, context.Background()} {
					var l latch
					if c.released {
						l.release()
					}
					before := p.engine.Places.Load()
					if err := l.wait(ctx, c.ready); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					synctest.Wait() // another worker may have looked for work meanwhile
					if after := p.engine.Places.Load(); after != before || l.tasks.Last() != nil || l.ch != nil {
						t.Errorf("%s: the pool was at %v and is at %v; in line: %v", name, before, after, l.tasks.Last())
					}
					if !l.mu.TryLock() {
						t.Errorf("%s: the latch is locked", name)
					}
				}
				return 0, nil
			}).Wait(context.Background())
			p.Close()
		})
	}
}
