package filch_test

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/filch-go/filch"
)

func ExampleMeasure() {
	sum := filch.NewFunc(func(f *filch.Frame[[]int, int], x []int) int {
		if len(x) == 1 {
			return x[0]
		}
		h := f.Fork(x[len(x)/2:])
		return f.Call(x[:len(x)/2]) + f.Join(h)
	})
	x := make([]int, 1000)
	p := filch.Measure(func(w *filch.Worker) { sum.Call(w, x) })
	fmt.Println(p.Forks, "forks")
	fmt.Println("the longest path is a part of all:", p.Span <= p.Work)
	// Output:
	// 999 forks
	// the longest path is a part of all: true
}

// A profile with figures of which all is known: a tenth of the work is serial.
func ExampleProfile() {
	p := &filch.Profile{
		Work:         100 * time.Millisecond,
		Span:         10 * time.Millisecond,
		BurdenedSpan: 11 * time.Millisecond,
		Forks:        500,
	}
	fmt.Println(p)
	fmt.Println(p.Parallelism())
	// Output:
	// work 100ms, span 10ms, parallelism 10.0, burdened 9.09, 500 forks
	// 10
}

func ExampleProfile_SpeedUp() {
	p := &filch.Profile{Work: 100 * time.Millisecond, Span: 10 * time.Millisecond, BurdenedSpan: 11 * time.Millisecond}
	for _, workers := range []int{1, 8, 64} {
		least, most := p.SpeedUp(workers)
		fmt.Printf("%2d workers: %.1f to %.1f times as fast\n", workers, least, most)
	}
	// Output:
	//  1 workers: 1.0 to 1.0 times as fast
	//  8 workers: 4.5 to 8.0 times as fast
	// 64 workers: 8.1 to 10.0 times as fast
}

func ExampleProfile_WriteText() {
	p := &filch.Profile{Work: 100 * time.Millisecond, Span: 10 * time.Millisecond, BurdenedSpan: 11 * time.Millisecond, Forks: 500}
	_ = p.WriteText(os.Stdout)
	// Output:
	// work           100ms      of all that ran
	// span           10ms       of the longest path; parallelism 10.0
	// burdened span  11ms       with 4µs for each fork on the path; parallelism 9.09
	// forks          500
	//
	// workers  speed-up at least  at most
	//       1               1.00     1.00
	//       2               1.80     2.00
	//       4               3.01     4.00
	//       8               4.52     8.00
	//      16               6.04    10.00
	//      32               7.26    10.00
	//      64               8.07    10.00
	//     128               8.55    10.00
	//     256               8.81    10.00
}

func ExampleProfile_WriteSVG() {
	p := &filch.Profile{Work: 100 * time.Millisecond, Span: 10 * time.Millisecond, BurdenedSpan: 11 * time.Millisecond}
	file, err := os.CreateTemp("", "*.svg")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(file.Name())
	err = p.WriteSVG(file)
	fmt.Println(err, file.Close())
	// Output: <nil> <nil>
}

func ExampleProfile_Parallelism() {
	p := &filch.Profile{Work: 100 * time.Millisecond, Span: 8 * time.Millisecond}
	fmt.Println(p.Parallelism(), "workers could be kept busy")
	// Output: 12.5 workers could be kept busy
}

func ExampleProfile_String() {
	p := &filch.Profile{Work: 100 * time.Millisecond, Span: 10 * time.Millisecond, BurdenedSpan: 11 * time.Millisecond, Forks: 500}
	fmt.Println(p.String())
	// Output: work 100ms, span 10ms, parallelism 10.0, burdened 9.09, 500 forks
}

// What a pool does, at /debug/vars.
func ExamplePool_Stats_expvar() {
	p := filch.New(filch.WithName("web"), filch.WithWorkers(4))
	expvar.Publish("filch web", expvar.Func(func() any { return p.Stats() }))

	ctx := context.Background()
	filch.Submit(ctx, p, func(context.Context) (int, error) { return 9 * 9, nil }).Wait(ctx)
	p.Shutdown(ctx) // the figures of a pool at rest are exact
	var shown filch.Stats
	if err := json.Unmarshal([]byte(expvar.Get("filch web").String()), &shown); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(shown.Workers, shown.Tasks.Done)
	// Output: 4 1
}

// A Worker is for the goroutine that gets it. With checks, a use on another one panics, and the message has
// the stacks of both places.
func ExampleWithChecks() {
	p := filch.New(filch.WithWorkers(2), filch.WithChecks())
	defer p.Close()
	p.Do(func(w *filch.Worker) {
		done := make(chan any)
		go func() {
			defer func() { done <- recover() }()
			w.Join(func(*filch.Worker) {}, func(*filch.Worker) {})
		}()
		mistake, _, _ := strings.Cut(fmt.Sprint(<-done), ";")
		fmt.Println(mistake)
	})
	// Output:
	// filch: Worker.Join: a Worker is used on another goroutine than the one that it was handed to
}

func ExamplePool_String() {
	p := filch.New(filch.WithName("images"), filch.WithWorkers(4))
	defer p.Close()
	fmt.Println(p)
	// Output:
	// images, 4 workers
}

// In a test that runs under go test -race, both sides of this Join are reported if they use one variable,
// whichever worker runs them. Here each has its own.
func ExampleWithLogicalRaces() {
	p := filch.New(filch.WithWorkers(1), filch.WithLogicalRaces())
	p.Do(func(w *filch.Worker) {
		var left, right int
		w.Join(
			func(*filch.Worker) { left = 1 },
			func(*filch.Worker) { right = 2 },
		)
		fmt.Println(left + right)
	})
	// Output: 3
}
