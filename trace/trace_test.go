package trace_test

import (
	"context"
	"os"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace"
)

func TestX(t *testing.T) {
	p := filch.New(filch.WithWorkers(4))
	defer p.Close()
	r := trace.New(p)
	r.Start()
	for i := range 5 {
		p.Go(context.Background(), func(ctx context.Context) { _ = i })
	}
	fib := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n < 2 {
			return n
		}
		h := f.Fork(n - 1)
		b := f.Call(n - 2)
		return f.Join(h) + b
	})
	fib.Call(p, 32)
	r.Stop()
	f, _ := os.Create("/tmp/x.json")
	r.WriteChrome(f)
	f, _ = os.Create("/tmp/x.pftrace")
	r.WritePerfetto(f)
}
