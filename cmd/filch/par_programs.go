package main

import (
	"cmp"
	"errors"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	pargo "github.com/exascience/pargo/parallel"
	pargosort "github.com/exascience/pargo/sort"
	"github.com/exascience/pargo/speculative"
	lop "github.com/samber/lo/parallel"
	"github.com/sourcegraph/conc/iter"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// parData is what the algorithms work on, and where they leave what they come to.
type parData struct {
	n     int
	x, y  []int
	words []string // as many, if the algorithm is for strings
	text  []byte   // these as lines

	v      int // results: one number, a slice, groups; and y
	z      []int
	groups map[int][]int
	texts  []string
}

func newParData(n int, strings bool) *parData {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	d := &parData{n: n, x: make([]int, n), y: make([]int, n)}
	for i := range d.x {
		d.x[i] = int(r.Uint64() >> 1)
	}
	if strings {
		d.words, d.texts = make([]string, n), make([]string, n)
		for i := range d.words {
			b := make([]byte, 4+r.IntN(16))
			for k := range b {
				b[k] = 'a' + byte(r.IntN(26))
			}
			d.words[i] = string(b)
			d.text = append(append(d.text, b...), '\n')
		}
	}
	return d
}

// forget makes sure that a result is not the one before.
func (d *parData) forget() {
	d.v, d.z, d.groups = 0, nil, nil
	clear(d.y)
}

var parSeed = maphash.MakeSeed()

// result returns a number that tells results apart.
func (d *parData) result() uint64 {
	var h maphash.Hash
	h.SetSeed(parSeed)
	maphash.WriteComparable(&h, d.v)
	for _, x := range [][]int{d.y, d.z} {
		sum := uint64(len(x))
		for _, v := range x {
			sum = sum*0x9e3779b97f4a7c15 + uint64(v)
		}
		maphash.WriteComparable(&h, sum)
	}
	for _, k := range slices.Sorted(maps.Keys(d.groups)) {
		for _, v := range d.groups[k] {
			maphash.WriteComparable(&h, v)
		}
	}
	for _, s := range d.texts {
		h.WriteString(s)
	}
	return h.Sum64()
}

// parAlgorithm is an algorithm in several programs. Rivals are only those that have it.
type parAlgorithm struct {
	name    string
	most    int            // elements, if not any number
	strings bool           // it is for strings
	random  bool           // the result is in an order of its own
	before  func(*parData) // not measured
	serial  func(*parData)
	filch   func(filch.Scope, *parData)
	rivals  map[string]func(d *parData, workers int)
}

// parRivals are the others, in the order of the table.
var parRivals = []string{"goroutines", "pargo", "conc", "lo"}

// loMost is how many elements samber/lo is given: it starts a goroutine for each.
const loMost = 1 << 20

// chunks calls f for parts of [0, n), one for each worker, each in a goroutine: what people write
// by hand.
func chunks(n, workers int, f func(i, lo, hi int)) {
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { f(i, i*n/workers, (i+1)*n/workers) })
	}
	wg.Wait()
}

func increment(v int) int      { return v + 1 }
func odd(v int) bool           { return v&1 == 1 }
func negative(v int) bool      { return v < 0 }
func plus(a, b int) int        { return a + b }
func bucket(v int) int         { return v & 63 }
func copyAll(d *parData)       { copy(d.y, d.x) }
func compareInts(a, b int) int { return cmp.Compare(a, b) }

func skewedSerially(d *parData) {
	d.v = 0
	for _, v := range d.x {
		d.v ^= skewed(v)
	}
}

// store and mayFail do not fail.
func store(d *parData, i int) error {
	d.y[i] = d.x[i] + 1
	return nil
}

func mayFail(v int) (int, error) {
	if v < 0 {
		return 0, errNegative
	}
	return v + 1, nil
}

var errNegative = errors.New("negative")

// skewed takes 1,000 times as long for one element in a hundred.
func skewed(v int) int {
	rounds := 4
	if v%100 == 0 {
		rounds *= 1000
	}
	for range rounds {
		v ^= v << 13
		v ^= int(uint(v) >> 7)
		v ^= v << 17
	}
	return v
}

