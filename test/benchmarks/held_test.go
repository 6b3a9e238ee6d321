package benchmarks

import (
	"context"
	"fmt"
	"testing"

	"github.com/filch-go/filch"
)

// A dependency costs what a task with some takes beyond one with none, for each of them. The first task
// of a graph begins when all are held.
func BenchmarkAfter(b *testing.B) {
	const width = 256
	nothing := func(context.Context) (struct{}, error) { return struct{}{}, nil }
	for _, deps := range []int{0, 1, 2, 4, 8} {
		b.Run(fmt.Sprintf("deps=%d", deps), func(b *testing.B) {
			p := filch.New()
			defer p.Close()
			ctx := context.Background()
			b.ReportAllocs()
			for n := 0; n < b.N; n += 8 * width {
				first := filch.NewPromise[struct{}](p)
				before := make([]filch.Waiter, width)
				for i := range before {
					before[i] = first.Future()
				}
				var last []*filch.Future[struct{}]
				for range 8 {
					next := make([]filch.Waiter, width)
					last = last[:0]
					for i := range next {
						var f *filch.Future[struct{}]
						if deps == 0 {
							f = filch.Submit(ctx, p, nothing)
						} else {
							on := make([]filch.Waiter, deps)
							for j := range on {
								on[j] = before[(i+j*37)%width]
							}
							f = filch.Submit(ctx, p, nothing, filch.After(on...))
						}
						next[i] = f
						last = append(last, f)
					}
					before = next
				}
				first.Complete(struct{}{}, nil)
				for _, f := range last {
					if _, err := f.Wait(ctx); err != nil {
						b.Fatal("f.Wait(ctx):", err)
					}
				}
			}
		})
	}
}

// What a slot of a Subpool costs: tasks from outside, most of which stand in line; and a tree of tasks, each of which
// waits for two others of its Subpool.
func BenchmarkSubpool(b *testing.B) {
	ctx := context.Background()
	nothing := func(context.Context) (struct{}, error) { return struct{}{}, nil }
	for _, order := range []filch.Order{filch.LIFO, filch.FIFO} {
		for _, limit := range []int{1, 2} {
			b.Run(fmt.Sprintf("outside/%v/limit=%d", order, limit), func(b *testing.B) {
				p := filch.New()
				defer p.Close()
				sub := p.Subpool(limit, filch.WithOrder(order))
				b.ReportAllocs()
				var all [256]*filch.Future[struct{}]
				for n := 0; n < b.N; n += len(all) {
					for i := range all {
						all[i] = filch.Submit(ctx, p, nothing, sub)
					}
					for _, f := range all {
						f.Wait(ctx)
					}
				}
			})
			b.Run(fmt.Sprintf("tree/%v/limit=%d", order, limit), func(b *testing.B) {
				p := filch.New()
				defer p.Close()
				sub := p.Subpool(limit, filch.WithOrder(order))
				b.ReportAllocs()
				var node func(ctx context.Context, depth int) (struct{}, error)
				node = func(ctx context.Context, depth int) (v struct{}, err error) {
					if depth > 0 {
						child := func(ctx context.Context) (struct{}, error) { return node(ctx, depth-1) }
						left, right := filch.Submit(ctx, p, child, sub), filch.Submit(ctx, p, child, sub)
						right.Wait(ctx)
						left.Wait(ctx)
					}
					return v, err
				}
				for n := 0; n < b.N; n += 255 {
					filch.Submit(ctx, p, func(ctx context.Context) (struct{}, error) { return node(ctx, 7) }, sub).Wait(ctx)
				}
			})
		}
	}
}
