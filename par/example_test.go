package par_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing/fstest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

var pool = filch.Default()

func even(v int) bool { return v%2 == 0 }

func add(a, b int) int { return a + b }

func ExampleFor() {
	squares := make([]int, 6)
	par.For(pool, len(squares), func(i int) { squares[i] = i * i })
	fmt.Println(squares)
	// Output: [0 1 4 9 16 25]
}

// A sum for each row of a matrix: the inner loops run on the worker of the outer one.
func ExampleForScope() {
	matrix := [][]int{{1, 2, 3}, {4, 5, 6}}
	sums := make([]int, len(matrix))
	par.ForScope(pool, len(matrix), func(s filch.Scope, i int) { sums[i] = par.Sum(s, matrix[i]) })
	fmt.Println(sums)
	// Output: [6 15]
}

func ExampleForRange() {
	x := []float64{1, 4, 9, 16}
	par.ForRange(pool, len(x), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x[i] = math.Sqrt(x[i])
		}
	})
	fmt.Println(x)
	// Output: [1 2 3 4]
}

func ExampleForTiles() {
	const width, height = 100, 70
	var transposed [width][height]int
	par.ForTiles(pool, width, height, func(x0, y0, x1, y1 int) {
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				transposed[x][y] = y*width + x
			}
		}
	})
	fmt.Println(transposed[3][2])
	// Output: 203
}

func ExampleForErr() {
	files := []string{"a.txt", "b.txt", "", "c.txt", ""}
	err := par.ForErr(pool, len(files), func(i int) error {
		if files[i] == "" {
			return fmt.Errorf("file %d has no name", i)
		}
		return nil
	})
	fmt.Println(err)
	// Output: file 2 has no name
}

func ExampleAllErrors() {
	err := par.ForErr(pool, 4, func(i int) error {
		if even(i) {
			return fmt.Errorf("%d is even", i)
		}
		return nil
	}, par.AllErrors())
	fmt.Println(err)
	// Output:
	// 0 is even
	// 2 is even
}

func ExampleWithContext() {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the user has gone"))
	fmt.Println(par.ForErr(pool, 1000, func(int) error { return nil }, par.WithContext(ctx)))
	// Output: the user has gone
}

// Each range has four elements, as many as the instructions of some processor take.
func ExampleWithGrain() {
	x := []int{1, 2, 3, 4, 5, 6, 7, 8}
	var ranges atomic.Int32
	par.ForRange(pool, len(x), func(lo, hi int) { ranges.Add(1) }, par.WithGrain(4))
	fmt.Println(ranges.Load())
	// Output: 2
}

func ExampleOption() {
	careful := []par.Option{par.WithGrain(1), par.AllErrors()}
	fmt.Println(par.ForErr(pool, 2, func(i int) error { return fmt.Errorf("error %d", i) }, careful...))
	// Output:
	// error 0
	// error 1
}

func ExampleEach() {
	var bytes atomic.Int64
	par.Each(pool, []string{"one", "two", "three"}, func(_ int, s string) { bytes.Add(int64(len(s))) })
	fmt.Println(bytes.Load())
	// Output: 11
}

func ExampleMap() {
	fmt.Println(par.Map(pool, []string{"one", "two"}, strings.ToUpper))
	// Output: [ONE TWO]
}

func ExampleMapInto() {
	x := []int{1, 2, 3}
	par.MapInto(pool, x, x, func(v int) int { return 10 * v })
	fmt.Println(x)
	// Output: [10 20 30]
}

func ExampleMapErr() {
	roots, err := par.MapErr(pool, []float64{4, -1, 9}, func(v float64) (float64, error) {
		if v < 0 {
			return 0, fmt.Errorf("%v has no root", v)
		}
		return math.Sqrt(v), nil
	}, par.AllErrors())
	fmt.Println(roots, err)
	// Output: [2 0 3] -1 has no root
}

func ExampleReduce() {
	fmt.Println(par.Reduce(pool, []string{"a", "b", "c"}, "", func(a, b string) string { return a + b }))
	// Output: abc
}

