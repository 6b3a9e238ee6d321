package main

import (
	"fmt"
	"math"
)

// drawCaches draws what memory costs, by where it is.
func drawCaches(c *canvas, k *kept) {
	var r ran
	k.decode(runsFile, &r)
	c.title = "What a load takes, by where the data are"
	c.about = "On top, two processors with the caches that each has and the one that they share. Below, the time of a load that the next one waits for, by how much memory the loads go through."
	nsIn := func(size int64) float64 { // of what fits with room to spare
		best := r.Caches.Loads[0].NS
		for _, l := range r.Caches.Loads {
			if l.Bytes <= size/2 {
				best = l.NS
			}
		}
		return best
	}
	y := 16.0
	for _, l := range r.Caches.Levels {
		label := fmt.Sprintf("L%d, %s", l.Level, sizeOf(l.Bytes))
		ns := nanos(nsIn(l.Bytes))
		if most := r.Caches.Loads[len(r.Caches.Loads)-1]; l.Bytes/2 > most.Bytes {
			ns = "up to " + nanos(most.NS) + " in " + sizeOf(most.Bytes)
		}
		if l.CPUs > 1 {
			c.box(16, y, wide-32, 30, "box", label+", shared: "+ns)
		} else {
			for i := range 2 {
				c.box(16+float64(i)*270, y, 258, 30, "ourbox", label+": "+ns)
			}
		}
		y += 38
	}
	c.box(16, y, wide-32, 30, "otherbox", "a word that the other processor has just written: "+nanos(r.Caches.HandOver))
	y += 62
	c.bold(16, y, plain, "ink", left, "ns a load")
	const x0, x1 = 60.0, 530.0
	top, bottom := y+16, y+216
	first, last := r.Caches.Loads[0], r.Caches.Loads[len(r.Caches.Loads)-1]
	xOf := func(size int64) float64 {
		return x0 + (x1-x0)*math.Log2(float64(size)/float64(first.Bytes))/math.Log2(float64(last.Bytes)/float64(first.Bytes))
	}
	yOf := func(ns float64) float64 { return bottom - (bottom-top)*math.Log10(ns)/math.Log10(300) }
	for _, ns := range []float64{1, 3, 10, 30, 100, 300} {
		c.line("grid", x0, yOf(ns), x1, yOf(ns))
		c.text(x0-8, yOf(ns)+5, small, "faint", right, num(ns))
	}
	for size := first.Bytes; size <= last.Bytes; size *= 8 {
		c.line("grid", xOf(size), bottom, xOf(size), bottom+5)
		c.text(xOf(size), bottom+20, small, "faint", middle, sizeOf(size))
	}
	for _, l := range r.Caches.Levels {
		if l.Bytes > first.Bytes && l.Bytes < last.Bytes {
			c.line("gone", xOf(l.Bytes), top, xOf(l.Bytes), bottom)
			c.text(xOf(l.Bytes)-6, top+14, small, "ink", right, fmt.Sprintf("L%d ends", l.Level))
		}
	}
	var curve []float64
	for _, l := range r.Caches.Loads {
		curve = append(curve, xOf(l.Bytes), yOf(l.NS))
	}
	c.line("ourrule", curve...)
	for i := 0; i < len(curve); i += 2 {
		c.circle(curve[i], curve[i+1], 3.5, "ours")
	}
	c.foot(bottom+48, "Memory that is read, in a circle without order. Both axes are logarithmic. Other programs used the machine too, and with them what processors share. "+r.Machine.source())
}

// sizeOf writes a size in powers of two.
func sizeOf(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d KB", n>>10)
}

