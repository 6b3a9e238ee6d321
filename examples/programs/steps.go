package main

import (
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// A heat is a square plate: the degrees of each of its cells, row by row.
type heat struct {
	side  int
	cells []int
}

// simulate returns the plate after some steps. Each step reads what the one before has written.
func simulate(p *filch.Pool, now heat, steps int) heat {
	now, next := now.clone(), now.clone()
	p.Do(func(w *filch.Worker) {
		for range steps {
			par.ForRange(w, now.side-2, func(lo, hi int) { now.spread(next, lo+1, hi+1) })
			now, next = next, now // all rows are done
		}
	})
	return now
}

// spread computes the rows lo to hi-1 of the next step. The edge keeps its heat.
func (h heat) spread(next heat, lo, hi int) {
	for y := lo; y < hi; y++ {
		above, row, below := h.row(y-1), h.row(y), h.row(y+1)
		out := next.row(y)
		for x := 1; x < h.side-1; x++ {
			out[x] = (4*row[x] + above[x] + below[x] + row[x-1] + row[x+1]) / 8
		}
	}
}

func (h heat) row(y int) []int { return h.cells[y*h.side : (y+1)*h.side] }

func (h heat) clone() heat { return heat{h.side, append([]int(nil), h.cells...)} }

func (h heat) sum() (n int, err error) {
	for i, degrees := range h.cells {
		n += (i + 1) * degrees
	}
	return n, nil
}

func simulateSerial(now heat, steps int) heat {
	now, next := now.clone(), now.clone()
	for range steps {
		now.spread(next, 1, now.side-1)
		now, next = next, now
	}
	return now
}

// simulateGoroutines starts a goroutine for each processor in each step, with an equal number of rows.
func simulateGoroutines(now heat, steps int) heat {
	now, next := now.clone(), now.clone()
	parts := runtime.GOMAXPROCS(0)
	for range steps {
		var wg sync.WaitGroup
		for part := range parts {
			lo, hi := 1+part*(now.side-2)/parts, 1+(part+1)*(now.side-2)/parts
			wg.Go(func() { now.spread(next, lo, hi) })
		}
		wg.Wait()
		now, next = next, now
	}
	return now
}

func makeSteps(p *filch.Pool, small bool) forms {
	now, steps := heat{side: 400}, 200
	if small {
		now.side, steps = 30, 10
	}
	r := rand.New(rand.NewPCG(13, 14))
	for range now.side * now.side {
		now.cells = append(now.cells, r.IntN(1_000_000))
	}
	return forms{
		serial:     func() (any, error) { return simulateSerial(now, steps).sum() },
		goroutines: func() (any, error) { return simulateGoroutines(now, steps).sum() },
		filch:      func() (any, error) { return simulate(p, now, steps).sum() },
	}
}
