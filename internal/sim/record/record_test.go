package record

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/span"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/internal/workload"
	"github.com/filch-go/filch/par"
	strands "github.com/filch-go/filch/strand"
)

// ticks is a clock that goes on by a nanosecond whenever it is asked.
func ticks() func() int64 {
	now := int64(0)
	return func() int64 { now++; return now }
}

// facts are those of a graph.
func facts(t testing.TB, g *dag.Graph) dag.Facts {
	t.Helper()
	f, err := dag.Serial(g, nil)
	if err != nil {
		t.Fatal("dag.Serial(g, nil):", err)
	}
	return f
}

// agrees fails unless a graph has the work and the span of a profile.
func agrees(t *testing.T, name string, g *dag.Graph, p filch.Profile) dag.Facts {
	t.Helper()
	f := facts(t, g)
	if f.Work != int64(p.Work) || f.Span != int64(p.Span) {
		t.Errorf("%s: work %d, span %d; measured %d, %d", name, f.Work, f.Span, p.Work, p.Span)
	}
	return f
}

// job returns a workload.
func job(t *testing.T, name, size string) *workload.Job {
	t.Helper()
	w, err := workload.Find(name)
	if err != nil {
		t.Fatal("workload.Find(name):", err)
	}
	j, err := w.Prepare(size, workload.Env{})
	if err != nil {
		t.Fatal("w.Prepare(size, …):", err)
	}
	if j.Load != nil {
		j.Load()
	}
	return j
}

// Programs of all forms have the work and the span in the graph that Measure finds, to the nanosecond.
func TestGraphsOfWorkloads(t *testing.T) {
	both := func(w *filch.Worker, a, b func(w *filch.Worker)) { w.Join(a, b) }
	for _, c := range []struct{ name, size string }{{"fib", "17"}, {"mergesort", "20000"}, {"uts", "T1/5"}} {
		j := job(t, c.name, c.size)
		forms := map[string]func(w *filch.Worker){
			"Func":          func(w *filch.Worker) { j.Func(w) },
			"Closures":      func(w *filch.Worker) { j.Closures(w, both) },
			"Strand":        func(w *filch.Worker) { strands.Run(w, func(s *strands.Strand) { j.Strand(s) }) },
			"StrandClosure": func(w *filch.Worker) { strands.Run(w, func(s *strands.Strand) { j.StrandClosure(s) }) },
		}
		if j.Chain != nil {
			forms["Chain"] = func(w *filch.Worker) { j.Chain(w) }
		}
		for form, f := range forms {
			if j.Reset != nil {
				j.Reset()
			}
			r, err := run(c.name, 0, ticks(), false, f)
			if err != nil {
				t.Fatal("run(c.name, 0, ticks(), false, f):", err)
			}
			facts := agrees(t, c.name+" by "+form, r.Graph, r.Profile)
			if facts.Work/facts.Span < 3 || facts.Threads < r.Profile.Forks/2 {
				t.Errorf("%s by %s: %+v, %d forks", c.name, form, facts, r.Profile.Forks)
			}
		}
	}
}

// So have loops, asyncs and what panics, and forks that a stop drops.
func TestGraphsOfOtherForms(t *testing.T) {
	sum := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		m := f.Mark()
		for i := range n {
			f.Fork(i / 2)
		}
		for _, r := range m.JoinAll {
			n += r
		}
		return n
	})
	panics := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		h := f.Fork(n - 1)
		f.Fork(n - 2)
		if n < 5 {
			panic("small")
		}
		return f.Join(h)
	})
	for name, f := range map[string]func(w *filch.Worker){
		"a loop": func(w *filch.Worker) { par.For(w, 1000, func(i int) { sum.Call(w, i%5) }, par.WithGrain(10)) },
		"a loop in a loop": func(w *filch.Worker) {
			par.For(w, 30, func(int) { par.For(w, 30, func(int) {}, par.WithGrain(1)) }, par.WithGrain(1))
		},
		"a loop of no element": func(w *filch.Worker) { par.For(w, 0, func(int) {}) },
		"forks in a loop":      func(w *filch.Worker) { sum.Call(w, 50) },
		"nothing":              func(w *filch.Worker) {},
		"asyncs of asyncs": func(w *filch.Worker) {
			var async func(w *filch.Worker, n int)
			async = func(w *filch.Worker, n int) {
				for i := range n {
					w.Async(func(w *filch.Worker) { async(w, i) })
					sum.Call(w, i)
				}
			}
			async(w, 6)
			w.Finish(func(w *filch.Worker) { async(w, 4) })
		},
		"a panic": func(w *filch.Worker) {
			for n := range 9 {
				func() {
					defer func() { _ = recover() }()
					w.Join(func(w *filch.Worker) { sum.Call(w, n) }, func(w *filch.Worker) { panics.Call(w, n) })
				}()
			}
		},
	} {
		r, err := run(name, 0, ticks(), false, f)
		if err != nil {
			t.Fatal("run(name, 0, ticks(), false, f):", err)
		}
		agrees(t, name, r.Graph, r.Profile)
	}
}

