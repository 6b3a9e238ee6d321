//go:build !race

package strand_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/strand"
)

// The program of the article "Work stealing" of Wikipedia, with its fork as a spawn: f(1, 2) is 9.
func Example() {
	g := func(_ *strand.Strand, a int) int { return a * 2 }
	h := func(s *strand.Strand, a int) int {
		b := strand.SpawnCall(s, g, a)
		c := a + 1
		s.Sync()
		return b.Get() + c
	}
	f := func(s *strand.Strand, a, b int) int {
		c := strand.SpawnCall(s, g, a)
		d := h(s, b)
		s.Sync()
		return c.Get() + d
	}
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	strand.Run(pool, func(s *strand.Strand) { fmt.Println(f(s, 1, 2)) })
	// Output: 9
}

// A log in the order of the serial program, whatever is stolen: each line goes to the view of the worker that writes
// it, and the views are put together in that order.
func Example_log() {
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	log := strand.NewText()
	var move func(s *strand.Strand, n int, from, to, by string)
	move = func(s *strand.Strand, n int, from, to, by string) {
		if n == 0 {
			return
		}
		s.Spawn(func(s *strand.Strand) { move(s, n-1, from, by, to) })
		fmt.Fprintf(log.View(s), "disk %d from %s to %s\n", n, from, to)
		move(s, n-1, by, to, from)
	}
	strand.Run(pool, func(s *strand.Strand) { move(s, 3, "a", "c", "b") }, strand.Eager())
	fmt.Print(log.Value())
	// Output:
	// disk 1 from a to c
	// disk 2 from a to b
	// disk 1 from c to b
	// disk 3 from a to c
	// disk 1 from b to a
	// disk 2 from b to c
	// disk 1 from a to c
}

func ExampleRun() {
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	var a, b string
	strand.Run(pool, func(s *strand.Strand) {
		s.Spawn(func(*strand.Strand) { a = "left" })
		b = "right"
	})
	fmt.Println(a, b) // the end of a strand is a Sync
	// Output: left right
}

// A search ends with its context: what has not begun is not called.
func ExampleRunContext() {
	pool := filch.New(filch.WithWorkers(1))
	defer pool.Close()
	found := errors.New("found")
	ctx, cancel := context.WithCancelCause(context.Background())
	calls := 0
	err := strand.RunContext(ctx, pool, func(s *strand.Strand) {
		for i := range 100 {
			s.Spawn(func(*strand.Strand) {
				if calls++; i == 7 {
					cancel(found)
				}
			})
		}
	})
	fmt.Println(calls, err)
	// Output: 8 found
}

func ExampleEager() {
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	strand.Run(pool, func(s *strand.Strand) {
		s.Spawn(func(*strand.Strand) { fmt.Println("child") })
		s.Sync()
		fmt.Println("parent")
	}, strand.Eager())
	// Output:
	// child
	// parent
}

func ExampleOption() {
	pool := filch.New(filch.WithWorkers(1))
	defer pool.Close()
	var opts []strand.Option
	if testing := true; testing { // each spawn can be stolen
		opts = append(opts, strand.Eager())
	}
	strand.Run(pool, func(*strand.Strand) { fmt.Println("runs") }, opts...)
	// Output: runs
}

// A Strand is passed on to what the function calls. Each function that it spawns gets another.
func ExampleStrand() {
	type node struct {
		weight int64
		below  []*node
	}
	tree := &node{1, []*node{{2, []*node{{3, nil}}}, {4, nil}}}
	var sum atomic.Int64
	var walk func(s *strand.Strand, n *node)
	walk = func(s *strand.Strand, n *node) {
		sum.Add(n.weight)
		for _, below := range n.below {
			s.Spawn(func(s *strand.Strand) { walk(s, below) })
		}
	}
	strand.Run(filch.Default(), func(s *strand.Strand) { walk(s, tree) })
	fmt.Println(sum.Load())
	// Output: 10
}

func ExampleStrand_Spawn() {
	strand.Run(filch.Default(), func(s *strand.Strand) {
		squares := make([]int, 4)
		for i := range squares {
			s.Spawn(func(*strand.Strand) { squares[i] = i * i })
		}
		s.Sync()
		fmt.Println(squares)
	})
	// Output: [0 1 4 9]
}

