// Package record makes graphs for package sim of what real programs do: of a run that is measured, with all of its
// forks, or of what package trace has recorded of a pool.
//
//	record.go    a run on one worker, as filch.Measure runs it
//	trace.go     a recording of package trace
//	pieces.go    strands and forks become parts in series and in parallel
package record

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/span"
)

// Recording is what Run has recorded.
type Recording struct {
	Graph   *dag.Graph    // its steps are nanoseconds
	Profile filch.Profile // what filch.Measure says of the run
}

// Run runs f once, as filch.Measure does, and makes a graph of all forks and joins. Its work is that of the
// profile. Without finest, its span is too, but for the rounding of strands to nanoseconds, and for strands that came
// out shorter than nothing: those make the next ones shorter.
//
// What takes no longer than finest in all is merged into one step. The work stays what it is. Each merge makes the
// paths through it longer, by less than finest. To see by how much in all, compare the span of Graph, which
// dag.Serial finds, with that of Profile. Where a program divides its work into like parts, the graph has some
// 3*work/finest parts.
//
// What interrupts the run makes a strand longer, and so the span: other programs, and the garbage collector, which
// has more to do without finest. Of several recordings, that with the shortest span tells most of the program.
//
// A loop is a balanced tree of its pieces. If only some of them may run at a time, it is as many series of
// neighbours.
//
// It is an error if f is nil, finest negative or the graph too large. Run panics if f does, as filch.Measure.
func Run(name string, finest time.Duration, f func(w *filch.Worker)) (*Recording, error) {
	return run(name, finest, clock.Now, true, f)
}

// run is Run with a clock, which counts what measuring costs if it calibrates.
func run(name string, least time.Duration, now func() int64, calibrates bool, f func(w *filch.Worker)) (*Recording, error) {
	if f == nil {
		return nil, errors.New("record: Run: f is nil")
	}
	if least < 0 {
		return nil, fmt.Errorf("record: Run: finest is %v; it must not be negative", least)
	}
	s := &shape{maker: maker{finest: int64(least), reuses: true}}
	r := span.NewRecorder(now, span.Burden)
	r.Shape(s)
	p := span.Measure(r, calibrates, func(worker any) { f(worker.(*filch.Worker)) })
	g, err := s.end(name)
	if err != nil {
		return nil, fmt.Errorf("record: Run of %s: %w", name, err)
	}
	return &Recording{g, filch.Profile(p)}, nil
}

// shape makes pieces of what a span.Recorder tells.
type shape struct {
	maker
	strands []strand // the innermost last
	ps, ns  int64    // the work so far, and as much of it as is in the graph
}

func (s *shape) top() *strand { return &s.strands[len(s.strands)-1] }

func (s *shape) Start() {
	s.strands, s.ps, s.ns = s.strands[:0], 0, 0
	s.Run(&piece{})
}

func (s *shape) Work(ps int64) {
	s.ps += ps
	if n := s.ps/1000 - s.ns; n > 0 {
		s.ns += n
		s.top().last += n
	}
}

func (s *shape) Fork() any { return s.fork(s.top()) }
func (s *shape) Open() int { return len(s.top().open) }

func (s *shape) Run(child any) {
	n := len(s.strands)
	s.strands = slices.Grow(s.strands, 1)[:n+1]
	s.strands[n] = strand{into: child.(*piece), open: s.strands[n].open[:0]} // the memory of one before
}

func (s *shape) Leave() {
	s.maker.end(s.top())
	s.strands = s.strands[:len(s.strands)-1]
}

func (s *shape) Join(mark, most int) { s.join(s.top(), mark, most) }

// end makes a graph of all.
func (s *shape) end(name string) (*dag.Graph, error) {
	root := &s.strands[0]
	s.maker.end(root)
	return s.graph(name, root.into)
}
