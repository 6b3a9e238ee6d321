package record

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/sim/dag"
)

// Trace makes a graph of what package trace has recorded of a pool: of the text that WriteText writes. Its steps
// are nanoseconds.
//
// A trace has tasks, calls from outside, and the forks that were published. Forks that stayed private are a part
// of what made them: one step. So a recording of many workers shows more than one of a single worker, and
// none shows more parallelism than those workers asked for. Run has all of it.
//
// The graph has these approximations, since a trace does not tell more:
//
//   - A fork begins where it was published, which is later than where it was made. If its owner worked for another
//     meanwhile, the fork counts to that.
//   - The owner waits for a fork where it has taken it back, or was seen to wait for it. If a thief was done before
//     that, it waits where it waits for an older one, or at its end.
//   - Tasks are independent of one another.
//   - A call from outside that begins when no other one runs begins after all calls so far.
//
// Times in which a worker waits, searches or has given up its place do not count. What has not ended with the
// trace ends there. For finest, see Run. It is an error if a line is not of the form, if events were lost, or if
// nothing took time.
func Trace(name string, least time.Duration, text io.Reader) (*dag.Graph, error) {
	if least < 0 {
		return nil, fmt.Errorf("record: Trace: finest is %v; it must not be negative", least)
	}
	events, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("record: Trace of %s: %w", name, err)
	}
	t := newTracer(least)
	for _, e := range events {
		t.joined[e.ID] = t.joined[e.ID] || e.Kind == event.Joined
	}
	for _, e := range events {
		t.event(e)
	}
	g, err := t.end(name)
	if err != nil {
		return nil, fmt.Errorf("record: Trace of %s: %w", name, err)
	}
	return g, nil
}

