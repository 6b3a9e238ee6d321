package topology

import (
	"cmp"
	"slices"
)

// Compact orders processors so that neighbours come after one another: those of a package, in it those
// of a node, in that those that share caches, and SMT siblings next to each other.
func (t *Topology) Compact(processors []int) []int {
	order := slices.Clone(processors)
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(t.key(a), t.key(b)) })
	return order
}

// key returns what stands near what, the widest first.
func (t *Topology) key(id int) []int {
	i, ok := t.index[id]
	if !ok {
		return []int{MaxID, id}
	}
	p := &t.Processors[i]
	key := []int{p.Package, p.Node}
	for _, c := range slices.Backward(p.Caches) {
		key = append(key, c.First)
	}
	return append(key, p.Core, id)
}

// Spread orders processors so that the first n of them are far from one another, for each n:
// each is as far from the nearest before it as can be. Of several such it is the one that is farthest from all
// before it together, and then the least. So nodes come first in turn, then cores, and SMT siblings last.
func (t *Topology) Spread(processors []int) []int {
	left := slices.Sorted(slices.Values(processors))
	nearest := make([]int, len(left)) // of what is ordered
	total := make([]int, len(left))   // to all that is ordered
	for i := range nearest {
		nearest[i] = int(^uint(0) >> 1)
	}
	order := make([]int, 0, len(left))
	for len(left) > 0 {
		best := 0
		for i := range left {
			if cmp.Or(cmp.Compare(nearest[i], nearest[best]), cmp.Compare(total[i], total[best])) > 0 {
				best = i
			}
		}
		next := left[best]
		order = append(order, next)
		left, nearest, total = slices.Delete(left, best, best+1), slices.Delete(nearest, best, best+1), slices.Delete(total, best, best+1)
		for i, id := range left {
			d := t.Distance(id, next)
			nearest[i], total[i] = min(nearest[i], d), total[i]+d
		}
	}
	return order
}

// Nearest returns, for each worker i on processors[i], the indices of the others, the nearest first.
// Those that are as near as one another come in a circle that begins behind i, so that not all begin with the
// same. It takes time and memory in the square of the number of workers.
func (t *Topology) Nearest(processors []int) [][]int32 {
	all := make([][]int32, len(processors))
	for i, p := range processors {
		row := make([]int32, 0, max(len(processors)-1, 0))
		for k := 1; k < len(processors); k++ {
			row = append(row, int32((i+k)%len(processors)))
		}
		slices.SortStableFunc(row, func(a, b int32) int {
			return cmp.Compare(t.Distance(p, processors[a]), t.Distance(p, processors[b]))
		})
		all[i] = row
	}
	return all
}
