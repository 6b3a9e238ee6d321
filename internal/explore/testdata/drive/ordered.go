package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/filch-go/filch/internal/explore/sched"
	"github.com/filch-go/filch/internal/explore/subject/ordered"
)

// orderedProgram is a queue with local ones of two values each, or as many as before if
// that is more, and what their owners do, as letters: u push, o pop, g push to the global
// queue, and l Len, which must not be 0. Some values are there before, in the first thread's
// queue or that of the one that does nothing.
type orderedProgram struct {
	before  int
	threads []string
	strict  bool
	bound   int // preemptions; 0: any number
}

var orderedPrograms = []orderedProgram{
	{1, []string{"o", "o"}, false, 0},
	{2, []string{"o", "o"}, false, 0},
	{2, []string{"oo", "o"}, false, 2},
	{2, []string{"u", "o"}, false, 2}, // a spill
	{0, []string{"uo", "o"}, false, 0},
	{0, []string{"uo", "uo"}, false, 0},
	{1, []string{"uo", "oo"}, false, 2},
	{1, []string{"", "o", "o"}, false, 2},
	{2, []string{"", "oo", "o"}, false, 2},
	{2, []string{"o", "o", "o"}, false, 1},
	{4, []string{"", "oo", "o"}, false, 1},     // the first steal is of two
	{3, []string{"o", "", "l", "o"}, false, 1}, // one value moves from the second to the first
	{0, []string{"g", "o"}, false, 0},
	{1, []string{"g", "oo"}, false, 0},
	{2, []string{"uo", "o"}, true, 2},
	{1, []string{"uo", "uo"}, true, 0},
}

func (p orderedProgram) explored(r *sched.Run) func() error {
	var opts []ordered.Option
	if p.strict {
		opts = append(opts, ordered.Strict())
	}
	q := ordered.New[int](len(p.threads), max(2, p.before), opts...)
	var n ran
	pushed := 0
	push := func(to func(priority, v int)) {
		pushed++
		to(0, pushed-1)
	}
	enough := p.before >= strings.Count(strings.Join(p.threads, ""), "o")
	for range p.before {
		push(q.Local(max(0, slices.Index(p.threads, ""))).Push)
	}
	pop := func(i int) bool {
		v, ok := q.Local(i).Pop()
		if ok {
			n[v]++
		}
		return ok
	}
	for i, ops := range p.threads {
		r.Go(func() {
			for _, op := range ops {
				switch op {
				case 'u':
					push(q.Local(i).Push)
				case 'l':
					if q.Len() == 0 {
						r.Fail("wrongly counted: Len is 0")
					}
				case 'g':
					push(q.Push)
				case 'o':
					if !pop(i) && enough {
						r.Fail("not done exactly once: nothing was there")
					}
				}
			}
		})
	}
	return func() error {
		if left := q.Len(); left != pushed-sum(n) {
			return fmt.Errorf("wrongly counted: %d, with %d of %d popped", left, sum(n), pushed)
		}
		for pop(0) { // finds all there is
		}
		want := make([]int, pushed)
		for i := range want {
			want[i] = 1
		}
		return n.want(want...)
	}
}

// addressablePrograms are such programs of an Addressable, with more letters: r removes the first
// of the values, f gives it another priority, and F too, in the thread's own queue. Here l is Len,
// which must not be 0 if there are more values than r and o could take.
var addressablePrograms = []orderedProgram{
	{1, []string{"o", "r"}, false, 0},
	{1, []string{"o", "f"}, false, 0},
	{1, []string{"r", "f"}, false, 0},
	{1, []string{"f", "f"}, false, 0},
	{1, []string{"r", "r"}, false, 0},
	{1, []string{"F", "o"}, false, 2},
	{1, []string{"f", "l"}, false, 0},
	{1, []string{"F", "l"}, false, 0},
	{2, []string{"fo", "l"}, false, 2},
	{2, []string{"oo", "f", "r"}, false, 1},
	{1, []string{"o", "f", "r"}, false, 2},
	{1, []string{"o", "f", "f"}, false, 1},
	{1, []string{"o", "F", "o"}, false, 1},
	{2, []string{"o", "f", "l"}, false, 1},
	{2, []string{"oF", "o", "r"}, true, 1},
}

func (p orderedProgram) addressed(r *sched.Run) func() error {
	var opts []ordered.Option
	if p.strict {
		opts = append(opts, ordered.Strict())
	}
	a := ordered.NewAddressable[int](len(p.threads), 2, opts...)
	var n ran
	out := 0
	took := func(v int, ok bool) {
		if ok {
			n[v]++
			out++
		}
	}
	all := strings.Join(p.threads, "")
	rest := p.before > strings.Count(all, "o")+strings.Count(all, "r")
	var first *ordered.Handle[int]
	for v := range p.before {
		if h := a.Local(0).Push(1, v); v == 0 {
			first = h
		}
	}
	for i, ops := range p.threads {
		r.Go(func() {
			for _, op := range ops {
				switch op {
				case 'o':
					took(a.Local(i).Pop())
				case 'r':
					took(first.Remove())
				case 'f':
					first.Fix(2)
				case 'F':
					a.Local(i).Fix(first, 0)
				case 'l':
					if a.Len() == 0 && rest {
						r.Fail("wrongly counted: Len is 0")
					}
				}
			}
		})
	}
	return func() error {
		if left := a.Len(); left < p.before-out {
			return fmt.Errorf("wrongly counted: %d, with %d of %d out", left, out, p.before)
		}
		for {
			v, ok := a.Local(0).Pop()
			if !ok {
				break
			}
			took(v, ok)
		}
		if left := a.Len(); left != 0 {
			return fmt.Errorf("wrongly counted: %d are left", left)
		}
		want := make([]int, p.before)
		for i := range want {
			want[i] = 1
		}
		return n.want(want...)
	}
}

// gateProgram is an owner, which comes in twice, and two thieves at one gate.
func gateProgram(r *sched.Run) func() error {
	var g ordered.Gate
	var inside int
	visit := func() { sched.Writes(&inside) }
	g.Enter()
	g.Leave(1)
	r.Go(func() {
		for range 2 {
			g.Enter()
			visit()
			g.Leave(1)
		}
	})
	for range 2 {
		r.Go(func() {
			if g.EnterThief() {
				visit()
				g.LeaveThief(1)
			}
		})
	}
	return func() error { return nil }
}

func sum(n ran) (all int) {
	for _, k := range n {
		all += k
	}
	return all
}

func init() { parts = append(parts, orderedExplored) }

func orderedExplored(deep, _ bool) (all []program) {
	for i, p := range append(slices.Clone(orderedPrograms), addressablePrograms...) {
		name, run := fmt.Sprintf("ordered/%d/%s", p.before, strings.Join(p.threads, "|")), p.explored
		if i >= len(orderedPrograms) {
			name, run = strings.Replace(name, "ordered", "ordered/handles", 1), p.addressed
		}
		if p.strict {
			name += "/strict"
		}
		bound := p.bound
		switch {
		case bound == 0:
			bound = -1
		case deep:
			bound++
		}
		all = append(all, program{name, run, bound})
	}
	return append(all, program{"ordered/gate", gateProgram, -1})
}
