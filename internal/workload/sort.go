package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

var quicksort = &Workload{
	Name:    "quicksort",
	About:   "random int64, in place; 16 and fewer by insertion",
	Sizes:   []string{"300000", "1000000", "10000000"},
	Default: []Default{{Size: "300000"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		j, s, err := sortJob("quicksort", size)
		if err != nil {
			return nil, err
		}
		j.Serial = func() string { serialQuick(s.a); return "" }
		j.Func = func(p filch.Scope) string { quickFunc.Call(p, s.a); return "" }
		j.Closures = func(w *filch.Worker, both Both) string { closureQuick(w, both, s.a); return "" }
		return j, nil
	},
}

var mergesort = &Workload{
	Name:    "mergesort",
	About:   "random int64, merges in parallel too; 16 and fewer by insertion",
	Sizes:   []string{"300000", "1000000", "10000000"},
	Default: []Default{{Size: "300000"}},
	Strand:  "1000000",
	Prepare: func(size string, _ Env) (*Job, error) {
		j, s, err := sortJob("mergesort", size)
		if err != nil {
			return nil, err
		}
		whole := func() part { return part{s, 0, int32(len(s.a)), false} }
		j.Serial = func() string { serialMergeSort(s.a, s.tmp, false); return "" }
		j.Func = func(p filch.Scope) string { mergeSortFunc.Call(p, whole()); return "" }
		j.Closures = func(w *filch.Worker, both Both) string { closureMergeSort(w, both, s.a, s.tmp, false); return "" }
		j.Strand = func(on *strand.Strand) string { strandMergeSort(on, whole()); return "" }
		j.StrandClosure = func(on *strand.Strand) string { strandClosureMergeSort(on, whole()); return "" }
		return j, nil
	},
}

// toSort is what to sort, and as much memory again.
type toSort struct{ a, tmp []int64 }

// sortJob makes a job of sorting s.
func sortJob(name, size string) (j *Job, s *toSort, err error) {
	n, err := number(name, size, 0, 1<<28)
	if err != nil {
		return nil, nil, err
	}
	s = &toSort{}
	var input, sorted []int64
	j = &Job{Want: fmt.Sprintf("%d, as slices.Sort has them", n)}
	j.Load = func() {
		rng := rand.New(rand.NewPCG(1, 2))
		input = make([]int64, n)
		for i := range input {
			input[i] = int64(rng.Uint64())
		}
		sorted = slices.Clone(input)
		slices.Sort(sorted)
		s.a, s.tmp = make([]int64, n), make([]int64, n)
	}
	j.Reset = func() { copy(s.a, input) }
	j.Answer = func() string {
		for i, v := range s.a {
			if v != sorted[i] {
				return fmt.Sprintf("number %d is %d, not %d", i, v, sorted[i])
			}
		}
		return j.Want
	}
	return j, s, nil
}

const fewToSort = 16

func insertionSort(a []int64) {
	for i := 1; i < len(a); i++ {
		v, j := a[i], i
		for ; j > 0 && a[j-1] > v; j-- {
			a[j] = a[j-1]
		}
		a[j] = v
	}
}

// partition puts what is less than a pivot first, then the pivot, and returns what is
// before and behind it. This is Lomuto's scheme with the median of three, and without a
// branch that the processor cannot foresee: on random numbers three times as fast as
// Hoare's. Many equal numbers would make it slow; here there are none.
func partition(a []int64) (lo, hi []int64) {
	n := len(a)
	x, y, z := a[0], a[n/2], a[n-1]
	pivot := max(min(x, y), min(max(x, y), z))
	switch pivot {
	case y:
		a[0], a[n/2] = a[n/2], a[0]
	case z:
		a[0], a[n-1] = a[n-1], a[0]
	}
	rest, less := a[1:], 0
	for i, v := range rest {
		rest[i] = rest[less]
		rest[less] = v
		one := 0
		if v < pivot {
			one = 1
		}
		less += one
	}
	a[0], a[less] = a[less], a[0]
	return a[:less], a[less+1:]
}

func serialQuick(a []int64) {
	if len(a) <= fewToSort {
		insertionSort(a)
		return
	}
	lo, hi := partition(a)
	serialQuick(lo)
	serialQuick(hi)
}

var quickFunc = filch.NewFunc(quickBody)

func quickBody(f *filch.Frame[[]int64, struct{}], a []int64) struct{} {
	if len(a) <= fewToSort {
		insertionSort(a)
		return struct{}{}
	}
	lo, hi := partition(a)
	h := f.Fork(hi)
	quickBody(f, lo)
	return f.Join(h)
}

func closureQuick(w *filch.Worker, both Both, a []int64) {
	if len(a) <= fewToSort {
		insertionSort(a)
		return
	}
	lo, hi := partition(a)
	both(w,
		func(w *filch.Worker) { closureQuick(w, both, lo) },
		func(w *filch.Worker) { closureQuick(w, both, hi) })
}

// merge merges a and b, which are sorted, into to. It has no branch that the processor
// cannot foresee.
func merge(to, a, b []int64) {
	i, j, k := 0, 0, 0
	for i < len(a) && j < len(b) && k < len(to) {
		x, y := a[i], b[j]
		to[k] = min(x, y)
		k++
		second := 0
		if y < x {
			second = 1
		}
		j += second
		i += 1 - second
	}
	k += copy(to[k:], a[i:])
	copy(to[k:], b[j:])
}

// serialMergeSort sorts a, and leaves the result in tmp if over. Its halves change sides
// at each level, so that nothing is copied but the smallest parts.
func serialMergeSort(a, tmp []int64, over bool) {
	if len(a) <= fewToSort {
		sortFew(a, tmp, over)
		return
	}
	n := len(a) / 2
	serialMergeSort(a[:n], tmp[:n], !over)
	serialMergeSort(a[n:], tmp[n:], !over)
	if over {
		a, tmp = tmp, a
	}
	merge(a, tmp[:n], tmp[n:])
}

func sortFew(a, tmp []int64, over bool) {
	insertionSort(a)
	if over {
		copy(tmp, a)
	}
}

// part is a part of what to sort, from lo to hi: three words, where two slices are six.
type part struct {
	of     *toSort
	lo, hi int32
	over   bool
}

// halves cuts p in the middle. They leave their results on the other side.
func (p part) halves() (lo, hi part) {
	mid := p.lo + (p.hi-p.lo)/2
	return part{p.of, p.lo, mid, !p.over}, part{p.of, mid, p.hi, !p.over}
}

// merging is what is left to do when the halves of p are sorted.
func (p part) merging() toMerge {
	a, tmp := p.of.a[p.lo:p.hi], p.of.tmp[p.lo:p.hi]
	if p.over {
		a, tmp = tmp, a
	}
	n := len(a) / 2
	return toMerge{a, tmp[:n], tmp[n:]}
}

var mergeSortFunc = filch.NewFunc(mergeSortBody)

func mergeSortBody(f *filch.Frame[part, struct{}], p part) struct{} {
	a, tmp := p.of.a[p.lo:p.hi], p.of.tmp[p.lo:p.hi]
	if len(a) <= fewToSort {
		sortFew(a, tmp, p.over)
		return struct{}{}
	}
	n := len(a) / 2
	mid := p.lo + int32(n)
	h := f.Fork(part{p.of, mid, p.hi, !p.over})
	mergeSortBody(f, part{p.of, p.lo, mid, !p.over})
	f.Join(h)
	if p.over {
		a, tmp = tmp, a
	}
	if len(a) <= fewToMerge {
		merge(a, tmp[:n], tmp[n:])
		return struct{}{}
	}
	return mergeFunc.Call(f.Worker(), toMerge{a, tmp[:n], tmp[n:]})
}

// fewToMerge is what is merged serially: below it, finding where to cut costs
// more than it gains.
const fewToMerge = 4096

type toMerge struct{ to, a, b []int64 }

// cut divides a merge into two, around the middle of its longer input.
func (m toMerge) cut() (lo, hi toMerge) {
	a, b := m.a, m.b
	if len(a) < len(b) {
		a, b = b, a
	}
	i := len(a) / 2
	j, _ := slices.BinarySearch(b, a[i])
	return toMerge{m.to[:i+j], a[:i], b[:j]}, toMerge{m.to[i+j:], a[i:], b[j:]}
}

var mergeFunc = filch.NewFunc(mergeBody)

func mergeBody(f *filch.Frame[toMerge, struct{}], m toMerge) struct{} {
	if len(m.to) <= fewToMerge {
		merge(m.to, m.a, m.b)
		return struct{}{}
	}
	lo, hi := m.cut()
	h := f.Fork(hi)
	mergeBody(f, lo)
	return f.Join(h)
}

func closureMergeSort(w *filch.Worker, both Both, a, tmp []int64, over bool) {
	if len(a) <= fewToSort {
		sortFew(a, tmp, over)
		return
	}
	n := len(a) / 2
	both(w,
		func(w *filch.Worker) { closureMergeSort(w, both, a[:n], tmp[:n], !over) },
		func(w *filch.Worker) { closureMergeSort(w, both, a[n:], tmp[n:], !over) })
	if over {
		a, tmp = tmp, a
	}
	closureMerge(w, both, toMerge{a, tmp[:n], tmp[n:]})
}

func closureMerge(w *filch.Worker, both Both, m toMerge) {
	if len(m.to) <= fewToMerge {
		merge(m.to, m.a, m.b)
		return
	}
	lo, hi := m.cut()
	both(w,
		func(w *filch.Worker) { closureMerge(w, both, lo) },
		func(w *filch.Worker) { closureMerge(w, both, hi) })
}

// strandMergeSort spawns both halves: a call of the second one on s would wait for the first one
// before it merges.
func strandMergeSort(s *strand.Strand, p part) struct{} {
	if p.hi-p.lo <= fewToSort {
		sortFew(p.of.a[p.lo:p.hi], p.of.tmp[p.lo:p.hi], p.over)
		return struct{}{}
	}
	lo, hi := p.halves()
	strand.SpawnCall(s, strandMergeSort, lo)
	strand.SpawnCall(s, strandMergeSort, hi)
	s.Sync()
	return strandMerge(s, p.merging())
}

func strandMerge(s *strand.Strand, m toMerge) struct{} {
	for len(m.to) > fewToMerge {
		lo, hi := m.cut()
		strand.SpawnCall(s, strandMerge, lo)
		m = hi
	}
	merge(m.to, m.a, m.b)
	return struct{}{}
}

func strandClosureMergeSort(s *strand.Strand, p part) {
	if p.hi-p.lo <= fewToSort {
		sortFew(p.of.a[p.lo:p.hi], p.of.tmp[p.lo:p.hi], p.over)
		return
	}
	lo, hi := p.halves()
	s.Spawn(func(s *strand.Strand) { strandClosureMergeSort(s, lo) })
	s.Spawn(func(s *strand.Strand) { strandClosureMergeSort(s, hi) })
	s.Sync()
	strandClosureMerge(s, p.merging())
}

func strandClosureMerge(s *strand.Strand, m toMerge) {
	for len(m.to) > fewToMerge {
		lo, hi := m.cut()
		s.Spawn(func(s *strand.Strand) { strandClosureMerge(s, lo) })
		m = hi
	}
	merge(m.to, m.a, m.b)
}
