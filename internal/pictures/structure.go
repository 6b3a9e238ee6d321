package main

import (
	"reflect"
	"slices"
	"strings"

	"github.com/filch-go/filch/deque"
	"github.com/filch-go/filch/internal/engine"
)

// drawKitchen draws the analogy: cooks with a pile of orders each.
func drawKitchen(c *canvas, _ *kept) {
	c.title = "A kitchen that steals work"
	c.about = "Three cooks, each with a pile of orders. A cook takes the newest order of the own pile. A cook without orders takes the oldest from a pile of another. Orders from outside wait at the counter."
	c.text(16, 34, plain, "ink", left, "orders from outside")
	c.arrow("rule", "faint", 158, 29, 196, 29)
	c.rect(200, 14, 344, 32, 6, "box")
	c.bold(212, 35, plain, "ink", left, "the counter")
	for i := range 4 {
		c.rect(320+float64(i)*54, 20, 46, 20, 3, "otherbox")
	}
	const top, stack = 86.0, 238.0
	for i, orders := range []int{4, 2, 0} {
		x := 16 + float64(i)*184
		c.rect(x, top, 160, 170, 6, "box")
		c.bold(x+12, top+24, plain, "ink", left, "cook "+string(rune('1'+i)))
		for k := range orders {
			y := stack - float64(k)*28
			c.rect(x+12, y-16, 64, 22, 3, "ourbox")
			switch {
			case orders > 1 && k == 0:
				c.text(x+44, y, small, "ink", middle, "oldest")
			case k == orders-1:
				c.text(x+44, y, small, "ink", middle, "newest")
			}
		}
		c.circle(x+124, top+84, 12, "ours")
		c.rect(x+106, top+100, 36, 34, 10, "ours")
		if orders > 0 {
			c.arrow("ourrule", "ours", x+76, stack-float64(orders-1)*28-5, x+92, stack-float64(orders-1)*28-5, x+92, top+84, x+108, top+84)
		} else {
			c.text(x+12, top+160, small, "faint", left, "no orders")
		}
	}
	c.arrow("otherrule", "others", 60, stack+6, 60, 284, 508, 284, 508, top+138)
	c.text(284, 304, plain, "ink", middle, "a cook without orders takes the oldest of another")
	c.foot(334, "A cook is a worker, a pile its deque, the counter the global queue. An order may make more orders: they go on the pile of the cook who has it.")
}

// drawQueues draws a pool with one queue beside one with a deque for each worker.
func drawQueues(c *canvas, k *kept) {
	r := k.report("tasks")
	c.title = "One queue for all, or one for each worker"
	c.about = "On the left, four workers put tasks into one queue and take them from it, under one lock. On the right, each has a deque of its own, and takes from another only when that is empty."
	const gap, panel = 16.0, 256.0
	rightX := gap + panel + 16
	c.bold(gap+panel/2, 28, large, "ink", middle, "One queue: basic")
	c.bold(rightX+panel/2, 28, large, "ink", middle, "Deques: filch")
	worker := func(x float64, i int) {
		c.circle(x, 206, 15, "box")
		c.text(x, 211, small, "ink", middle, string(rune('0'+i)))
	}
	// The queue, with a lock.
	slots := func(x, y float64, n, full int, paint string) {
		for i := range n {
			p := "gone"
			if i < full {
				p = paint
			}
			c.rect(x+float64(i)*26, y, 22, 22, 3, p)
		}
	}
	c.rect(gap+30, 54, 196, 66, 6, "box")
	c.text(gap+128, 74, small, "ink", middle, "queue, one lock")
	slots(gap+51, 86, 6, 4, "otherbox")
	for i := range 4 {
		x := gap + 38 + float64(i)*60
		worker(x, i)
		to := gap + 74 + float64(i)*36
		c.arrow("otherrule", "others", (x+to)/2, 156, x, 190)
		c.arrow("otherrule", "others", (x+to)/2, 156, to, 122)
	}
	c.rect(rightX+10, 50, 236, 32, 6, "box")
	c.text(rightX+128, 71, small, "ink", middle, "global queue: from outside")
	for i, full := range []int{3, 1, 2, 0} {
		x := rightX + 38 + float64(i)*60
		for s := range 3 {
			p := "gone"
			if s < full {
				p = "ourbox"
			}
			c.rect(x-15, 152-float64(s)*22, 30, 19, 3, p)
		}
		if full > 0 {
			c.arrow("ourrule", "ours", x, 173, x, 190)
		}
		worker(x, i)
	}
	c.arrow("otherrule", "others", rightX+38-16, 117, rightX+8, 117, rightX+8, 236, rightX+218, 236, rightX+218, 223)
	c.text(rightX+panel/2-10, 256, small, "ink", middle, "steals, when it has nothing")
	c.text(gap+panel/2, 256, small, "ink", middle, "each task takes the lock twice")
	for _, side := range []struct {
		x        float64
		executor string
	}{{gap + panel/2, "basic"}, {rightX + panel/2, "filch"}} {
		two, eight := r.find("sweep", "100 cycles", side.executor, 2), r.find("sweep", "100 cycles", side.executor, 8)
		c.bold(side.x, 288, plain, "ink", middle, nanos(two.NsPerFork)+" a task, 2 workers")
		c.bold(side.x, 309, plain, "ink", middle, nanos(eight.NsPerFork)+" a task, 8 workers")
	}
	c.foot(340, "Tasks of 100 cycles, which one goroutine submits from outside. "+r.source())
}

