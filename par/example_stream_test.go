package par_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

func ExampleNewStream() {
	p := filch.New()
	defer p.Close()
	ctx := context.Background()
	s := par.NewStream(ctx, p,
		func(_ context.Context, word string) (string, error) { return strings.ToUpper(word), nil },
		func(_ context.Context, word string) error { fmt.Println(word); return nil })
	for _, word := range []string{"one", "two", "three"} {
		if err := s.Send(word); err != nil {
			break // Close returns it, too
		}
	}
	fmt.Println(s.Close())
	// Output:
	// ONE
	// TWO
	// THREE
	// <nil>
}

func ExampleStream_SendFrom() {
	p := filch.New()
	defer p.Close()
	ctx := context.Background()
	total := 0
	s := par.NewStream(ctx, p,
		func(_ context.Context, n int) (int, error) { return n * n, nil },
		func(_ context.Context, n int) error { total += n; return nil })
	g := p.Group(ctx)
	for i := range 4 { // tasks that send
		g.Go(func(ctx context.Context) error { return s.SendFrom(ctx, i) })
	}
	fmt.Println(g.Wait(), s.Close(), total)
	// Output: <nil> <nil> 14
}
