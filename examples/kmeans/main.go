// Kmeans finds clusters of points: it assigns each to the nearest of k centres, moves these to
// the means of theirs, and does so again until nothing changes (Lloyd, IEEE Trans. Inf.
// Theory, 1982). Each round is one reduction. What it comes to does not depend on the number of
// workers, though the sums are of floating-point numbers: par.ReduceRange adds in an order
// that depends on the number of points alone.
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

type point struct{ x, y float64 }

// cluster is the sum of some points.
type cluster struct {
	point
	n int
}

// points returns n points around k places.
func points(n, k int, seed uint64) []point {
	r := rand.New(rand.NewPCG(seed, 0))
	places := make([]point, k)
	for i := range places {
		places[i] = point{r.Float64() * 100, r.Float64() * 100}
	}
	all := make([]point, n)
	for i := range all {
		p := places[r.IntN(k)]
		all[i] = point{p.x + r.NormFloat64(), p.y + r.NormFloat64()}
	}
	return all
}

func nearest(centres []point, p point) int {
	best, least := 0, math.Inf(1)
	for i, c := range centres {
		if d := (p.x-c.x)*(p.x-c.x) + (p.y-c.y)*(p.y-c.y); d < least {
			best, least = i, d
		}
	}
	return best
}

// sums returns the clusters of some points.
func sums(centres []point, some []point) []cluster {
	clusters := make([]cluster, len(centres))
	for _, p := range some {
		c := &clusters[nearest(centres, p)]
		c.x += p.x
		c.y += p.y
		c.n++
	}
	return clusters
}

func plus(a, b []cluster) []cluster {
	for i, c := range b {
		a[i].x += c.x
		a[i].y += c.y
		a[i].n += c.n
	}
	return a
}

// kmeans returns the centres of k clusters, or one for each point if they are fewer, and after
// how many rounds.
func kmeans(s filch.Scope, all []point, k int) (centres []point, rounds int) {
	centres = slices.Clone(all[:min(k, len(all))])
	k = len(centres)
	for rounds = 1; rounds < 50; rounds++ {
		clusters := par.ReduceRange(s, len(all), make([]cluster, k), func(lo, hi int) []cluster { return sums(centres, all[lo:hi]) }, plus)
		moved := make([]point, k)
		for i, c := range clusters {
			moved[i] = centres[i]
			if c.n > 0 {
				moved[i] = point{c.x / float64(c.n), c.y / float64(c.n)}
			}
		}
		if slices.Equal(moved, centres) {
			break
		}
		centres = moved
	}
	return centres, rounds
}

func run(out io.Writer, n, k int) error {
	all := points(n, k, 1)
	one := filch.New(filch.WithWorkers(1))
	defer one.Close()
	begin := time.Now()
	want, rounds := kmeans(one, all, k)
	alone := time.Since(begin)

	pool := filch.New() // as many workers as processors
	defer pool.Close()
	begin = time.Now()
	got, _ := kmeans(pool, all, k)
	took := time.Since(begin)
	if !slices.Equal(got, want) {
		return fmt.Errorf("the centres depend on the number of workers")
	}
	fmt.Fprintf(out, "%d points, %d clusters, %d rounds: one worker %v, %d workers %v, %.2f times as fast\n",
		n, k, rounds, alone, runtime.GOMAXPROCS(0), took, float64(alone)/float64(took))
	return nil
}

func main() {
	if err := run(os.Stdout, 1_000_000, 20); err != nil {
		fmt.Fprintln(os.Stderr, "kmeans:", err)
		os.Exit(1)
	}
}
