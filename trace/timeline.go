package trace

import (
	"fmt"
	"slices"

	"github.com/filch-go/filch/internal/event"
)

// A timeline is what viewers show of events: spans, which nest on each worker, arrows between workers, marks and
// counts.
type timeline struct {
	begin, end int64
	workers    int    // the greatest number plus one
	asides     int    // number of tracks for tasks on no worker: -1, -2 and so on
	spans      []span // by begin
	arrows     []arrow
	marks      []mark
	counts     []count
}

// A sort says what a span is.
type sort uint8

const (
	aPlace  sort = iota // the worker has a goroutine
	aCall               // a function passed to Do or Call
	aTask               // a task
	aFork               // a fork of another worker
	aHelp               // the same, run while waiting
	anOwn               // a fork that was published and taken back
	aSpin               // waits for a fork, and helps
	aWait               // has freed its worker slot
	aSearch             // looks for work
)

var sorts = [...]string{"place", "call", "task", "fork", "help", "own fork", "join", "wait", "search"}

func (s sort) String() string { return sorts[s] }

// A span is something with a duration. Its worker is negative if it ran on none; concurrent ones have different
// numbers.
type span struct {
	sort       sort
	worker     int
	other      int // owner of the fork, or its thief; or -1
	begin, end int64
	name       string
	id         uint64 // of the task or the fork
	depth      int    // number of spans around it
	waited     int64  // for a task, the time since its submission; -1 if that was not recorded
	open       bool   // still running at the end
	crashed    bool
}

// An arrow leads from where a fork was published to where it was stolen.
type arrow struct {
	from, to int // workers
	out, in  int64
	id       uint64
	name     string
}

// A mark is a moment.
type mark struct {
	worker int
	at     int64
	name   string
	event  event.Event
}

// A count is a number that holds from a moment on.
type count struct {
	worker int // -1 for the pool
	at     int64
	name   string
	n      uint64
}

const queuedName = "queued"

// A drawing makes a timeline of events.
type drawing struct {
	timeline
	open      map[int][]int // open spans by worker, the outermost first
	published map[uint64]int64
	submitted map[uint64]int64 // tasks that have not begun; only a pool with an observer records them
	joins     map[uint64]bool  // own forks whose end is recorded
	beside    map[uint64]int   // the tracks of tasks that run on no worker
}

// timeline returns what viewers show of t.
func (t *Trace) timeline() *timeline {
	d := newDrawing(t.began)
	d.end = t.ended
	d.foresee(t.events)
	for _, e := range t.events {
		d.draw(e)
	}
	for worker := -d.asides; worker < d.workers; worker++ {
		for len(d.open[worker]) > 0 {
			d.close(worker, d.end, true)
		}
	}
	d.clip()
	return &d.timeline
}

// aside returns the track for a task on no worker: the first with nothing open.
func (d *drawing) aside(task uint64) int {
	worker := -1
	for len(d.open[worker]) > 0 {
		worker--
	}
	d.asides = max(d.asides, -worker)
	d.beside[task] = worker
	return worker
}

func newDrawing(began int64) *drawing {
	return &drawing{
		timeline:  timeline{begin: began, asides: 1},
		open:      map[int][]int{},
		published: map[uint64]int64{},
		submitted: map[uint64]int64{},
		joins:     map[uint64]bool{},
		beside:    map[uint64]int{},
	}
}

// foresee scans events before they are drawn.
func (d *drawing) foresee(events []event.Event) {
	for _, e := range events {
		d.workers = max(d.workers, e.Worker+1, e.Other+1)
		if e.Kind == event.Joined {
			d.joins[e.ID] = true
		}
	}
}

