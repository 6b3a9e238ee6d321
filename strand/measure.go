package strand

import (
	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/engine"
)

// In a measured run a spawn runs the child in place, as a call, and a recorder is told of spawns and syncs.
// So what a strand counts in spawned is a mark here, by which each Sync comes to where the recorder is told.

// measured is the mark of a strand of a measured run.
const measured = -1

// Measure runs f once, as [Run] does, on one worker of a pool of its own, and tells how parallel it is: see
// [filch.Measure], which also measures strands that are a part of other work. A spawn counts as a fork whose
// caller may be taken by another worker. Measure panics if f is nil, and as Run does.
func Measure(f func(s *Strand)) *filch.Profile {
	needs(f != nil, "Measure", "f")
	return filch.Measure(func(w *filch.Worker) { Run(w, f) })
}

// measure is do for a measured run.
func (r *run) measure(w *engine.Worker, f func(s *Strand)) (dropped bool) {
	r.limited = true // no spawn goes by without a look
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

// spawnMeasured is spawn.
func (s *Strand) spawnMeasured(f func(s *Strand)) {
	next, spans := s.child(), s.c.l.run.spans
	next.spawned, next.block = measured, spans.Spawn()
	defer spans.EndChild(next.block)
	s.c.open = next.depth
	next.call(f)
}
