package filch_test

import (
	"context"
	"fmt"
	"os"

	"github.com/filch-go/filch"
)

func ExampleWithStealing() {
	p := filch.New(filch.WithWorkers(4), filch.WithName("kitchen"), filch.WithStealing(filch.Localized))
	fmt.Println(fibFunc.Call(p, 20))
	p.Close()
	_ = p.Dump(os.Stdout)
	// Output:
	// 6765
	// kitchen: 4 workers, 0 extra; 0 places taken, 0 searching, 0 goroutines blocked; steals by Localized
	// tasks: 0 submitted, 0 done (0 failed, 0 panicked), 0 cancelled, 0 rejected, 0 queued
}

func ExampleStealing() {
	for _, from := range []filch.Stealing{filch.RandomStart, filch.RoundRobin, filch.Localized, filch.Nearest, filch.Adaptive} {
		p := filch.New(filch.WithWorkers(4), filch.WithStealing(from))
		fmt.Println(from, fibFunc.Call(p, 20))
	}
	// Output:
	// RandomStart 6765
	// RoundRobin 6765
	// Localized 6765
	// Nearest 6765
	// Adaptive 6765
}

func ExampleStealing_String() {
	fmt.Println(filch.Nearest, filch.Stealing(9))
	// Output: Nearest Stealing(9)
}

// Options are kept in a slice, as for other options.
func ExampleStealOption() {
	opts := []filch.StealOption{filch.StealOne(), filch.YieldFirst()}
	p := filch.New(filch.WithWorkers(2), filch.WithStealing(filch.RandomStart, opts...))
	fmt.Println(fibFunc.Call(p, 20))
	// Output: 6765
}

// Where tasks take long, and differ, a worker that takes half of them may take too many.
func ExampleStealOne() {
	p := filch.New(filch.WithWorkers(2), filch.WithStealing(filch.RandomStart, filch.StealOne()))
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
	p := filch.New(filch.WithWorkers(8), filch.WithStealing(filch.Adaptive, filch.YieldFirst()))
	fmt.Println(fibFunc.Call(p, 20))
	// Output: 6765
}
