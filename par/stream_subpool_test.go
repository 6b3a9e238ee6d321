package par

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
)

// A task that waits for room in a Stream, or for its end, has no slot of its Subpool meanwhile: the function of the Stream may need it.
func TestASenderInATaskNeedsNoSlot(t *testing.T) {
	for workers := 1; workers <= 3; workers++ {
		for way, send := range map[string]func(ctx context.Context, s *Stream[int], v int) error{
			"Send":     func(_ context.Context, s *Stream[int], v int) error { return s.Send(v) },
			"SendFrom": func(ctx context.Context, s *Stream[int], v int) error { return s.SendFrom(ctx, v) },
		} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers), filch.WithStallTimeout(0))
				sub := p.Subpool(1)
				got := 0
				f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
					s := NewStream(ctx, p, func(ctx context.Context, v int) (int, error) {
						return filch.Submit(ctx, p, func(context.Context) (int, error) { return v, nil }, sub).Wait(ctx)
					}, func(_ context.Context, v int) error { got += v; return nil }, InFlight(1))
					for v := range 5 {
						if err := send(ctx, s, v); err != nil {
							return 0, err
						}
					}
					return got, s.Close()
				}, sub)
				ctx, stop := context.WithTimeout(context.Background(), time.Hour)
				defer stop()
				if _, err := f.Wait(ctx); err != nil || got != 0+1+2+3+4 {
					t.Errorf("%d workers, %s: the task of Subpool(1) ends with %v after %d; %d run, %d wait", workers, way, err, got, sub.Running(), sub.Queued())
				}
				p.Close()
			})
		}
	}
}
