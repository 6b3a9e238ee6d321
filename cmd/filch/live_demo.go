package main

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// phase is how long the demonstration does one thing before the next.
const phase = 3 * time.Second

// demonstrate keeps the workers of p busy until ctx ends, with a few seconds each of tasks of all lengths, recursion, and loops.
func demonstrate(ctx context.Context, p *filch.Pool) {
	step := stepsIn(20 * time.Microsecond)
	numbers := make([]uint64, 1<<20)
	for i := 0; ctx.Err() == nil; i++ {
		for begun := time.Now(); ctx.Err() == nil && time.Since(begun) < phase; {
			switch i % 3 {
			case 0:
				manyTasks(ctx, p, step)
			case 1:
				tree.Call(p, branch{seed: rand.Uint64(), depth: 22, step: step})
			case 2:
				par.For(p, len(numbers), func(i int) { numbers[i] = spun(uint64(i), 3) })
				par.Sort(p, numbers)
			}
		}
	}
}

// manyTasks runs some tasks of two kinds for each worker, some of which fork. A step is so many calls of spun.
func manyTasks(ctx context.Context, p *filch.Pool, step int) {
	g := p.Group(ctx)
	for range 8 * p.Stats().Workers {
		g.Go(func(context.Context) error {
			for range 10 + rand.IntN(200) {
				spent.Add(spun(1, step))
			}
			return nil
		}, filch.Named("parse"))
		g.Go(func(ctx context.Context) error {
			par.For(filch.ScopeOf(ctx), 100, func(i int) { spent.Add(spun(uint64(i), step)) }, par.WithGrain(10))
			return nil
		}, filch.Named("render"))
	}
	_ = g.Wait() // its tasks return nil
}

// A branch is a part of a tree whose parts are of unequal depth.
type branch struct {
	seed        uint64
	depth, step int
}

var tree = filch.NewFunc(search)

// search counts the leaves of such a tree.
func search(f *filch.Frame[branch, int], b branch) int {
	b.seed = spun(b.seed, 10)
	if b.depth <= 0 {
		spent.Add(spun(b.seed, b.step))
		return 1
	}
	left, right := b, b
	left.depth -= 1 + int(b.seed%4)
	right.depth -= 1 + int(b.seed>>8%4)
	right.seed++
	h := f.Fork(left)
	n := f.Call(right)
	return f.Join(h) + n
}

// spent keeps what was computed, so that it is.
var spent atomic.Uint64

// spun computes for some time, by so many steps of xorshift.
func spun(x uint64, steps int) uint64 {
	x |= 1
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// stepsIn returns about how many steps of spun this machine makes in that time.
func stepsIn(d time.Duration) int {
	const tried = 1 << 20
	begun := time.Now()
	spent.Add(spun(uint64(begun.Unix()), tried))
	return max(1, int(tried*d/max(1, time.Since(begun))))
}
