package sim

import (
	"math/big"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/thorough"
)

// seeds is how many runs a mean is of.
func seeds() int { return fewer(100) }

// fewer returns n, or a fifth of it in a short test.
func fewer(n int) int {
	if thorough.Sampled() {
		return (n + 4) / 5
	}
	return n
}

// constant returns the mean over seeds of (T - T1/P) / Tinf, and its greatest value.
func constant(t *testing.T, p dag.Program, f *dag.Facts, scheduler string, workers int) (mean, most float64) {
	t.Helper()
	for seed := range seeds() {
		r := run(t, Config{Program: p, Facts: f, Scheduler: scheduler, Workers: workers, Seed: uint64(seed)})
		c := (float64(r.Time) - float64(r.T1)/float64(workers)) / float64(r.Tinf)
		mean += c / float64(seeds())
		most = max(most, c)
	}
	return mean, most
}

// Blumofe and Leiserson (JACM 1999) bound the expected time by T1/P + O(Tinf), and Tchiboukdjian, Gast and
// Trystram (Annals of Operations Research 2013) the constant by 5.5.
func TestTimeIsWorkOverWorkersAndSomeSpans(t *testing.T) {
	for _, scheduler := range []string{"child", "continuation"} {
		for _, name := range []string{"fib=14", "mergesort=512", "uts=5", "nested=32"} {
			p := named(t, name)
			f := facts(t, p)
			few, _ := constant(t, p, &f, scheduler, 4)
			for _, workers := range []int{32, 256} {
				mean, most := constant(t, p, &f, scheduler, workers)
				t.Logf("%s, %s, %d workers: (T - T1/P)/Tinf is %.2f in the mean, %.2f at most", scheduler, name, workers, mean, most)
				if mean > 5.5 || mean > few+2 {
					t.Errorf("%s, %s: (T - T1/P)/Tinf is %.2f on 4 workers, and %.2f on %d", scheduler, name, few, mean, workers)
				}
			}
		}
	}
}

// The constant does not grow with the span.
func TestTimeDoesNotGrowFasterThanTheSpan(t *testing.T) {
	for _, scheduler := range []string{"child", "continuation"} {
		var first float64
		for _, name := range []string{"fib=8", "fib=12", "fib=16"} {
			p := named(t, name)
			f := facts(t, p)
			mean, _ := constant(t, p, &f, scheduler, 16)
			if first == 0 {
				first = mean
			}
			t.Logf("%s, %s: %.2f", scheduler, name, mean)
			if mean > first+1 {
				t.Errorf("%s: (T - T1/P)/Tinf is %.2f for fib=8, and %.2f for %s", scheduler, first, mean, name)
			}
		}
	}
}

// Leiserson, Schardl and Suksompong ("Upper bounds on number of steals in rooted trees", Theory of Computing
// Systems 2016): where a complete k-ary tree of height h is run by n workers, there are at most
// the sum over i from 1 to n of (k-1)^i times h over i steals. Their tree has a node for each thread of ours, and what is
// stolen is a subtree. With k = 2, that is what either way of stealing does.
func TestStealsFromTreesAreBounded(t *testing.T) {
	for _, scheduler := range []string{"child", "continuation"} {
		for _, workers := range []int{2, 3, 4, 8} {
			for _, height := range []int{2, 5, 9} {
				p := dag.Tree{Arity: 2, Depth: height}
				f := facts(t, p)
				bound := new(big.Int)
				for i := range workers {
					bound.Add(bound, new(big.Int).Binomial(int64(height), int64(i+1)))
				}
				var most int64
				for seed := range seeds() {
					most = max(most, run(t, Config{Program: p, Facts: &f, Scheduler: scheduler, Workers: workers, Seed: uint64(seed)}).Steals)
				}
				t.Logf("%s, %d workers, height %d: %d steals, bound %d", scheduler, workers, height, most, bound)
				if big.NewInt(most).Cmp(bound) > 0 {
					t.Errorf("%s, %d workers, height %d: %d steals, which is more than %d", scheduler, workers, height, most, bound)
				}
			}
		}
	}
}
