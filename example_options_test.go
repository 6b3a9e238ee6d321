package filch_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/steal"
)

func ExampleWithStealing() {
	p := filch.New(filch.WithWorkers(4), filch.WithName("kitchen"), filch.WithStealing(steal.Localized))
	fmt.Println(fibonacci.Call(p, 20))
	p.Close()
	_ = p.Dump(os.Stdout)
	// Output:
	// 6765
	// kitchen: 4 workers, 0 extra; 0 slots taken, 0 searching, 0 goroutines blocked; steals by Localized
	// tasks: 0 submitted, 0 done (0 failed, 0 panicked), 0 cancelled, 0 rejected, 0 queued
}

// Options are kept in a slice, as for other options.
func ExampleStealOption() {
	opts := []filch.StealOption{filch.StealOne(), filch.YieldFirst()}
	p := filch.New(filch.WithWorkers(2), filch.WithStealing(steal.RandomStart, opts...))
	fmt.Println(fibonacci.Call(p, 20))
	// Output: 6765
}

// Where tasks take long, and differ, a worker that takes half of them may take too many.
func ExampleStealOne() {
	p := filch.New(filch.WithWorkers(2), filch.WithStealing(steal.RandomStart, filch.StealOne()))
	g := p.Group(context.Background())
	for range 10 {
		g.Go(func(context.Context) error { return nil })
	}
	err := g.Wait()
	p.Close() // the figures of a pool at rest are exact
	fmt.Println(err, p.Stats().Tasks.Done)
	// Output: <nil> 10
}

// The goroutines of the program go before workers that look for work.
func ExampleYieldFirst() {
	p := filch.New(filch.WithWorkers(8), filch.WithStealing(steal.Adaptive, filch.YieldFirst()))
	fmt.Println(fibonacci.Call(p, 20))
	// Output: 6765
}

// Two workers on processors that are far from one another. Elsewhere than on Linux, and where the kernel
// refuses, the pool works all the same, and says why they are not pinned.
func ExampleWithAffinity() {
	pool := filch.New(filch.WithWorkers(2), filch.WithAffinity(filch.Spread))
	defer pool.Close()
	fib := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n < 2 {
			return n
		}
		h := f.Fork(n - 1)
		b := f.Call(n - 2)
		return f.Join(h) + b
	})
	fmt.Println(fib.Call(pool, 20))
	// Output: 6765
}

func ExamplePool_Affinity() {
	pool := filch.New(filch.WithAffinity(filch.AsListed, 60_000), filch.WithLogger(slog.New(slog.DiscardHandler)))
	defer pool.Close()
	if _, err := pool.Affinity(); err != nil {
		fmt.Println("workers are not pinned")
	}
	// Output: workers are not pinned
}

func ExampleAffinity() {
	for _, a := range []filch.Affinity{filch.Spread, filch.Compact} {
		pool := filch.New(filch.WithAffinity(a), filch.WithLogger(slog.New(slog.DiscardHandler)))
		pool.Do(func(w *filch.Worker) { fmt.Println(a, "is the order of its processors") })
		pool.Close()
	}
	// Output:
	// Spread is the order of its processors
	// Compact is the order of its processors
}

func ExampleAffinity_String() {
	fmt.Println(filch.Spread, filch.Compact, filch.AsListed)
	// Output: Spread Compact AsListed
}
