package benchmarks

import (
	"context"
	"testing"

	"github.com/filch-go/filch"
)

// What it costs and gains to pin workers: a long computation, phases that are short, tasks that are awaited one by one, a
// burst of tasks, tasks that block, and strands.
func BenchmarkAffinity(b *testing.B) {
	ctx := context.Background()
	fib := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n < 2 {
			return n
		}
		h := f.Fork(n - 1)
		b := f.Call(n - 2)
		return f.Join(h) + b
	})
	nothing := func(context.Context) (int, error) { return 0, nil }
	loads := []struct {
		name string
		run  func(p *filch.Pool) error
	}{
		{"fib=32", func(p *filch.Pool) error { fib.Call(p, 32); return nil }},
		{"fib=18", func(p *filch.Pool) error { fib.Call(p, 18); return nil }},
		{"fib=25inTask", func(p *filch.Pool) error {
			_, err := filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return fib.Call(filch.ScopeOf(ctx), 25), nil }).Wait(ctx)
			return err
		}},
		{"taskAndWait", func(p *filch.Pool) error { _, err := filch.Submit(ctx, p, nothing).Wait(ctx); return err }},
		{"tasks=1000", func(p *filch.Pool) error {
			g := p.Group(ctx)
			for range 1000 {
				g.Go(func(context.Context) error { return nil })
			}
			return g.Wait()
		}},
		{"blocking=100", func(p *filch.Pool) error {
			g := p.Group(ctx)
			for range 100 {
				g.Go(func(ctx context.Context) error { filch.Blocking(ctx, func() {}); return nil })
			}
			return g.Wait()
		}},
	}
	for _, load := range loads {
		for _, how := range []struct {
			name string
			opts []filch.Option
		}{{"free", nil}, {"spread", []filch.Option{filch.WithAffinity(filch.Spread)}}} {
			b.Run(load.name+"/"+how.name, func(b *testing.B) {
				p := filch.New(append(how.opts, filch.WithWorkers(2))...)
				defer p.Close()
				for b.Loop() {
					if err := load.run(p); err != nil {
						b.Fatal("load.run(p):", err)
					}
				}
			})
		}
	}
}
