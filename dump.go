package filch

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Dump writes to out what the pool is doing, for a look at one that is stuck:
// its counts, how much is queued where, and what each worker has started last.
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
	for _, b := range p.longTasks() {
		fmt.Fprintf(t, "long running\t\t%s\n", describe(b))
	}
	p.dumpWaits(t)
	return t.Flush()
}

// longTasks returns the tasks of LongRunning that run.
func (p *Pool) longTasks() (long []body) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.long.Front(); e != nil; e = e.Next() {
		long = append(long, e.Value.(body))
	}
	return long
}

// describe tells which task b is.
func describe(b body) string {
	if b == nil {
		return "no task"
	}
	name := nameOfTask(b)
	if name == "" {
		name = "a task without a name"
	}
	return "task " + name
}