func ExampleReduceRange() {
	x := []float64{3, 4, 12}
	squares := par.ReduceRange(pool, len(x), 0, func(lo, hi int) (sum float64) {
		for _, v := range x[lo:hi] {
			sum += v * v
		}
		return sum
	}, func(a, b float64) float64 { return a + b })
	fmt.Println(math.Sqrt(squares))
	// Output: 13
}

func ExampleCountRange() {
	text := "to steal or not to steal"
	vowels := par.CountRange(pool, len(text), func(lo, hi int) (n int) {
		for _, c := range text[lo:hi] {
			if strings.ContainsRune("aeiou", c) {
				n++
			}
		}
		return n
	})
	fmt.Println(vowels)
	// Output: 8
}

func ExampleIndexRange() {
	x := []float64{3, 5, 4, 12, 1}
	falls := par.IndexRange(pool, len(x)-1, func(lo, hi int) int { // the first that is more than the next
		for i := lo; i < hi; i++ {
			if x[i] > x[i+1] {
				return i
			}
		}
		return -1
	})
	fmt.Println(falls)
	// Output: 1
}

func ExampleAllRange() {
	x, y := []int{3, 5, 4}, []int{3, 5, 6}
	same := par.AllRange(pool, len(x), func(lo, hi int) bool { return slices.Equal(x[lo:hi], y[lo:hi]) })
	fmt.Println(same)
	// Output: false
}

func ExampleMinMaxFunc() {
	shortest, longest, _ := par.MinMaxFunc(pool, []string{"three", "four", "five", "six", "seven"},
		func(a, b string) int { return len(a) - len(b) })
	fmt.Println(shortest, longest)
	// Output: six three
}

func ExampleMapReduce() {
	words := []string{"steal", "work", "well"}
	fmt.Println(par.MapReduce(pool, words, 0, func(s string) int { return len(s) }, add))
	// Output: 13
}

func ExampleSum() {
	fmt.Println(par.Sum(pool, []float64{0.5, 0.25, 0.25}))
	// Output: 1
}

func ExampleNumber() {
	fmt.Println(mean([]int32{1, 2, 6}))
	// Output: 3
}

func mean[T par.Number](x []T) T { return par.Sum(pool, x) / T(len(x)) }

func ExampleMinMax() {
	fmt.Println(par.MinMax(pool, []int{3, 1, 4, 1, 5}))
	// Output: 1 5 true
}

func ExampleCount() {
	fmt.Println(par.Count(pool, []int{1, 2, 3, 4}, even))
	// Output: 2
}

func ExampleCountBetween() {
	x := []int32{1, 5, 9, 5}
	fmt.Println(par.CountBetween(pool, x, 2, 7), par.CountBetween(pool, x, 9, 9))
	// Output: 2 1
}

func ExampleAny() {
	fmt.Println(par.Any(pool, []int{1, 3, 4}, even))
	// Output: true
}

func ExampleAll() {
	fmt.Println(par.All(pool, []int{1, 3, 4}, even))
	// Output: false
}

func ExampleIndexFunc() {
	fmt.Println(par.IndexFunc(pool, []int{1, 3, 4, 6}, even), par.IndexFunc(pool, []int{1}, even))
	// Output: 2 -1
}

func ExampleIndexFuncAny() {
	i := par.IndexFuncAny(pool, []int{1, 3, 4, 6}, even)
	fmt.Println(i == 2 || i == 3)
	// Output: true
}

func ExampleScan() {
	x := []int{1, 2, 3, 4}
	par.Scan(pool, x, x, add)
	fmt.Println(x)
	// Output: [1 3 6 10]
}

// Where each of several parts of some lengths begins.
func ExampleScanExclusive() {
	lengths := []int{3, 1, 4}
	at := make([]int, len(lengths))
	total := par.ScanExclusive(pool, at, lengths, 0, add)
	fmt.Println(at, total)
	// Output: [0 3 4] 8
}

func ExamplePrefixSum() {
	x := []int{1, 2, 3, 4}
	par.PrefixSum(pool, x, x)
	fmt.Println(x)
	// Output: [1 3 6 10]
}

