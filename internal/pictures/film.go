package main

import (
	"fmt"
	"slices"

	"github.com/filch-go/filch/internal/playground"
	"github.com/filch-go/filch/internal/sim"
)

// call is a call of the program of drawFilm.
type call struct {
	parent int // -1: none
	depth  int
	x, y   float64
	begin  int32 // -1: not yet
	worker int32
	stolen bool
	at     int32 // when it was stolen
	from   int32 // by whom it was spawned
}

// stretch is what a worker ran without a break.
type stretch struct{ worker, from, to int32 }

// The paints of workers, and how long the film lasts, in seconds, with how much of that the run takes.
var workerPaints = []string{"ours", "others", "green", "purple"}

const (
	filmLasts = 10.0
	runTakes  = 0.8
	laneStep  = 36.0
)

// drawFilm draws a simulated run that moves: which worker runs which call, and what it stole. Where nothing moves, it is the end of the run.
func drawFilm(c *canvas, _ *kept) {
	f, err := playground.Run(playground.Request{DAG: "fib=7", Scheduler: "child", Workers: fmt.Sprint(len(workerPaints)), Seed: "31", StealCost: "1"})
	if err != nil {
		panic(err)
	}
	calls, runs, last := callsOf(f)
	place(calls)
	c.title = "Work stealing"
	c.about = fmt.Sprintf("A recursion of %d calls on %d workers, as it runs. Each dot is a call, with the colour of the worker that runs it. Stolen calls have a ring. Below, each worker has a lane.", len(calls), len(workerPaints))
	when := func(t int32) float64 { return 100 * runTakes * float64(t) / float64(last) } // in percent of the film

	bottom := 0.0
	for _, k := range calls {
		if k.parent >= 0 {
			p := calls[k.parent]
			c.line("grid", p.x, p.y, k.x, k.y)
		}
		bottom = max(bottom, k.y)
	}
	stolen := 0
	for _, k := range calls {
		c.circle(k.x, k.y, 7, "box")
		c.from(when(k.begin), func() { c.circle(k.x, k.y, 7, workerPaints[k.worker]) })
		if k.stolen {
			stolen++
			c.from(when(k.at), func() { c.circle(k.x, k.y, 10.5, "ring") })
		}
	}
	drawRuns(c, bottom+30, runs, calls, last)
	c.foot(bottom+30+float64(len(workerPaints))*laneStep+22, fmt.Sprintf(
		"Each dot is a call, in the colour of the worker that runs it. An idle worker steals the oldest fork of another, with all below it: %d of %d forks (ringed). The others stay plain calls. Simulated by filch sim, with the pool's own decisions.", stolen, len(calls)-1))
}

// callsOf returns the calls of a film, what the workers ran, and when it ends.
func callsOf(f *playground.Film) (calls []call, runs []stretch, last int32) {
	var above []int // the calls that are open, by depth
	for i, d := range f.Depths {
		above = append(above[:d], i)
		k := call{parent: -1, depth: int(d), begin: -1}
		if d > 0 {
			k.parent = above[d-1]
		}
		calls = append(calls, k)
	}
	for e := range slices.Chunk(f.Events, playground.EventRow) {
		at, kind, worker, other, thread := e[0], sim.Kind(e[1]), e[2], e[3], e[4]
		if thread < 0 {
			continue
		}
		k := &calls[thread]
		switch kind {
		case sim.Stole:
			k.stolen, k.at, k.from = true, at, other
		case sim.Began:
			if k.begin < 0 {
				k.begin, k.worker = at, worker
			}
			if i := slices.IndexFunc(runs, func(s stretch) bool { return s.worker == worker && s.to == at }); i >= 0 {
				runs[i].to = at + 1
			} else {
				runs = append(runs, stretch{worker, at, at + 1})
			}
			last = max(last, at+1)
		}
	}
	return calls, runs, last
}

// place gives the calls their places: those without children from left to right, and the others above the middle of theirs.
func place(calls []call) {
	deepest, leaves := 0, 0
	parents := map[int]bool{}
	for _, k := range calls {
		deepest = max(deepest, k.depth)
		parents[k.parent] = true
	}
	for i := range calls {
		if !parents[i] {
			leaves++
		}
	}
	step, next := float64(wide-60)/float64(leaves-1), 0
	for i := len(calls) - 1; i >= 0; i-- { // children come after their parents
		k := &calls[i]
		k.y = 24 + float64(k.depth)*32
		if !parents[i] {
			k.x = wide - 30 - float64(next)*step
			next++
			continue
		}
		sum, n := 0.0, 0.0
		for _, child := range calls[i+1:] {
			if child.parent == i {
				sum, n = sum+child.x, n+1
			}
		}
		k.x = sum / n
	}
}

// drawRuns draws a lane for each worker, which fills as time goes on, and an arrow for each steal.
func drawRuns(c *canvas, y float64, runs []stretch, calls []call, last int32) {
	const x0, x1 = 90.0, 530.0
	at := func(t int32) float64 { return x0 + (x1-x0)*float64(t)/float64(last) }
	lane := func(w int32) float64 { return y + float64(w)*laneStep }
	for w := range int32(len(workerPaints)) {
		c.text(16, lane(w)+15, small, "ink", left, fmt.Sprintf("worker %d", w+1))
		c.rect(x0, lane(w), x1-x0, 20, 3, "box")
	}
	c.reveal(x0, y, x1-x0, float64(len(workerPaints))*laneStep, func() {
		for _, s := range runs {
			c.rect(at(s.from), lane(s.worker)+2, at(s.to)-at(s.from), 16, 0, workerPaints[s.worker])
		}
		for _, k := range calls {
			if !k.stolen {
				continue
			}
			from, to := lane(k.from)+20, lane(k.worker)
			if k.from > k.worker {
				from, to = lane(k.from), lane(k.worker)+20
			}
			c.arrow("rule", "ink", at(k.at), from, at(k.at), to)
		}
	})
}

// from draws what shows from a time on, in percent of the film.
func (c *canvas) from(percent float64, draw func()) {
	name := fmt.Sprintf("t%d", int(percent*10))
	if !slices.Contains(c.times, name) {
		c.times = append(c.times, name)
		c.moves += fmt.Sprintf("@keyframes %s{0%%{opacity:0}%.1f%%{opacity:1}}.%[1]s{animation:%[1]s %[3]gs step-end infinite}", name, percent, filmLasts)
	}
	c.printf(`<g class="%s">`, name)
	draw()
	c.printf("</g>")
}

// reveal draws what comes out from left to right as time goes on.
func (c *canvas) reveal(x, y, w, h float64, draw func()) {
	c.moves += fmt.Sprintf("@keyframes sweep{0%%{transform:scaleX(0)}%.0f%%,100%%{transform:scaleX(1)}}.sweep{transform-origin:%spx 0;animation:sweep %gs linear infinite}", 100*runTakes, num(x), filmLasts)
	c.printf(`<clipPath id="now"><rect x="%s" y="%s" width="%s" height="%s" class="sweep"/></clipPath>`, num(x), num(y), num(w), num(h))
	c.printf(`<g clip-path="url(#now)">`)
	draw()
	c.printf("</g>")
}
