package filch_test

import (
	"strconv"
	"testing"

	"github.com/filch-go/filch"
)

func serialFib(n int) int {
	if n < 2 {
		return n
	}
	return serialFib(n-1) + serialFib(n-2)
}

var fibFunc = filch.NewFunc(fibBody)

func fibBody(f *filch.Frame[int, int], n int) int {
	if n < 2 {
		return n
	}
	h := f.Fork(n - 1)
	b := fibBody(f, n-2)
	return f.Join(h) + b
}

func joinFib(w *filch.Worker, n int) int {
	if n < 2 {
		return n
	}
	a, b := filch.Join(w, func(w *filch.Worker) int { return joinFib(w, n-1) }, func(w *filch.Worker) int { return joinFib(w, n-2) })
	return a + b
}

var fibChain = filch.NewChain(fibLink)

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

func perFork(b *testing.B, n int) {
	forks := float64(serialFib(n+1) - 1)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/forks, "ns/fork")
}

var sink int

func BenchmarkFib(b *testing.B) {
	const n = 35
	b.Run("serial", func(b *testing.B) {
		for b.Loop() {
			sink = serialFib(n)
		}
		perFork(b, n)
	})
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		b.Run("func/"+strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = fibFunc.Call(p, n)
			}
			if sink != 9227465 {
				b.Fatal(sink)
			}
			perFork(b, n)
		})
		b.Run("chain/"+strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = fibChain.Call(p, n)
			}
			if sink != 9227465 {
				b.Fatal(sink)
			}
			perFork(b, n)
		})
		b.Run("join/"+strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Do(func(w *filch.Worker) { sink = joinFib(w, 27) })
			}
			perFork(b, 27)
		})
		b.Logf("%+v", p.Stats())
	}
}

func BenchmarkDo(b *testing.B) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			for b.Loop() {
				p.Do(func(*filch.Worker) {})
			}
		})
	}
}

type node struct {
	l, r *node
	v    int
}

func build(depth int, n *int) *node {
	*n++
	t := &node{v: *n}
	if depth > 1 {
		t.l = build(depth-1, n)
		t.r = build(depth-1, n)
	}
	return t
}

func serialSum(t *node) int {
	if t.l == nil {
		return t.v
	}
	return t.v + serialSum(t.l) + serialSum(t.r)
}

var sumFunc = filch.NewFunc(sumBody)

func sumBody(f *filch.Frame[*node, int], t *node) int {
	if t.l == nil {
		return t.v
	}
	h := f.Fork(t.r)
	s := t.v + sumBody(f, t.l)
	return s + f.Join(h)
}

var sumChain = filch.NewChain(sumLink)

func sumLink(l *filch.Link[*node, int], t *node) int {
	if t.l == nil {
		return t.v
	}
	l.Fork(t.r)
	s := t.v + sumLink(l.Next(), t.l)
	if l.TakeBack() {
		return s + sumLink(l, t.r)
	}
	return s + l.Join()
}

func BenchmarkTree(b *testing.B) {
	n := 0
	t := build(10, &n)
	b.Run("serial", func(b *testing.B) {
		for b.Loop() {
			sink = serialSum(t)
		}
	})
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		b.Run("func/"+strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = sumFunc.Call(p, t)
			}
		})
		b.Logf("%+v", p.Stats())
		b.Run("chain/"+strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = sumChain.Call(p, t)
			}
		})
		b.Logf("%+v", p.Stats())
	}
}
