package filch

import (
	"fmt"
	"io"
	"reflect"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync/atomic"
	"text/tabwriter"
)

// Stats is what a pool has done since it was made. Workers count for themselves,
// and Stats adds up those that are not at work: figures come in when a worker is
// done with what it is at, those of tasks when it begins with the next. Of a pool
// at rest they are exact.
type Stats struct {
	Workers   int // places: how many goroutines may run at once
	Active    int // places taken now, searching ones included
	Busy      int // of these, those with something to do
	Searching int // workers looking for work now
	Idle      int // places that are free now
	Blocked   int // goroutines that now wait, or block, without a place, or run a LongRunning task
	Extra     int // places added now, since workers are blocked out of sight

	Published int64 // forks that were shown to other workers
	TakenBack int64 // of these, forks that were joined before anybody took them
	Attempts  int64 // looks at another worker's deque
	Steals    int64 // looks that got a fork
	Helped    int64 // steals made while waiting for a result, from who computes it
	Waits     int64 // waits at a join that gave the place to another goroutine
	Wakes     int64 // goroutines started to fill a place

	Tasks TaskStats
}

// TaskStats is the part of [Stats] that is about tasks. What was submitted is
// done, cancelled, running, or still to be run.
type TaskStats struct {
	Submitted int64 // accepted into a queue, or run at once
	Started   int64 // begun
	Done      int64 // of these, ended, whichever way
	Failed    int64 // of these, ended with an error, or by runtime.Goexit
	Panicked  int64 // likewise, ended with a panic
	Cancelled int64 // dropped before they started
	Rejected  int64 // refused: the pool closed, the queue full, or the context ended
	InPlace   int64 // begun by who waited for them, by the submitter, by Help, or on a goroutine of their own
	Helped    int64 // of these, by Help
	Attempts  int64 // looks into another worker's queue that seemed to hold some
	Stolen    int64 // moved from one worker's queue to another's
	Stalls    int64 // times that workers were added, since all were blocked out of sight
	Queued    int   // entries of queues now; those of tasks that are done or cancelled stay until their turn
	Global    int   // of these, in the global queue
}

// counters is what a worker counts for itself.
type counters struct{ published, takenBack, attempts, steals, helped, waits, wakes, taskAttempts int }

// stats is where it adds up: whoever flushes writes, anybody loads.
type stats struct {
	published, takenBack, attempts, steals, helped, waits, wakes, taskAttempts atomic.Int64
}

// taskCounts is what is counted of tasks, but for what their queues count.
type taskCounts struct {
	direct, failed, panicked, cancelled, rejected, helped, stalls atomic.Int64
	left                                                          atomic.Int64 // tasks that run in the seat of one that is over

	inPlace inPlace // on no worker
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
		{&s.steals, c.steals}, {&s.helped, c.helped}, {&s.waits, c.waits}, {&s.wakes, c.wakes}, {&s.taskAttempts, c.taskAttempts},
	} {
		if x.n > 0 {
			x.to.Add(int64(x.n))
		}
	}
}

// addTo adds w's figures to those of t.
func (w *Worker) addTo(t *Stats) {
	s := &w.stats
	t.Published += s.published.Load()
	t.TakenBack += s.takenBack.Load()
	t.Attempts += s.attempts.Load()
	t.Steals += s.steals.Load()
	t.Helped += s.helped.Load()
	t.Waits += s.waits.Load()
	t.Wakes += s.wakes.Load()
	t.Tasks.Attempts += s.taskAttempts.Load()
	w.tasks.addTo(&t.Tasks)
	t.Tasks.Done += w.tasks.inPlace.begun.Load() - int64(w.hold.load().seated())
}

func (q *taskQueue) addTo(t *TaskStats) {
	q.mu.Lock()
	defer q.mu.Unlock()
	queued, pushed := q.count()
	t.Submitted += pushed
	t.Done += q.ran
	t.Started += q.ran
	if q.running.body != nil {
		t.Started++
	}
	t.Stolen += q.stolen
	t.InPlace += q.inPlace.begun.Load()
	t.Queued += queued
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
		w.addTo(&t)
	}
	queued := t.Tasks.Queued
	p.tasks.addTo(&t.Tasks)
	t.Tasks.Global = t.Tasks.Queued - queued
	c := &p.ended
	t.Tasks.Failed, t.Tasks.Panicked, t.Tasks.Cancelled = c.failed.Load(), c.panicked.Load(), c.cancelled.Load()
	t.Tasks.Rejected, t.Tasks.Helped, t.Tasks.Stalls = c.rejected.Load(), c.helped.Load(), c.stalls.Load()
	t.Tasks.Submitted += c.direct.Load()
	t.Tasks.Done += c.inPlace.ended.Load() - c.left.Load()
	t.Tasks.InPlace += c.inPlace.begun.Load()
	t.Tasks.Started += t.Tasks.InPlace
	s := p.state.Load()
	n := p.counts(s)
	t.Workers, t.Active, t.Searching = int(p.limit.Load()), n.Active, n.Searching
	t.Busy, t.Idle = n.Active-n.Searching, max(0, n.Limit-n.Active)
	t.Extra = int(p.extra.Load())
	t.Blocked = int(s / oneBlocked & maxBlocked)
	return t
}

