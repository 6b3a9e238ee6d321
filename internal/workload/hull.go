package workload

import (
	"fmt"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// hull finds the convex hull of points in a disc. All forms find the hulls of parts, which fit
// into a processor's cache, by quickhull (Barber and others, ACM Trans. Math. Softw., 1996), and
// then the hull of these. On one processor that takes as long as quickhull of all.
//
// par.Collect fits: nobody knows how many points a part comes to.
var hull = &Workload{
	Name:    "hull",
	About:   "the convex hull of n points in a disc (PBBS)",
	Sizes:   []string{"10000", "1000000", "10000000"},
	Default: []Default{{Size: "1000000"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("hull", size, 1, 1<<26)
		if err != nil {
			return nil, err
		}
		var points []dot
		return &Job{
			Load: func() { points = newDots(n) },
			Serial: func() string {
				var all []dot
				for i := range hullParts(n) {
					all = appendHull(all, hullPart(points, i))
				}
				return hullSum(all)
			},
			Func: func(p filch.Scope) string {
				return hullSum(par.Collect(p, hullParts(n), func(lo, hi int, to []dot) []dot {
					for i := lo; i < hi; i++ {
						to = appendHull(to, hullPart(points, i))
					}
					return to
				}))
			},
			Loops: func(each Each) string {
				parts := make([][]dot, hullParts(n))
				each(len(parts), func(i int) { parts[i] = appendHull(nil, hullPart(points, i)) })
				var all []dot
				for _, part := range parts {
					all = append(all, part...)
				}
				return hullSum(all)
			},
		}, nil
	},
}

// dot is a point. As numbers are integers and have 30 bits, it is known exactly on which side of
// a line it is, and the hull is the same in whatever order it is found.
type dot struct{ x, y int32 }

// before is the order from left to right, and then from below.
func (d dot) before(e dot) bool { return d.x < e.x || d.x == e.x && d.y < e.y }

// newDots makes up n points in a disc.
func newDots(n int) []dot {
	dots := make([]dot, 0, n)
	rng := splitmix(31)
	for len(dots) < n {
		r := rng.next()
		x, y := int64(int32(r)>>2), int64(int32(r>>32)>>2)
		if x*x+y*y < 1<<58 {
			dots = append(dots, dot{int32(x), int32(y)})
		}
	}
	return dots
}

// dotsAtOnce is how many points a part has: 32 KB.
const dotsAtOnce = 4096

func hullParts(n int) int { return (n + dotsAtOnce - 1) / dotsAtOnce }

func hullPart(dots []dot, i int) []dot {
	return dots[i*dotsAtOnce : min((i+1)*dotsAtOnce, len(dots))]
}

// appendHull appends the hull of up to dotsAtOnce points, the leftmost first, then those above.
func appendHull(to []dot, dots []dot) []dot {
	var room [dotsAtOnce]dot
	copied := room[:copy(room[:], dots)]
	return appendHullOf(to, copied)
}

// appendHullOf appends the hull of points, and moves these about.
func appendHullOf(to []dot, dots []dot) []dot {
	if len(dots) == 0 {
		return to
	}
	left, right := dots[0], dots[0]
	for _, d := range dots {
		if d.before(left) {
			left = d
		}
		if right.before(d) {
			right = d
		}
	}
	to = append(to, left)
	if left == right {
		return to
	}
	above, below := divide(dots, left, right, right, left)
	to = appendArc(to, above, left, right)
	to = append(to, right)
	return appendArc(to, below, right, left)
}

// side is greater than 0 if d is to the left of the line from a to b, and in proportion to how
// far away it is.
func side(a, b, d dot) int64 {
	return int64(b.x-a.x)*int64(d.y-a.y) - int64(b.y-a.y)*int64(d.x-a.x)
}

// divide returns the points to the left of the line from a to b, and of others those to the left
// of the line from c to d. It moves them to the front.
func divide(dots []dot, a, b, c, d dot) (first, second []dot) {
	n, m := 0, 0 // of the first, and of both
	for i, p := range dots {
		switch {
		case side(a, b, p) > 0:
			dots[i] = dots[m]
			dots[m] = dots[n]
			dots[n] = p
			n++
			m++
		case side(c, d, p) > 0:
			dots[i] = dots[m]
			dots[m] = p
			m++
		}
	}
	return dots[:n], dots[n:m]
}

// appendArc appends the hull of points that are to the left of the line from a to b, from a to b
// but without these.
func appendArc(to []dot, dots []dot, a, b dot) []dot {
	if len(dots) == 0 {
		return to
	}
	far, most := dots[0], side(a, b, dots[0])
	for _, d := range dots[1:] {
		// Of several that are as far, only the first and the last are corners.
		if s := side(a, b, d); s > most || s == most && d.before(far) {
			far, most = d, s
		}
	}
	first, second := divide(dots, a, far, far, b)
	to = appendArc(to, first, a, far)
	to = append(to, far)
	return appendArc(to, second, far, b)
}

// hullSum finds the hull of the hulls of parts, which it moves about, and describes it.
func hullSum(all []dot) string {
	corners := appendHullOf(nil, all)
	h := uint64(0)
	for _, d := range corners {
		h = h*0x9e3779b97f4a7c15 + uint64(uint32(d.x))<<32 + uint64(uint32(d.y))
	}
	return fmt.Sprintf("%d corners, hash %016x", len(corners), h)
}
