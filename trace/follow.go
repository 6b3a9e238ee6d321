package trace

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
)

func init() {
	event.Followed(sorts[:], func(recorder any) event.Follower { return &watcher{of: recorder.(*Recorder)} })
}

// A watcher draws a recording while it goes on. Its memory is bounded: it keeps open spans, and its position in each
// ring.
type watcher struct {
	of    *Recorder
	now   *recording // the recording that it follows
	all   uint64     // the next event of the shared ring
	next  []uint64   // and of each worker's
	last  []int64    // time of each worker's latest event
	later []event.Event
	apart map[uint64]aside // tasks that run on no worker
	taken map[uint64]int64 // forks taken back before it was known that they are joined
	d     *drawing
}

// Limits on unfinished things. Anything beyond is not shown.
const (
	mostOpen  = 64      // spans of a worker
	mostApart = 1 << 10 // tasks on no worker
	mostForks = 1 << 14
)

// mostAsides is the number of tracks for tasks on no worker. The last has all those beyond.
const mostAsides = 16

// An aside is a task that runs on no worker, on a negative track.
type aside struct {
	begin event.Event
	track int
}

// Next implements [event.Follower].
func (f *watcher) Next(most int) *event.Part {
	f.of.mu.Lock()
	now := f.of.now
	f.of.mu.Unlock()
	if now != f.now {
		*f = watcher{of: f.of, now: now, apart: map[uint64]aside{}, taken: map[uint64]int64{}, d: newDrawing(now.began)}
	}
	part := &event.Part{At: clock.Now(), Steals: map[[2]int]int{}}
	events := f.read(part, most)
	f.d.foresee(events)
	for _, e := range events {
		f.draw(e, part)
	}
	f.cut(part)
	return part
}

// read returns the events until part's end, in order. Later ones wait for the next part, so that no fork is published
// after it is stolen.
func (f *watcher) read(part *event.Part, most int) []event.Event {
	rings := 1 // the shared one
	for worker := range f.now.rings {
		if f.now.rings[worker].Load() == nil {
			continue
		}
		rings++
		for len(f.next) <= worker {
			f.next, f.last = append(f.next, 0), append(f.last, f.now.began)
		}
	}
	share := uint64(max(16, most/rings))
	events := f.readShared(part, int(share), most)
	for worker := range f.next {
		if ring := f.now.rings[worker].Load(); ring != nil {
			events = f.readRing(part, ring, worker, share, events)
		}
	}
	part.Read = len(events) - len(f.later)
	if !f.now.inTurn {
		events = inOrder(events)
	}
	end := len(events)
	for end > 0 && events[end-1].At > part.At {
		end--
	}
	f.later = slices.Clone(events[end:])
	return events[:end]
}

// readShared returns the events that wait for this part, and those of the shared ring: about share, plus all begins and
// ends of tasks on no worker, but at most most.
func (f *watcher) readShared(part *event.Part, share, most int) []event.Event {
	waiting := len(f.later)
	events, lost, next := f.now.all.read(f.later, f.all)
	f.all = next
	fresh := events[waiting:]
	read := len(fresh)
	leaveOut := func(excess int, but func(e event.Event) bool) {
		fresh = slices.DeleteFunc(fresh, func(e event.Event) bool {
			if excess <= 0 || but(e) {
				return false
			}
			excess--
			countSteal(e, part)
			return true
		})
	}
	leaveOut(read-share, isAside)
	if lost > 0 || len(fresh) > most { // some ends may be missing
		clear(f.apart)
		leaveOut(len(fresh)-most, func(event.Event) bool { return false })
	}
	part.Lost += lost + uint64(read-len(fresh))
	return events[:waiting+len(fresh)]
}

// isAside reports whether e is the begin or end of a task on no worker.
func isAside(e event.Event) bool {
	return e.Worker < 0 && (e.Kind == event.Started || e.Kind == event.Done || e.Kind == event.Crashed)
}

// readRing appends about share events of a worker at most. If earlier ones are lost, the worker's state is unknown, and
// its open spans are closed.
func (f *watcher) readRing(part *event.Part, r *ring, worker int, share uint64, to []event.Event) []event.Event {
	from, skipped := latest(r.number(), f.next[worker], share)
	r.countSteals(f.next[worker], from, part)
	first := len(to)
	to, lost, next := r.read(to, from)
	f.next[worker] = next
	if lost += skipped; lost > 0 {
		part.Lost += lost
		f.d.closeAll(event.Event{Worker: worker, At: f.last[worker]})
		if first < len(to) && to[first].At > f.last[worker] {
			part.Gaps = append(part.Gaps, event.Gap{Worker: worker, Begin: f.last[worker], End: to[first].At})
		}
	}
	if first < len(to) {
		f.last[worker] = to[len(to)-1].At
	}
	return to
}

// latest returns the number from which to read the latest share events up to begun, and how many it skips.
func latest(begun, from, share uint64) (at, skipped uint64) {
	if n := begun - from; n > share {
		return begun - share, n - share
	}
	return from, 0
}