// What a child has written may be read after the Sync, and a panic of a child arrives there.
func ExampleStrand_Sync() {
	strand.Run(filch.Default(), func(s *strand.Strand) {
		defer func() {
			var p *filch.PanicError
			if err, ok := recover().(error); ok && errors.As(err, &p) {
				fmt.Println("recovered:", p.Value)
			}
		}()
		s.Spawn(func(*strand.Strand) { panic("no such file") })
		fmt.Println("the parent goes on")
		s.Sync()
		fmt.Println("not here")
	})
	// Output:
	// the parent goes on
	// recovered: no such file
}

func ExampleStrand_Do() {
	strand.Run(filch.Default(), func(s *strand.Strand) {
		var x, y int
		s.Do(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) { x = 1 }, func(*filch.Worker) { y = 2 })
		})
		squares := make([]int, 4)
		par.For(s, len(squares), func(i int) { squares[i] = i * i }) // a Strand is a Scope
		fmt.Println(x, y, squares)
	})
	// Output: 1 2 [0 1 4 9]
}

// A strand that waits for something from outside lends its slot meanwhile.
func ExampleStrand_Blocking() {
	pool := filch.New(filch.WithWorkers(1))
	defer pool.Close()
	answer := make(chan string)
	strand.Run(pool, func(s *strand.Strand) {
		s.Spawn(func(s *strand.Strand) {
			s.Blocking(func() { fmt.Println(<-answer) })
		})
		answer <- "it came" // by another worker, in the place that was lent
	}, strand.Eager())
	// Output: it came
}

func ExampleStrand_Poll() {
	strand.Run(filch.Default(), func(s *strand.Strand) {
		sum := int64(0)
		for i := range int64(1_000_000) {
			if sum += i; i%100_000 == 0 {
				s.Poll() // so that what waits here can be taken
			}
		}
		fmt.Println(sum)
	})
	// Output: 499999500000
}

func ExampleStrand_Context() {
	type key struct{}
	ctx := context.WithValue(context.Background(), key{}, "request 7")
	err := strand.RunContext(ctx, filch.Default(), func(s *strand.Strand) {
		s.Spawn(func(s *strand.Strand) { fmt.Println(s.Context().Value(key{})) })
	})
	fmt.Println(err)
	// Output:
	// request 7
	// <nil>
}

func ExampleSpawnValue() {
	strand.Run(filch.Default(), func(s *strand.Strand) {
		words := []string{"continuation", "stealing"}
		first := strand.SpawnValue(s, func(*strand.Strand) int { return len(words[0]) })
		second := len(words[1])
		s.Sync()
		fmt.Println(first.Get() + second)
	})
	// Output: 20
}

func ExampleSpawnCall() {
	var fib func(s *strand.Strand, n int) int
	fib = func(s *strand.Strand, n int) int {
		if n < 2 {
			return n
		}
		a := strand.SpawnCall(s, fib, n-1) // no closure: n-1 is passed by value
		b := fib(s, n-2)
		s.Sync()
		return a.Get() + b
	}
	strand.Run(filch.Default(), func(s *strand.Strand) { fmt.Println(fib(s, 15)) })
	// Output: 610
}

func ExampleValue() {
	strand.Run(filch.Default(), func(s *strand.Strand) {
		lengths := make([]*strand.Value[int], 0, 3)
		for _, word := range []string{"a", "bc", "def"} {
			lengths = append(lengths, strand.SpawnValue(s, func(*strand.Strand) int { return len(word) }))
		}
		s.Sync()
		for _, n := range lengths {
			fmt.Print(n.Get(), " ")
		}
	})
	// Output: 1 2 3
}

func ExampleValue_Get() { ExampleSpawnValue() /* Output: 20 */ }

// A loop makes 20,000 children in constant space. A spawn runs the child first, so the loop never gets ahead of its
// children: when Spawn returns, at most one on each other worker has not ended. A queue would hold them all.
func Example_producer() {
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	const n = 20_000
	var sum, ended atomic.Int64
	most := int64(0)
	strand.Run(pool, func(s *strand.Strand) {
		for i := range int64(n) {
			s.Spawn(func(*strand.Strand) {
				sum.Add(i)
				ended.Add(1)
			})
			most = max(most, i+1-ended.Load())
		}
	})
	fmt.Println(sum.Load(), most < 2)
	// Output: 199990000 true
}

func ExampleMeasure() {
	p := strand.Measure(func(s *strand.Strand) {
		for range 10 {
			s.Spawn(func(*strand.Strand) {})
		}
	})
	fmt.Println(p.Forks, p.Span <= p.Work)
	// Output: 10 true
}
