package workload

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// build builds targets that depend on others, as a build tool does: a target is made when all that
// it depends on are, from what they came to.
//
// Asyncs fit: the last of its dependencies to be done queues a target, and Do waits for all. No
// recursion has the shape of the graph, and nobody waits for one target.
var build = &Workload{
	Name:    "build",
	About:   "n targets that depend on others and take 1 to 500 us: a graph, from below",
	Sizes:   []string{"100", "10000", "100000"},
	Default: []Default{{Size: "10000"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("build", size, 1, 1<<20)
		if err != nil {
			return nil, err
		}
		var g *buildGraph
		return &Job{
			Load:   func() { g = newBuildGraph(n) },
			Reset:  func() { g.reset() },
			Answer: func() string { return g.sum() },
			Serial: func() string {
				for i := range g.targets { // what a target depends on has lower numbers
					g.make(i)
				}
				return ""
			},
			Func: func(p filch.Scope) string {
				p.Do(func(w *filch.Worker) { w.Finish(g.queueFirst) })
				return ""
			},
			Goroutines: func(workers int) string { g.byChannel(workers); return "" },
		}, nil
	},
}

// target is something to be built.
type target struct {
	needs []int // what it depends on
	users []int // what depends on it
	work  int   // steps to build it
	left  atomic.Int32
	made  uint64 // what it came to
}

type buildGraph struct{ targets []target }

// newBuildGraph makes up targets that depend on up to five of the hundred before them. Few of
// them take much longer than most.
func newBuildGraph(n int) *buildGraph {
	g := &buildGraph{targets: make([]target, n)}
	rng := splitmix(29)
	for i := range g.targets {
		t := &g.targets[i]
		t.work = min(int(500/(rng.float()+1e-6)), 250_000)
		for range min(rng.below(6), i) {
			need := i - 1 - rng.below(min(i, 100))
			t.needs = append(t.needs, need)
			g.targets[need].users = append(g.targets[need].users, i)
		}
	}
	return g
}

func (g *buildGraph) reset() {
	for i := range g.targets {
		t := &g.targets[i]
		t.left.Store(int32(len(t.needs)))
		t.made = 0
	}
}

func (g *buildGraph) sum() string {
	h := splitmix(0)
	for i := range g.targets {
		h ^= splitmix(g.targets[i].made)
		h.next()
	}
	return fmt.Sprintf("%d targets, hash %016x", len(g.targets), uint64(h))
}

// make builds a target.
func (g *buildGraph) make(i int) {
	t := &g.targets[i]
	h := splitmix(i)
	for _, need := range t.needs {
		h ^= splitmix(g.targets[need].made)
		h.next()
	}
	x := uint64(0)
	for range t.work {
		x ^= h.next()
	}
	t.made = x
}

// queueFirst queues all targets that depend on none.
func (g *buildGraph) queueFirst(w *filch.Worker) {
	for i := range g.targets {
		if len(g.targets[i].needs) == 0 {
			w.Async(func(w *filch.Worker) { g.makeAndQueue(w, i) })
		}
	}
}

// makeAndQueue builds a target, and queues those that waited for it alone.
func (g *buildGraph) makeAndQueue(w *filch.Worker, i int) {
	g.make(i)
	for _, user := range g.targets[i].users {
		if g.targets[user].left.Add(-1) == 0 {
			w.Async(func(w *filch.Worker) { g.makeAndQueue(w, user) })
		}
	}
}

// byChannel has as many goroutines as there are to be workers, which take targets from a channel
// and put those in that can be built next. It has room for all.
func (g *buildGraph) byChannel(workers int) {
	ready := make(chan int, len(g.targets))
	for i := range g.targets {
		if len(g.targets[i].needs) == 0 {
			ready <- i
		}
	}
	var left atomic.Int64
	left.Store(int64(len(g.targets)))
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range ready {
				g.make(i)
				for _, user := range g.targets[i].users {
					if g.targets[user].left.Add(-1) == 0 {
						ready <- user
					}
				}
				if left.Add(-1) == 0 {
					close(ready)
				}
			}
		})
	}
	wg.Wait()
}