// countSteals counts the steals among the events in [from, to) that are still in the ring.
func (r *ring) countSteals(from, to uint64, part *event.Part) {
	for from < to {
		for !r.taken.CompareAndSwap(false, true) {
			runtime.Gosched()
		}
		if size := uint64(len(r.events)); r.begun-from > size {
			from = min(to, r.begun-size)
		}
		for range min(portion, to-from) {
			p := &r.events[from&uint64(len(r.events)-1)]
			if k := event.Kind(p.what & (1<<6 - 1)); k == event.Stolen || k == event.Fetched {
				countSteal(p.unpack(), part)
			}
			from++
		}
		r.taken.Store(false)
	}
}

// countSteal counts e, if it is a steal.
func countSteal(e event.Event, part *event.Part) {
	switch {
	case e.Other < 0:
	case e.Kind == event.Stolen:
		part.Steals[[2]int{e.Worker, e.Other}]++
	case e.Kind == event.Fetched:
		part.Steals[[2]int{e.Worker, e.Other}] += int(e.ID)
	}
}

// number returns the number of events so far.
func (r *ring) number() uint64 {
	for !r.taken.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
	defer r.taken.Store(false)
	return r.begun
}

// draw draws e, and handles what a drawing of a whole trace does differently.
func (f *watcher) draw(e event.Event, part *event.Part) {
	countSteal(e, part)
	switch e.Kind {
	case event.Started:
		if e.Worker < 0 {
			if len(f.apart) < mostApart {
				f.apart[e.ID] = aside{e, f.freeAside()}
			}
			return
		}
	case event.Done, event.Crashed:
		if a, ok := f.apart[e.ID]; ok && e.Worker < 0 {
			delete(f.apart, e.ID)
			s := a.plain()
			s.End, s.Crashed = e.At, e.Kind == event.Crashed
			part.Spans = append(part.Spans, s)
			return
		}
	case event.Fetched:
		if e.Other >= 0 {
			part.Arrows = append(part.Arrows, event.Arrow{From: e.Other, To: e.Worker, In: e.At, N: int(e.ID)})
		}
		return
	case event.Finished:
		delete(f.d.published, e.ID)
	case event.TakenBack:
		delete(f.d.published, e.ID)
		if !f.d.joins[e.ID] && len(f.taken) < mostForks {
			f.taken[e.ID] = e.At
		}
		if !f.d.joins[e.ID] {
			return
		}
	case event.Joined:
		if at, ok := f.taken[e.ID]; ok {
			delete(f.taken, e.ID)
			part.Spans = append(part.Spans, event.Span{
				Sort: int(anOwn), Worker: e.Worker, Depth: len(f.d.open[e.Worker]), Begin: at, End: e.At, Name: nameOf(e),
			})
			return
		}
	case event.Stolen:
		if _, ok := f.d.published[e.ID]; !ok {
			part.Arrows = append(part.Arrows, event.Arrow{From: e.Other, To: e.Worker, In: e.At, N: 1})
		}
	}
	f.d.draw(e)
	if len(f.d.open[e.Worker]) > mostOpen {
		f.d.closeAll(e)
	}
}

// freeAside returns the first track free for a task on no worker.
func (f *watcher) freeAside() int {
	var taken [mostAsides]bool
	for _, a := range f.apart {
		taken[-a.track-1] = true
	}
	if i := slices.Index(taken[:], false); i >= 0 {
		return -i - 1
	}
	return -mostAsides
}

func (a *aside) plain() event.Span {
	return event.Span{Sort: int(aTask), Worker: a.track, Begin: a.begin.At, Name: nameOf(a.begin)}
}

// cut moves everything drawn into part, except open spans.
func (f *watcher) cut(part *event.Part) {
	d, open := f.d, []span{}
	part.Workers = d.workers
	for _, all := range d.open {
		for i, at := range all {
			open = append(open, d.spans[at])
			all[i] = len(open) - 1
		}
	}
	for i := range d.spans {
		if s := &d.spans[i]; !s.open {
			part.Spans = append(part.Spans, s.plain())
		}
	}
	for i := range open {
		part.Open = append(part.Open, open[i].plain())
	}
	for _, a := range f.apart {
		part.Open = append(part.Open, a.plain())
	}
	for _, a := range d.arrows {
		part.Arrows = append(part.Arrows, event.Arrow{From: a.from, To: a.to, Out: a.out, In: a.in, N: 1})
	}
	for _, m := range d.marks {
		switch m.event.Kind {
		case event.Rejected, event.Cancelled, event.Closed, event.Ended:
			part.Marks = append(part.Marks, event.Mark{Worker: m.worker, At: m.at, Name: m.name})
		}
	}
	for _, c := range d.counts {
		if c.name == queuedName {
			part.Counts = append(part.Counts, event.Count{Worker: c.worker, At: c.at, N: c.n})
		} else {
			part.Marks = append(part.Marks, event.Mark{Worker: -1, At: c.at, Name: fmt.Sprintf("%s: %d", c.name, c.n)})
		}
	}
	d.spans, d.arrows, d.marks, d.counts = open, nil, nil, nil
	clear(d.joins)
	if len(d.published) > mostForks {
		clear(d.published)
	}
	clear(d.submitted) // the page does not show waits
	if len(f.taken) >= mostForks {
		clear(f.taken)
	}
}

func (s *span) plain() event.Span {
	return event.Span{
		Sort: int(s.sort), Worker: s.worker, Depth: s.depth, Begin: s.begin, End: s.end, Name: s.name, Crashed: s.crashed,
	}
}
