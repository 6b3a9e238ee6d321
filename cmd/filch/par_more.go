package main

import (
	"bufio"
	"bytes"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	pargo "github.com/exascience/pargo/parallel"
	"github.com/exascience/pargo/speculative"
	"github.com/sourcegraph/conc/iter"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

func odds(x []int) (n int) {
	for _, v := range x {
		n += v & 1
	}
	return n
}

func nonNegative(x []int) bool {
	for _, v := range x {
		if v < 0 {
			return false
		}
	}
	return true
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// low is a key that many elements share.
func low(v int) int { return v & 0xffff }

func sameInts(a, b int) bool { return a == b }

// inThrees makes runs of three equal elements.
func inThrees(d *parData) {
	for i := range d.y {
		d.y[i] = i / 3
	}
}

// moreAlgorithms are those that take ranges, pointers, keys and lines.
var moreAlgorithms = []parAlgorithm{
	{name: "CountRange",
		serial: func(d *parData) { d.v = odds(d.x) },
		filch: func(s filch.Scope, d *parData) {
			d.v = par.CountRange(s, d.n, func(lo, hi int) int { return odds(d.x[lo:hi]) })
		},
		rivals: map[string]func(*parData, int){"pargo": func(d *parData, _ int) {
			d.v = pargo.RangeReduceIntSum(0, d.n, 0, func(lo, hi int) int { return odds(d.x[lo:hi]) })
		}}},
	{name: "IndexRange", // there is none
		serial: func(d *parData) { d.v = slices.IndexFunc(d.x, func(v int) bool { return v < 0 }) },
		filch: func(s filch.Scope, d *parData) {
			d.v = par.IndexRange(s, d.n, func(lo, hi int) int {
				for i, v := range d.x[lo:hi] {
					if v < 0 {
						return lo + i
					}
				}
				return -1
			})
		}},
	{name: "AllRange",
		serial: func(d *parData) { d.v = boolean(nonNegative(d.x)) },
		filch: func(s filch.Scope, d *parData) {
			d.v = boolean(par.AllRange(s, d.n, func(lo, hi int) bool { return nonNegative(d.x[lo:hi]) }))
		},
		rivals: map[string]func(*parData, int){"pargo": func(d *parData, _ int) {
			d.v = boolean(speculative.RangeAnd(0, d.n, 0, func(lo, hi int) bool { return nonNegative(d.x[lo:hi]) }))
		}}},
	{name: "AnyRange", // there is none
		serial: func(d *parData) { d.v = boolean(!nonNegative(d.x)) },
		filch: func(s filch.Scope, d *parData) {
			d.v = boolean(par.AnyRange(s, d.n, func(lo, hi int) bool { return !nonNegative(d.x[lo:hi]) }))
		},
		rivals: map[string]func(*parData, int){"pargo": func(d *parData, _ int) {
			d.v = boolean(speculative.RangeOr(0, d.n, 0, func(lo, hi int) bool { return !nonNegative(d.x[lo:hi]) }))
		}}},
	{name: "FilterBetween",
		serial: func(d *parData) {
			d.z = nil
			for _, v := range d.x {
				if math.MaxInt/8 <= v && v <= math.MaxInt/4 {
					d.z = append(d.z, v)
				}
			}
		},
		filch: func(s filch.Scope, d *parData) { d.z = par.FilterBetween(s, d.x, math.MaxInt/8, math.MaxInt/4) }},
	{name: "Indices",
		serial: func(d *parData) {
			d.z = nil
			for i, v := range d.x {
				if v&7 == 0 {
					d.z = append(d.z, i)
				}
			}
		},
		filch: func(s filch.Scope, d *parData) { d.z = par.Indices(s, d.n, func(i int) bool { return d.x[i]&7 == 0 }) }},
	{name: "Compact", before: inThrees,
		serial: func(d *parData) { d.z = slices.Compact(slices.Clone(d.y)) },
		filch:  func(s filch.Scope, d *parData) { d.z = par.Compact(s, d.y) }},
	{name: "CompactFunc", before: inThrees,
		serial: func(d *parData) { d.z = slices.CompactFunc(slices.Clone(d.y), sameInts) },
		filch:  func(s filch.Scope, d *parData) { d.z = par.CompactFunc(s, d.y, sameInts) }},
	{name: "MinBy", // and MaxBy
		serial: func(d *parData) {
			least := d.x[0]
			for _, v := range d.x[1:] {
				if low(v) < low(least) {
					least = v
				}
			}
			d.v = least
		},
		filch: func(s filch.Scope, d *parData) { d.v, _ = par.MinBy(s, d.x, low) }},
	{name: "EachPtr",
		serial: func(d *parData) {
			for i := range d.x {
				d.y[i] = d.x[i] + 1
			}
		},
		filch: func(s filch.Scope, d *parData) { par.EachPtr(s, d.x, func(i int, v *int) { d.y[i] = *v + 1 }) },
		rivals: map[string]func(*parData, int){"conc": func(d *parData, workers int) {
			iter.Iterator[int]{MaxGoroutines: workers}.ForEachIdx(d.x, func(i int, v *int) { d.y[i] = *v + 1 })
		}}},
	{name: "MapPtr",
		serial: func(d *parData) {
			d.z = make([]int, d.n)
			for i := range d.x {
				d.z[i] = d.x[i] + 1
			}
		},
		filch: func(s filch.Scope, d *parData) { d.z = par.MapPtr(s, d.x, func(v *int) int { return *v + 1 }) },
		rivals: map[string]func(*parData, int){"conc": func(d *parData, workers int) {
			d.z = iter.Mapper[int, int]{MaxGoroutines: workers}.Map(d.x, func(v *int) int { return *v + 1 })
		}}},
	{name: "GroupReduce",
		serial: func(d *parData) {
			sums := map[int]int{}
			for _, v := range d.x {
				sums[bucket(v)] += v
			}
			d.keep(sums)
		},
		filch: func(s filch.Scope, d *parData) { d.keep(par.GroupReduce(s, d.x, bucket, 0, plus, plus)) },
		rivals: map[string]func(*parData, int){"goroutines": func(d *parData, workers int) {
			parts := make([]map[int]int, workers)
			chunks(d.n, workers, func(i, lo, hi int) {
				parts[i] = map[int]int{}
				for _, v := range d.x[lo:hi] {
					parts[i][bucket(v)] += v
				}
			})
			for _, part := range parts[1:] {
				for k, v := range part {
					parts[0][k] += v
				}
			}
			d.keep(parts[0])
		}}},
	{name: "SortInterface", most: 1_000_000, before: copyAll,
		serial: func(d *parData) { byInterface(sort.IntSlice(d.y)) },
		filch:  func(s filch.Scope, d *parData) { par.SortInterface(s, sort.IntSlice(d.y)) }},
	{name: "ReduceLines", most: 1_000_000, strings: true,
		serial: linesSerially,
		filch: func(s filch.Scope, d *parData) {
			var err error
			d.v, err = par.ReduceLines(s, bytes.NewReader(d.text), 0, func(_ int64, lines []byte) (n int, err error) {
				for line := range bytes.Lines(lines) {
					n += boolean(line[0] == 'a')
				}
				return n, nil
			}, plus)
			if err != nil {
				d.v = -1
			}
		}},
	{name: "ForLines", most: 1_000_000, strings: true,
		serial: linesSerially,
		filch: func(s filch.Scope, d *parData) {
			var n atomic.Int64
			err := par.ForLines(s, bytes.NewReader(d.text), func(_ int64, line []byte) error {
				if line[0] == 'a' {
					n.Add(1)
				}
				return nil
			})
			if d.v = int(n.Load()); err != nil {
				d.v = -1
			}
		}},
	{name: "Rand", // the loop has the same numbers
		serial: func(d *parData) {
			for i := range d.y {
				r := par.NewRand(1, i)
				d.y[i] = r.IntN(1000)
			}
		},
		filch: func(s filch.Scope, d *parData) {
			par.For(s, d.n, func(i int) {
				r := par.NewRand(1, i)
				d.y[i] = r.IntN(1000)
			})
		}},
}

// linesSerially counts the lines that begin with a letter.
func linesSerially(d *parData) {
	d.v = 0
	lines := bufio.NewScanner(bytes.NewReader(d.text))
	for lines.Scan() {
		d.v += boolean(lines.Bytes()[0] == 'a')
	}
}

// keep leaves the values of a map in the order of keys below 64.
func (d *parData) keep(m map[int]int) {
	d.z = make([]int, 64)
	for k, v := range m {
		d.z[k] = v
	}
}

// byInterface sorts as what is no slice is sorted.
func byInterface(x sort.Interface) { sort.Sort(x) }
