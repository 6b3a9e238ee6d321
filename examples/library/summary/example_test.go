package summary_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/examples/library/summary"
)

func ExampleOf() {
	s, err := summary.Of([]float64{3, 1, 2})
	fmt.Println(s, err)
	// Output: 3 from 1.0 to 3.0, median 2.0, mean 2.0, deviation 0.8 <nil>
}

func ExampleIn() {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	s, err := summary.In(p, []float64{3, 1, 2})
	fmt.Println(s.Median, err)
	// Output: 2 <nil>
}

func ExampleCompare() {
	all, err := summary.Compare(context.Background(), [][]float64{{1, 2, 3}, {7, 8, 9}})
	fmt.Println(all[0].Mean, all[1].Mean, err)
	// Output: 8 2 <nil>
}

func ExampleSummary() {
	var s summary.Summary
	s.N = 2
	fmt.Println(s.N)
	// Output: 2
}

func ExampleSummary_String() {
	fmt.Println(summary.Summary{N: 2, Least: 1, Median: 2, Most: 2, Mean: 1.5, Deviation: 0.5}.String())
	// Output: 2 from 1.0 to 2.0, median 2.0, mean 1.5, deviation 0.5
}

func ExampleErrNone() {
	_, err := summary.Of(nil)
	fmt.Println(errors.Is(err, summary.ErrNone))
	// Output: true
}
