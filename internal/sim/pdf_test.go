package sim

import (
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// nodes are when the nodes of a run were ready and began, in the order in which one worker runs them.
type nodes struct {
	place map[[2]uint64]int // by thread and number
	count map[uint64]uint64 // by thread, how many of its nodes have begun
	ready map[uint64]int64  // by thread, since when it has been
	since []int64
	began []int64
}

// serialPlaces numbers the nodes of a program as one worker runs them.
func serialPlaces(t *testing.T, p dag.Program) *nodes {
	n := &nodes{place: map[[2]uint64]int{}, count: map[uint64]uint64{}, ready: map[uint64]int64{}}
	run(t, Config{Program: p, Scheduler: "continuation", Workers: 1, Tell: func(e Event) {
		if e.Kind == Began {
			n.place[[2]uint64{e.Thread, n.count[e.Thread]}] = len(n.place)
			n.count[e.Thread]++
		}
	}})
	n.since, n.began = make([]int64, len(n.place)), make([]int64, len(n.place))
	clear(n.count)
	return n
}

func (n *nodes) tell(e Event) {
	switch e.Kind {
	case Began:
		i := n.place[[2]uint64{e.Thread, n.count[e.Thread]}]
		n.since[i], n.began[i] = n.ready[e.Thread], e.Time
		n.count[e.Thread]++
	case Spawned, Ended, Enabled:
		n.ready[e.Thread] = e.Time
	}
}

// At no step is a node passed over for one that comes later in the serial order.
func TestDepthFirstRunsWhatIsLeftmost(t *testing.T) {
	for _, p := range []dag.Program{dag.Fib(9), dag.Loop(30), dag.Iterative{Rounds: 3, Blocks: 16}} {
		for _, workers := range []int{1, 2, 3, 8, 100} {
			n := serialPlaces(t, p)
			r := run(t, Config{Program: p, Scheduler: "pdf", Workers: workers, Tell: n.tell})
			passed := make([]int, r.Time+1) // by step: the first node that was ready and did not begin
			last := make([]int, r.Time+1)   // the last one that began
			for i := range passed {
				passed[i] = len(n.began)
			}
			for i := range n.began {
				last[n.began[i]] = max(last[n.began[i]], i)
				for step := n.since[i]; step < n.began[i]; step++ {
					passed[step] = min(passed[step], i)
				}
			}
			for step := range last {
				if last[step] > passed[step] {
					t.Errorf("%v on %d workers: at step %d node %d began, and node %d, which was ready, did not", p, workers, step, last[step], passed[step])
				}
			}
		}
	}
}

// Blelloch, Gibbons and Matias: T <= T1/P + Tinf and space < S1 + P*Tinf, on unit nodes. The first holds on
// others too.
func TestDepthFirstKeepsItsBounds(t *testing.T) {
	for _, p := range []dag.Program{dag.Fib(16), dag.Loop(1000), dag.Iterative{Rounds: 5, Blocks: 64}, uneven{dag.Fib(11)}} {
		f, err := dag.Serial(p, nil)
		if err != nil {
			t.Fatal("dag.Serial(p, nil):", err)
		}
		for _, workers := range []int{1, 2, 5, 16, 100} {
			r := run(t, Config{Program: p, Facts: &f, Scheduler: "pdf", Workers: workers})
			if n := int64(workers); r.Time*n > r.T1+r.Tinf*(n-1) {
				t.Errorf("%T on %d workers: %d steps, with a work of %d and a span of %d", p, workers, r.Time, r.T1, r.Tinf)
			}
			if f.Unit && int64(r.MaxLive) >= int64(f.Live)+int64(workers)*r.Tinf {
				t.Errorf("%T on %d workers: %d threads alive; one worker has %d, and the span is %d", p, workers, r.MaxLive, f.Live, r.Tinf)
			}
			if workers == 1 && r.MaxLive != f.Live {
				t.Errorf("%T: one worker has %d threads alive, not %d", p, r.MaxLive, f.Live)
			}
		}
	}
}
