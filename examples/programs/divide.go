package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/filch-go/filch"
)

type point struct{ x, y float64 }

// closestPair returns the least distance between two of the points, which are sorted by x.
func closestPair(p *filch.Pool, pts []point) (d float64) {
	p.Do(func(w *filch.Worker) { d = closest(w, pts) })
	return d
}

func closest(w *filch.Worker, pts []point) float64 {
	if len(pts) <= 32 {
		return closestOfFew(pts)
	}
	mid := len(pts) / 2
	left, right := filch.Join(w,
		func(w *filch.Worker) float64 { return closest(w, pts[:mid]) },
		func(w *filch.Worker) float64 { return closest(w, pts[mid:]) }) // another worker may take this call
	return closestAcross(pts, mid, min(left, right))
}

// closestAcross returns the least distance, if the least within both halves is d.
func closestAcross(pts []point, mid int, d float64) float64 {
	var strip []point // at most d from the middle
	for i := mid - 1; i >= 0 && pts[mid].x-pts[i].x < d; i-- {
		strip = append(strip, pts[i])
	}
	for i := mid; i < len(pts) && pts[i].x-pts[mid].x < d; i++ {
		strip = append(strip, pts[i])
	}
	slices.SortFunc(strip, func(a, b point) int { return cmp.Compare(a.y, b.y) })
	for i, a := range strip {
		for _, b := range strip[i+1:] {
			if b.y-a.y >= d {
				break
			}
			d = min(d, math.Hypot(a.x-b.x, a.y-b.y))
		}
	}
	return d
}

func closestOfFew(pts []point) float64 {
	d := math.Inf(1)
	for i, a := range pts {
		for _, b := range pts[i+1:] {
			d = min(d, math.Hypot(a.x-b.x, a.y-b.y))
		}
	}
	return d
}

func closestSerial(pts []point) float64 {
	if len(pts) <= 32 {
		return closestOfFew(pts)
	}
	mid := len(pts) / 2
	return closestAcross(pts, mid, min(closestSerial(pts[:mid]), closestSerial(pts[mid:])))
}

// closestGoroutines starts a goroutine for each half, down to a size that someone has to choose.
func closestGoroutines(pts []point) float64 {
	if len(pts) <= 5000 {
		return closestSerial(pts)
	}
	mid := len(pts) / 2
	right := make(chan float64, 1)
	go func() { right <- closestGoroutines(pts[mid:]) }()
	left := closestGoroutines(pts[:mid])
	return closestAcross(pts, mid, min(left, <-right))
}

func makeDivide(p *filch.Pool, small bool) forms {
	pts := make([]point, 200_000)
	if small {
		pts = pts[:12_000]
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range pts {
		pts[i] = point{r.Float64(), r.Float64()}
	}
	slices.SortFunc(pts, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return forms{
		serial:     func() (any, error) { return closestSerial(pts), nil },
		goroutines: func() (any, error) { return closestGoroutines(pts), nil },
		filch:      func() (any, error) { return closestPair(p, pts), nil },
	}
}
