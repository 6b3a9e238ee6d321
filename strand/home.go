package strand

import (
	"sync"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
)

// The pool keeps a run that has ended, with its goroutines, so that the next run need not make any. Each pool has a
// home for such runs. A home is bounded, and empties itself when no run has begun or ended for some time, so an idle
// pool has no goroutine here. Closing the pool empties it at once.
//
// A goroutine belongs to the testing/synctest bubble that made it, so a run in a bubble has no home.

const (
	atHome  = 32                    // most goroutines kept for each worker of the pool
	deepest = 1000                  // plain calls on a carrier that is kept
	resting = 10 * time.Millisecond // time without runs, or WithIdleTimeout if longer
)

// home keeps runs of one pool between calls.
type home struct {
	pool *engine.Pool

	mu    sync.Mutex
	runs  []*run
	kept  int         // their goroutines
	used  bool        // since the timer was set
	timer *time.Timer // set while something may be kept, otherwise nil
}

// reuse returns a kept run for w, or a new one that will be kept, or nil if no run may be kept.
func reuse(w *engine.Worker) *run {
	if w.Spans != nil || w.IsLogical() || clock.InBubble() {
		return nil
	}
	p := w.Pool()
	s := p.Store()
	if s == nil {
		s = p.SetStore(&home{pool: p})
	}
	return s.(*home).take()
}

func (h *home) take() *run {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.runs) - 1
	if n < 0 {
		return &run{pool: h.pool, home: h}
	}
	r := h.runs[n]
	h.runs[n] = nil
	h.runs = h.runs[:n]
	h.kept -= r.goroutines()
	h.used = true
	return r
}

func (r *run) goroutines() int { return len(r.spares) + len(r.pumps) }

// keep keeps what fits of r, which has ended.
func (h *home) keep(r *run) {
	r.forget()
	h.mu.Lock()
	defer h.mu.Unlock()
	r.shrink(atHome*h.pool.Size() - h.kept)
	if len(r.pumps) == 0 {
		return
	}
	h.runs = append(h.runs, r)
	h.kept += r.goroutines()
	h.used = true
	if h.timer == nil {
		h.timer = time.AfterFunc(max(resting, h.pool.Linger), h.look)
	}
}

// forget clears everything in r that the next run must not see or that would stay alive.
func (r *run) forget() {
	r.how, r.outcome, r.labels = how{}, outcome{}, nil
	if r.dropped.Load() {
		r.dropped.Store(false)
	}
	stays := r.spares[:0]
	var goes []*carrier
	for _, c := range r.spares {
		if c.deep {
			goes = append(goes, c)
			continue
		}
		c.relabel, c.reslab = true, true
		stays = append(stays, c)
	}
	r.stop(goes)
	clear(r.spares[len(stays):])
	r.spares = stays
	for _, p := range r.pumps {
		p.relabel = true
	}
}

// shrink ends the goroutines of r beyond room. A run keeps at least one pump, or nothing.
func (r *run) shrink(room int) {
	pumps := min(len(r.pumps), max(room, 0))
	carriers := min(len(r.spares), max(room-pumps, 0))
	r.stop(r.spares[carriers:])
	clear(r.spares[carriers:])
	r.spares = r.spares[:carriers]
	r.stopPumps(r.pumps[pumps:])
	clear(r.pumps[pumps:])
	r.pumps = r.pumps[:pumps]
}

// look is the timer's function. It ends the kept runs if there was no run since the timer was set.
func (h *home) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer == nil { // the pool has ended meanwhile
		return
	}
	if h.used {
		h.used = false
		h.timer.Reset(max(resting, h.pool.Linger))
		return
	}
	h.timer = nil
	h.empty()
}

// End ends the kept runs because the pool has ended.
func (h *home) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
	h.empty()
}

func (h *home) empty() {
	for _, r := range h.runs {
		r.shrink(0)
	}
	h.runs, h.kept = nil, 0
}
