package main

import (
	"fmt"

	"github.com/filch-go/filch/internal/policy"
)

// drawSearch draws the order in which a worker looks for work, as the tables of internal/policy have it.
func drawSearch(c *canvas, _ *kept) {
	c.title = "Where a worker looks for work"
	c.about = "The order in which a worker looks for forks and tasks, from top to bottom. It runs the first that it finds. If it finds nothing, it looks again for a while, gives its place up, and looks a last time."
	words := map[policy.Where][2]string{
		policy.HandedOn: {"forks that were handed on", "stolen by a worker that must not run them"},
		policy.Own:      {"its own queue of tasks", ""},
		policy.Global:   {"the global queue", "tasks from outside"},
		policy.Others:   {"queues of other workers", "tasks that they have submitted"},
		policy.Forks:    {"deques of other workers", "the oldest fork of one"},
	}
	const x, wideBox, runs = 100.0, 280.0, 452.0
	c.box(x, 14, wideBox, 34, "ourbox", "a worker has no more work")
	y := 74.0
	first, last, above := y, 0.0, 48.0 // above is where the box above ends
	step := 0
	box := func(at policy.Where, indent float64) {
		step++
		w := words[at]
		lines := []string{w[0]}
		if w[1] != "" {
			lines = append(lines, w[1])
		}
		h := 26 + float64(len(lines)-1)*20
		c.arrow("rule", "faint", x+wideBox/2, above, x+wideBox/2, y)
		c.box(x+indent, y, wideBox-2*indent, h+8, "box", lines...)
		c.bold(x+indent-10, y+h/2+9, plain, "ink", right, fmt.Sprint(step))
		c.arrow("ourrule", "ours", x+wideBox-indent, y+h/2+4, runs, y+h/2+4)
		last = y + h/2 + 4
		above = y + h + 8
		y += h + 8 + 16
	}
	for _, at := range policy.Look {
		if at != policy.Source {
			box(at, 0)
			continue
		}
		from := y - 6
		for _, at := range policy.LookForTasks {
			box(at, 0)
		}
		c.line("gone", 58, from, 58, y-10)
		c.text(16, (from+y)/2, small, "faint", left, "tasks")
	}
	c.rect(runs, first-4, 92, last-first+26, 6, "ourbox")
	c.bold(runs+46, (first+last)/2+2, plain, "ink", middle, "found:")
	c.bold(runs+46, (first+last)/2+22, plain, "ink", middle, "run it")
	c.arrow("rule", "faint", x+wideBox/2, above, x+wideBox/2, y)
	c.box(x, y, wideBox, 54, "otherbox", "nothing: look again for a while,", "then give the place up")
	y += 80
	order := ""
	for i, at := range policy.LookByPriority {
		if i > 0 {
			order += ", then "
		}
		order += words[at][0]
	}
	c.foot(y, "Forks of its own are none of these: a join calls them. In a pool by priority, tasks are looked for in another order: "+order+". An urgent one in the global queue comes first.")
}

// A question of the decision tree, and what to use if the answer is yes.
type question struct {
	ask, use []string
}

// drawChoice draws which means fits which work.
func drawChoice(c *canvas, k *kept) {
	all, tasks, par, summary := k.report("all"), k.report("tasks"), k.report("par"), k.report("summary")
	each := func(size, executor string) string { return nanos(tasks.find("tasks", size, executor, 2).NsPerFork) }
	c.title = "Which means for which work"
	c.about = "A decision tree. Each question has the answer yes, which leads to what to use, with a measured figure, and the answer no, which leads to the next question."
	questions := []question{
		{[]string{"Is all of it less than", "some microseconds?"},
			[]string{"a plain loop", "For of 1,000 additions: " + digits(par.find("par/For", "1000", "filch", 2).Speedup) + " x serial"}},
		{[]string{"Does it mostly wait for", "a network or files?"},
			[]string{"goroutines", "50 orders that sleep: " + digits(summary.find("pizza", "1/10", "goroutine", 2).Speedup) + " x serial"}},
		{[]string{"Is it a loop, a sum, a", "sort over many elements?"},
			[]string{"package par", "SortFunc of 10^7: " + digits(par.find("par/SortFunc", "10000000", "filch", 2).Speedup) + " x serial"}},
		{[]string{"Is it a recursion that", "divides its work?"},
			[]string{"filch.Func: " + nanos(all.bar("a fork and join more than a call, fib 38")) + " a fork", "a goroutine each: " + nanos(all.find("fib", "24", "goroutine", 2).NsPerFork)}},
		{[]string{"Do tasks wait for", "tasks that they submit?"},
			[]string{"filch.Submit: " + each("submit and wait, nested", "filch") + " a task", "pools of fixed size deadlock"}},
		{[]string{"Are tasks shorter", "than a microsecond?"},
			[]string{"Pool.Go: " + each("empty", "filch") + " a task", "a goroutine each: " + each("empty", "goroutine")}},
	}
	y := 16.0
	const qx, qw, ux, uw, h = 16.0, 220.0, 300.0, 244.0, 52.0
	for i, q := range questions {
		c.rect(qx, y, qw, h, 6, "box")
		for n, s := range q.ask {
			c.text(qx+qw/2, y+22+float64(n)*20, small, "ink", middle, s)
		}
		c.arrow("ourrule", "ours", qx+qw, y+h/2, ux, y+h/2)
		c.text((qx+qw+ux)/2-4, y+h/2-7, small, "ink", middle, "yes")
		c.box(ux, y, uw, h, "ourbox", q.use...)
		c.arrow("rule", "faint", qx+qw/2, y+h, qx+qw/2, y+h+24)
		c.text(qx+qw/2+10, y+h+17, small, "ink", left, "no")
		y += h + 24
		if i == len(questions)-1 {
			size := "10,000 cycles"
			c.box(qx, y, ux+uw-qx, 74, "otherbox", "any of them: tasks of some microseconds cost alike",
				fmt.Sprintf("10,000 cycles: filch %s, basic %s,", each(size, "filch"), each(size, "basic")),
				fmt.Sprintf("channel %s, pond %s, goroutine %s", each(size, "channel"), each(size, "pond"), each(size, "goroutine")))
			y += 74
		}
	}
	c.foot(y+24, "Two workers. "+all.source())
}
