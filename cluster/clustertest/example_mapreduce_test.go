package clustertest_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/par"
)

// The squares of a million numbers are added: each task has a thousand of them, its node divides these among its
// workers, and this process adds what a thousand tasks return.
func Example_mapReduce() {
	ctx := context.Background()
	n, done := openExample()
	defer done()
	add := func(a, b int) int { return a + b }
	cluster.Handle(n, "squares", func(ctx context.Context, chunk []int) (int, error) {
		return par.MapReduce(filch.ScopeOf(ctx), chunk, 0, func(i int) int { return i * i }, add), nil
	})

	numbers := make([]int, 1_000_000)
	for i := range numbers {
		numbers[i] = i
	}
	sum, err := cluster.MapReduce(ctx, n, "squares", slices.Chunk(numbers, 1000), add)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum)
	// Output: 333332833333500000
}
