package strands

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/strand"
)

// node is a part of a random program: it notes its number, runs its children as its kind says, and notes
// its number again.
type node struct {
	kind     kind
	id       int
	children []*node
}

type kind int

const (
	inTurn   kind = iota // one after the other
	byJoin               // by Worker.Join, in pairs
	byFunc               // the first is called, and the others are forked and joined, the newest first
	byMark               // all are forked, and joined by JoinAll
	byBreak              // the same, but the loop is left early
	byOn                 // on a Frame by Func.On
	byChain              // by a Chain, in pairs
	byLoop               // by ForScope
	byBlocks             // by ForScope, two at a time
	byDo                 // in a Do of the worker
	byPanic              // in a fork that panics afterwards, which is recovered
	byPool               // in a Do of the pool with reducers of its own, whose values are noted
	kinds
)

func randomProgram(r *rand.Rand, size int, id *int) *node {
	n := &node{kind: kind(r.IntN(int(kinds))), id: *id}
	*id++
	for size--; size > 0; {
		part := 1 + r.IntN(size)
		n.children = append(n.children, randomProgram(r, part, id))
		size -= part
	}
	return n
}

// affine is the function x -> a*x + b. Composition is associative, and does not commute.
type affine struct{ a, b uint32 }

func (f affine) then(g affine) affine { return affine{f.a * g.a, g.a*f.b + g.b} }

// notes are the reducers that a program notes numbers in.
type notes struct {
	list *strand.Reducer[[]int]
	text *strand.Reducer[strand.Text]
	fun  *strand.Reducer[affine]
	sum  *strand.Reducer[int]
	made atomic.Int64 // views of fun
	work *strand.Holder[[]int]
}

func newNotes() *notes {
	n := &notes{list: strand.NewAppend[int](), text: strand.NewText(), sum: strand.NewSum[int]()}
	n.fun = strand.NewReducer(func() affine { n.made.Add(1); return affine{1, 0} }, affine.then)
	n.work = strand.NewHolder(func() []int { return nil })
	return n
}

func (n *notes) note(w *filch.Worker, id int) {
	work := n.work.View(w) // shared with nobody: else a race
	*work = append((*work)[:0], id)
	list := n.list.View(w)
	*list = append(*list, (*work)[0])
	if id%3 != 0 {
		fmt.Fprintf(n.text.View(w), "%d,", id)
	}
	f := n.fun.View(w)
	*f = f.then(affine{uint32(2*id + 1), uint32(id)})
	*n.sum.View(w) += id
}

func (n *notes) values() string {
	return fmt.Sprintln(n.list.Value(), n.text.Value(), n.fun.Value(), n.sum.Value())
}

// interpreter runs programs on the workers of a pool.
type interpreter struct {
	pool  *filch.Pool
	yield bool // so that other workers have a chance
}

type step struct {
	in *interpreter
	to *notes
	n  *node
}

var errNode = fmt.Errorf("a node that panics")

var (
	visits   *filch.Func[step, struct{}]
	inChains *filch.Chain[steps, struct{}]
)

// steps are nodes that a chain visits.
type steps struct {
	step
	rest []*node
}

func init() { // they call themselves
	visits = filch.NewFunc(func(f *filch.Frame[step, struct{}], s step) (none struct{}) {
		s.in.visit(f.Worker(), s.to, s.n, f)
		return none
	})
	inChains = filch.NewChain(func(l *filch.Link[steps, struct{}], s steps) (none struct{}) {
		return chain(l, s)
	})
}

func chain(l *filch.Link[steps, struct{}], s steps) (none struct{}) {
	if len(s.rest) == 1 {
		s.in.visit(l.Worker(), s.to, s.rest[0], nil)
		return none
	}
	half := len(s.rest) / 2
	later := steps{s.step, s.rest[half:]}
	l.Fork(later)
	chain(l.Next(), steps{s.step, s.rest[:half]})
	if l.TakeBack() {
		return chain(l, later)
	}
	return l.Join()
}

// visit runs n on w. f is the Frame of the call, or nil if it was not made by a Func.
func (in *interpreter) visit(w *filch.Worker, to *notes, n *node, f *filch.Frame[step, struct{}]) {
	to.note(w, n.id)
	if in.yield && n.id%4 == 0 {
		runtime.Gosched()
	}
	in.children(w, to, n, f)
	to.note(w, n.id)
}

