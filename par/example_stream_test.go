package par_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// Values are pushed by hand, worked on in parallel, and come out in order.
func ExampleStream() {
	squares := par.NewStream(context.Background(), filch.Default(),
		func(_ context.Context, n int) (int, error) { return n * n, nil },
		func(_ context.Context, n int) error { fmt.Print(n, " "); return nil })
	for n := range 5 {
		if err := squares.Send(n); err != nil {
			break // Close returns it, too
		}
	}
	fmt.Println(squares.Close())
	// Output: 0 1 4 9 16 <nil>
}

func ExampleStream_Send() {
	full := errors.New("the disk is full")
	s := par.NewStream(context.Background(), filch.Default(),
		func(_ context.Context, n int) (int, error) { return n, nil },
		func(context.Context, int) error { return full })
	for s.Send(1) == nil { // until one is told
	}
	fmt.Println(errors.Is(s.Send(2), full))
	_ = s.Close()
	// Output: true
}

func ExampleStream_Close() {
	sum := 0
	s := par.NewStream(context.Background(), filch.Default(),
		func(_ context.Context, n int) (int, error) { return n, nil },
		func(_ context.Context, n int) error { sum += n; return nil })
	_, _ = s.Send(1), s.Send(2)
	fmt.Println(s.Close(), sum)
	// Output: <nil> 3
}
