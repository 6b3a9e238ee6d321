package task

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/line"
	"github.com/filch-go/filch/internal/tell"
)

// Tasks that wait for one another wait for ever. A Wait that would close such a circle returns ErrInside instead. Each
// blocking wait is noted at the worker in whose seat it is made. A wait that is about to block follows the notes, from the
// task that it waits for to the task that this one waits for, and so on. That costs a few loads. Notes that lead back are
// only a suspicion: goroutines started by a task may use its context, and their waits do not keep the task from ending.
//
// The stacks decide. The caller of a Future's function has the Future's address among its arguments, and a blocking wait has
// those of both tasks. Arrays are passed in memory, where each argument stays valid during the call, and a traceback prints
// them. So one traceback of all stacks, for which the world is stopped, shows whether the function of each task in the circle
// is below the task's wait, on the same stack. If any is not, there is no error.

// A wait is a blocking wait of a task, for another task or for a group.
type wait struct {
	by    *Context
	task  *Context // awaited, unless it is
	group *Group   // this
}

// waits are those made in the seats of one worker, or in the name of one task without a seat; the newest are last.
type waits struct {
	mu   sync.Mutex
	line line.Line[*wait]
}

// waits returns where c notes its waits.
func (c *Context) waits() *waits {
	if c.Worker != nil {
		return &c.Worker.waits
	}
	return &c.needExtras().waits
}

// A waitMark makes three addresses visible on the stack of a blocking wait: the awaited task; the waiting task, or nil if the
// wait may end before that task's context; and the waiting task in any case.
type waitMark [3]*Context

// blocked waits as l.Wait does, in the name of a task. It returns an error if that task would wait for itself.
//
//go:noinline
func blocked(mark waitMark, w wait, l *Latch, ctx context.Context, ready func() bool) error {
	noted, t := w.by.waits(), &line.Turn[*wait]{Of: &w}
	noted.mu.Lock()
	noted.line.Add(t) // (W41) then follow the notes of others
	noted.mu.Unlock()
	defer func() {
		noted.mu.Lock()
		noted.line.Remove(t)
		noted.mu.Unlock()
	}()
	if closes, through := w.closesCircle(); closes {
		if err := circleOn(tell.ReadTasks(tell.Traceback()), &w, through); err != nil {
			return err
		}
	}
	return w.by.standsBy(w.task.slotHeld(), func(s Seat) error { return l.Wait(ctx, s, ready) })
}

// lasts returns c if a wait with ctx does not end before c does, else nil. ctx is c or comes from it.
func (c *Context) lasts(ctx context.Context) *Context {
	if t, ok := ctx.(*Context); ok && t == c {
		return c
	}
	if end := ctx.Done(); end == nil || end == c.Done() {
		return c
	}
	return nil
}

// closesCircle reports whether the notes lead from what w waits for back to the waiting task, or to another that runs in the
// same seat. A held task leads to its dependencies; through has those steps, by the address of the held task.
func (w *wait) closesCircle() (closes bool, through map[string]*Context) {
	hops := 0
	closes = w.leadsBack(w.task, &hops, func(c, on *Context) {
		if through == nil {
			through = map[string]*Context{}
		}
		through[tell.Address(c)] = on
	})
	return closes, through
}

// leadsBack is closesCircle from c on. It calls through for steps through a held task.
func (w *wait) leadsBack(c *Context, hops *int, through func(c, on *Context)) bool {
	for ; c != nil && *hops < 1000; *hops++ {
		s := c.state.Load()
		if s.IsHeld() {
			deps := c.holders()
			for i := range deps {
				*hops++
				if w.leadsBack(&deps[i].on.Core().Ctx, hops, through) {
					through(c, &deps[i].on.Core().Ctx)
					return true
				}
			}
			return false
		}
		if !s.IsRunning() {
			return false
		}
		if c == w.by || w.by.Worker != nil && s.Runner() == w.by.Worker.Engine.Number {
			return true
		}
		next := c.waitsFor(s.Runner()) // (R41)
		if next == nil {
			return false
		}
		c = next.task
	}
	return false
}

