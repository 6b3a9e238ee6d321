// Library shows package summary, which computes in parallel on whatever its caller has: the default
// pool, a pool of the program, the worker of a fork, or the context of a task.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/examples/library/summary"
)

func run(out io.Writer, n int) error {
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = float64(i), float64(i*i%n)
	}
	// On the default pool.
	s, err := summary.Of(x)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "of x: %v\n", s)

	// On a pool of the program, which has a limit.
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	if s, err = summary.In(p, y); err != nil {
		return err
	}
	fmt.Fprintf(out, "of y: %v\n", s)

	// Inside a task: the context says where.
	both := filch.Submit(context.Background(), p, func(ctx context.Context) ([]summary.Summary, error) {
		return summary.Compare(ctx, [][]float64{y, x})
	})
	all, err := both.Wait(context.Background())
	fmt.Fprintf(out, "both: %v\n", all)
	return err
}

func main() {
	if err := run(os.Stdout, 1000); err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
}
