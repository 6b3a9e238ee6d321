package strand

import (
	"sync"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
)

// A run that has ended is kept with its goroutines for the next, which makes none then. Each pool has a
// home for such runs. It is bounded, and empties itself when no run has come or ended for some time: a pool at
// rest has no goroutine here. The end of the pool empties it at once.
//
// A goroutine belongs to the bubble of testing/synctest that it was made in. So a run in a bubble has no home.

const (
	atHome  = 32                    // goroutines kept at most, for each worker of the pool
	deepest = 1000                  // of plain calls on a carrier that is kept
	resting = 10 * time.Millisecond // without runs, or WithIdleTimeout if that is longer
)

// home keeps runs of one pool between two calls.
type home struct {
	pool *engine.Pool

	mu    sync.Mutex
	runs  []*run
	kept  int         // goroutines of them
	used  bool        // since the timer was set
	timer *time.Timer // set while something may be kept, or else nil
}

// reuse returns a run that was kept for w, or a new one that is to be kept; or nil if no run may be kept.
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

// keep keeps r, which has ended, as far as there is room.
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

// forget lets go of all in r that the next run should not see, or that would stay alive.
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

// shrink ends what r has beyond so many goroutines. A run has a pump at least, or nothing.
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

// look is called by the timer. It ends what is kept, if there was no run since it was set.
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

// End ends what is kept, since the pool has ended.
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
