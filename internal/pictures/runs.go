package main

import (
	"fmt"
	"slices"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/steal"
)

// drawFamilies draws which worker ran which task of a tree, on the pool with one queue and on filch.
func drawFamilies(c *canvas, k *kept) {
	var r ran
	k.decode(runsFile, &r)
	c.title = "Parents and children in time"
	c.about = "Two timelines, of the pool with one queue and of filch, with a lane for each of two workers. A box is a task. It is blue if the worker that ran it had run its parent, and orange if another had."
	const x0, x1 = 84.0, 544.0
	var most int64
	for _, f := range r.Families {
		most = max(most, lasts(f.Members))
	}
	y := 16.0
	for _, f := range r.Families {
		c.bold(16, y+14, large, "ink", left, map[string]string{"basic": "basic: one queue, oldest first", "filch": "filch: deques, newest first"}[f.Executor])
		y += 28
		at := func(ns int64) float64 { return x0 + (x1-x0)*float64(ns-f.Members[0].From)/float64(most) }
		for w := range f.Workers {
			c.text(16, y+21+float64(w)*40, small, "ink", left, fmt.Sprintf("worker %d", w))
			c.rect(x0, y+float64(w)*40, x1-x0, 32, 0, "box")
		}
		for i, m := range f.Members {
			paint := "others"
			if i == 0 || f.Members[(i-1)/2].Worker == m.Worker {
				paint = "ours"
			}
			c.rect(at(m.From), y+float64(m.Worker)*40+2, max(at(m.To)-at(m.From)-1, 1), 28, 0, paint)
		}
		y += 98
		c.bold(x0, y, plain, "ink", left, fmt.Sprintf("%.0f%% of children at their parent's worker", 100*f.Share))
		y += 18
	}
	c.arrow("rule", "faint", x0, y+4, x1, y+4)
	c.text(x0, y+22, small, "faint", left, "0")
	c.text(x1, y+22, small, "faint", right, nanos(float64(most)))
	y += 48
	c.rect(16, y-11, 13, 13, 2, "ours")
	c.text(36, y, small, "ink", left, "same worker as its parent")
	c.rect(268, y-11, 13, 13, 2, "others")
	c.text(288, y, small, "ink", left, "another worker")
	f := r.Families[0]
	c.foot(y+26, fmt.Sprintf("A tree of %d tasks of some 20 us. Drawn is the quickest of %d runs, the share is their median. %s", len(f.Members), f.Runs, r.Machine.source()))
}

func (m machine) source() string {
	r := report{}
	r.Machine.CPU, r.Machine.CPUs, r.Machine.Go, r.Machine.Time = m.CPU, m.CPUs, m.Go, m.Time
	return r.source()
}

// drawSteals draws a trace: who stole from whom, and when.
func drawSteals(c *canvas, k *kept) {
	events := eventsOf(k.file(stealsFile))
	var lanes []int // workers
	for _, e := range events {
		lanes = append(lanes, e.Worker)
	}
	slices.Sort(lanes)
	lanes = slices.Compact(lanes)
	c.title = "Who stole from whom"
	c.about = "A recorded run. Each worker has a lane, with what it ran. An arrow is a steal, from the victim to the thief. Below is a matrix of how often which worker stole from which."
	y := drawLanes(c, events, lanes) + 42
	drawMatrix(c, y, events, lanes)
	drawVictims(c, y)
	bottom := y + 14 + float64(max(len(lanes), 5))*26
	c.foot(bottom+24, fmt.Sprintf("A tree of calls of 20 us with two to four children each, a pool of %d workers. The rows of the matrix are thieves, the columns victims. %s", stealers, k.stealsSource()))
}