// parse reads all events. Remarks begin with #.
func parse(text io.Reader) (events []event.Event, err error) {
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		switch {
		case strings.HasPrefix(line, "# ") && strings.HasSuffix(line, " earlier events are lost"):
			return nil, fmt.Errorf("line %d: %s; record with room for more", n, line[2:])
		case strings.HasPrefix(line, "#") || line == "":
			continue
		}
		e, err := event.Parse(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return events, nil
}

// tracer makes pieces of events.
type tracer struct {
	maker
	root, calls *strand
	running     int // calls
	workers     map[int]*worker
	forks       map[uint64]published
	apart       map[uint64]event.Event // tasks that run on no worker
	joined      map[uint64]bool        // forks that were taken back, and whose end is told
	last        int64
}

// published is a fork.
type published struct {
	child *piece
	by    *strand
	mark  int
}

// worker is what a worker does.
type worker struct {
	at   int64 // until when its time is counted
	acts []*act
}

// act is a strand that a worker runs, or has put aside for the next one.
type act struct {
	strand
	does  event.Kind // what began it: Called, Started, Stolen or TakenBack
	id    uint64     // of the task or the fork
	waits bool
}

func newTracer(finest time.Duration) *tracer {
	t := &tracer{maker: maker{finest: int64(finest)}, root: &strand{into: &piece{}}, workers: map[int]*worker{}}
	t.forks, t.apart, t.joined = map[uint64]published{}, map[uint64]event.Event{}, map[uint64]bool{}
	t.calls = &strand{into: t.fork(t.root)}
	return t
}

// worker returns a worker, its time counted until now.
func (t *tracer) worker(number int, now int64) *worker {
	w := t.workers[number]
	if w == nil {
		w = &worker{}
		t.workers[number] = w
	}
	if a := w.top(); a != nil && !a.waits && now > w.at {
		a.last += now - w.at
	}
	w.at = max(w.at, now)
	return w
}

// top returns what w runs, or nil.
func (w *worker) top() *act {
	if len(w.acts) == 0 {
		return nil
	}
	return w.acts[len(w.acts)-1]
}

func (w *worker) begin(e event.Event, into *piece) {
	w.acts = append(w.acts, &act{strand: strand{into: into}, does: e.Kind, id: e.ID})
}

// ends ends the newest act that find accepts, and what it has begun. It does nothing if there is none.
func (t *tracer) ends(w *worker, find func(a *act) bool) {
	for i := len(w.acts) - 1; i >= 0; i-- {
		if find(w.acts[i]) {
			t.cut(w, i)
			return
		}
	}
}

// cut ends all acts of w from number i on.
func (t *tracer) cut(w *worker, i int) {
	for n := len(w.acts) - 1; n >= i; n-- {
		a := w.acts[n]
		t.maker.end(&a.strand)
		if a.does == event.Called {
			t.running--
		}
		w.acts = w.acts[:n]
	}
}

func task(a *act) bool { return a.does == event.Started }

func forked(id uint64) func(a *act) bool {
	return func(a *act) bool { return a.id == id && (a.does == event.Stolen || a.does == event.TakenBack) }
}

func (t *tracer) event(e event.Event) {
	t.last = max(t.last, e.At)
	if e.Worker < 0 {
		t.aside(e)
		return
	}
	w := t.worker(e.Worker, e.At)
	switch e.Kind {
	case event.Called:
		if t.running == 0 {
			t.join(t.calls, 0, 0)
		}
		t.running++
		w.begin(e, t.fork(t.calls))
	case event.Left:
		t.cut(w, 0)
	case event.Next:
		t.ends(w, task)
		e.Kind = event.Started
		w.begin(e, t.fork(t.root))
	case event.Started:
		w.begin(e, t.fork(t.root))
	case event.Done, event.Crashed:
		t.ends(w, task)
	default:
		t.forkEvent(w, e)
	}
}

// aside is event for what happens on no worker.
func (t *tracer) aside(e event.Event) {
	switch e.Kind {
	case event.Started:
		t.apart[e.ID] = e
	case event.Done, event.Crashed:
		if begin, ok := t.apart[e.ID]; ok {
			delete(t.apart, e.ID)
			*t.fork(t.root) = piece{done: true, work: max(0, e.At-begin.At)}
		}
	}
}

// forkEvent is event for forks and waits.
func (t *tracer) forkEvent(w *worker, e event.Event) {
	a := w.top()
	switch e.Kind {
	case event.Published:
		if a != nil {
			mark := len(a.open)
			t.forks[e.ID] = published{t.fork(&a.strand), &a.strand, mark}
		}
	case event.Stolen, event.TakenUp:
		e.Kind = event.Stolen
		w.begin(e, t.child(e.ID))
	case event.HandedOn:
		if a != nil && forked(e.ID)(a) {
			w.acts = w.acts[:len(w.acts)-1] // another takes it up
		}
	case event.Finished:
		t.ends(w, forked(e.ID))
	case event.TakenBack:
		if t.joined[e.ID] {
			w.begin(e, t.child(e.ID))
		}
	case event.Joined:
		t.ends(w, forked(e.ID))
		t.awaits(w.top(), e.ID)
	case event.Spins, event.Blocked, event.Lent, event.GaveWay, event.PassedOn:
		if a != nil {
			a.waits = true
			if e.Kind == event.Spins || e.Kind == event.Blocked {
				t.awaits(a, e.ID)
			}
		}
	case event.Spun, event.Resumed:
		if a != nil {
			a.waits = false
		}
	}
}

// child returns what a fork becomes. If it was published before the recording, nothing is known of who waits
// for it.
func (t *tracer) child(id uint64) *piece {
	if f, ok := t.forks[id]; ok {
		return f.child
	}
	return t.fork(t.root)
}

// awaits notes that a waits for a fork and those since; number 0 stands for all.
func (t *tracer) awaits(a *act, id uint64) {
	switch f, ok := t.forks[id]; {
	case a == nil:
	case id == 0:
		t.join(&a.strand, 0, 0)
	case ok && f.by == &a.strand:
		t.join(&a.strand, f.mark, 0)
	}
}

// end makes a graph of all.
func (t *tracer) end(name string) (*dag.Graph, error) {
	for _, id := range slices.Sorted(maps.Keys(t.apart)) {
		*t.fork(t.root) = piece{done: true, work: max(0, t.last-t.apart[id].At)}
	}
	for _, number := range slices.Sorted(maps.Keys(t.workers)) {
		t.cut(t.worker(number, t.last), 0)
	}
	t.maker.end(t.calls)
	t.maker.end(t.root)
	return t.graph(name, t.root.into)
}
