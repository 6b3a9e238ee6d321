package filch

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/filch-go/filch/internal/tell"

	"github.com/filch-go/filch/internal/task"
)

// QueuedTasks counts the queued tasks that have a name and a priority in common; see
// [Pool.Queued].
type QueuedTasks struct {
	Name     string        // see Named; else that of the function, or "" for one of Submit
	Priority int           // see AtPriority
	Count    int           // of entries in queues; some may be of tasks that were cancelled
	Oldest   time.Duration // how long the oldest has been queued; see TaskStats.Oldest
	Held     int           // that are not queued yet, because of After or a Subpool; not counted by Count
}

// RunningTasks counts the running tasks that have a name in common; see [Pool.Running].
type RunningTasks struct {
	Name  string // as that of QueuedTasks
	Count int
}

// Queued returns what is queued, by priority and name, in that order. It looks at each
// queued task, which takes some tens of nanoseconds a task. It locks a queue for some
// thousands of tasks at a time. In between, tasks may come and go. So the counts need not
// add up to what [Pool.Stats] says, unless the pool is paused or at rest.
func (p *Pool) Queued() []QueuedTasks {
	if !p.made() {
		isNotMade("Queued", "Pool", "New")
	}
	t := tally{found: map[tallied]*QueuedTasks{}}
	p.tasks.Walk(t.add)
	for _, h := range p.tasks.AllHeld(math.MaxInt) {
		t.of(h.Body.(heldTask).task().extras.Load().options.priority, h.Body).Held++
	}
	return t.result()
}

// Running returns which tasks run, in the order of their names. It counts tasks that
// workers took from queues, and those of [LongRunning], but not tasks that run in place.
// It takes some hundred nanoseconds for each worker.
func (p *Pool) Running() []RunningTasks {
	if !p.made() {
		isNotMade("Running", "Pool", "New")
	}
	counts := map[string]int{}
	for _, w := range *p.tasks.Engine.Workers.Load() {
		if b, _ := asWorker(w).tasks.Own.Running(); b != nil {
			counts[nameOfTask(b)]++
		}
	}
	for _, b := range p.longRunning() {
		counts[nameOfTask(b)]++
	}
	all := make([]RunningTasks, 0, len(counts))
	for name, n := range counts {
		all = append(all, RunningTasks{name, n})
	}
	slices.SortFunc(all, func(a, b RunningTasks) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// longRunning returns the tasks that run on goroutines of their own.
func (p *Pool) longRunning() (all []task.Body) {
	p.longMu.Lock()
	defer p.longMu.Unlock()
	for e := p.long.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(task.Body))
	}
	return all
}

// tally counts tasks.
type tally struct {
	found map[tallied]*QueuedTasks
	last  tallied // counts at in
	in    *QueuedTasks
}

// tallied is what tasks have in common: a name, or if there is none, the function.
type tallied struct {
	name     string
	function uintptr
	priority int
}

// add counts a task, which has been queued for d.
func (t *tally) add(priority int, d time.Duration, b task.Body) {
	q := t.of(priority, b)
	q.Count++
	q.Oldest = max(q.Oldest, d)
}

// of returns where b is counted.
func (t *tally) of(priority int, b task.Body) *QueuedTasks {
	name, f := b.About()
	k := tallied{name, 0, priority}
	if name == "" && f != nil {
		k.function = reflect.ValueOf(f).Pointer()
	}
	if t.in == nil || k != t.last {
		t.last, t.in = k, t.found[k]
		if t.in == nil {
			t.in = &QueuedTasks{Name: name, Priority: priority}
			t.found[k] = t.in
		}
	}
	return t.in
}

func (t *tally) result() []QueuedTasks {
	all := make([]QueuedTasks, 0, len(t.found))
	for k, q := range t.found {
		q.Name = tell.Function(k.name, k.function)
		all = append(all, *q)
	}
	slices.SortFunc(all, func(a, b QueuedTasks) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// nameOfTask returns the name of b, or that of its function, or "".
func nameOfTask(b task.Body) string {
	name, f := b.About()
	if name == "" && f != nil {
		return tell.Function("", reflect.ValueOf(f).Pointer())
	}
	return name
}

// describe tells which task b is.
func describe(b task.Body) string {
	if name := nameOfTask(b); name != "" {
		return "task " + name
	}
	return tell.WithoutName
}

// ofFunction tells which function begins at entry, if that is not 0.
func ofFunction(entry uintptr) string {
	switch name := tell.Function("", entry); {
	case strings.HasPrefix(name, tell.Filch):
		return " of Join"
	case name != "":
		return " of " + name
	}
	return ""
}