// Where each of several parts of some lengths begins, from 100 on.
func ExamplePrefixSumExclusive() {
	lengths := []int{3, 1, 4}
	at := make([]int, len(lengths))
	end := par.PrefixSumExclusive(pool, at, lengths, 100)
	fmt.Println(at, end)
	// Output: [100 103 104] 108
}

func ExampleFilter() {
	fmt.Println(par.Filter(pool, []int{1, 2, 3, 4}, even))
	// Output: [2 4]
}

func ExampleFilterBetween() {
	fmt.Println(par.FilterBetween(pool, []float64{0.5, 2, 0.75, 3}, 0, 1))
	// Output: [0.5 0.75]
}

func ExamplePartition() {
	fmt.Println(par.Partition(pool, []int{1, 2, 3, 4}, even))
	// Output: [2 4] [1 3]
}

func ExampleFill() {
	x := make([]int, 3)
	par.Fill(pool, x, 7)
	fmt.Println(x)
	// Output: [7 7 7]
}

func ExampleCopy() {
	x := make([]int, 2)
	fmt.Println(par.Copy(pool, x, []int{1, 2, 3}), x)
	// Output: 2 [1 2]
}

func ExampleUnique() {
	fmt.Println(par.Unique(pool, []string{"b", "a", "b"}))
	// Output: [b a]
}

func ExampleHistogram() {
	fmt.Println(par.Histogram(pool, []int{3, 14, 15, 92, 65}, 10, func(v int) int { return v / 10 }))
	// Output: [1 2 0 0 0 0 1 0 0 1]
}

func ExampleGroupBy() {
	groups := par.GroupBy(pool, []string{"apple", "fig", "avocado"}, func(s string) byte { return s[0] })
	for _, k := range slices.Sorted(maps.Keys(groups)) {
		fmt.Println(string(k), groups[k])
	}
	// Output:
	// a [apple avocado]
	// f [fig]
}

func ExampleShuffle() {
	a, b := []int{1, 2, 3, 4, 5}, []int{1, 2, 3, 4, 5}
	par.Shuffle(pool, a, 42)
	par.Shuffle(pool, b, 42)
	fmt.Println(slices.Equal(a, b))
	// Output: true
}

func ExampleSmallest() {
	fmt.Println(par.Smallest(pool, []int{5, 3, 9, 1, 7}, 2))
	// Output: [1 3]
}

func ExampleLargest() {
	fmt.Println(par.Largest(pool, []int{5, 3, 9, 1, 7}, 2))
	// Output: [9 7]
}

func ExampleSmallestFunc() {
	byLength := func(a, b string) int { return cmp.Compare(len(a), len(b)) }
	fmt.Println(par.SmallestFunc(pool, []string{"ccc", "a", "bb", "d"}, 2, byLength))
	// Output: [a d]
}

func ExampleLargestFunc() {
	byLength := func(a, b string) int { return cmp.Compare(len(a), len(b)) }
	fmt.Println(par.LargestFunc(pool, []string{"ccc", "a", "bb", "d"}, 2, byLength))
	// Output: [ccc bb]
}

func ExampleSort() {
	x := []string{"c", "a", "b"}
	par.Sort(pool, x)
	fmt.Println(x)
	// Output: [a b c]
}

func ExampleSortFunc() {
	x := []int{3, -4, 1}
	par.SortFunc(pool, x, func(a, b int) int { return cmp.Compare(max(a, -a), max(b, -b)) })
	fmt.Println(x)
	// Output: [1 3 -4]
}