// drawDeque does what it draws on a deque.
func drawDeque(c *canvas, _ *kept) {
	c.title = "The two ends of a deque"
	c.about = "Steps on a real deque: its owner pushes and pops at one end, the newest first. Thieves steal at the other end, the oldest first."
	owner, thief := deque.NewChaseLev[string]()
	const at, step, size = 236.0, 50.0, 36.0
	c.bold(at-52, 30, plain, "others", middle, "thieves")
	c.bold(at+5*step+20, 30, plain, "ours", middle, "owner")
	var inside []string
	gone, pushed := 0, 0 // how many were stolen, or pushed and not popped
	y := 50.0
	show := func(what string) {
		c.text(16, y+24, plain, "ink", left, what)
		for i := range 5 {
			x := at + float64(i)*step
			k := i - gone
			if k < 0 || k >= len(inside) {
				c.rect(x, y, size, size, 4, "gone")
				continue
			}
			c.rect(x, y, size, size, 4, "ourbox")
			c.bold(x+size/2, y+24, large, "ink", middle, inside[k])
		}
	}
	next := func() { y += 54 }
	outLeft := func(v string) {
		c.arrow("otherrule", "others", at+float64(gone-1)*step-4, y+size/2, at-40, y+size/2)
		c.bold(at-54, y+size/2+6, large, "others", middle, v)
	}
	outRight := func(v string, slot int) {
		c.arrow("ourrule", "ours", at+float64(slot)*step+size+6, y+size/2, at+5*step+6, y+size/2)
		c.bold(at+5*step+20, y+size/2+6, large, "ours", middle, v)
	}
	push := func(vs ...string) {
		for _, v := range vs {
			owner.Push(v)
			inside = append(inside, v)
			pushed++
		}
		show("push " + strings.Join(vs, ", "))
		c.arrow("ourrule", "ours", at+5*step+12, y+size/2, at+float64(pushed-1)*step+size+6, y+size/2)
		next()
	}
	pop := func() {
		v, _ := owner.Pop()
		inside = inside[:len(inside)-1]
		pushed--
		show("pop: the newest")
		outRight(v, pushed)
		next()
	}
	steal := func() {
		v, result := thief.Steal()
		if result != deque.Success {
			panic("a thief alone has lost")
		}
		inside = slices.Delete(inside, 0, 1)
		gone++
		show("steal: the oldest")
		outLeft(v)
		next()
	}
	push("A", "B", "C", "D")
	pop()
	steal()
	push("E")
	steal()
	pop()
	c.foot(y+12, "The ends are far apart, so owner and thieves meet only at the last element. Then one compare-and-swap decides which of them has it. The oldest fork is the largest part of the work, as a rule: few steals suffice.")
}

// drawWorker draws where a worker's state is, by the type that holds it.
func drawWorker(c *canvas, _ *kept) {
	c.title = "Where a fork finds its worker"
	c.about = "The stack of a goroutine holds the calls of a function. Each has a pointer to the Frame, and that has one to the Worker. In the Worker, what thieves touch is more than a cache line away from what its owner writes."
	c.bold(16, 28, plain, "ink", left, "stack of a goroutine")
	for i, call := range []string{"fib(f, 5)", "fib(f, 4)", "fib(f, 3)"} {
		c.box(16, 40+float64(i)*34, 140, 30, "box", call)
	}
	c.box(214, 56, 140, 62, "ourbox", "Frame", "arguments of forks")
	c.box(412, 56, 132, 62, "ourbox", "Worker", "with its deque")
	for i := range 3 {
		c.arrow("rule", "faint", 156, 55+float64(i)*34, 212, 72+float64(i)*15)
	}
	c.arrow("rule", "faint", 354, 87, 410, 87)
	c.line("grid", 412, 118, 60, 160)
	c.line("grid", 544, 118, 540, 184)

	const x0, lineHigh = 60.0, 34.0
	worker := reflect.TypeFor[engine.Worker]()
	offset := func(name string) float64 {
		f, ok := worker.FieldByName(name)
		if !ok {
			panic(missing("engine.Worker has no field " + name + ": draw it anew"))
		}
		return float64(f.Offset)
	}
	demand, pool := offset("Demand"), offset("pool")
	byteWide := 480 / (pool - demand)
	y := 178.0
	c.text(x0, y, small, "faint", left, "bytes of the Worker")
	y += 10
	row := func(from float64) {
		c.text(x0-8, y+22, small, "faint", right, num(from))
		y += lineHigh + 8
	}
	c.rect(x0, y, demand*byteWide, lineHigh, 0, "gone")
	c.text(x0+demand*byteWide/2, y+22, small, "faint", middle, "empty")
	row(0)
	c.rect(x0, y, 480, lineHigh, 0, "gone")
	end := x0
	for _, name := range []string{"Demand", "thief", "forks", "Spans"} {
		f, _ := worker.FieldByName(name)
		from := x0 + (offset(name)-demand)*byteWide
		end = from + float64(f.Type.Size())*byteWide
		c.rect(from, y, end-from, lineHigh, 0, "otherbox")
	}
	c.text(end+14, y+22, small, "ink", left, "Demand, thief, forks, Spans")
	row(demand)
	c.rect(x0, y, 480, lineHigh, 0, "ourbox")
	c.text(x0+240, y+22, small, "ink", middle, "what the owner uses: deque, activations, credit, counts")
	row(pool)
	c.foot(y+22, "Thieves find the deque in the second row, and raise Demand there. Nothing else is within a cache line of it, so they slow the owner down only when they ask. Go has no memory of a thread that code could name. The Worker is an argument, and so is never that of another pool.")
}
