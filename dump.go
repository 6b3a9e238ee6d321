package filch

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/task"
	"github.com/filch-go/filch/internal/tell"
)

// Show makes [Pool.Dump] show p for w, until something else is shown; nil shows nothing. It
// returns what was shown before. Code that shows a part of a computation shows the whole
// again at the end of the part. The loops of package par do so. Show costs an atomic
// store.
func (w *Worker) Show(p *Progress) (before *Progress) {
	before = w.shown.Load()
	w.shown.Store(p)
	return before
}

// Dump writes to out what the pool is doing, to show why it is stuck, for example:
//
//	kitchen: 4 workers, 1 extra since workers were blocked (1 time); 5 places taken, 0 searching, 2 goroutines blocked
//	tasks: 5 submitted, 1 done (0 failed, 0 panicked), 0 cancelled, 0 rejected, 2 queued (2 globally, the oldest for 5s), 1 submitter waiting for room
//	worker 0        waits for a fork that worker 1 has, without a place; at main.menu main.go:31
//	worker 1        fork of Join from worker 0, for 2m8s; chan receive for 2 minutes at main.menu.func2 main.go:33
//	worker 2        Call of main.init.func2; at main.soup main.go:12
//	worker 3        Do of main.menu.func3; sync.Mutex.Lock at main.menu.func3 main.go:40
//	worker 4        task dice, for 1m8s or more; par loop of main.dice.func1, 100 of 1000 done; at main.dice.func1 main.go:51
//	worker 5        searches
//	long running    task watch
//	in place        task main.serve.func1; sleep at main.serve.func1 main.go:62
//
// There is a line for each worker that is in use, also for one whose goroutine calls Do or
// Call from outside. It says what the worker began last: a task, a call, a fork of
// another worker, a wait at a join, or a search. Dump does not know what the fork-join
// code inside does, except for loops of package par and what [Worker.Show] shows. How far
// a loop has come is known to within 0.1 ms or an element.
//
// Then it says where the user's code is, and if it waits, in what, and for how many minutes: in a call of this package,
// such as Future.Wait, or in what the Go runtime calls it. A goroutine that computes is only said to be at a place. A
// worker in Future.Wait or Group.Wait that keeps its place waits with a context that is not its task's own. What runs in
// place outside of the pool's workers, by [CallerRuns] or Help, has a line of its own. For that Dump looks at the stacks
// of all goroutines, if something runs in the pool, which stops the program for some microseconds a goroutine. Of more
// than 10,000 goroutines it looks at the stacks only for waits.
//
// How long a task has been running is known from earlier looks: by Stats, Queued and
// Dump, and by the watch for stalls while tasks are queued. It is not known for calls
// from outside, nor for tasks that run in place, by Wait, Help or [CallerRuns]. A task
// has the name of [Named], or else that of its function.
//
// Then come the waits: which task waits for which task or group, and which of these waits
// form a circle. A circle keeps its tasks from ending if each of its waits is made by the
// task's own goroutine.
//
// With [WithAffinity] there is a line for the processors of the pool, or why its workers are not pinned.
//
// Last come the tasks that are held, with what each comes after, or the Subpool that it waits for a slot of.
//
// Dump does not wait for tasks. It takes as long as [Pool.Stats], a few microseconds
// for each worker, and the stacks. It panics if out is nil.
//
//figure:set 0.1 ms
func (p *Pool) Dump(out io.Writer) error {
	p.mustBeMade("Dump")
	needs(out != nil, "Dump", "out")
	s := p.Stats()
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s, %d extra", p.tasks.Name, tell.Count(s.Workers, "worker"), s.Extra)
	if n := s.Tasks.Stalls; n > 0 {
		fmt.Fprintf(t, " since workers were blocked (%s)", tell.Count(int(n), "time"))
	}
	fmt.Fprintf(t, "; %s taken, %d searching, %s blocked%s\n", tell.Count(s.Active, "place"), s.Searching, tell.Count(s.Blocked, "goroutine"), p.stealing())
	n := &s.Tasks
	fmt.Fprintf(t, "tasks: %d submitted, %d done (%d failed, %d panicked), %d cancelled, %d rejected, %d queued",
		n.Submitted, n.Done, n.Failed, n.Panicked, n.Cancelled, n.Rejected, n.Queued)
	if n.Queued > 0 {
		fmt.Fprintf(t, " (%d globally, the oldest for %v)", n.Global, tell.Round(n.Oldest))
	}
	if n.Held > 0 {
		fmt.Fprintf(t, ", %d held", n.Held)
	}
	if n.Waiting > 0 {
		fmt.Fprintf(t, ", %s waiting for room", tell.Count(n.Waiting, "submitter"))
	}
	if p.tasks.Paused.Load() {
		fmt.Fprint(t, ", paused")
	}
	fmt.Fprintln(t)
	p.dumpAffinity(t)
	look := p.look(s, task.MostDumped)
	tell.Look(t, &look)
	return t.Flush()
}

// Name returns the name of p: that of [WithName], "default" for [Default], or else "pool " and a number that no
// other pool of the program has. That number depends on which pools were made before. Name costs nothing.
func (p *Pool) Name() string {
	p.mustBeMade("Name")
	return p.tasks.Name
}

// String returns the name of the pool, and how many workers it has.
func (p *Pool) String() string {
	if !p.made() {
		return "a Pool that New has not made"
	}
	return p.tasks.Name + ", " + tell.Count(p.tasks.Engine.Size(), "worker")
}

func init() {
	event.Known(func(pool any) event.Source {
		if p, ok := pool.(*Pool); ok && p.made() {
			return source{&p.tasks.Engine, p}
		}
		return nil
	})
}

// source is a pool as package trace sees it.
type source struct {
	*engine.Pool
	of *Pool
}

// mostLookedAt is how many goroutines there may be for Look to say where each is: it is called once a second, and the
// world stands still for some microseconds for each.
const mostLookedAt = 1000

// Look returns what Dump tells, but for the figures, which Stats has.
func (s source) Look() event.Look { return s.of.look(s.of.Stats(), mostLookedAt) } // Stats notes since when tasks run

// look returns what p is at. If there are more goroutines than most, it looks at the stacks only for waits.
func (p *Pool) look(stats Stats, most int) event.Look {
	return p.tasks.LookAt(stats.Active+stats.Blocked+stats.Tasks.Running > 0, stats.Tasks.Held, most)
}
