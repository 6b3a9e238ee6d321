package filch

import "sync/atomic"

// Stats is what a pool has done since it was made. Workers count for
// themselves, and Stats adds up those that are not at work: the figures of work
// under way come in when its worker is done with it, those of finished work are
// exact.
type Stats struct {
	Workers   int // places: how many goroutines may run at once
	Active    int // places taken now, searching ones included
	Searching int // workers looking for work now
	Blocked   int // goroutines now waiting at a join without a place

	Published int64 // forks that were shown to other workers
	TakenBack int64 // of these, forks that were joined before anybody took them
	Attempts  int64 // looks at another worker's deque
	Steals    int64 // looks that got a fork
	Helped    int64 // steals made while waiting for a result, from who computes it
	Waits     int64 // waits at a join that gave the place to another goroutine
	Wakes     int64 // goroutines started to fill a place
}

// counters is what a worker counts for itself.
type counters struct{ published, takenBack, attempts, steals, helped, waits, wakes int }

// stats is where it adds up; the worker writes, anybody loads.
type stats struct {
	published, takenBack, attempts, steals, helped, waits, wakes atomic.Int64
}

// flush adds up what w has counted.
func (w *Worker) flush() {
	if w.count == (counters{}) {
		return
	}
	c, s := w.count, &w.stats
	w.count = counters{}
	for _, x := range [...]struct {
		to *atomic.Int64
		n  int
	}{
		{&s.published, c.published}, {&s.takenBack, c.takenBack}, {&s.attempts, c.attempts},
		{&s.steals, c.steals}, {&s.helped, c.helped}, {&s.waits, c.waits}, {&s.wakes, c.wakes},
	} {
		if x.n > 0 {
			x.to.Add(int64(x.n))
		}
	}
}

// addTo adds the figures of s to those of t.
func (s *stats) addTo(t *Stats) {
	t.Published += s.published.Load()
	t.TakenBack += s.takenBack.Load()
	t.Attempts += s.attempts.Load()
	t.Steals += s.steals.Load()
	t.Helped += s.helped.Load()
	t.Waits += s.waits.Load()
	t.Wakes += s.wakes.Load()
}

// Stats returns what the pool has done so far. It may be called at any time.
func (p *Pool) Stats() Stats {
	p.follow()
	if w := p.spare.Swap(nil); w != nil {
		w.flush()
		p.fire(w)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.free {
		w.flush()
	}
	t := p.retired
	for _, w := range *p.workers.Load() {
		w.stats.addTo(&t)
	}
	s := p.state.Load()
	c := p.counts(s)
	t.Workers, t.Active, t.Searching = c.Limit, c.Active, c.Searching
	t.Blocked = int(s / oneBlocked & maxPlaces)
	return t
}
