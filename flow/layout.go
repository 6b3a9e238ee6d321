package flow

import (
	"cmp"
	"math"
	"slices"
)

// The layout follows Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures"
// (IEEE SMC 1981): nodes stand in rows, each below its deps; an edge that passes rows has a point in each; rows are
// ordered for few crossings by the means of neighbours; then each point moves towards its neighbours as far as its row
// allows.

// layout holds positions. Points are the nodes first, then the points of long edges.
type layout struct {
	size          sizes
	n             int     // nodes
	rows          [][]int // points, from left to right
	row           []int   // of each point
	layer         []int   // of each row; rows of one layer are consecutive
	x             []float64
	above, below  [][]int // neighbours of each point
	path          [][]int // the points of each edge, with both ends; nil if it leads back
	width, height float64
}

// sizes are the sizes in a picture, by its number of nodes.
type sizes struct {
	w, h       float64 // of a node
	gapX, gapY float64
	font       float64
	letters    int  // of a name, at most
	notes      bool // with times
}

func sizesFor(n int) sizes {
	switch {
	case n <= 60:
		return sizes{w: 132, h: 40, gapX: 22, gapY: 44, font: 12, letters: 18, notes: true}
	case n <= 250:
		return sizes{w: 92, h: 28, gapX: 14, gapY: 34, font: 9, letters: 15, notes: true}
	}
	return sizes{w: 46, h: 14, gapX: 8, gapY: 26, font: 7, letters: 10}
}

func (v *picture) layout() *layout {
	n := len(v.nodes)
	l := &layout{n: n, size: sizesFor(n)}
	l.place(v)
	l.addPoints(v)
	for round := range 16 {
		l.sortRows(round%2 == 0)
	}
	l.spread()
	return l
}

// place gives each node a row below the nodes that lead to it, and keeps rows from getting too long.
func (l *layout) place(v *picture) {
	n := len(v.nodes)
	l.row = make([]int, n)
	into := v.into()
	for _, i := range v.order {
		for _, e := range into[i] {
			l.row[i] = max(l.row[i], l.row[v.edges[e].from]+1)
		}
	}
	next := make([]int, n) // the first row that a node leads to
	for _, e := range v.edges {
		if !e.back && (next[e.from] == 0 || l.row[e.to] < next[e.from]) {
			next[e.from] = l.row[e.to]
		}
	}
	for i := range v.nodes {
		if len(into[i]) == 0 && next[i] > 0 {
			l.row[i] = next[i] - 1 // close to the node it leads to
		}
	}
	most := max(16, int(1.2*math.Sqrt(float64(n))))
	count := make([]int, n+1)
	for _, i := range v.order {
		count[l.row[i]]++
	}
	first := make([]int, n+1) // the first row of this layer
	for r := range n {
		first[r+1] = first[r] + max(1, (count[r]+most-1)/most)
		for range first[r+1] - first[r] {
			l.layer = append(l.layer, r)
		}
	}
	filled := make([]int, n+1)
	for _, i := range v.order {
		r := l.row[i]
		parts := max(1, (count[r]+most-1)/most)
		l.row[i] = first[r] + filled[r]*parts/count[r]
		filled[r]++
	}
	for _, i := range v.order {
		l.add(int(i), l.row[i])
	}
}

func (l *layout) add(point, row int) {
	for len(l.rows) <= row {
		l.rows = append(l.rows, nil)
	}
	l.rows[row] = append(l.rows[row], point)
}

// addPoints adds points to edges that pass rows of other layers, unless there are too many. Within its own layers, an
// edge passes below the nodes.
func (l *layout) addPoints(v *picture) {
	const most = 30_000
	points := 0
	for _, e := range v.edges {
		points += max(0, l.row[e.to]-l.row[e.from]-1)
	}
	l.path = make([][]int, len(v.edges))
	l.above, l.below = make([][]int, len(v.nodes)), make([][]int, len(v.nodes))
	for k, e := range v.edges {
		if e.back {
			continue
		}
		at := int(e.from)
		l.path[k] = []int{at}
		for r := l.row[e.from] + 1; r < l.row[e.to] && points <= most; r++ {
			if on := l.layer[r]; on == l.layer[l.row[e.from]] || on == l.layer[l.row[e.to]] {
				continue
			}
			p := len(l.row)
			l.row = append(l.row, r)
			l.above, l.below = append(l.above, nil), append(l.below, nil)
			l.add(p, r)
			l.link(at, p)
			at = p
			l.path[k] = append(l.path[k], p)
		}
		l.link(at, int(e.to))
		l.path[k] = append(l.path[k], int(e.to))
	}
	l.x = make([]float64, len(l.row))
	for _, row := range l.rows {
		l.number(row)
	}
}

