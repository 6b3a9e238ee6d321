package strand

import (
	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/engine"
)

// In a measured run a spawn calls the child in place, and a recorder records spawns and syncs. Strand.spawned is then a
// mark that sends each Sync to the recorder.

// measured marks a strand of a measured run.
const measured = -1

// Measure runs f once, as [Run] does, on one worker of a pool of its own, and returns how parallel it is: see
// [filch.Measure], which also measures strands within other work. A spawn counts as a fork whose caller another worker
// may take. Measure panics if f is nil, and as Run does.
func Measure(f func(s *Strand)) *filch.Profile {
	needs(f != nil, "Measure", "f")
	return filch.Measure(func(w *filch.Worker) { Run(w, f) })
}

// measure is do for a measured run.
func (r *run) measure(w *engine.Worker, f func(s *Strand)) (dropped bool) {
	r.limited = true // every spawn checks
	l := &list{w: w, run: r}
	l.open()
	c := carrierInPlace(l)
	c.first.spawned, c.first.block = measured, r.spans.Open()
	_ = c.begin(nil, 0).run(f)
	r.spans.End(c.first.block)
	w.Pop()
	r.outcome.over(w)
	return r.dropped.Load()
}

// spawnMeasured is spawn for a measured run.
func (s *Strand) spawnMeasured(f func(s *Strand)) {
	next, spans := s.child(), s.c.l.run.spans
	next.spawned, next.block = measured, spans.Spawn()
	defer spans.EndChild(next.block)
	s.c.open = next.depth
	next.call(f)
}
