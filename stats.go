package filch

import (
	"cmp"
	"slices"
	"time"
)

// Stats is what a pool has done since it was made. A worker reports its figures when it finishes its current work, and those
// of tasks when it begins the next task, so the figures of a busy pool lag. Those of an idle pool are exact.
type Stats struct {
	Workers   int // worker slots: how many goroutines may run at once
	Active    int // slots taken now, including those of searching workers
	Busy      int // of these, slots with something to do
	Searching int // workers searching for work now
	Idle      int // slots free now
	Blocked   int // goroutines that wait or block without a slot now, or run a LongRunning task
	Extra     int // extra slots now, because workers are blocked where the pool cannot see it

	Paused bool // by Pool.Pause: queued tasks do not start

	Published int64 // forks published to other workers
	TakenBack int64 // of these, joined before another worker took them
	Attempts  int64 // checks of another worker's deque
	Steals    int64 // checks that got a fork
	Helped    int64 // steals while waiting for a result, from the worker that computes it
	Waits     int64 // waits at a join, and yields to other tasks, that lent the slot to another goroutine
	Wakes     int64 // goroutines started to fill a slot

	Tasks TaskStats
}

// TaskStats is the part of [Stats] about tasks. A submitted task is done, cancelled, running, queued, or held.
type TaskStats struct {
	Submitted int64 // accepted into a queue, or run at once
	Started   int64 // begun
	Done      int64 // of these, ended in any way
	Failed    int64 // of these, ended with an error, or by runtime.Goexit
	Panicked  int64 // of Done, ended with a panic
	Cancelled int64 // dropped before they started
	Rejected  int64 // refused: the pool closed, the queue full, the context ended, or an option that cannot be met
	InPlace   int64 // begun inline by a wait, by the submitter, by Help, or on a goroutine of their own
	Helped    int64 // of these, by Help
	Attempts  int64 // checks of another worker's queue that seemed to have tasks
	Stolen    int64 // moved from one worker's queue to another's
	Stalls    int64 // times that a stall added extra slots
	Queued    int   // entries in queues now; done or cancelled tasks stay until their turn
	Global    int   // of these, in the global queue
	Held      int   // accepted but not queued yet, because of After or a Subpool
	Running   int   // tasks running now: Started but not Done, including while they wait
	Waiting   int   // goroutines that wait to submit a task now: for room in the queue, or a slot of WithTaskLimit or GroupLimit

	// Oldest is how long the oldest entry has been queued; 0 if there is none. Held tasks do not count, so it does not show
	// waits in a Subpool. Submissions read the clock only while the pool is paused, so Oldest may be too small by at most a
	// quarter of [WithStallTimeout]: 25 ms by default. With WithStallTimeout(0) it may be too small by the time since the
	// last call of Stats, Queued or Dump; with [ByPriority] it is exact then.
	//
	//figure:set 25 ms
	Oldest time.Duration
}

// Stats returns what the pool has done so far. It may be called at any time, takes some tens of nanoseconds per worker, and
// does not allocate. With [ByPriority] it also checks the oldest task of each priority, and each task whose priority is
// thousands away from the most urgent ones. A million such tasks take some milliseconds, during which no task is queued or
// taken.
func (p *Pool) Stats() Stats {
	p.mustBeMade("Stats")
	p.tasks.Engine.Follow()
	f, e := p.tasks.Figures()
	c := &p.tasks.Outcomes
	s := p.tasks.Engine.Places.Load()
	n := p.tasks.Engine.Counts(s)
	return Stats{
		Workers: p.tasks.Engine.Size(), Active: n.Active, Busy: n.Active - n.Searching, Searching: n.Searching,
		Idle: max(0, n.Limit-n.Active), Blocked: s.Blocked(), Extra: p.tasks.Engine.Extra(),
		Paused:    p.tasks.Paused.Load(),
		Published: e.Published, TakenBack: e.TakenBack, Attempts: e.Attempts, Steals: e.Steals,
		Helped: e.Helped, Waits: e.Waits, Wakes: e.Wakes,
		Tasks: TaskStats{
			Submitted: f.Submitted, Started: f.Started, Done: f.Done, InPlace: f.InPlace,
			Failed: c.Failed.Load(), Panicked: c.Panicked.Load(), Cancelled: c.Cancelled.Load(), Rejected: c.Rejected.Load(),
			Helped: c.Helped.Load(), Attempts: e.Looks, Stolen: f.Stolen, Stalls: p.tasks.Totals.Stalls.Load(),
			Queued: f.Queued, Global: f.Global, Running: max(0, int(f.Started-f.Done)), Oldest: f.Oldest,
			Waiting: p.tasks.Room.Waiting() + p.tasks.Slots.Waiting() + int(c.Waiting.Load()),
			Held:    f.Held,
		},
	}
}

// QueuedTasks counts the queued tasks with the same name and priority; see [Pool.Queued].
type QueuedTasks struct {
	Name     string        // see Named; otherwise the function's name, or "" for a task of Submit
	Priority int           // see AtPriority
	Count    int           // entries in queues; some tasks may be cancelled
	Oldest   time.Duration // how long the oldest has been queued; see TaskStats.Oldest
	Held     int           // not queued yet, because of After or a Subpool; not in Count
}

// RunningTasks counts the running tasks with the same name; see [Pool.Running].
type RunningTasks struct {
	Name  string // as in QueuedTasks
	Count int
}

// Queued returns the queued tasks, sorted by priority and then name. It visits each queued task, at some tens of nanoseconds,
// and locks a queue for some thousands of tasks at a time. In between, tasks may come and go, so the counts need not add up
// to those of [Pool.Stats] unless the pool is paused or idle.
func (p *Pool) Queued() []QueuedTasks {
	p.mustBeMade("Queued")
	counted := p.tasks.Tally()
	all := make([]QueuedTasks, len(counted))
	for i, c := range counted {
		all[i] = QueuedTasks(c)
	}
	return all
}

// Running returns the running tasks, sorted by name. It counts tasks that workers took from queues, and those of
// [LongRunning], but not tasks that run inline. It takes some hundred nanoseconds per worker.
func (p *Pool) Running() []RunningTasks {
	p.mustBeMade("Running")
	counts := p.tasks.Running()
	all := make([]RunningTasks, 0, len(counts))
	for name, n := range counts {
		all = append(all, RunningTasks{name, n})
	}
	slices.SortFunc(all, func(a, b RunningTasks) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
