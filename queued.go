package filch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/filch-go/filch/internal/task"
	"github.com/filch-go/filch/internal/tell"
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
	counted := p.tasks.Tally(func(h *task.Held) int { return h.Body.(heldTask).task().extras.Load().options.priority })
	all := make([]QueuedTasks, len(counted))
	for i, c := range counted {
		all[i] = QueuedTasks(c)
	}
	return all
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
			counts[task.Name(b)]++
		}
	}
	for _, b := range p.longRunning() {
		counts[task.Name(b)]++
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
