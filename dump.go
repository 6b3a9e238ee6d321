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

// Show makes [Pool.Dump] show p for w until something else is shown, and returns what was shown before; nil shows nothing.
// Code that shows a part of a computation shows the whole again at the end of the part, as the loops of package par do. Show
// costs an atomic store.
func (w *Worker) Show(p *Progress) (before *Progress) {
	before = w.shown.Load()
	w.shown.Store(p)
	return before
}

// Dump writes to out what the pool is doing, for example to find why it is stuck:
//
//	kitchen: 4 workers, 1 extra since workers were blocked (1 time); 5 slots taken, 0 searching, 2 goroutines blocked
//	tasks: 5 submitted, 1 done (0 failed, 0 panicked), 0 cancelled, 0 rejected, 2 queued (2 globally, the oldest for 5s), 1 submitter waiting for room
//	worker 0        waits for a fork that worker 1 has, without a slot; at main.menu main.go:31
//	worker 1        fork of Join from worker 0, for 2m8s; chan receive for 2 minutes at main.menu.func2 main.go:33
//	worker 4        task dice, for 1m8s or more; par loop of main.dice.func1, 100 of 1000 done; at main.dice.func1 main.go:51
//	long running    task watch
//	in place        task main.serve.func1; sleep at main.serve.func1 main.go:62
//
// Each worker in use has a line, also for calls from outside: what it began last, where its user code is, and what that
// waits for. Inside fork-join code, Dump knows only par loops, exact to 0.1 ms or an element, and what [Worker.Show] shows.
// Tasks without a name show their function. Then come waiting tasks with the circles they form, and held tasks with what
// holds them. docs/debugging.md explains each line.
//
// Dump may be called at any time, and does not wait for tasks. It costs [Pool.Stats], a few microseconds per worker and, if
// anything runs, the stacks of all goroutines, which stop the program for some microseconds each; above 10,000 goroutines
// it takes stacks only for waits. It panics if out is nil.
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
	fmt.Fprintf(t, "; %s taken, %d searching, %s blocked%s\n", tell.Count(s.Active, "slot"), s.Searching, tell.Count(s.Blocked, "goroutine"), p.stealing())
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

// Name returns the name of p: that of [WithName], "default" for [Default], or "pool " and a number that is unique in the
// program and depends on which pools were made before. Name costs nothing.
func (p *Pool) Name() string {
	p.mustBeMade("Name")
	return p.tasks.Name
}

// String returns the pool's name and its number of workers.
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

// mostLookedAt is the most goroutines for which Look says where each is: it is called once a second, and stops the world for
// some microseconds per goroutine.
const mostLookedAt = 1000

// Look returns what Dump writes, without the figures, which Stats has.
func (s source) Look() event.Look { return s.of.look(s.of.Stats(), mostLookedAt) } // Stats notes when tasks began

// look returns the state of p. With more goroutines than most, it takes the stacks only for waits.
func (p *Pool) look(stats Stats, most int) event.Look {
	return p.tasks.LookAt(stats.Active+stats.Blocked+stats.Tasks.Running > 0, stats.Tasks.Held, most)
}
