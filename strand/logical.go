package strand

import (
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race"
)

// With logical races, see filch.WithLogicalRaces, each spawned function is a separate goroutine to the race detector: a
// child ordered only after its Spawn and before the Sync. It runs at once, as in the serial program, while its parent
// waits, so no continuation can be stolen. Nothing here may order children: no lock, sync.Pool or atomic step that two
// of them share, unless it is hidden from the detector.

// spawnLogically is spawn with logical races.
func (s *Strand) spawnLogically(f func(s *Strand)) {
	l := s.c.l
	s.crosses(&boundary{views: l.w.SetViewsAside()})
	end := &boundary{}
	s.crosses(end)
	s.count++
	s.children = append(s.children, l.run.child(l.w, f, s, 2*s.count, end))
}

// child runs f on w in a race child: as a child of parent that ends at the given boundary, or as the first strand.
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

// doLogically is do with logical races.
func (r *run) doLogically(w *engine.Worker, f func(s *Strand)) (dropped bool) {
	r.limited = true // every spawn checks
	if c := r.child(w, f, nil, 0, nil); c.IsOpen() {
		c.Wait()
	}
	r.outcome.over(w)
	return r.dropped.Load()
}

// waitForChildren is join with logical races.
func (s *Strand) waitForChildren() {
	for _, c := range s.children {
		if c.IsOpen() {
			c.Wait()
		}
	}
	s.children = nil
}

// endLogically is end for a child of p with logical races. Its failure must order nothing.
func (s *Strand) endLogically(p *Strand, failed *failure) {
	if failed != nil {
		race.Disable()
		p.fail(failed.err, failed.order)
		race.Enable()
	}
	s.after.views, s.after = s.c.l.w.SetViewsAside(), nil
}
