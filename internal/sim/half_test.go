package sim

import (
	"math"
	"testing"
)

// bag runs n threads of one node that one worker has at the start, with the node of their parent that joins them.
func bag(t *testing.T, c Config, n uint32) *Result {
	c.Program = Loop(n)
	m, err := newMachine(c)
	if err != nil {
		t.Fatal(err)
	}
	parent := m.spawn(None, 0, c.Program.Root(), mix(0))
	f := Facts{Work: int64(n) + 1, Span: 2, Nodes: int64(n) + 1}
	for i := range n {
		id := m.spawn(parent, 0, Args{Kind: inner}, path(m.threads[parent].path, i+1))
		m.push(0, id)
		f.sum += mix(m.threads[id].path)
	}
	m.threads[parent].PC, m.threads[parent].state = n, waiting
	f.sum += mix(m.threads[parent].path ^ uint64(n))
	m.facts = &f
	for w := range int32(c.Workers) {
		if w > 0 {
			m.wheel.add(0, w, false)
		}
	}
	m.begin(0, m.deques[0].pop())
	r, err := m.run()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Tchiboukdjian, Gast and Trystram: a bag of W unit tasks takes W/P + 3.65*log2 W expected, at most.
func TestHalfOfABagIsWithinItsBound(t *testing.T) {
	for _, workers := range []int{2, 8, 64, 512} {
		for _, n := range []uint32{100, 10_000} {
			const seeds = 20
			var sum float64
			for seed := range uint64(seeds) {
				r := bag(t, Config{Scheduler: "half", Workers: workers, Seed: seed}, n)
				sum += float64(r.Time)
			}
			mean, bound := sum/seeds, float64(n)/float64(workers)+3.65*math.Log2(float64(n))
			if mean > bound+1 { // and the node that joins them
				t.Errorf("%d workers, %d tasks: %.1f steps, more than %.1f", workers, n, mean, bound)
			}
			one := bag(t, Config{Scheduler: "child", Workers: workers}, n)
			if workers >= 64 && n >= 10_000 && float64(one.Time) < 2*bound {
				t.Errorf("%d workers, %d tasks: stealing one at a time takes %d steps, about as little as half", workers, n, one.Time)
			}
		}
	}
}