// drawWorkloads draws the speed-up in four programs of different kinds.
func drawWorkloads(c *canvas, k *kept) {
	r := k.report("summary")
	c.title = "Four programs, run in four ways"
	c.about = "Bars of the speed-up over the serial program with two workers. Where there is no bar, the pool deadlocks."
	const x0, x1, most = 142.0, 490.0, 2.2
	xOf := func(speed float64) float64 { return x0 + (x1-x0)*speed/most }
	c.bold(16, 22, plain, "ink", left, "The finer the calls, the more it matters who makes them")
	y := 52.0
	for _, p := range []struct{ workload, size, name, about string }{
		{"fib", "27", "fib 27", "calls that do nothing but fork"},
		{"nqueens", "11", "11 queens", "an irregular recursion, no cutoff"},
		{"mergesort", "1000000", "mergesort of 1,000,000", "a recursion with large leaves"},
		{"goparse", "sample", "parsing Go files", "independent tasks"},
	} {
		c.bold(16, y+8, plain, "ink", left, p.name)
		c.text(x1+54, y+8, small, "faint", right, p.about)
		y += 18
		c.line("gone", xOf(1), y-4, xOf(1), y+84)
		for _, e := range []struct{ executor, name string }{
			{"goroutine", "goroutine each"}, {"semaphore", "with a semaphore"}, {"basic", "pool with a lock"}, {"filch", "filch"},
		} {
			x := r.find(p.workload, p.size, e.executor, 2)
			c.text(x0-8, y+13, small, "ink", right, e.name)
			if x.Runs == 0 {
				c.text(x0+8, y+13, small, "others", left, x.short())
			} else {
				paint := "third"
				if e.executor == "filch" {
					paint = "ours"
				}
				c.rect(x0, y, max(xOf(x.Speedup)-x0, 1), 16, 0, paint)
				value := fmt.Sprintf("%.2f", x.Speedup)
				if x.Speedup < 0.01 {
					value = fmt.Sprintf("%.4f", x.Speedup)
				}
				c.text(xOf(x.Speedup)+6, y+13, small, "ink", left, value)
			}
			y += 21
		}
		y += 16
	}
	bottom := y - 14
	c.line("rule", x0, bottom, x1, bottom)
	for _, v := range []float64{0, 1, 2} {
		c.text(xOf(v), bottom+20, small, "faint", middle, num(v))
	}
	c.text(x1+54, bottom+20, small, "faint", right, "x serial")
	c.foot(bottom+46, fmt.Sprintf("Speed-up over the serial program, 2 workers, medians of %d runs. %s", r.Rows[0].Runs, r.source()))
}

// drawContention draws what a task takes by the number of workers, with one lock and without.
func drawContention(c *canvas, k *kept) {
	r := k.report("tasks")
	c.title = "What one lock costs"
	c.about = "Curves of the time of a task by the number of workers, for the pool with one lock and for filch, with tasks of 100 cycles and of 1,000."
	y := 16.0
	workers := []int{1, 2, 4, 8}
	for i, size := range []string{"100 cycles", "1000 cycles"} {
		x0 := 56 + float64(i)*274
		x1 := x0 + 166
		c.bold((x0+x1)/2, y+14, plain, "ink", middle, []string{"tasks of 100 cycles", "tasks of 1,000 cycles"}[i])
		top, bottom := y+38, y+238
		var most float64
		for _, w := range workers {
			for _, e := range []string{"basic", "filch"} {
				most = max(most, r.find("sweep", size, e, w).NsPerFork)
			}
		}
		tick := math.Pow(10, math.Floor(math.Log10(most)))
		if most/tick < 3 {
			tick /= 2
		}
		ceiling := math.Ceil(most/tick) * tick
		xOf := func(w int) float64 { return x0 + (x1-x0)*math.Log2(float64(w))/3 }
		yOf := func(ns float64) float64 { return bottom - (bottom-top)*ns/ceiling }
		for v := 0.0; v <= ceiling; v += tick {
			c.line("grid", x0, yOf(v), x1, yOf(v))
			c.text(x0-8, yOf(v)+5, small, "faint", right, num(v))
		}
		for _, w := range workers {
			c.text(xOf(w), bottom+20, small, "faint", middle, fmt.Sprint(w))
		}
		var ends [2]float64 // where the curves end
		for i, e := range []string{"basic", "filch"} {
			ends[i] = yOf(r.find("sweep", size, e, workers[3]).NsPerFork)
		}
		if near := 18 - math.Abs(ends[0]-ends[1]); near > 0 { // their names have room
			up := 0
			if ends[1] < ends[0] {
				up = 1
			}
			ends[up] -= near / 2
			ends[1-up] += near / 2
		}
		for i, e := range []struct{ name, rule, fill string }{{"basic", "otherrule", "others"}, {"filch", "ourrule", "ours"}} {
			var curve []float64
			for _, w := range workers {
				curve = append(curve, xOf(w), yOf(r.find("sweep", size, e.name, w).NsPerFork))
			}
			c.line(e.rule, curve...)
			for p := 0; p < len(curve); p += 2 {
				c.circle(curve[p], curve[p+1], 3.5, e.fill)
			}
			c.bold(curve[6]+8, ends[i]+5, small, e.fill, left, e.name)
		}
		c.text((x0+x1)/2, bottom+40, small, "faint", middle, "workers")
	}
	c.text(16, y+14, small, "faint", left, "ns")
	c.foot(y+304, fmt.Sprintf("Time of a task in ns; one goroutine submits them from outside. The machine has %d processors: with more workers, some that hold the lock do not run. %s", r.Machine.CPUs, r.source()))
}
