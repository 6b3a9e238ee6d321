package strand

import (
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
)

// With logical races, see filch.WithLogicalRaces, each function that is spawned is a goroutine of its own to the
// race detector: a child, which is ordered after the Spawn, and before the Sync, and by nothing else. It runs at once,
// as the serial program has it, while its parent waits. So there is no continuation to be stolen, and nothing here may order
// children: no lock, no sync.Pool and no atomic step that two of them make, but aside.

// spawnLogically is spawn.
func (s *Strand) spawnLogically(f func(s *Strand)) {
	l := s.c.l
	s.crosses(&boundary{views: l.w.SetViewsAside()})
	end := &boundary{}
	s.crosses(end)
	s.count++
	s.children = append(s.children, l.run.child(l.w, f, s, 2*s.count, end))
}

// child runs f on w in a child, as one of parent that ends at the given boundary, or as the first strand.
func (r *run) child(w *engine.Worker, f func(s *Strand), parent *Strand, order int, end *boundary) race.Child {
	return engine.CallChild(w, func(w *engine.Worker) {
		l := &list{w: w, run: r}
		l.open()
		c := carrierInPlace(l)
		c.first.after = end
		_ = c.begin(parent, order).run(f)
		w.Pop()
	})
}

// doLogically is do.
func (r *run) doLogically(w *engine.Worker, f func(s *Strand)) (dropped bool) {
	r.limited = true // no spawn goes by without a look
	if c := r.child(w, f, nil, 0, nil); c.IsOpen() {
		c.Wait()
	}
	r.outcome.over(w)
	return r.dropped.Load()
}

// waitForChildren is join.
func (s *Strand) waitForChildren() {
	for _, c := range s.children {
		if c.IsOpen() {
			c.Wait()
		}
	}
	s.children = nil
}

// endLogically is end, for a child of p. That it has failed orders nothing.
func (s *Strand) endLogically(p *Strand, failed *failure) {
	if failed != nil {
		race.Disable()
		p.fail(failed.err, failed.order)
		race.Enable()
	}
	s.after.views, s.after = s.c.l.w.SetViewsAside(), nil
}
