package sim

import (
	"math"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// Tchiboukdjian, Gast and Trystram: a bag of W unit tasks takes W/P + 3.65*log2 W expected, at most.
func TestHalfOfABagIsWithinItsBound(t *testing.T) {
	for _, workers := range []int{2, 8, 64, 512} {
		for _, n := range []int{100, 10_000} {
			f := facts(t, dag.Bag(n))
			const seeds = 20
			var sum float64
			for seed := range uint64(seeds) {
				sum += float64(run(t, Config{Program: dag.Bag(n), Facts: &f, Scheduler: "half", Workers: workers, Seed: seed}).Time)
			}
			mean, bound := sum/seeds, float64(n)/float64(workers)+3.65*math.Log2(float64(n))
			if mean > bound {
				t.Errorf("%d workers, %d tasks: %.1f steps, more than %.1f", workers, n, mean, bound)
			}
			one := run(t, Config{Program: dag.Bag(n), Facts: &f, Scheduler: "child", Workers: workers})
			if workers >= 64 && n >= 10_000 && float64(one.Time) < 2*bound {
				t.Errorf("%d workers, %d tasks: stealing one at a time takes %d steps, about as little as half", workers, n, one.Time)
			}
		}
	}
}