func mapAlgorithm(name string, most int, f func(v int) int) parAlgorithm {
	return parAlgorithm{name: name, most: most,
		serial: func(d *parData) {
			d.z = make([]int, d.n)
			for i, v := range d.x {
				d.z[i] = f(v)
			}
		},
		filch: func(s filch.Scope, d *parData) { d.z = par.Map(s, d.x, f) },
		rivals: map[string]func(*parData, int){
			"goroutines": func(d *parData, workers int) {
				z := make([]int, d.n)
				chunks(d.n, workers, func(_, lo, hi int) {
					for i := lo; i < hi; i++ {
						z[i] = f(d.x[i])
					}
				})
				d.z = z
			},
			"pargo": func(d *parData, workers int) {
				z := make([]int, d.n)
				pargo.Range(0, d.n, 0, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						z[i] = f(d.x[i])
					}
				})
				d.z = z
			},
			"conc": func(d *parData, workers int) {
				d.z = iter.Mapper[int, int]{MaxGoroutines: workers}.Map(d.x, func(v *int) int { return f(*v) })
			},
			"lo": func(d *parData, _ int) { d.z = lop.Map(d.x, func(v, _ int) int { return f(v) }) },
		}}
}

func reduceAlgorithm(name string, serial func(d *parData), parallel func(filch.Scope, *parData)) parAlgorithm {
	return parAlgorithm{name: name, serial: serial, filch: parallel, rivals: map[string]func(*parData, int){
		"goroutines": func(d *parData, workers int) {
			sums := make([]int, workers)
			chunks(d.n, workers, func(i, lo, hi int) {
				sum := 0
				for _, v := range d.x[lo:hi] {
					sum += v
				}
				sums[i] = sum
			})
			d.v = 0
			for _, v := range sums {
				d.v += v
			}
		},
		"pargo": func(d *parData, _ int) {
			d.v = pargo.RangeReduceIntSum(0, d.n, 0, func(lo, hi int) (sum int) {
				for _, v := range d.x[lo:hi] {
					sum += v
				}
				return sum
			})
		},
	}}
}

// sortAlgorithm is a sort of ints; by hand it is that of a part for each worker, and then merges.
func sortAlgorithm(name string, most int, sort func(x []int), parallel func(filch.Scope, *parData)) parAlgorithm {
	return parAlgorithm{name: name, most: most, before: copyAll,
		serial: func(d *parData) { sort(d.y) },
		filch:  parallel,
		rivals: map[string]func(*parData, int){
			"goroutines": func(d *parData, workers int) {
				chunks(d.n, workers, func(_, lo, hi int) { sort(d.y[lo:hi]) })
				z := make([]int, 0, d.n)
				for i := range workers {
					z = mergeByHand(make([]int, 0, d.n), z, d.y[i*d.n/workers:(i+1)*d.n/workers])
				}
				copy(d.y, z)
			},
		}}
}

func mergeByHand(dst, a, b []int) []int {
	for len(a) > 0 && len(b) > 0 {
		if b[0] < a[0] {
			dst, b = append(dst, b[0]), b[1:]
		} else {
			dst, a = append(dst, a[0]), a[1:]
		}
	}
	return append(append(dst, a...), b...)
}

// with adds a rival.
func (a parAlgorithm) with(name string, f func(d *parData, workers int)) parAlgorithm {
	a.rivals[name] = f
	return a
}

var parAlgorithms = append(mostAlgorithms, moreAlgorithms...)