// random makes a program of all that a Recorder can be told, on a clock of its own.
type random struct {
	*span.Recorder
	rng  *rand.Rand
	time int64
}

func (p *random) works() {
	if p.rng.IntN(3) > 0 {
		p.time += p.rng.Int64N(20)
	}
}

func (p *random) program(left int) {
	p.works()
	if left == 0 {
		return
	}
	switch p.rng.IntN(4) {
	case 0:
		forks := p.rng.IntN(4)
		for range forks {
			p.Fork(span.Frame)
			p.program(left - 1)
		}
		for range forks {
			if p.rng.IntN(9) == 0 {
				p.Drop()
				continue
			}
			depth := p.Join()
			p.program(left - 1)
			p.End(depth)
			p.works()
		}
	case 1:
		block := p.Open()
		for range p.rng.IntN(5) {
			child := p.Spawn()
			p.program(left - 1)
			if p.rng.IntN(3) == 0 {
				p.Sync(child)
				p.program(left - 1)
			}
			p.EndChild(child)
			p.works()
			if p.rng.IntN(4) == 0 {
				p.Sync(block)
			}
		}
		p.End(block)
	case 2:
		block := p.Open()
		var queued []span.Point
		for range p.rng.IntN(4) {
			queued = append(queued, p.Queue())
			p.works()
		}
		for n := len(queued); n > 0; n = len(queued) {
			child := p.Begin(queued[n-1])
			queued = queued[:n-1]
			p.program(left - 1)
			if p.rng.IntN(4) == 0 { // it belongs to the same block, and runs later
				queued = append(queued, p.Queue())
				p.works()
			}
			p.End(child)
		}
		p.End(block)
	case 3:
		loop := p.Loop()
		for range p.rng.IntN(6) {
			p.program(left - 1)
			p.EndPiece(loop)
		}
		p.EndLoop(loop, 0)
	}
	p.works()
}

func record(seed uint64, least int64) (*dag.Graph, span.Profile, error) {
	p := &random{rng: rand.New(rand.NewPCG(seed, 1))}
	p.Recorder = span.NewRecorder(func() int64 { return p.time }, 0)
	s := &shape{maker: maker{finest: least, reuses: true}}
	p.Shape(s)
	p.Start()
	p.time++
	p.program(5)
	profile := p.Stop()
	g, err := s.end("random")
	return g, profile, err
}

