//go:build !race

package strand_test

import (
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

// A loop makes a million children in constant space. A spawn runs the child first, so the loop never gets ahead of its
// children: when Spawn returns, at most one on each other worker has not ended. A queue of children would hold a million.
func Example_producer() {
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	const n = 1_000_000
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
	// Output: 499999500000 true
}