var mostAlgorithms = []parAlgorithm{
	{name: "For",
		serial: func(d *parData) {
			for i := range d.n {
				d.y[i] = d.x[i] + 1
			}
		},
		filch: func(s filch.Scope, d *parData) { par.For(s, d.n, func(i int) { d.y[i] = d.x[i] + 1 }) },
		rivals: map[string]func(*parData, int){
			"goroutines": func(d *parData, workers int) {
				chunks(d.n, workers, func(_, lo, hi int) {
					for i := lo; i < hi; i++ {
						d.y[i] = d.x[i] + 1
					}
				})
			},
			"pargo": func(d *parData, _ int) {
				pargo.Range(0, d.n, 0, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						d.y[i] = d.x[i] + 1
					}
				})
			},
			"conc": func(d *parData, workers int) {
				iter.Iterator[int]{MaxGoroutines: workers}.ForEachIdx(d.x, func(i int, v *int) { d.y[i] = *v + 1 })
			},
			"lo": func(d *parData, _ int) { lop.ForEach(d.x, func(v, i int) { d.y[i] = v + 1 }) },
		}},
	{name: "For-empty", // the plain loop does nothing, but is not removed
		serial: func(d *parData) {
			for range d.n {
			}
		},
		filch: func(s filch.Scope, d *parData) { par.For(s, d.n, func(int) {}) },
		rivals: map[string]func(*parData, int){
			"conc": func(d *parData, workers int) {
				iter.Iterator[int]{MaxGoroutines: workers}.ForEachIdx(d.x, func(int, *int) {})
			},
			"lo": func(d *parData, _ int) { lop.ForEach(d.x, func(int, int) {}) },
		}},
	{name: "ForRange",
		serial: func(d *parData) {
			for i := range d.n {
				d.y[i] = d.x[i] + 1
			}
		},
		filch: func(s filch.Scope, d *parData) {
			par.ForRange(s, d.n, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					d.y[i] = d.x[i] + 1
				}
			})
		}},
	{name: "ForTiles", // an image is turned
		serial: func(d *parData) {
			side := side(d.n)
			for y := range side {
				for x := range side {
					d.y[x*side+y] = d.x[y*side+x]
				}
			}
		},
		filch: func(s filch.Scope, d *parData) {
			side := side(d.n)
			par.ForTiles(s, side, side, func(x0, y0, x1, y1 int) {
				for y := y0; y < y1; y++ {
					for x := x0; x < x1; x++ {
						d.y[x*side+y] = d.x[y*side+x]
					}
				}
			})
		},
		rivals: map[string]func(*parData, int){"goroutines": func(d *parData, workers int) {
			side := side(d.n)
			chunks(side, workers, func(_, lo, hi int) {
				for y := lo; y < hi; y++ {
					for x := range side {
						d.y[x*side+y] = d.x[y*side+x]
					}
				}
			})
		}}},
	{name: "ForScope",
		serial: func(d *parData) {
			for i := range d.n {
				d.y[i] = d.x[i] + 1
			}
		},
		filch: func(s filch.Scope, d *parData) {
			par.ForScope(s, d.n, func(_ filch.Scope, i int) { d.y[i] = d.x[i] + 1 })
		}},
	{name: "ForErr",
		serial: func(d *parData) {
			for i := range d.n {
				if err := store(d, i); err != nil {
					return
				}
			}
		},
		filch: func(s filch.Scope, d *parData) {
			if par.ForErr(s, d.n, func(i int) error { return store(d, i) }) != nil {
				d.v = -1
			}
		}},
	{name: "Each",
		serial: func(d *parData) {
			for i, v := range d.x {
				d.y[i] = v + 1
			}
		},
		filch: func(s filch.Scope, d *parData) { par.Each(s, d.x, func(i, v int) { d.y[i] = v + 1 }) }},
	{name: "MapInto",
		serial: func(d *parData) {
			for i, v := range d.x {
				d.y[i] = increment(v)
			}
		},
		filch: func(s filch.Scope, d *parData) { par.MapInto(s, d.y, d.x, increment) }},
	{name: "MapErr",
		serial: func(d *parData) {
			d.z = make([]int, d.n)
			for i, v := range d.x {
				w, err := mayFail(v)
				if err != nil {
					return
				}
				d.z[i] = w
			}
		},
		filch: func(s filch.Scope, d *parData) {
			var err error
			if d.z, err = par.MapErr(s, d.x, mayFail); err != nil {
				d.v = -1
			}
		},
		rivals: map[string]func(*parData, int){"conc": func(d *parData, workers int) {
			var err error
			if d.z, err = (iter.Mapper[int, int]{MaxGoroutines: workers}.MapErr(d.x, func(v *int) (int, error) { return mayFail(*v) })); err != nil {
				d.v = -1
			}
		}}},
	mapAlgorithm("Map", 0, increment),
	mapAlgorithm("Map-skewed", 1_000_000, skewed),
	reduceAlgorithm("Reduce", func(d *parData) {
		d.v = 0
		for _, v := range d.x {
			d.v = plus(d.v, v)
		}
	}, func(s filch.Scope, d *parData) { d.v = par.Reduce(s, d.x, 0, plus) }),
	reduceAlgorithm("MapReduce", func(d *parData) {
		d.v = 0
		for _, v := range d.x {
			d.v = plus(d.v, increment(v)-1)
		}
	}, func(s filch.Scope, d *parData) {
		d.v = par.MapReduce(s, d.x, 0, func(v int) int { return increment(v) - 1 }, plus)
	}),
	reduceAlgorithm("ReduceRange", func(d *parData) {
		sum := 0
		for _, v := range d.x {
			sum += v
		}
		d.v = sum
	}, func(s filch.Scope, d *parData) {
		d.v = par.ReduceRange(s, d.n, 0, func(lo, hi int) (sum int) {
			for _, v := range d.x[lo:hi] {
				sum += v
			}
			return sum
		}, plus)
	}),
	reduceAlgorithm("Sum", func(d *parData) {
		sum := 0
		for _, v := range d.x {
			sum += v
		}
		d.v = sum
	}, func(s filch.Scope, d *parData) { d.v = par.Sum(s, d.x) }),
	{name: "MinMax",
		serial: func(d *parData) { d.v = slices.Min(d.x) ^ slices.Max(d.x) },
		filch: func(s filch.Scope, d *parData) {
			least, most, _ := par.MinMax(s, d.x)
			d.v = least ^ most
		},
		rivals: map[string]func(*parData, int){"goroutines": func(d *parData, workers int) {
			least, most := make([]int, workers), make([]int, workers)
			chunks(d.n, workers, func(i, lo, hi int) { least[i], most[i] = slices.Min(d.x[lo:hi]), slices.Max(d.x[lo:hi]) })
			d.v = slices.Min(least) ^ slices.Max(most)
		}}},
	{name: "MinMaxFunc",
		serial: func(d *parData) { d.v = slices.MinFunc(d.x, compareInts) ^ slices.MaxFunc(d.x, compareInts) },
		filch: func(s filch.Scope, d *parData) {
			least, most, _ := par.MinMaxFunc(s, d.x, compareInts)
			d.v = least ^ most
		}},
	{name: "Any", // and All, and IndexFuncAny, which go through x in the same way
		serial: func(d *parData) {
			if d.v = 0; slices.ContainsFunc(d.x, negative) {
				d.v = 1
			}
		},
		filch: func(s filch.Scope, d *parData) {
			if d.v = 0; par.Any(s, d.x, negative) {
				d.v = 1
			}
		},
		rivals: map[string]func(*parData, int){"pargo": func(d *parData, _ int) {
			if d.v = 0; speculative.RangeOr(0, d.n, 0, func(lo, hi int) bool { return slices.ContainsFunc(d.x[lo:hi], negative) }) {
				d.v = 1
			}
		}}},
	{name: "Count",
		serial: func(d *parData) {
			n := 0
			for _, v := range d.x {
				if odd(v) {
					n++
				}
			}
			d.v = n
		},
		filch: func(s filch.Scope, d *parData) { d.v = par.Count(s, d.x, odd) },
		rivals: map[string]func(*parData, int){"pargo": func(d *parData, _ int) {
			d.v = pargo.RangeReduceIntSum(0, d.n, 0, func(lo, hi int) (n int) {
				for _, v := range d.x[lo:hi] {
					if odd(v) {
						n++
					}
				}
				return n
			})
		}}},
	{name: "IndexFunc", // there is none
		serial: func(d *parData) { d.v = slices.IndexFunc(d.x, negative) },
		filch:  func(s filch.Scope, d *parData) { d.v = par.IndexFunc(s, d.x, negative) },
		rivals: map[string]func(*parData, int){
			"goroutines": func(d *parData, workers int) {
				found := make([]int, workers)
				chunks(d.n, workers, func(i, lo, hi int) { found[i] = slices.IndexFunc(d.x[lo:hi], negative) })
				d.v = slices.Max(found)
			},
			"pargo": func(d *parData, _ int) {
				d.v = -1
				if speculative.RangeOr(0, d.n, 0, func(lo, hi int) bool { return slices.ContainsFunc(d.x[lo:hi], negative) }) {
					d.v = 0
				}
			},
		}},
	{name: "Scan",
		serial: func(d *parData) {
			v := 0
			for i, w := range d.x {
				v = plus(v, w)
				d.y[i] = v
			}
		},
		filch: func(s filch.Scope, d *parData) { par.Scan(s, d.y, d.x, plus) },
		rivals: map[string]func(*parData, int){"goroutines": func(d *parData, workers int) {
			sums := make([]int, workers)
			chunks(d.n, workers, func(i, lo, hi int) {
				for _, v := range d.x[lo:hi] {
					sums[i] += v
				}
			})
			before := 0
			for i := range sums {
				before, sums[i] = before+sums[i], before
			}
			chunks(d.n, workers, func(i, lo, hi int) {
				v := sums[i]
				for k := lo; k < hi; k++ {
					v += d.x[k]
					d.y[k] = v
				}
			})
		}}},
	{name: "PrefixSum",
		serial: func(d *parData) {
			v := 0
			for i, w := range d.x {
				v += w
				d.y[i] = v
			}
		},
		filch: func(s filch.Scope, d *parData) { par.PrefixSum(s, d.y, d.x) }},
	{name: "CountBetween",
		serial: func(d *parData) {
			d.v = 0
			for _, w := range d.x {
				if 10 <= w && w <= 1000 {
					d.v++
				}
			}
		},
		filch: func(s filch.Scope, d *parData) { d.v = par.CountBetween(s, d.x, 10, 1000) }},
	{name: "ScanExclusive",
		serial: func(d *parData) {
			v := 0
			for i, w := range d.x {
				d.y[i] = v
				v = plus(v, w)
			}
			d.v = v
		},
		filch: func(s filch.Scope, d *parData) { d.v = par.ScanExclusive(s, d.y, d.x, 0, plus) }},
	{name: "Filter",
		serial: func(d *parData) {
			d.z = nil
			for _, v := range d.x {
				if odd(v) {
					d.z = append(d.z, v)
				}
			}
		},
		filch: func(s filch.Scope, d *parData) { d.z = par.Filter(s, d.x, odd) },
		rivals: map[string]func(*parData, int){"goroutines": func(d *parData, workers int) {
			parts := make([][]int, workers)
			chunks(d.n, workers, func(i, lo, hi int) {
				for _, v := range d.x[lo:hi] {
					if odd(v) {
						parts[i] = append(parts[i], v)
					}
				}
			})
			d.z = slices.Concat(parts...)
		}}},
	{name: "Partition",
		serial: func(d *parData) {
			d.z = nil
			var no []int
			for _, v := range d.x {
				if odd(v) {
					d.z = append(d.z, v)
				} else {
					no = append(no, v)
				}
			}
			d.v = len(no)
		},
		filch: func(s filch.Scope, d *parData) {
			yes, no := par.Partition(s, d.x, odd)
			d.z, d.v = yes, len(no)
		}},
	{name: "Unique", most: 1_000_000, before: func(d *parData) {
		for i, v := range d.x {
			d.y[i] = v & 1023
		}
	},
		serial: func(d *parData) {
			seen := map[int]bool{}
			d.z = nil
			for _, v := range d.y {
				if !seen[v] {
					seen[v] = true
					d.z = append(d.z, v)
				}
			}
		},
		filch: func(s filch.Scope, d *parData) { d.z = par.Unique(s, d.y) }},
	{name: "Histogram",
		serial: func(d *parData) {
			d.z = make([]int, 64)
			for _, v := range d.x {
				d.z[bucket(v)]++
			}
		},
		filch: func(s filch.Scope, d *parData) { d.z = par.Histogram(s, d.x, 64, bucket) },
		rivals: map[string]func(*parData, int){"goroutines": func(d *parData, workers int) {
			parts := make([][]int, workers)
			chunks(d.n, workers, func(i, lo, hi int) {
				counts := make([]int, 64)
				for _, v := range d.x[lo:hi] {
					counts[bucket(v)]++
				}
				parts[i] = counts
			})
			d.z = make([]int, 64)
			for _, counts := range parts {
				for b, n := range counts {
					d.z[b] += n
				}
			}
		}}},
	{name: "GroupBy", most: 1_000_000,
		serial: func(d *parData) {
			d.groups = map[int][]int{}
			for _, v := range d.x {
				d.groups[bucket(v)] = append(d.groups[bucket(v)], v)
			}
		},
		filch: func(s filch.Scope, d *parData) { d.groups = par.GroupBy(s, d.x, bucket) },
		rivals: map[string]func(*parData, int){
			"lo": func(d *parData, _ int) { d.groups = lop.GroupBy(d.x, bucket) },
		}},
	{name: "Smallest",
		serial: func(d *parData) { // insertion
			best := make([]int, 0, 11)
			for _, v := range d.x {
				if len(best) == 10 && v >= best[9] {
					continue
				}
				i, _ := slices.BinarySearch(best, v)
				best = slices.Insert(best, i, v)
				best = best[:min(len(best), 10)]
			}
			d.z = best
		},
		filch: func(s filch.Scope, d *parData) { d.z = par.Smallest(s, d.x, 10) }},
	{name: "Shuffle", random: true, before: copyAll,
		serial: func(d *parData) {
			rand.New(rand.NewPCG(1, 1)).Shuffle(d.n, func(i, j int) { d.y[i], d.y[j] = d.y[j], d.y[i] })
		},
		filch: func(s filch.Scope, d *parData) { par.Shuffle(s, d.y, 1) }},
	{name: "Fill",
		serial: func(d *parData) {
			for i := range d.y {
				d.y[i] = 3
			}
		},
		filch: func(s filch.Scope, d *parData) { par.Fill(s, d.y, 3) }},
	{name: "Copy",
		serial: copyAll,
		filch:  func(s filch.Scope, d *parData) { par.Copy(s, d.y, d.x) },
		rivals: map[string]func(*parData, int){"goroutines": func(d *parData, workers int) {
			chunks(d.n, workers, func(_, lo, hi int) { copy(d.y[lo:hi], d.x[lo:hi]) })
		}}},
	{name: "IsSorted", before: func(d *parData) {
		for i := range d.y {
			d.y[i] = i
		}
	},
		serial: func(d *parData) {
			if slices.IsSorted(d.y) {
				d.v = 1
			}
		},
		filch: func(s filch.Scope, d *parData) {
			if par.IsSorted(s, d.y) {
				d.v = 1
			}
		},
		rivals: map[string]func(*parData, int){"pargo": func(d *parData, _ int) {
			if pargosort.IntsAreSorted(d.y) {
				d.v = 1
			}
		}}},
	{name: "IsSortedFunc", before: func(d *parData) {
		for i := range d.y {
			d.y[i] = i
		}
	},
		serial: func(d *parData) {
			if slices.IsSortedFunc(d.y, compareInts) {
				d.v = 1
			}
		},
		filch: func(s filch.Scope, d *parData) {
			if par.IsSortedFunc(s, d.y, compareInts) {
				d.v = 1
			}
		}},
	{name: "Merge", before: func(d *parData) {
		for i := range d.y {
			d.y[i] = i % (d.n/2 + 1) * 2
		}
		d.z = make([]int, d.n)
	},
		serial: func(d *parData) { d.z = mergeByHand(d.z[:0], d.y[:d.n/2+1], d.y[d.n/2+1:]) },
		filch:  func(s filch.Scope, d *parData) { par.Merge(s, d.z, d.y[:d.n/2+1], d.y[d.n/2+1:]) }},
	sortAlgorithm("Sort", 0, slices.Sort[[]int], func(s filch.Scope, d *parData) { par.Sort(s, d.y) }).
		with("pargo", func(d *parData, _ int) { pargosort.Sort(pargosort.IntSlice(d.y)) }),
	{name: "Sort-strings", most: 1_000_000, strings: true, before: func(d *parData) { copy(d.texts, d.words) },
		serial: func(d *parData) { slices.Sort(d.texts) },
		filch:  func(s filch.Scope, d *parData) { par.Sort(s, d.texts) },
		rivals: map[string]func(*parData, int){
			"pargo": func(d *parData, _ int) { pargosort.Sort(pargosort.StringSlice(d.texts)) },
		}},
	sortAlgorithm("SortFunc", 0, func(x []int) { slices.SortFunc(x, compareInts) },
		func(s filch.Scope, d *parData) { par.SortFunc(s, d.y, compareInts) }),
	sortAlgorithm("SortStableFunc", 1_000_000, func(x []int) { slices.SortStableFunc(x, compareInts) },
		func(s filch.Scope, d *parData) { par.SortStableFunc(s, d.y, compareInts) }).
		with("pargo", func(d *parData, _ int) { pargosort.StableSort(pargosort.IntSlice(d.y)) }),
	{name: "MapSeq", most: 1_000_000,
		serial: skewedSerially,
		filch: func(s filch.Scope, d *parData) {
			d.v = 0
			for v := range par.MapSeq(s, slices.Values(d.x), skewed) {
				d.v ^= v
			}
		}},
	{name: "FromSeq", most: 1_000_000,
		serial: func(d *parData) {
			d.v = 0
			for _, v := range d.x {
				if skewed(v) == 0 {
					d.v = v
				}
			}
		},
		filch: func(s filch.Scope, d *parData) {
			d.v = 0
			par.FromSeq(s, slices.Values(d.x), func(v int) {
				if skewed(v) == 0 {
					d.v = v
				}
			})
		}},
	{name: "Pipeline", most: 100_000,
		serial: skewedSerially,
		filch: func(s filch.Scope, d *parData) {
			d.v = 0
			p := par.Stage(par.From(slices.Values(d.x)), 0, func(v int) (int, error) { return skewed(v), nil })
			if p.Run(s, func(v int) error { d.v ^= v; return nil }) != nil {
				d.v = -1
			}
		}},
}

// side returns how wide and high an image of n pixels is.
func side(n int) int {
	k := 1
	for (k+1)*(k+1) <= n {
		k++
	}
	return k
}