// holders returns the dependencies of c's task, which is held.
func (c *Context) holders() []dependency {
	if h := c.held(); h != nil {
		return h.after()
	}
	return nil // a promise
}

// waitsFor returns the newest wait of c, or of what runs in its seat. c runs on the worker with the given number.
func (c *Context) waitsFor(number uint32) *wait {
	noted := c.notes(number)
	if noted == nil {
		return nil
	}
	noted.mu.Lock()
	defer noted.mu.Unlock()
	if noted.line.Last() == nil {
		return nil
	}
	return noted.line.Last().Of
}

// notes returns what waits does, for goroutines that do not run c's task and so must not read c.Worker.
func (c *Context) notes(number uint32) *waits {
	if number == 0 {
		if m := c.extras.Load(); m != nil {
			return &m.waits
		}
		return nil
	}
	all := *c.Pool.Engine.Workers.Load()
	if i := int(number) - 1; i < len(all) && all[i].Number == number {
		return &of(all[i]).waits
	}
	for _, w := range all { // some workers were let go
		if w.Number == number {
			return &of(w).waits
		}
	}
	return nil
}

// circleOn returns an error that names the tasks if w, which the caller is about to make, and other waits keep one another
// from ending. through is that of closesCircle.
func circleOn(all tell.Stacks, w *wait, through map[string]*Context) error {
	if len(all) == 0 || len(all[0].Tasks) == 0 {
		return nil
	}
	names, seen := namesOnTheWay(w, through), map[int]bool{}
	name := func(t tell.TaskCall) string { return "task " + cmp.Or(names[t.Address], t.Function) }
	text := name(all[0].Tasks[0])
	for at := 0; all[at].Lasts && !seen[at]; {
		seen[at] = true
		address := all[at].WaitsFor
		for on := through[address]; on != nil; on = through[address] {
			text += " waits for " + name(tell.TaskCall{Address: address, Function: "without a name"})
			address = tell.Address(on)
		}
		next, task := all.Running(address)
		if next < 0 {
			return nil
		}
		for ; task >= 0; task-- { // that one waits for the tasks on top of it
			text += " waits for " + name(all[next].Tasks[task])
		}
		if at = next; at == 0 {
			return InOp("Wait", ErrInside, ": "+text)
		}
	}
	return nil
}

// namesOnTheWay returns the names of the tasks that the notes lead to from w.
func namesOnTheWay(w *wait, through map[string]*Context) map[string]string {
	names := map[string]string{}
	for next, hops := w, 0; next != nil && next.task != nil && hops < 1000; hops++ {
		c := next.task
		if _, known := names[tell.Address(c)]; known {
			break
		}
		names[tell.Address(next.by)] = next.by.Name()
		names[tell.Address(c)] = c.Name()
		for on := through[tell.Address(c)]; on != nil; on = through[tell.Address(c)] {
			c = on
			names[tell.Address(c)] = c.Name()
		}
		next = c.waitsFor(c.state.Load().Runner())
	}
	return names
}

// Name returns the name of c's task, if it has one.
func (c *Context) Name() string {
	if m := c.extras.Load(); m != nil {
		return m.options.Name
	}
	return ""
}

// allWaits returns the blocking waits of p's tasks.
func (p *Pool) allWaits() (all []wait) {
	collect := func(n *waits) {
		n.mu.Lock()
		defer n.mu.Unlock()
		for w := range n.line.All() {
			all = append(all, *w)
		}
	}
	for _, w := range *p.Engine.Workers.Load() {
		collect(&of(w).waits)
	}
	for _, b := range p.LongRunning() {
		if t, ok := b.(FutureTask); ok {
			if m := t.Core().Ctx.extras.Load(); m != nil {
				collect(&m.waits)
			}
		}
	}
	return all
}