// The graph of any program has its work and its span. If it is made coarser, its work is the same and its
// span no shorter.
func TestGraphsOfRandomPrograms(t *testing.T) {
	var all, left int64
	for seed := range uint64(1000) {
		g, p, err := record(seed, 0)
		if err != nil {
			t.Fatal("record(seed, 0):", err)
		}
		fine := agrees(t, "random", g, filch.Profile(p))
		g, _, err = record(seed, 40)
		if err != nil {
			t.Fatal("record(seed, 40):", err)
		}
		coarse := facts(t, g)
		if coarse.Work != fine.Work || coarse.Span < fine.Span || coarse.Nodes > fine.Nodes {
			t.Errorf("made coarser, %+v is %+v", fine, coarse)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		all, left = all+fine.Nodes, left+coarse.Nodes
	}
	if left > all*3/4 {
		t.Errorf("of %d nodes %d are left", all, left)
	}
}

// A loop of which a few pieces may run at a time takes no less than its work divided by them.
func TestLoopsOfAFewPiecesAtATime(t *testing.T) {
	now := int64(0)
	r := span.NewRecorder(func() int64 { return now }, 0)
	s := &shape{maker: maker{reuses: true}}
	r.Shape(s)
	r.Start()
	loop := r.Loop()
	for i := range int64(64) {
		now += 1 + i%7
		r.EndPiece(loop)
	}
	r.EndLoop(loop, 4)
	p := r.Stop()
	g, err := s.end("loop")
	if err != nil {
		t.Fatal(`s.end("loop"):`, err)
	}
	if f := facts(t, g); f.Work != int64(p.Work) || f.Span < int64(p.Span) || f.Span > int64(p.Span)+7 {
		t.Errorf("work %d, span %d; measured %+v", f.Work, f.Span, p)
	}
}

// A large run makes a small file. On a way through fib, which is as high as its number, one part is merged at each
// level at most.
func TestLargeRunsMakeSmallGraphs(t *testing.T) {
	n, least := 27, int64(1000)
	if thorough.Sampled() {
		n, least = 20, 100
	}
	fib := filch.NewFunc(func(f *filch.Frame[int, int], n int) int { return fibBody(f, n) })
	r, err := run("fib", time.Duration(least), ticks(), false, func(w *filch.Worker) { fib.Call(w, n) })
	if err != nil {
		t.Fatal(`run("fib", time.Duration(least), ticks(), false, …):`, err)
	}
	f := facts(t, r.Graph)
	if f.Work != int64(r.Profile.Work) || f.Span < int64(r.Profile.Span) || f.Span > int64(r.Profile.Span)+int64(n)*least {
		t.Errorf("%+v, measured %+v", f, r.Profile)
	}
	if f.Nodes > 8*f.Work/least {
		t.Errorf("%d nodes of %d ns each", f.Nodes, least)
	}
	var b bytes.Buffer
	if err := r.Graph.Write(&b); err != nil || b.Len() > 1<<19 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	again, err := dag.ReadGraph(&b)
	if err != nil || facts(t, again) != f {
		t.Errorf("it is read as another; %v", err)
	}
}

func fibBody(f *filch.Frame[int, int], n int) int {
	if n < 2 {
		return n
	}
	h := f.Fork(n - 1)
	b := fibBody(f, n-2)
	return f.Join(h) + b
}

// On the clock of the machine, the work is what Measure finds, and all schedulers run the graph.
func TestAllSchedulersRunWhatIsRecordedOnTheClock(t *testing.T) {
	j := job(t, "mergesort", "20000")
	j.Reset()
	r, err := Run("mergesort", time.Microsecond, func(w *filch.Worker) { j.Func(w) })
	if err != nil {
		t.Fatal(`Run("mergesort", time.Microsecond, …):`, err)
	}
	f := facts(t, r.Graph)
	if off := f.Work - int64(r.Profile.Work); off < 0 || off > f.Work/100+1000 {
		t.Errorf("work %d, measured %d", f.Work, r.Profile.Work)
	}
	for _, s := range sim.Schedulers() {
		if _, err := sim.Run(sim.Config{Program: r.Graph, Facts: &f, Scheduler: s, Workers: 4, Seed: 1}); err != nil {
			t.Error("sim.Run(…):", err)
		}
	}
}

func TestErrorsOfRun(t *testing.T) {
	if _, err := Run("f", 0, nil); err == nil || err.Error() != "record: Run: f is nil" {
		t.Error(`Run("f", 0, nil):`, err)
	}
	if _, err := Run("f", -1, func(*filch.Worker) {}); err == nil || !strings.Contains(err.Error(), "finest is -1ns") {
		t.Error(`Run("f", -1, …):`, err)
	}
	standing := func() int64 { return 5 }
	if _, err := run("f", 0, standing, false, func(*filch.Worker) {}); err == nil || !strings.Contains(err.Error(), "nothing was recorded") {
		t.Error(`run("f", 0, standing, false, …):`, err)
	}
	defer func() {
		if _, ok := recover().(*filch.PanicError); !ok {
			t.Error("a panic does not arrive")
		}
	}()
	_, _ = Run("f", 0, func(*filch.Worker) { panic("f") })
}