func (l *layout) link(from, to int) {
	l.below[from] = append(l.below[from], to)
	l.above[to] = append(l.above[to], from)
}

// number sets x to the position in the row, from 0 to 1.
func (l *layout) number(row []int) {
	for k, p := range row {
		l.x[p] = (float64(k) + 0.5) / float64(len(row))
	}
}

// sortRows sorts each row by the mean of the neighbours above or below it.
func (l *layout) sortRows(down bool) {
	mean := make([]float64, len(l.row))
	for k := range l.rows {
		row, near := l.rows[k], l.above
		if !down {
			row, near = l.rows[len(l.rows)-1-k], l.below
		}
		for _, p := range row {
			mean[p] = l.mean(near[p], l.x[p])
		}
		slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
		l.number(row)
	}
}

// mean returns the mean x of points, or other if there are none.
func (l *layout) mean(points []int, other float64) float64 {
	if len(points) == 0 {
		return other
	}
	sum := 0.0
	for _, p := range points {
		sum += l.x[p]
	}
	return sum / float64(len(points))
}

// spread finally sets x to the middle of each point. It keeps the order within rows.
func (l *layout) spread() {
	for _, row := range l.rows {
		at := 0.0
		for k, p := range row {
			if k > 0 {
				at += l.apart(row[k-1], p)
			}
			l.x[p] = at
		}
		for _, p := range row { // the middle of each row at 0
			l.x[p] -= at / 2
		}
	}
	for round := range 24 {
		for k := range l.rows {
			if round%2 == 0 {
				l.move(l.rows[k], l.above)
			} else {
				l.move(l.rows[len(l.rows)-1-k], l.below)
			}
		}
	}
	least, most := math.Inf(1), math.Inf(-1)
	for p, x := range l.x {
		least, most = min(least, x-l.half(p)), max(most, x+l.half(p))
	}
	for p := range l.x {
		l.x[p] -= least
	}
	if l.width = most - least; len(l.x) == 0 {
		l.width = 0
	}
	l.height = float64(len(l.rows))*(l.size.h+l.size.gapY) - l.size.gapY
}

func (l *layout) half(p int) float64 {
	if p < l.n {
		return l.size.w / 2
	}
	return 0
}

// apart returns the minimum distance between the middles of two neighbours in a row.
func (l *layout) apart(a, b int) float64 { return l.half(a) + l.half(b) + l.size.gapX }

// move moves the points of a row as near as possible to the means of their neighbours, by least squares. After
// subtracting the distances, positions must only be in order, so this is an isotonic regression, which pools neighbours
// that are out of order.
func (l *layout) move(row []int, near [][]int) {
	type pool struct {
		sum, weight float64
		n           int
	}
	pools := make([]pool, 0, len(row))
	offset := make([]float64, len(row))
	for k, p := range row {
		if k > 0 {
			offset[k] = offset[k-1] + l.apart(row[k-1], p)
		}
		weight := 1.0
		if p >= l.n {
			weight = 4 // so that long edges are straight
		}
		if len(near[p]) == 0 {
			weight = 0.1
		}
		pools = append(pools, pool{weight * (l.mean(near[p], l.x[p]) - offset[k]), weight, 1})
		for len(pools) > 1 {
			a, b := &pools[len(pools)-2], pools[len(pools)-1]
			if a.sum/a.weight <= b.sum/b.weight {
				break
			}
			a.sum, a.weight, a.n = a.sum+b.sum, a.weight+b.weight, a.n+b.n
			pools = pools[:len(pools)-1]
		}
	}
	k := 0
	for _, q := range pools {
		for range q.n {
			l.x[row[k]] = q.sum/q.weight + offset[k]
			k++
		}
	}
}

// y returns the upper end of the row of p.
func (l *layout) y(p int) float64 { return float64(l.row[p]) * (l.size.h + l.size.gapY) }
