package filch

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
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
	if !p.made() {
		isNotMade("Dump", "Pool", "New")
	}
	needs(out != nil, "Dump", "out")
	s := p.Stats()
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s, %d extra", p.name, count(s.Workers, "worker"), s.Extra)
	if n := s.Tasks.Stalls; n > 0 {
		fmt.Fprintf(t, " since workers were blocked (%s)", count(int(n), "time"))
	}
	fmt.Fprintf(t, "; %s taken, %d searching, %s blocked%v\n", count(s.Active, "place"), s.Searching, count(s.Blocked, "goroutine"), p.stealing)
	n := &s.Tasks
	fmt.Fprintf(t, "tasks: %d submitted, %d done (%d failed, %d panicked), %d cancelled, %d rejected, %d queued",
		n.Submitted, n.Done, n.Failed, n.Panicked, n.Cancelled, n.Rejected, n.Queued)
	if n.Queued > 0 {
		fmt.Fprintf(t, " (%d globally, the oldest for %v)", n.Global, round(n.Oldest))
	}
	if n.Held > 0 {
		fmt.Fprintf(t, ", %d held", n.Held)
	}
	if n.Waiting > 0 {
		fmt.Fprintf(t, ", %s waiting for room", count(n.Waiting, "submitter"))
	}
	if p.tasks.Paused.Load() {
		fmt.Fprint(t, ", paused")
	}
	fmt.Fprintln(t)
	p.dumpAffinity(t)
	unused := p.tasks.Engine.Unused()
	text := ""
	if runs := s.Active+s.Blocked+n.Running > 0; runs && runtime.NumGoroutine() <= mostGoroutines {
		text = textOfStacks()
	}
	at := whereaboutsIn(text)
	for _, w := range *p.tasks.Engine.Workers.Load() {
		if line := asWorker(w).describe(unused[w], at); line != "" {
			fmt.Fprintln(t, line)
		}
	}
	for _, g := range at.inPlaceOutside(p) {
		fmt.Fprintf(t, "in place\t\t%s\n", g.told(g.taskInPlace()))
	}
	for _, b := range p.longRunning() {
		fmt.Fprintf(t, "long running\t\t%s\n", at.ofLong(b).told(describe(b)))
	}
	p.dumpWaits(t, text)
	p.dumpHeld(t, n.Held)
	return t.Flush()
}

// dumpHeld tells which tasks are held, and by what: held of them, or a few more or less by now.
func (p *Pool) dumpHeld(out io.Writer, held int) {
	for _, h := range p.tasks.AllHeld(mostShown) {
		fmt.Fprintf(out, "held\t\t%s %s\n", describe(h.Body), h.Body.(heldTask).task().held())
	}
	if held > mostShown {
		fmt.Fprintf(out, "held\t\tand %d more tasks\n", held-mostShown)
	}
}

// String tells what holds a task.
func (h *hold) String() string {
	var open []string
	deps := h.after()
	for i := range deps {
		if c := deps[i].on.task(); !c.state.load().isDone() {
			open = append(open, stacks(nil).nameOf(c))
		}
	}
	const most = 3
	switch n := len(open); {
	case n > most:
		return fmt.Sprintf("comes after %s and %d more", strings.Join(open[:most], ", "), n-most)
	case n > 0:
		return "comes after " + strings.Join(open, ", ")
	case h.sub != nil:
		return fmt.Sprintf("waits for a slot of the Subpool %s, which has %d", h.sub.name, h.sub.tasks.Limit)
	}
	return "is about to be queued"
}

// Name returns the name of p: that of [WithName], "default" for [Default], or else "pool " and a number that no
// other pool of the program has. That number depends on which pools were made before. Name costs nothing.
func (p *Pool) Name() string {
	if !p.made() {
		isNotMade("Name", "Pool", "New")
	}
	return p.name
}

// String returns the name of the pool, and how many workers it has.
func (p *Pool) String() string {
	if !p.made() {
		return "a Pool that New has not made"
	}
	return p.name + ", " + count(p.tasks.Engine.Size(), "worker")
}

// describe tells what w is at, and where, or returns "" if it is nothing.
func (w *Worker) describe(unused bool, at whereabouts) string {
	e := &w.tasks.Engine
	unused = unused || e.Doing().Kind == engine.AtSearch && !e.Hold.Load().HasPlace() // it has passed its place on, and is about to leave
	running, d := w.tasks.Own.Running()
	line := w.line(unused, w.tasks.Own.Depth(), running, d)
	if unused {
		return line
	}
	return at.of(w).told(line)
}

// line is describe for a worker with so many tasks queued, and one that has run for d.
func (w *Worker) line(unused bool, queued int, running task.Body, d time.Duration) string {
	if unused && queued == 0 {
		return ""
	}
	var parts []string
	if running != nil {
		task := describe(running)
		if d >= time.Millisecond {
			task += fmt.Sprintf(", for %v or more", round(d))
		}
		parts = append(parts, task)
	}
	if !unused {
		shown := w.shown.Load()
		if s := w.describeDoing(w.tasks.Engine.Doing(), shown != nil); s != "" {
			parts = append(parts, s)
		}
		if shown != nil {
			parts = append(parts, shown.String())
		}
	}
	line := fmt.Sprintf("worker %d\t", w.tasks.Engine.ID)
	if queued > 0 {
		line += fmt.Sprintf("%d queued", queued)
	}
	if len(parts) == 0 {
		parts = append(parts, "idle")
	}
	return line + "\t" + strings.Join(parts, "; ")
}

// describeDoing tells what w is at, that is at, but for what is known from Show.
func (w *Worker) describeDoing(at engine.Doing, shown bool) (s string) {
	function, kind, other := ofFunction(at.Entry), at.Kind, at.Other
	if shown && kind != engine.AtDo { // that tells more than the body of a loop of package par
		function = ""
	}
	switch kind {
	case engine.AtDo:
		s = "Do" + function
	case engine.AtCall:
		if !shown {
			s = "Call" + function
		}
	case engine.AtFork:
		s = fmt.Sprintf("fork%s from worker %d", function, other)
		if d := time.Duration(clock.Now() - at.Since); d >= time.Millisecond {
			s += fmt.Sprintf(", for %v", round(d))
		}
	case engine.AtJoin:
		s = "waits for a fork"
		if other >= 0 {
			s += fmt.Sprintf(" that worker %d has", other)
		}
	case engine.AtSearch:
		s = "searches"
	case engine.AtWay:
		s = "has given way to tasks"
	}
	if !w.tasks.Engine.Hold.Load().HasPlace() {
		s = strings.TrimPrefix(s+", without a place", ", ")
	}
	return s
}
