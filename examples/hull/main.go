// Hull finds the convex hull of a million points: the corners of the smallest convex figure that has
// them all. Each part of the points has a hull of some dozens, and the hull of these is that of all.
// So par.Collect finds the candidates: nobody knows how many there are. Within a part the corners are found in order of x, by
// Andrew's monotone chain (Information Processing Letters, 1979).
package main

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// point has small numbers, so that it is known exactly on which side of a line it is.
type point struct{ x, y int32 }

// points returns n points in a disc.
func points(n int, seed uint64) []point {
	r := rand.New(rand.NewPCG(seed, 0))
	all := make([]point, 0, n)
	for len(all) < n {
		x, y := r.Int64N(1<<30)-1<<29, r.Int64N(1<<30)-1<<29
		if x*x+y*y < 1<<58 {
			all = append(all, point{int32(x), int32(y)})
		}
	}
	return all
}

// turnsLeft reports whether the way from a by b to c turns left.
func turnsLeft(a, b, c point) bool {
	return int64(b.x-a.x)*int64(c.y-a.y) > int64(b.y-a.y)*int64(c.x-a.x)
}

// hull returns the corners of some points, the leftmost first, then those below. It sorts the points.
func hull(some []point) []point {
	slices.SortFunc(some, func(a, b point) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	some = slices.Compact(some)
	if len(some) < 3 {
		return slices.Clone(some)
	}
	var corners []point
	chain := func(p point, from int) {
		for len(corners) > from+1 && !turnsLeft(corners[len(corners)-2], corners[len(corners)-1], p) {
			corners = corners[:len(corners)-1]
		}
		corners = append(corners, p)
	}
	for _, p := range some {
		chain(p, 0)
	}
	right := len(corners) - 1
	for _, p := range slices.Backward(some[:len(some)-1]) {
		chain(p, right)
	}
	return corners[:len(corners)-1] // the first is there again
}

// part is how many points are sorted at a time.
const part = 4096

// parallelHull returns the hull of all points, and leaves these as they are.
func parallelHull(s filch.Scope, all []point) []point {
	candidates := par.Collect(s, len(all),
		func(lo, hi int, to []point) []point { return append(to, hull(slices.Clone(all[lo:hi]))...) },
		par.WithGrain(part))
	return hull(candidates)
}

func run(out io.Writer, n int) error {
	all := points(n, 1)
	one := filch.New(filch.WithWorkers(1))
	defer one.Close()
	begin := time.Now()
	want := parallelHull(one, all)
	alone := time.Since(begin)

	pool := filch.New() // as many workers as processors
	defer pool.Close()
	begin = time.Now()
	got := parallelHull(pool, all)
	took := time.Since(begin)
	if !slices.Equal(got, want) {
		return fmt.Errorf("the hull depends on the number of workers")
	}
	fmt.Fprintf(out, "%d points, %d corners: one worker %v, %d workers %v, %.2f times as fast\n",
		n, len(got), alone, runtime.GOMAXPROCS(0), took, float64(alone)/float64(took))
	return nil
}

func main() {
	if err := run(os.Stdout, 1_000_000); err != nil {
		fmt.Fprintln(os.Stderr, "hull:", err)
		os.Exit(1)
	}
}
