package benchmarks

import (
	"strconv"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

func BenchmarkFib(b *testing.B) {
	const n = 35
	b.Run("serial", func(b *testing.B) {
		for b.Loop() {
			rig.Sink = rig.SerialFib(n)
		}
		rig.PerFork(b, n)
	})
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		b.Run("func/"+strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rig.Sink = rig.FibFunc.Call(p, n)
			}
			if rig.Sink != 9227465 {
				b.Fatal(rig.Sink)
			}
			rig.PerFork(b, n)
		})
		b.Run("chain/"+strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rig.Sink = rig.FibChain.Call(p, n)
			}
			if rig.Sink != 9227465 {
				b.Fatal(rig.Sink)
			}
			rig.PerFork(b, n)
		})
		b.Run("join/"+strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Do(func(w *filch.Worker) { rig.Sink = rig.JoinFib(w, 27) })
			}
			rig.PerFork(b, 27)
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

func serialSum(t *rig.Node) int {
	if t.L == nil {
		return t.V
	}
	return t.V + serialSum(t.L) + serialSum(t.R)
}

func BenchmarkTree(b *testing.B) {
	n := 0
	t := rig.Build(10, &n)
	b.Run("serial", func(b *testing.B) {
		for b.Loop() {
			rig.Sink = serialSum(t)
		}
	})
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		b.Run("func/"+strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rig.Sink = rig.SumFunc.Call(p, t)
			}
		})
		b.Logf("%+v", p.Stats())
		b.Run("chain/"+strconv.Itoa(workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rig.Sink = rig.SumChain.Call(p, t)
			}
		})
		b.Logf("%+v", p.Stats())
	}
}
