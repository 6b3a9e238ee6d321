package engine

import "sync/atomic"

// Figures is what the workers of a pool have done so far.
type Figures struct {
	Published, TakenBack, Attempts, Steals, Helped, Waits, Wakes int64 // see Stats of package filch

	Looks int64 // of the Source, into what another worker has
}

// counters is what a worker counts for itself.
type counters struct{ published, takenBack, attempts, steals, helped, waits, wakes, looks int }

// figures are those of a worker.
type figures struct {
	count counters // only the owner touches it
	stats stats    // the owner writes, anybody loads
}

// stats is where it adds up. The goroutine that flushes writes, anybody loads.
type stats struct {
	published, takenBack, attempts, steals, helped, waits, wakes, looks atomic.Int64
}

// Looks is called before the Source looks into what another worker has, and counts it.
func (w *Worker) Looks() {
	w.yieldFirst()
	w.count.looks++
}

// flush adds up what was counted.
func (f *figures) flush() {
	if f.count == (counters{}) {
		return
	}
	c, s := f.count, &f.stats
	f.count = counters{}
	for _, x := range [...]struct {
		to *atomic.Int64
		n  int
	}{
		{&s.published, c.published}, {&s.takenBack, c.takenBack}, {&s.attempts, c.attempts},
		{&s.steals, c.steals}, {&s.helped, c.helped}, {&s.waits, c.waits}, {&s.wakes, c.wakes}, {&s.looks, c.looks},
	} {
		if x.n > 0 {
			x.to.Add(int64(x.n))
		}
	}
}

// addTo adds the figures to those of f.
func (own *figures) addTo(f *Figures) {
	s := &own.stats
	f.Published += s.published.Load()
	f.TakenBack += s.takenBack.Load()
	f.Attempts += s.attempts.Load()
	f.Steals += s.steals.Load()
	f.Helped += s.helped.Load()
	f.Waits += s.waits.Load()
	f.Wakes += s.wakes.Load()
	f.Looks += s.looks.Load()
}

// Figures returns what the workers have done so far. Under the lock of the roster, it calls
// begin, and then each for each worker: the workers that were let go before begin are not
// among them.
func (p *Pool) Figures(begin func(), each func(w *Worker)) Figures {
	if w := p.spare.Swap(nil); w != nil {
		w.flush()
		p.Fire(w)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.free {
		w.flush()
	}
	f := p.retired
	begin()
	for _, w := range *p.Workers.Load() {
		w.addTo(&f)
		each(w)
	}
	return f
}
