package filch_test

import (
	"fmt"
	"os"
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
