package rig

import (
	"fmt"
	"testing"

	"github.com/filch-go/filch"
)

// FibOfInts computes Fibonacci numbers, with the second call on the frame as well, so that measuring sees each call.
var FibOfInts = filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
	if n < 2 {
		return n
	}
	h := f.Fork(n - 1)
	b := f.Call(n - 2)
	return f.Join(h) + b
})

// A Form is one of the ways to run a, with b forked.
type Form struct {
	Name string
	Both func(s filch.Scope, a, b func(w *filch.Worker))
}

// A Step is one half of what a Form runs.
type Step = func(w *filch.Worker)

// pairFunc forks the second of two steps and runs the first.
var pairFunc = filch.NewFunc(func(f *filch.Frame[[]Step, struct{}], s []Step) struct{} {
	if len(s) == 1 {
		s[0](f.Worker())
		return struct{}{}
	}
	h := f.Fork(s[1:])
	f.Call(s[:1])
	return f.Join(h)
})

var pairChain = filch.NewChain(pairLink)

func pairLink(l *filch.Link[[]Step, struct{}], s []Step) struct{} {
	if len(s) == 1 {
		s[0](l.Worker())
		return struct{}{}
	}
	l.Fork(s[1:])
	pairLink(l.Next(), s[:1])
	if l.TakeBack() {
		return pairLink(l, s[1:])
	}
	return l.Join()
}

// Forms are all ways to fork.
var Forms = []Form{
	{"Func", func(s filch.Scope, a, b func(w *filch.Worker)) { pairFunc.Call(s, []Step{a, b}) }},
	{"Chain", func(s filch.Scope, a, b func(w *filch.Worker)) { pairChain.Call(s, []Step{a, b}) }},
	{"Worker.Join", func(s filch.Scope, a, b func(w *filch.Worker)) {
		s.Do(func(w *filch.Worker) { w.Join(a, b) })
	}},
	{"Join", func(s filch.Scope, a, b func(w *filch.Worker)) {
		s.Do(func(w *filch.Worker) {
			x, y := filch.Join(w,
				func(w *filch.Worker) string { a(w); return "a" },
				func(w *filch.Worker) int { b(w); return 2 })
			if x != "a" || y != 2 {
				panic(fmt.Sprintf("Join returned %q and %d", x, y))
			}
		})
	}},
}

// EachForm runs a test for each of Forms.
func EachForm(t *testing.T, f func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker)))) {
	for _, form := range Forms {
		t.Run(form.Name, func(t *testing.T) { f(t, form.Both) })
	}
}

// SerialFib computes a Fibonacci number without a pool.
func SerialFib(n int) int {
	if n < 2 {
		return n
	}
	return SerialFib(n-1) + SerialFib(n-2)
}

// FibFunc computes Fibonacci numbers, with a fork for each of two calls.
var FibFunc = filch.NewFunc(fibBody)

func fibBody(f *filch.Frame[int, int], n int) int {
	if n < 2 {
		return n
	}
	h := f.Fork(n - 1)
	b := fibBody(f, n-2)
	return f.Join(h) + b
}

// JoinFib is FibFunc by Join.
func JoinFib(w *filch.Worker, n int) int {
	if n < 2 {
		return n
	}
	a, b := filch.Join(w, func(w *filch.Worker) int { return JoinFib(w, n-1) }, func(w *filch.Worker) int { return JoinFib(w, n-2) })
	return a + b
}

// FibChain is FibFunc by a Chain.
var FibChain = filch.NewChain(fibLink)

func fibLink(l *filch.Link[int, int], n int) int {
	if n < 2 {
		return n
	}
	l.Fork(n - 1)
	b := fibLink(l.Next(), n-2)
	if l.TakeBack() {
		return fibLink(l, n-1) + b
	}
	return l.Join() + b
}

// PerFork reports what a fork of fib(n) has taken in b.
func PerFork(b *testing.B, n int) {
	forks := float64(SerialFib(n+1) - 1)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/forks, "ns/fork")
}

// Sink keeps results, so that the compiler leaves nothing out.
var Sink int

// A Node is one of a binary tree.
type Node struct {
	L, R *Node
	V    int
}

// Build returns a tree of that depth, numbered from n on.
func Build(depth int, n *int) *Node {
	*n++
	t := &Node{V: *n}
	if depth > 1 {
		t.L = Build(depth-1, n)
		t.R = Build(depth-1, n)
	}
	return t
}

// SumFunc adds up the numbers of a tree.
var SumFunc = filch.NewFunc(sumBody)

func sumBody(f *filch.Frame[*Node, int], t *Node) int {
	if t.L == nil {
		return t.V
	}
	h := f.Fork(t.R)
	s := t.V + sumBody(f, t.L)
	return s + f.Join(h)
}

// SumChain is SumFunc by a Chain.
var SumChain = filch.NewChain(sumLink)

func sumLink(l *filch.Link[*Node, int], t *Node) int {
	if t.L == nil {
		return t.V
	}
	l.Fork(t.R)
	s := t.V + sumLink(l.Next(), t.L)
	if l.TakeBack() {
		return s + sumLink(l, t.R)
	}
	return s + l.Join()
}
