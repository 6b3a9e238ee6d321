package filch

import (
	"cmp"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/queue"
)

// QueuedTasks counts the queued tasks that have a name and a priority in common; see
// [Pool.Queued].
type QueuedTasks struct {
	Name     string        // see Named; else that of the function, or "" for one of Submit
	Priority int           // see AtPriority
	Count    int           // of entries in queues; some may be of tasks that were cancelled
	Oldest   time.Duration // for how long the oldest has been queued; see TaskStats.Oldest
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
	t := tally{pool: p, now: clock.Now(), found: map[tallied]*QueuedTasks{}}
	for _, q := range p.queues() {
		if q.some.Load() {
			t.walk(q)
		}
	}
	return t.result()
}

// Running returns which tasks run, in the order of their names. It counts tasks that
// workers took from queues, and those of [LongRunning], but not tasks that run in place,
// on top of others. It takes some hundred nanoseconds for each worker.
func (p *Pool) Running() []RunningTasks {
	counts := map[string]int{}
	for _, w := range *p.engine.Workers.Load() {
		q := &asWorker(w).tasks
		q.mu.Lock()
		b := q.running.body
		q.mu.Unlock()
		if b != nil {
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

// tally counts tasks.
type tally struct {
	pool  *Pool
	now   int64
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

// atATime is how many tasks are counted under a lock, about.
const atATime = 4096

// add counts a task, which was pushed by then.
func (t *tally) add(priority int, b runnable, by int64) {
	name, f := b.about()
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
	t.in.Count++
	t.in.Oldest = max(t.in.Oldest, since(by, t.now))
}

func (t *tally) walk(q *taskQueue) {
	if q.levels != nil {
		t.walkLevels(q)
		return
	}
	// The inbox may become the queue in between, at whose place it is then; and the
	// queue was empty.
	from, inbox, turn := 0, false, -1
	for more := true; more; runtime.Gosched() {
		q.mu.Lock()
		if turn != q.refills {
			if !inbox || q.refills > turn+1 {
				from = 0
			}
			inbox, turn = false, q.refills
		}
		q.stamp(t.now)
		if inbox {
			q.in.mu.Lock()
			from, more = t.walkPart(&q.in.q, from)
			q.in.mu.Unlock()
		} else if from, more = t.walkPart(&q.q, from); !more && q.in != nil {
			from, inbox, more = 0, true, true
		}
		q.mu.Unlock()
	}
}

func (t *tally) walkPart(d *queue.Deque[task], from int) (next int, more bool) {
	return d.Walk(from, atATime, t.now, func(task task, by int64) { t.add(0, task.body, by) })
}

func (t *tally) walkLevels(q *taskQueue) {
	p := t.pool
	var at queue.Place
	for more := true; more; runtime.Gosched() {
		q.mu.Lock()
		more = q.levels.Walk(&at, atATime, func(priority int, a aging) {
			if p.ageing > 0 {
				priority = policy.Unaged(priority, a.at-p.begun, int64(p.ageing))
			}
			t.add(priority, a.body, a.at)
		})
		q.mu.Unlock()
	}
}

func (t *tally) result() []QueuedTasks {
	all := make([]QueuedTasks, 0, len(t.found))
	for k, q := range t.found {
		q.Name = nameOfFunction(k.name, k.function)
		all = append(all, *q)
	}
	slices.SortFunc(all, func(a, b QueuedTasks) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// nameOfTask returns the name of b, or that of its function, or "".
func nameOfTask(b runnable) string {
	name, f := b.about()
	if name == "" && f != nil {
		return nameOfFunction("", reflect.ValueOf(f).Pointer())
	}
	return name
}
