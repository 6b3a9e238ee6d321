package flow_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestCPU(t *testing.T) {
	if os.Getenv("CPU") == "" {
		t.Skip()
	}
	const n = 1_000_000
	for _, name := range []string{"chain", "fan", "grid", "tree"} {
		b := time.Now()
		g := shapes[name](n)
		built := time.Since(b)
		for _, workers := range []int{1, 2} {
			p := filch.New(filch.WithWorkers(workers))
			ctx := context.Background()
			g.Run(ctx, p)
			best, wall := time.Hour, time.Hour
			for range 7 {
				c, w := cpu(), time.Now()
				if err := g.Run(ctx, p); err != nil {
					t.Fatal(err)
				}
				best = min(best, cpu()-c)
				wall = min(wall, time.Since(w))
			}
			fmt.Println(name, workers, "built", built, "cpu/node", float64(best)/n, "wall/node", float64(wall)/n)
			p.Close()
		}
	}
}
