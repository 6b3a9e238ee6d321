package filch

import (
	"cmp"
	"slices"
	"time"
)

// Stats is what a pool has done since it was made. A worker reports its figures when it
// finishes its current work, and those of tasks when it begins the next task. So the
// figures of a busy pool lag behind. Those of a pool at rest are exact.
type Stats struct {
	Workers   int // places: how many goroutines may run at once
	Active    int // places taken now, searching ones included
	Busy      int // of these, those with something to do
	Searching int // workers looking for work now
	Idle      int // places that are free now
	Blocked   int // goroutines that now wait, or block, without a place, or run a LongRunning task
	Extra     int // extra places now, since workers are blocked out of sight

	Paused bool // by Pool.Pause: queued tasks do not start

	Published int64 // forks that were published to other workers
	TakenBack int64 // of these, forks that were joined before another worker took them
	Attempts  int64 // looks at another worker's deque
	Steals    int64 // looks that got a fork
	Helped    int64 // steals made while waiting for a result, from the worker that computes it
	Waits     int64 // waits at a join that gave the place to another goroutine
	Wakes     int64 // goroutines started to fill a place

	Tasks TaskStats
}

// TaskStats is the part of [Stats] that is about tasks. A submitted task is done,
// cancelled, running, queued, or held.
type TaskStats struct {
	Submitted int64 // accepted into a queue, or run at once
	Started   int64 // begun
	Done      int64 // of these, ended in any way
	Failed    int64 // of these, ended with an error, or by runtime.Goexit
	Panicked  int64 // of Done, ended with a panic
	Cancelled int64 // dropped before they started
	Rejected  int64 // refused: the pool closed, the queue full, the context ended, or an option that cannot be met
	InPlace   int64 // begun by a wait for them, by the submitter, by Help, or on a goroutine of their own
	Helped    int64 // of these, by Help
	Attempts  int64 // looks into another worker's queue that seemed to have tasks
	Stolen    int64 // moved from one worker's queue to another's
	Stalls    int64 // times that extra places were added for a stall
	Queued    int   // entries of queues now; those of tasks that are done or cancelled stay until their turn
	Global    int   // of these, in the global queue
	Held      int   // accepted and not queued yet, because of After or a Subpool
	Running   int   // tasks that run now: those of Started that are not Done, also while they wait
	Waiting   int   // goroutines that now wait to submit a task: for room in the queue, or a slot of WithTaskLimit or GroupLimit

	// Oldest is how long the oldest entry has been queued; 0 if there is none. Held tasks
	// are not queued: it does not tell how long one has waited in a Subpool.
	// Submissions look at the clock only while the pool is paused, so it may be too
	// little, by at most a quarter of the time of [WithStallTimeout]: 25 ms by default.
	// With WithStallTimeout(0) it may be too little by the time since the last call of
	// Stats, Queued or Dump; with [ByPriority] it is exact then.
	//
	//figure:set 25 ms
	Oldest time.Duration
}

// Stats returns what the pool has done so far. It may be called at any time. It takes
// some tens of nanoseconds for each worker, and does not allocate. With [ByPriority] it also looks at the oldest
// task of each priority, and at each task whose priority is thousands away from the most
// urgent ones. A million such tasks take some milliseconds. Meanwhile no task is queued
// or taken.
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
	p.mustBeMade("Queued")
	counted := p.tasks.Tally()
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
	p.mustBeMade("Running")
	counts := p.tasks.Running()
	all := make([]RunningTasks, 0, len(counts))
	for name, n := range counts {
		all = append(all, RunningTasks{name, n})
	}
	slices.SortFunc(all, func(a, b RunningTasks) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