// Observer is told of events in the life of tasks. Its method is called by the
// goroutines that submit and run tasks, several at once, which wait for it.
type Observer interface {
	Observe(e Event)
}

// Event is something that happened to a task.
type Event struct {
	Kind EventKind
	Pool string // its name
	Task string // its name, if it has one; see Named
	Err  error  // of TaskDone, TaskCancelled and TaskRejected, if any
}

// EventKind is a kind of [Event].
type EventKind int

const (
	TaskSubmitted EventKind = iota // accepted
	TaskRejected                   // not accepted, with the error
	TaskStarted                    // begins to run
	TaskDone                       // has ended, with its error, a *PanicError or ErrGoexit
	TaskCancelled                  // will never run, with the reason
)

// String returns the name of the kind.
func (k EventKind) String() string {
	return nameOf("EventKind", int(k), "TaskSubmitted", "TaskRejected", "TaskStarted", "TaskDone", "TaskCancelled")
}

func (p *Pool) observe(k EventKind, b body, err error) {
	name, _ := b.about()
	p.observer.Observe(Event{Kind: k, Pool: p.name, Task: name, Err: err})
}

// watched reports whether somebody wants to see tasks run.
func (p *Pool) watched() bool { return p.observer != nil || p.labels || trace.IsEnabled() }

// watch calls f, which runs b with the context c, so that it can be seen.
func (p *Pool) watch(c *taskContext, b body, f func() error) {
	name, _ := b.about()
	if p.observer != nil {
		p.observe(TaskStarted, b, nil)
	}
	if p.labels {
		pprof.SetGoroutineLabels(labelled(c))
	}
	if trace.IsEnabled() {
		defer trace.StartRegion(c, "filch "+name).End()
	}
	if err := f(); p.observer != nil {
		p.observe(TaskDone, b, err)
	}
}

// Dump writes to out what the pool is doing, for a look at one that is stuck:
// its counts, how much is queued where, what each worker has started last, which
// task waits for which task or group, and which of these waits go round in a
// circle. If there are any waits, Dump looks at the stacks of all goroutines, which
// stops the program for some microseconds a goroutine. A circle keeps its tasks
// from ending if each of its waits is made by the task's own goroutine. Dump does
// not wait for tasks.
// Names are those of [Named]; without one it is the function's. It panics if out is
// nil.
func (p *Pool) Dump(out io.Writer) error {
	if out == nil {
		panic("filch: Dump: out is nil")
	}
	s := p.Stats()
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %d workers, %d extra; %d places taken, %d searching, %d goroutines blocked\n",
		p.name, s.Workers, s.Extra, s.Active, s.Searching, s.Blocked)
	fmt.Fprintf(t, "tasks: %d submitted, %d done (%d failed, %d panicked), %d cancelled, %d queued (%d globally)\n",
		s.Tasks.Submitted, s.Tasks.Done, s.Tasks.Failed, s.Tasks.Panicked, s.Tasks.Cancelled, s.Tasks.Queued, s.Tasks.Global)
	for i, w := range *p.workers.Load() {
		q := &w.tasks
		q.mu.Lock()
		queued, running := q.len(), q.running.body
		q.mu.Unlock()
		if queued > 0 || running != nil {
			fmt.Fprintf(t, "worker %d\t%d queued\t%s\n", i, queued, describe(running))
		}
	}
	p.mu.Lock()
	var long []body
	for e := p.long.Front(); e != nil; e = e.Next() {
		long = append(long, e.Value.(body))
	}
	p.mu.Unlock()
	for _, b := range long {
		fmt.Fprintf(t, "long running\t\t%s\n", describe(b))
	}
	p.dumpWaits(t)
	return t.Flush()
}

// describe tells which task b is.
func describe(b body) string {
	if b == nil {
		return "no task"
	}
	name, f := b.about()
	if name == "" && f != nil {
		if fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer()); fn != nil {
			name = fn.Name()
		}
	}
	if name == "" {
		name = "a task without a name"
	}
	return "task " + name
}
