package par_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// The vertices of a graph that were reached by the last step: the index is what is wanted.
func ExampleIndices() {
	level := []int{0, 1, 2, 1, -1, 2}
	fmt.Println(par.Indices(pool, len(level), func(v int) bool { return level[v] == 2 }))
	// Output: [2 5]
}

func ExampleCompact() {
	fmt.Println(par.Compact(pool, []int{1, 1, 2, 3, 3, 3, 1}))
	// Output: [1 2 3 1]
}

func ExampleCompactFunc() {
	words := []string{"steal", "Steal", "work", "WORK", "steal"}
	fmt.Println(par.CompactFunc(pool, words, strings.EqualFold))
	// Output: [steal work steal]
}

func ExampleMinBy() {
	shortest, ok := par.MinBy(pool, []string{"three", "six", "two"}, func(s string) int { return len(s) })
	fmt.Println(shortest, ok)
	// Output: six true
}

func ExampleMaxBy() {
	type city struct {
		name   string
		people int
	}
	largest, _ := par.MaxBy(pool, []city{{"Ulm", 130_000}, {"Bonn", 340_000}, {"Trier", 112_000}}, func(c city) int { return c.people })
	fmt.Println(largest.name)
	// Output: Bonn
}

func ExampleAnyRange() {
	x, y := []int{3, 5, 4}, []int{3, 1, 4}
	falls := par.AnyRange(pool, len(x), func(lo, hi int) bool {
		for i := lo; i < hi; i++ {
			if y[i] < x[i] {
				return true
			}
		}
		return false
	})
	fmt.Println(falls)
	// Output: true
}

func ExampleEachPtr() {
	type body struct{ at, speed [3]float64 }
	bodies := []body{{speed: [3]float64{1, 0, 0}}, {speed: [3]float64{0, 2, 0}}}
	par.EachPtr(pool, bodies, func(_ int, b *body) {
		for k, v := range b.speed {
			b.at[k] += v / 2
		}
	})
	fmt.Println(bodies[0].at, bodies[1].at)
	// Output: [0.5 0 0] [0 1 0]
}

func ExampleMapPtr() {
	type image struct{ pixels [64]byte }
	images := make([]image, 2)
	images[1].pixels[5] = 7
	fmt.Println(par.MapPtr(pool, images, func(m *image) int { return bytes.Count(m.pixels[:], []byte{0}) }))
	// Output: [64 63]
}

// Sums by city, without the orders of each.
func ExampleGroupReduce() {
	type order struct {
		city string
		euro int
	}
	orders := []order{{"Ulm", 10}, {"Bonn", 5}, {"Ulm", 7}}
	sums := par.GroupReduce(pool, orders, func(o order) string { return o.city }, 0,
		func(sum int, o order) int { return sum + o.euro }, add)
	fmt.Println(sums)
	// Output: map[Bonn:5 Ulm:17]
}

// A table in columns, which are ordered together.
type table struct {
	name []string
	year []int
}

func (t table) Len() int           { return len(t.name) }
func (t table) Less(i, j int) bool { return t.year[i] < t.year[j] }
func (t table) Swap(i, j int) {
	t.name[i], t.name[j] = t.name[j], t.name[i]
	t.year[i], t.year[j] = t.year[j], t.year[i]
}

func ExampleSortInterface() {
	t := table{[]string{"TBB", "Cilk", "rayon"}, []int{2006, 1995, 2015}}
	par.SortInterface(pool, t)
	fmt.Println(t.name, t.year)
	// Output: [Cilk TBB rayon] [1995 2006 2015]
}

// A log of any length, such as an *os.File or what gzip.NewReader returns. Each block has a map, and they are
// merged.
func ExampleReduceLines() {
	log := strings.NewReader("GET /a 200\nGET /b 404\nPUT /a 200\n")
	count, err := par.ReduceLines(pool, log, nil, func(_ int64, lines []byte) (map[string]int, error) {
		count := map[string]int{}
		for line := range bytes.Lines(lines) {
			count[string(line[:3])]++
		}
		return count, nil
	}, func(a, b map[string]int) map[string]int {
		for method, n := range b {
			a[method] += n
		}
		return a
	})
	fmt.Println(count, err)
	// Output: map[GET:2 PUT:1] <nil>
}

func ExampleForLines() {
	var sum atomic.Int64
	err := par.ForLines(pool, strings.NewReader("17\r\n\r\n4\n2x\n"), func(at int64, line []byte) error {
		if len(line) == 0 {
			return nil
		}
		n, err := strconv.ParseInt(string(line), 10, 64)
		if err != nil {
			return fmt.Errorf("at byte %d: %w", at, err)
		}
		sum.Add(n)
		return nil
	})
	fmt.Println(sum.Load(), err)
	// Output: 21 at byte 8: strconv.ParseInt: parsing "2x": invalid syntax
}

// An estimate of pi that is the same on any number of workers.
func ExampleRand() {
	const n, seed = 100_000, 1
	inside := par.CountRange(pool, n, func(lo, hi int) (inside int) {
		for i := lo; i < hi; i++ {
			r := par.NewRand(seed, i)
			if x, y := r.Float64(), r.Float64(); x*x+y*y < 1 {
				inside++
			}
		}
		return inside
	})
	fmt.Println(4 * float64(inside) / n)
	// Output: 3.1398
}

func ExampleNewRand() {
	x := make([]uint64, 2)
	par.For(filch.Default(), len(x), func(i int) {
		r := par.NewRand(7, i)
		x[i] = r.Uint64()
	})
	fmt.Printf("%x\n", x)
	// Output: [4adcd91af01c3669 6a5f6ea8a256f26d]
}

// All distributions of math/rand/v2: one allocation for each range.
func ExampleRand_Uint64() {
	x := make([]float64, 1000)
	par.ForRange(pool, len(x), func(lo, hi int) {
		var source par.Rand
		r := rand.New(&source)
		for i := lo; i < hi; i++ {
			source = par.NewRand(1, i)
			x[i] = r.NormFloat64()
		}
	})
	fmt.Printf("%.2f\n", par.Sum(pool, x)/1000)
	// Output: 0.04
}

func ExampleRand_IntN() {
	dice := make([]int, 6)
	par.For(pool, len(dice), func(i int) {
		r := par.NewRand(1, i)
		dice[i] = 1 + r.IntN(6)
	})
	fmt.Println(dice)
	// Output: [6 4 4 5 2 4]
}

func ExampleRand_Float64() {
	r := par.NewRand(1, 5)
	fmt.Printf("%.3f %.3f\n", r.Float64(), r.Float64())
	// Output: 0.665 0.527
}