// drawLanes draws what each worker ran, and the steals, and returns where it ends.
func drawLanes(c *canvas, events []event.Event, lanes []int) (y float64) {
	const x0, x1, laneHigh = 84.0, 544.0, 46.0
	begin, end := events[0].At, events[len(events)-1].At
	lane := func(w int) float64 { return 20 + float64(slices.Index(lanes, w))*laneHigh }
	at := func(ns int64) float64 { return x0 + (x1-x0)*float64(ns-begin)/float64(end-begin) }
	for _, w := range lanes {
		c.text(16, lane(w)+18, small, "ink", left, fmt.Sprintf("worker %d", w))
		c.rect(x0, lane(w), x1-x0, 26, 0, "box")
	}
	for _, s := range spansOf(events) {
		paint := "others"
		if s.own {
			paint = "ours"
		}
		c.rect(at(s.from), lane(s.worker)+2, max(at(s.to)-at(s.from), 1), 22, 0, paint)
	}
	for _, e := range events {
		if e.Kind != event.Stolen {
			continue
		}
		from, to := lane(e.Other)+26, lane(e.Worker)
		if e.Worker < e.Other {
			from, to = lane(e.Other), lane(e.Worker)+26
		}
		c.arrow("rule", "ink", at(e.At), from, at(e.At), to)
	}
	y = 20 + float64(len(lanes))*laneHigh
	c.arrow("rule", "faint", x0, y-8, x1, y-8)
	c.text(x0, y+10, small, "faint", left, "0")
	c.text(x1, y+10, small, "faint", right, nanos(float64(end-begin)))
	c.rect(150, y-1, 13, 13, 2, "ours")
	c.text(170, y+10, small, "ink", left, "began here")
	c.rect(270, y-1, 13, 13, 2, "others")
	c.text(290, y+10, small, "ink", left, "stolen, in any depth")
	return y
}

// drawMatrix draws how often which worker stole from which.
func drawMatrix(c *canvas, y float64, events []event.Event, lanes []int) {
	count := map[[2]int]int{}
	for _, e := range events {
		if e.Kind == event.Stolen {
			count[[2]int{e.Worker, e.Other}]++
		}
	}
	c.bold(16, y, plain, "ink", left, "steals of")
	c.bold(16, y+20, plain, "ink", left, "thief from")
	c.bold(16, y+40, plain, "ink", left, "victim")
	const cell = 34.0
	for i, victim := range lanes {
		c.bold(150+float64(i)*cell, y+4, plain, "ink", middle, fmt.Sprint(victim))
		for j, thief := range lanes {
			cy := y + 14 + float64(j)*26
			if i == 0 {
				c.bold(118, cy+17, plain, "ink", middle, fmt.Sprint(thief))
			}
			n := count[[2]int{thief, victim}]
			paint := "box"
			if n > 0 {
				paint = "otherbox"
			}
			c.rect(150+float64(i)*cell-cell/2+1, cy, cell-2, 24, 2, paint)
			if n > 0 {
				c.text(150+float64(i)*cell, cy+17, small, "ink", middle, fmt.Sprint(n))
			}
		}
	}
}

// drawVictims draws the order of victims, by the code that decides it.
func drawVictims(c *canvas, y float64) {
	const px = 352.0
	c.bold(px, y, plain, "ink", left, "a thief looks at")
	circle, chance := steal.RoundRobin.Thief(1), steal.RandomStart.Thief(1)
	pass := func(t steal.Thief, self int) (s string) {
		var l steal.Look
		l.Begin(steal.Numbered(stealers), self, stealers)
		t.Look(&l)
		for v, ok := l.Next(); ok; v, ok = l.Next() {
			s += fmt.Sprintf(" %d", v)
		}
		return s
	}
	c.text(px, y+24, small, "faint", left, "worker 0 in a circle:"+pass(circle, 0))
	c.text(px, y+44, small, "faint", left, "worker 1 in a circle:"+pass(circle, 1))
	c.text(px, y+72, small, "ink", left, "filch starts anew by chance,")
	for i := range 3 {
		c.text(px, y+92+float64(i)*20, small, "ink", left, fmt.Sprintf("worker 0, turn %d:%s", i+1, pass(chance, 0)))
	}
}

// A span is what a worker ran without a break: what was stolen, or its own.
type span struct {
	worker   int
	own      bool
	from, to int64
}

// spansOf returns the spans of a trace, those inside of others after them.
func spansOf(events []event.Event) (all []span) {
	open := map[int][]int{} // of a worker, in all
	last := int64(0)
	for _, e := range events {
		last = e.At
		stack := open[e.Worker]
		switch e.Kind {
		case event.Called, event.Stolen:
			open[e.Worker] = append(stack, len(all))
			all = append(all, span{worker: e.Worker, own: e.Kind == event.Called, from: e.At, to: -1})
		case event.Finished:
			if n := len(stack); n > 0 {
				all[stack[n-1]].to = e.At
				open[e.Worker] = stack[:n-1]
			}
		case event.Left:
			for _, i := range stack {
				all[i].to = e.At
			}
			open[e.Worker] = nil
		}
	}
	for i := range all {
		if all[i].to < 0 {
			all[i].to = last
		}
	}
	return all
}
