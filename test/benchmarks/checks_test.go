package benchmarks

import (
	"context"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// What checks cost: each operation without them, and with.
func BenchmarkChecks(b *testing.B) {
	leaf := func(context.Context) (int, error) { return 1, nil }
	pair := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		r := 0
		for range n {
			r += f.Join(f.Fork(0))
		}
		return r
	})
	for _, with := range []struct {
		name string
		opts []filch.Option
	}{{"without", nil}, {"with", []filch.Option{filch.WithChecks()}}} {
		p := filch.New(append(with.opts, filch.WithWorkers(1))...)
		b.Run("Do/"+with.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Do(rig.Nop)
			}
		})
		b.Run("ForkJoin/"+with.name, func(b *testing.B) {
			b.ReportAllocs()
			pair.Call(p, b.N)
		})
		b.Run("Join/"+with.name, func(b *testing.B) {
			b.ReportAllocs()
			p.Do(func(w *filch.Worker) {
				for b.Loop() {
					w.Join(rig.Nop, rig.Nop)
				}
			})
		})
		b.Run("Submit/"+with.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				filch.Submit(context.Background(), p, leaf).Wait(context.Background())
			}
		})
		p.Close()
	}
}
