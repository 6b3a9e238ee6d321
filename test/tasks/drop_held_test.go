package tasks

import (
	"context"
	"errors"
	"testing"

	"github.com/filch-go/filch"
)

// A held task that is dropped says so, once, however that comes about. One that runs says nothing.
func TestOnDropOfHeldTasks(t *testing.T) {
	ctx, failed := context.Background(), errors.New("failed")
	for name, c := range map[string]struct {
		end  func(p *filch.Pool, dep *filch.Promise[int], cancel context.CancelFunc)
		want error // nil if it runs
	}{
		"the dependency is done":  {func(_ *filch.Pool, dep *filch.Promise[int], _ context.CancelFunc) { dep.Complete(1, nil) }, nil},
		"the dependency fails":    {func(_ *filch.Pool, dep *filch.Promise[int], _ context.CancelFunc) { dep.Complete(0, failed) }, failed},
		"the context ends":        {func(_ *filch.Pool, _ *filch.Promise[int], cancel context.CancelFunc) { cancel() }, context.Canceled},
		"the pool is closed":      {func(p *filch.Pool, _ *filch.Promise[int], _ context.CancelFunc) { p.Close() }, filch.ErrClosed},
		"both end it":             {func(p *filch.Pool, dep *filch.Promise[int], _ context.CancelFunc) { dep.Complete(0, failed); p.Close() }, failed},
		"it was done before":      {nil, nil},
		"it had failed before":    {nil, failed},
		"the pool is closed once": {func(p *filch.Pool, _ *filch.Promise[int], _ context.CancelFunc) { p.Close(); p.Close() }, filch.ErrClosed},
	} {
		for _, held := range []string{"after", "subpool and after"} {
			p := filch.New(filch.WithWorkers(2))
			within, cancel := context.WithCancel(ctx)
			dep := filch.NewPromise[int](p)
			if c.end == nil {
				dep.Complete(0, c.want)
			}
			var drops []error
			opts := []filch.TaskOption{filch.After(dep.Future()), filch.OnDrop(func(err error) { drops = append(drops, err) })}
			if held != "after" {
				opts = append(opts, p.Subpool(1))
			}
			ran := false
			f := filch.Submit(within, p, func(context.Context) (int, error) { ran = true; return 0, nil }, opts...)
			if c.end != nil {
				c.end(p, dep, cancel)
			}
			_, err := f.Wait(ctx)
			cancel()
			p.Close()
			switch {
			case c.want == nil && (err != nil || !ran || len(drops) != 0):
				t.Errorf("%s, %s: it ran: %t, with %v; dropped for %v", held, name, ran, err, drops)
			case c.want != nil && (ran || len(drops) != 1 || !errors.Is(drops[0], c.want) || !errors.Is(err, c.want)):
				t.Errorf("%s, %s: it ran: %t, with %v; dropped for %v", held, name, ran, err, drops)
			}
		}
	}
}