func ExampleSortStableFunc() {
	x := []string{"to", "be", "or", "not"}
	par.SortStableFunc(pool, x, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	fmt.Println(x)
	// Output: [to be or not]
}

func ExampleIsSorted() {
	fmt.Println(par.IsSorted(pool, []int{1, 2, 2}))
	// Output: true
}

func ExampleIsSortedFunc() {
	fmt.Println(par.IsSortedFunc(pool, []int{1, 2}, func(a, b int) int { return cmp.Compare(b, a) }))
	// Output: false
}

func ExampleMerge() {
	dst := make([]int, 5)
	par.Merge(pool, dst, []int{1, 4}, []int{2, 3, 5})
	fmt.Println(dst)
	// Output: [1 2 3 4 5]
}

func ExampleMergeFunc() {
	dst := make([]int, 4)
	par.MergeFunc(pool, dst, []int{4, 1}, []int{3, 2}, func(a, b int) int { return cmp.Compare(b, a) })
	fmt.Println(dst)
	// Output: [4 3 2 1]
}

func ExampleMapSeq() {
	numbers := func(yield func(int) bool) {
		for i := 1; yield(i); i++ { // without end
		}
	}
	for square := range par.MapSeq(pool, numbers, func(v int) int { return v * v }) {
		if square > 20 {
			break
		}
		fmt.Println(square)
	}
	// Output:
	// 1
	// 4
	// 9
	// 16
}

func ExamplePipeline() {
	files := fstest.MapFS{"a": {Data: []byte("to be")}, "b": {Data: []byte("or not")}, "c": {Data: []byte("to be, that is")}}
	names := par.From(slices.Values([]string{"a", "b", "c"}))
	read := par.Stage(names, 1, files.ReadFile) // one at a time
	words := par.Stage(read, 0, func(text []byte) (int, error) { return len(bytes.Fields(text)), nil })
	err := words.Run(pool, func(n int) error {
		fmt.Println(n)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 2
	// 2
	// 4
	// <nil>
}

func ExampleFrom() {
	p := par.From(maps.Keys(map[string]int{"a": 1}))
	err := p.Run(pool, func(k string) error {
		fmt.Println(k)
		return nil
	})
	fmt.Println(err)
	// Output:
	// a
	// <nil>
}

func ExampleStage() {
	numbers := par.Stage(par.From(slices.Values([]string{"1", "2", "three", "4"})), 0, strconv.Atoi)
	err := numbers.Run(pool, func(n int) error {
		fmt.Println(n)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1
	// 2
	// strconv.Atoi: parsing "three": invalid syntax
}

func ExampleStageScope() {
	rows := par.From(slices.Values([][]int{{3, 1, 2}, {9, 8}}))
	sorted := par.StageScope(rows, 0, func(s filch.Scope, row []int) ([]int, error) {
		par.Sort(s, row)
		return row, nil
	})
	err := sorted.Run(pool, func(row []int) error {
		fmt.Println(row)
		return nil
	})
	fmt.Println(err)
	// Output:
	// [1 2 3]
	// [8 9]
	// <nil>
}

func ExamplePipeline_Run() {
	squares := par.Stage(par.From(slices.Values([]int{1, 2, 3})), 0, func(v int) (int, error) { return v * v, nil })
	var all []int
	err := squares.Run(pool, func(v int) error { // in order, one at a time
		all = append(all, v)
		return nil
	})
	fmt.Println(all, err)
	// Output: [1 4 9] <nil>
}

func ExampleInFlight() {
	var taken, sunk atomic.Int64
	numbers := par.From(func(yield func(int) bool) {
		for i := range 100 {
			if k := taken.Add(1) - sunk.Load(); k > 2 {
				fmt.Println("too many:", k)
			}
			if !yield(i) {
				return
			}
		}
	})
	err := numbers.Run(pool, func(int) error { sunk.Add(1); return nil }, par.InFlight(2))
	fmt.Println(sunk.Load(), err)
	// Output: 100 <nil>
}

func ExampleFromSeq() {
	var sum atomic.Int64
	par.FromSeq(pool, slices.Values([]int{1, 2, 3}), func(v int) { sum.Add(int64(v)) })
	fmt.Println(sum.Load())
	// Output: 6
}

func ExampleWalkDir() {
	files := fstest.MapFS{
		"a/one.go":   {Data: make([]byte, 10)},
		"a/b/two.go": {Data: make([]byte, 20)},
		"a/b/x.txt":  {Data: make([]byte, 30)},
	}
	var bytes atomic.Int64
	err := par.WalkDir(pool, files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes.Add(info.Size())
		}
		return err
	})
	fmt.Println(bytes.Load(), err)
	// Output: 30 <nil>
}

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
