//go:build !race

package strand_test

import (
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

// A loop makes a million children. One at a time is open on each worker, however far the loop would
// get ahead of them.
func Example_producer() {
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	var sum, open, most atomic.Int64
	strand.Run(pool, func(s *strand.Strand) {
		for i := range int64(1_000_000) {
			s.Spawn(func(*strand.Strand) {
				most.Store(max(most.Load(), open.Add(1)))
				sum.Add(i)
				open.Add(-1)
			})
		}
	})
	fmt.Println(sum.Load(), most.Load() <= 2)
	// Output: 499999500000 true
}