// mostShown is how many waits, circles and held tasks are shown.
const mostShown = 100

// lookAtWaits describes which task waits for which, and which circles they form. more is the number of further waits. text is
// the stacks, or "" if they were not taken.
func (p *Pool) lookAtWaits(text string) (waits []event.WaitLook, more int, circles []string) {
	all := p.allWaits()
	if len(all) == 0 {
		return nil, 0, nil
	}
	if text == "" {
		text = tell.Traceback()
	}
	stacks := tell.ReadTasks(text)
	for _, w := range all[:min(len(all), mostShown)] {
		waits = append(waits, event.WaitLook{By: nameIn(stacks, w.by), On: target(stacks, w)})
	}
	for _, c := range circlesOf(all, mostShown) {
		text := nameIn(stacks, c[0].by)
		for i, w := range c {
			text += " waits for " + target(stacks, w)
			// The next belongs to the group, runs on top of w.task, or holds it.
			if next := c[(i+1)%len(c)].by; next != w.task {
				text += " waits for " + nameIn(stacks, next)
			}
		}
		circles = append(circles, text)
	}
	return waits, max(0, len(all)-mostShown), circles
}

// target describes what w waits for.
func target(all tell.Stacks, w wait) string {
	if w.group != nil {
		return "a group"
	}
	return nameIn(all, w.task)
}

// nameIn names the task whose context is c.
func nameIn(all tell.Stacks, c *Context) string {
	if c.isPromise() {
		return "a promise"
	}
	if name := c.Name(); name != "" {
		return "task " + name
	}
	return all.NameOf(tell.Address(c))
}

// circlesOf returns up to most of the circles that waits form, assuming each is made by its task's own goroutine.
func circlesOf(all []wait, most int) (circles [][]wait) {
	bySeat, byTask, byGroup := map[uint32][]int{}, map[*Context][]int{}, map[context.Context][]int{}
	for i, w := range all {
		if w.by.Worker != nil {
			bySeat[w.by.Worker.Engine.Number] = append(bySeat[w.by.Worker.Engine.Number], i)
		} else {
			byTask[w.by] = append(byTask[w.by], i)
		}
		if w.group != nil {
			byGroup[w.group.Ctx] = nil
		}
	}
	for i, w := range all {
		if len(byGroup) > 0 && reflect.TypeOf(w.by.Context) == groupContext {
			byGroup[w.by.Context] = append(byGroup[w.by.Context], i)
		}
	}
	var followTask func(c *Context, seen map[*Context]bool) []int
	followTask = func(c *Context, seen map[*Context]bool) (on []int) {
		s := c.state.Load()
		switch {
		case seen[c]:
		case s.IsHeld():
			seen[c] = true
			deps := c.holders()
			for i := range deps {
				on = append(on, followTask(&deps[i].on.Core().Ctx, seen)...)
			}
		case s.Runner() != 0:
			on = bySeat[s.Runner()]
		default:
			on = byTask[c]
		}
		return on
	}
	follow := func(w wait) []int {
		if w.group != nil {
			return byGroup[w.group.Ctx]
		}
		return followTask(w.task, map[*Context]bool{})
	}
	const fresh, onTheWay, left = 0, 1, 2
	state, way := make([]int, len(all)), []int{}
	var visit func(i int)
	visit = func(i int) {
		state[i] = onTheWay
		way = append(way, i)
		for _, j := range follow(all[i]) {
			switch {
			case state[j] == fresh:
				visit(j)
			case state[j] == onTheWay && len(circles) < most:
				var c []wait
				for _, k := range way[slices.Index(way, j):] {
					c = append(c, all[k])
				}
				circles = append(circles, c)
			}
		}
		way = way[:len(way)-1]
		state[i] = left
	}
	for i := range all {
		if state[i] == fresh {
			visit(i)
		}
	}
	return circles
}

// groupContext is the type of the context of a group.
var groupContext = func() reflect.Type {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(nil)
	return reflect.TypeOf(ctx)
}()
