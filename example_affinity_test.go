package filch_test

import (
	"fmt"
	"log/slog"

	"github.com/filch-go/filch"
)

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
