package filch_test

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
						b.Fatal(err)
					}
				}
			}
		})
	}
}
