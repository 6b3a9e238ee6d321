package clustertest_test

import (
	"context"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// BenchmarkLocal compares a task of LocalFirst with one of the pool.
func BenchmarkLocal(b *testing.B) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	n := open(b, cluster.WithPool(p), cluster.WithThreshold(1<<30))
	h := cluster.Handle(n, "double", double)
	ctx := context.Background()
	b.Run("pool", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			done := make(chan struct{})
			if err := p.Go(ctx, func(context.Context) { close(done) }); err != nil {
				b.Fatal("p.Go:", err)
			}
			<-done
		}
	})
	b.Run("cluster", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := h.Submit(ctx, 1, cluster.LocalFirst())
			if err != nil {
				b.Fatal("h.Submit:", err)
			}
			if _, err := f.Wait(ctx); err != nil {
				b.Fatal("f.Wait:", err)
			}
		}
	})
}

// BenchmarkStored is a task on an idle cluster, from Submit to the result.
func BenchmarkStored(b *testing.B) {
	n := open(b)
	h := cluster.Handle(n, "double", double)
	ctx := context.Background()
	for b.Loop() {
		f, err := h.Submit(ctx, 1)
		if err != nil {
			b.Fatal("h.Submit:", err)
		}
		if _, err := f.Wait(ctx); err != nil {
			b.Fatal("f.Wait:", err)
		}
	}
}