func (d *drawing) draw(e event.Event) {
	switch e.Kind {
	case event.Entered:
		d.begins(aPlace, e)
	case event.Woken:
		d.begins(aPlace, e)
		d.begins(aSearch, e)
	case event.Called:
		d.begins(aCall, e)
	case event.Left:
		d.closeAll(e)
	case event.Searching:
		d.begins(aSearch, e)
	case event.Found:
		d.ends(e, aSearch)
	case event.Submitted:
		d.submitted[e.ID] = e.At
		d.mark(e, e.Kind.String())
	case event.Cancelled:
		delete(d.submitted, e.ID)
		d.mark(e, e.Kind.String())
	case event.Started:
		if e.Worker < 0 {
			e.Worker = d.aside(e.ID)
		}
		d.begins(aTask, e)
		if at, ok := d.submitted[e.ID]; ok {
			d.innermost(e.Worker).waited = e.At - at
			delete(d.submitted, e.ID)
		}
	case event.Next:
		before := e
		before.ID--
		d.ends(before, aTask)
		d.begins(aTask, e)
	case event.Done, event.Crashed:
		if e.Worker < 0 {
			e.Worker = d.beside[e.ID]
		}
		d.ends(e, aTask)
	case event.Published:
		d.published[e.ID] = e.At
		d.mark(e, "publishes "+nameOf(e))
	case event.Stolen, event.TakenUp:
		d.ends(event.Event{Worker: e.Worker, At: e.At}, aSearch)
		if out, ok := d.published[e.ID]; ok && e.ID != 0 {
			d.arrows = append(d.arrows, arrow{e.Other, e.Worker, out, e.At, e.ID, nameOf(e)})
		}
		d.begins(aFork, e)
	case event.Helped:
		if s := d.innermost(e.Worker); s != nil && s.sort == aFork {
			s.sort = aHelp
		}
	case event.HandedOn, event.Finished:
		d.ends(e, aFork, aHelp)
	case event.TakenBack:
		if d.joins[e.ID] {
			d.begins(anOwn, e)
		} else {
			d.mark(e, "takes back "+nameOf(e))
		}
	case event.Joined:
		d.ends(e, anOwn)
	case event.Spins:
		d.begins(aSpin, e)
	case event.Spun:
		d.ends(e, aSpin)
	case event.Blocked, event.Lent, event.GaveWay, event.PassedOn:
		d.begins(aWait, e)
	case event.Resumed:
		d.ends(e, aWait)
	case event.Queued:
		d.counts = append(d.counts, count{e.Worker, e.At, queuedName, e.ID})
	case event.Extra:
		d.counts = append(d.counts, count{e.Worker, e.At, "extra slots", e.ID})
	default:
		d.mark(e, e.Kind.String())
	}
}

// begins opens a span.
func (d *drawing) begins(s sort, e event.Event) {
	name := nameOf(e)
	if name == "" {
		name = s.String()
	}
	depth := len(d.open[e.Worker])
	d.open[e.Worker] = append(d.open[e.Worker], len(d.spans))
	d.spans = append(d.spans, span{sort: s, worker: e.Worker, other: e.Other, begin: e.At, name: name, id: e.ID, depth: depth, waited: -1, open: true})
}

func (d *drawing) mark(e event.Event, name string) {
	d.marks = append(d.marks, mark{e.Worker, e.At, name, e})
}

// innermost returns the innermost open span of a worker, or nil.
func (d *drawing) innermost(worker int) *span {
	all := d.open[worker]
	if len(all) == 0 {
		return nil
	}
	return &d.spans[all[len(all)-1]]
}

// ends closes the innermost open span of one of the sorts for e's task or fork, and all spans inside it. There is none
// if its begin was overwritten.
func (d *drawing) ends(e event.Event, sorts ...sort) {
	all := d.open[e.Worker]
	for i := len(all) - 1; i >= 0; i-- {
		if s := &d.spans[all[i]]; slices.Contains(sorts, s.sort) && (s.id == e.ID || s.sort == aWait || s.sort == aSearch) {
			s.crashed = e.Kind == event.Crashed
			for len(d.open[e.Worker]) > i {
				d.close(e.Worker, e.At, false)
			}
			return
		}
	}
}

// closeAll closes all open spans of a worker.
func (d *drawing) closeAll(e event.Event) {
	for len(d.open[e.Worker]) > 0 {
		d.close(e.Worker, e.At, false)
	}
}

// close closes the innermost span of a worker.
func (d *drawing) close(worker int, at int64, open bool) {
	s := d.innermost(worker)
	s.end, s.open = max(at, s.begin), open
	last := len(d.open[worker]) - 1
	d.open[worker] = d.open[worker][:last]
}

// nameOf returns the name of e's subject: from Named, or of the function.
func nameOf(e event.Event) string {
	if e.Name != "" {
		return e.Name
	}
	return event.FuncName(e.Func)
}

// forkName and taskName format numbers as the text form does.
func forkName(id uint64) string {
	w, n := event.Fork(id)
	return fmt.Sprintf("%d.%d", w, n)
}

func taskName(id uint64) string {
	if w, n := event.Fork(id); w > 0 {
		return fmt.Sprintf("%d.%d", w-1, n)
	}
	return fmt.Sprint(id)
}