func (in *interpreter) children(w *filch.Worker, to *notes, n *node, f *filch.Frame[step, struct{}]) {
	all := n.children
	if len(all) == 0 {
		return
	}
	onFrame := func(body func(f *filch.Frame[step, struct{}])) {
		if f != nil && n.kind != byOn {
			body(f)
		} else {
			visits.On(w, body)
		}
	}
	switch n.kind {
	case inTurn:
		for _, c := range all {
			in.visit(w, to, c, nil)
		}
	case byJoin:
		in.join(w, to, all)
	case byFunc, byOn:
		onFrame(func(f *filch.Frame[step, struct{}]) {
			var forks []filch.Fork
			for _, c := range all[1:] {
				forks = append(forks, f.Fork(step{in, to, c}))
			}
			f.Call(step{in, to, all[0]})
			for _, h := range slices.Backward(forks) {
				f.Join(h)
			}
		})
	case byMark, byBreak:
		onFrame(func(f *filch.Frame[step, struct{}]) {
			m := f.Mark()
			for _, c := range all {
				f.Fork(step{in, to, c})
			}
			for i := range m.JoinAll {
				if n.kind == byBreak && i == len(all)/2 {
					break
				}
			}
		})
	case byChain:
		inChains.Call(w, steps{step{in, to, nil}, all})
	case byLoop:
		par.ForScope(w, len(all), func(s filch.Scope, i int) { in.visit(s.(*filch.Worker), to, all[i], nil) }, par.WithGrain(1))
	case byBlocks:
		par.ForScope(w, len(all), func(s filch.Scope, i int) { in.visit(s.(*filch.Worker), to, all[i], nil) }, par.WithGrain(2))
	case byDo:
		w.Do(func(w *filch.Worker) { in.join(w, to, all) })
	case byPanic:
		func() {
			defer func() { _ = recover() }()
			w.Join(func(w *filch.Worker) { in.visit(w, to, all[0], nil) }, func(w *filch.Worker) {
				in.join(w, to, all[1:])
				panic(errNode)
			})
		}()
	case byPool:
		own := newNotes()
		in.pool.Do(func(w *filch.Worker) { in.join(w, own, all) })
		fmt.Fprint(to.text.View(w), own.values())
	}
}

// join visits all by joins, in a tree.
func (in *interpreter) join(w *filch.Worker, to *notes, all []*node) {
	switch len(all) {
	case 0:
	case 1:
		in.visit(w, to, all[0], nil)
	default:
		half := len(all) / 2
		w.Join(func(w *filch.Worker) { in.join(w, to, all[:half]) }, func(w *filch.Worker) { in.join(w, to, all[half:]) })
	}
}

// serial is what a program notes in serial order. It knows nothing of filch.
type serial struct {
	list []int
	text []byte
	fun  affine
	sum  int
}

func (s *serial) note(id int) {
	s.list = append(s.list, id)
	if id%3 != 0 {
		s.text = fmt.Appendf(s.text, "%d,", id)
	}
	s.fun = s.fun.then(affine{uint32(2*id + 1), uint32(id)})
	s.sum += id
}

func (s *serial) visit(n *node) {
	s.note(n.id)
	all := slices.Clone(n.children)
	switch {
	case len(all) == 0:
	case n.kind == byFunc, n.kind == byOn: // the first, and then the newest first
		slices.Reverse(all[1:])
	case n.kind == byMark:
		slices.Reverse(all)
	case n.kind == byBreak: // those with a lower number do not run
		slices.Reverse(all)
		all = all[:len(all)-len(all)/2]
	case n.kind == byPool:
		own := serial{fun: affine{1, 0}}
		for _, c := range all {
			own.visit(c)
		}
		s.text = append(s.text, own.values()...)
		all = nil
	}
	for _, c := range all {
		s.visit(c)
	}
	s.note(n.id)
}

func (s *serial) values() string { return fmt.Sprintln(s.list, string(s.text), s.fun, s.sum) }

// A thousand random programs come to what they come to in serial order, on any number of workers. No
// view is made but for an outermost call and for what was stolen.
func TestReducersKeepTheSerialOrder(t *testing.T) {
	programs := 1000
	if thorough.Sampled() {
		programs = 200
	}
	programs = racetest.Fewer(20, programs)
	pools, made := map[int]*filch.Pool{}, map[int]int64{}
	for _, workers := range []int{1, 2, 3, 8} {
		pools[workers] = filch.New(filch.WithWorkers(workers), filch.WithBusyPoll())
	}
	for seed := range programs {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		ids := 0
		root := randomProgram(r, 5+r.IntN(60), &ids)
		want := serial{fun: affine{1, 0}}
		want.visit(root)
		for workers, p := range pools {
			in, to := &interpreter{p, workers > 1}, newNotes()
			p.Do(func(w *filch.Worker) { in.visit(w, to, root, nil) })
			if got := to.values(); got != want.values() {
				t.Fatalf("program %d on %d workers:\n%s\nin serial order:\n%s", seed, workers, got, want.values())
			}
			made[workers] += to.made.Load()
		}
	}
	for workers, p := range pools {
		if racetest.Logical { // each fork has its views
			break
		}
		p.Close() // now its figures are exact
		steals := p.Stats().Steals
		t.Logf("%d workers: %d steals, %d views", workers, steals, made[workers])
		if most := int64(programs) + steals; made[workers] > most || workers == 1 && made[workers] != most {
			t.Errorf("%d workers: %d views were made, of at most %d", workers, made[workers], most)
		}
		if workers > 1 && steals < int64(programs)/10 {
			t.Errorf("%d steals on %d workers: too few to tell anything", steals, workers)
		}
	}
}
