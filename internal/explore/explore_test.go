package explore

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	preemptions = flag.Int("preemptions", -1, "explore with at most so many preemptions, instead of all interleavings")
	deep        = flag.Bool("deep", false, "explore larger programs as well, and all mutations, for some minutes")
	thorough    = os.Getenv("FILCH_THOROUGH") != "" // this module has no other need of the root's internal/thorough
	every       = flag.Int("every", 0, "compile one mutation in so many, chosen at random; 0: one in 40 with FILCH_THOROUGH, else none; -deep: all")
)

// root returns the folder of the root module.
func root(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(`filepath.Abs("../.."):`, err)
	}
	return root
}

// build compiles the programs of some files, with some edits.
func build(t *testing.T, edits []Edit, programs ...string) (drive string) {
	t.Helper()
	dir := t.TempDir()
	drive = filepath.Join(dir, "drive")
	if err := Build(root(t), dir, drive, edits, programs...); err != nil {
		t.Fatal("Build(root(t), dir, drive, edits, programs):", err)
	}
	return drive
}

// asItIs is the drive of the code as it is, which two tests need. TestMain removes it.
var asItIs struct {
	sync.Once
	dir, drive string
	err        error
}

func TestMain(m *testing.M) {
	status := m.Run()
	os.RemoveAll(asItIs.dir)
	os.Exit(status)
}

// unchanged returns the drive of the code as it is.
func unchanged(t *testing.T) (drive string) {
	t.Helper()
	d := &asItIs
	d.Do(func() {
		if d.dir, d.err = os.MkdirTemp("", "explore"); d.err == nil {
			d.drive = filepath.Join(d.dir, "drive")
			d.err = Build(root(t), d.dir, d.drive, nil)
		}
	})
	if d.err != nil {
		t.Fatal("asItIs:", d.err)
	}
	return d.drive
}

// The code as it is keeps its contract in every interleaving: with FILCH_THOROUGH up to each program's bound, else with one preemption less, which
// takes a fifth of the time.
func TestExplore(t *testing.T) {
	t.Parallel()
	args := []string{"-preemptions", fmt.Sprint(*preemptions)}
	switch {
	case *deep:
		args = append(args, "-deep")
	case !thorough:
		args = append(args, "-less", "1")
	}
	out, err := exec.Command(unchanged(t), args...).CombinedOutput()
	t.Logf("%s", out)
	if n := bytes.Count(out, []byte("complete\n")); err != nil || n == 0 || n != bytes.Count(out, []byte("\n")) {
		t.Errorf("%d programs were explored; %v", n, err)
	}
}

// mutation is a change that removes what the code says is necessary.
type mutation struct {
	name     string
	programs string // the explorer must find it in one of these
	edits    []Edit
}

// files returns which files of testdata/drive the programs need.
func (m *mutation) files() []string {
	switch kind, _, _ := strings.Cut(m.programs, "/"); kind {
	case "Pool":
		return []string{"pool"}
	case "tally", "strand", "ordered":
		return []string{kind}
	case "trace":
		return []string{kind, "pool"}
	}
	return []string{"deque"}
}

var mutations = append([]mutation{
	{"Hybrid: no spare slot", "Hybrid", []Edit{{"deque/hybrid.go",
		"return head + int64(len(h.slots.slots)) - 1 }", "return head + int64(len(h.slots.slots)) }"}}},
	{"Hybrid: no second look under the lock", "Hybrid", []Edit{{"deque/hybrid.go",
		"there := h.head.Load() <= i\n", "there := false\n"}}},
	{"Hybrid: the owner does not look at head again", "Hybrid", []Edit{{"deque/hybrid.go",
		"\tif head > i && !h.isThere(i) {", "\tif h.next == 0 {"}}},
	{"Hybrid: the thief does not look at tail again", "Hybrid", []Edit{{"deque/hybrid.go",
		"if h.tail.Load() <= head {", "if false {"}}},
	{"Hybrid: the thief keeps a claim that failed", "Hybrid", []Edit{{"deque/hybrid.go",
		"\t\th.head.Store(head)\n", ""}}},
	{"Hybrid: the thief claims after the look at tail", "Hybrid", []Edit{{"deque/hybrid.go",
		"\th.head.Store(head + 1)     // (W8) then load tail; pairs with (R8)\n", "\tdefer h.head.Store(head + 1)\n"}}},
	{"Hybrid: thieves count without the lock", "Hybrid", []Edit{{"deque/hybrid.go",
		"func (h *hybrid[T]) size() int {\n\th.mu.Lock()\n\tdefer h.mu.Unlock()\n", "func (h *hybrid[T]) size() int {\n"}}},
	{"Hybrid: the owner counts once", "Hybrid", []Edit{{"deque/hybrid.go",
		"\tif n := int(h.next - h.head.Load()); n > 0 {\n\t\treturn n\n\t}\n\treturn h.size()\n", "\treturn max(0, int(h.next-h.head.Load()))\n"}}},
	{"Hybrid: no lock to resize", "Hybrid", []Edit{{"deque/hybrid.go",
		"func (h *hybrid[T]) resize(n int) {\n\th.mu.Lock()\n\tdefer h.mu.Unlock()\n", "func (h *hybrid[T]) resize(n int) {\n"}}},
	{"Hybrid: tail before the value", "Hybrid", []Edit{{"deque/hybrid.go",
		"\t*h.slots.at(h.next) = v\n\th.next++\n\th.tail.Store(h.next) // (W5) the value; pairs with (R5)\n",
		"\th.next++\n\th.tail.Store(h.next)\n\t*h.slots.at(h.next - 1) = v\n"}}},
	{"Hybrid: thieves without a lock", "Hybrid", []Edit{{"deque/hybrid.go",
		"\tif !h.mu.lockWithin(timeout) {\n\t\treturn v, Retry\n\t}\n\tdefer h.mu.Unlock()\n", ""}}},

	{"ChaseLev: the last value without a claim", "ChaseLev", []Edit{{"deque/chaselev.go",
		"if !s.top.CompareAndSwap(t, t+1) { // (C1)", "if s.top.Store(t + 1); false { // (C1)"}}},
	{"ChaseLev: what seems the last value without a claim", "ChaseLev", []Edit{{"deque/chaselev.go",
		"won := t == b && s.top.CompareAndSwap(b, b+1)", "won := t == b"}}},
	{"ChaseLev: the owner does not look at top again", "ChaseLev", []Edit{{"deque/chaselev.go",
		"\tt = s.top.Load()\n\tif t < b {", "\tif t < b {"}}},
	{"ChaseLev: bottom is lowered after the look at top", "ChaseLev", []Edit{{"deque/chaselev.go",
		"\ts.bottom.Store(b) // (W2) then load top; pairs with (R2), which loads top, then bottom\n\tt = s.top.Load()\n", "\tt = s.top.Load()\n\ts.bottom.Store(b)\n"}}},
	{"ChaseLev: the thief loads bottom before top", "ChaseLev", []Edit{{"deque/chaselev.go",
		"\tt := s.top.Load()    // (R2) before bottom; pairs with (W2)\n\tb := s.bottom.Load() // (R1)", "\tb := s.bottom.Load()\n\tt := s.top.Load() // (R1)"}}},
	{"ChaseLev: the thief's claim is a store", "ChaseLev", []Edit{{"deque/chaselev.go",
		"if !s.top.CompareAndSwap(t, t+1) { // (C2)", "if s.top.Store(t + 1); false { // (C2)"}}},
	{"ChaseLev: bottom is not frozen", "ChaseLev", []Edit{{"deque/chaselev.go",
		"\ts.bottom.Store(frozen)\n", ""}}},
	{"ChaseLev: a frozen deque looks empty", "ChaseLev", []Edit{{"deque/chaselev.go",
		"\t\tif b == frozen {\n\t\t\treturn v, Retry\n\t\t}\n", ""}}},
	{"ChaseLev: the owner does not wait for readers", "ChaseLev", []Edit{{"deque/chaselev.go",
		"if done == t-o.claims {", "if done >= 0 {"}}},
	{"ChaseLev: steals count before they have read", "ChaseLev", []Edit{{"deque/chaselev.go",
		"\tv = from.take(t)\n\ts.done.Add(1)", "\ts.done.Add(1)\n\tv = from.take(t)"}}},
	{"ChaseLev: top is loaded before done", "ChaseLev", []Edit{{"deque/chaselev.go",
		"\tdone := o.s.done.Load() // (R3) slots cleared; pairs with (W3)\n\tt := o.s.top.Load()\n", "\tt := o.s.top.Load()\n\tdone := o.s.done.Load()\n"}}},
	{"ChaseLev: the ring is loaded after the claim", "ChaseLev", []Edit{{"deque/chaselev.go",
		"\tfrom := s.ring.Load()\n", ""}, {"deque/chaselev.go", "\tv = from.take(t)\n", "\tfrom := s.ring.Load()\n\tv = from.take(t)\n"}}},
	{"ChaseLev: a new ring without new indices", "ChaseLev", []Edit{{"deque/chaselev.go",
		"\tfor !s.top.CompareAndSwap(t, o.bottom) {", "\tfor false {"}}},
	{"ChaseLev: bottom before the value", "ChaseLev", []Edit{{"deque/chaselev.go",
		"\t*o.ring.at(o.bottom) = v\n\to.bottom++\n\to.s.bottom.Store(o.bottom)", "\to.bottom++\n\to.s.bottom.Store(o.bottom)\n\t*o.ring.at(o.bottom - 1) = v\n\t//"}}},

	{"finish: a piece is not counted", "Pool/.*(async|finish)", []Edit{{"internal/engine/finish.go",
		"\tf.left.Add(1) // before anybody can be done with it\n", ""}}},
	{"finish: a piece is done before it has run", "Pool/.*(async|finish)", []Edit{{"internal/engine/finish.go",
		"\tp.Body.Run(w, f)\n", "\tif f.left.Add(-1) == 0 {\n\t\tw.complete(&f.end)\n\t}\n\tp.Body.Run(w, f)\n"}, {"internal/engine/finish.go",
		"\tif f.left.Add(-1) == 0 { // (W21)", "\tif false { // (W21)"}}},
	{"finish: the last piece wakes nobody", "Pool/.*(async|finish)", []Edit{{"internal/engine/finish.go",
		"\t\tw.complete(&f.end)\n", ""}}},
	{"finish: the owner does not look whether it is the last", "Pool/.*(async|finish)", []Edit{{"internal/engine/finish.go",
		"if f.left.Add(-1) == 0 { // (R21)", "if f.left.Add(-1); false { // (R21)"}}},
	{"finish: a thief leaves what its asyncs have queued", "Pool/.*(async|finish)", []Edit{{"async.go",
		"\ta.drain()\n\ta.finish.LeaveViews(w)\n", "\ta.newest--\n\ta.ring[a.newest&uint(len(a.ring)-1)](asWorker(w))\n\ta.finish.LeaveViews(w)\n"}}},

	{"idle: a leaver does not look for work", "Pool/tasks from two$", []Edit{{"internal/engine/places.go",
		"\t\tp.MatchWork()\n\t}\n}\n\n// MatchWork", "\t}\n}\n\n// MatchWork"}}},
	{"idle: a leaver looks before it lowers the count", "Pool/tasks from two$", []Edit{{"internal/engine/places.go",
		"\ts := p.Places.Leave() // (W11)\n", "\tp.MatchWork()\n\ts := p.Places.Leave()\n"}, {"internal/engine/places.go",
		"{ p.left(p.Places.LeaveSearching(), true) } // (W11)", "{\n\tp.MatchWork()\n\tp.left(p.Places.LeaveSearching(), true)\n}"}, {"internal/engine/places.go",
		"\t\tp.MatchWork()\n\t}\n}\n\n// MatchWork", "\t}\n}\n\n// MatchWork"}}},
	{"idle: no wake after a task is queued", "Pool/tasks from two$", []Edit{{"internal/task/submit.go",
		"if p.Engine.Wake(); p.Phase.Load() == Cancelled {", "if p.Phase.Load() == Cancelled {"}}},
	{"idle: wake before the task is queued", "Pool/tasks from two$", []Edit{{"internal/task/submit.go",
		"\tif (w == nil || !w.Own.Push(0, 0, t)) && ", "\tp.Engine.Wake()\n\tif (w == nil || !w.Own.Push(0, 0, t)) && "}, {"internal/task/submit.go",
		"if p.Engine.Wake(); p.Phase.Load() == Cancelled {", "if p.Phase.Load() == Cancelled {"}}},
	{"idle: a worker that finds work wakes nobody", "Pool/two at once", []Edit{{"internal/engine/places.go",
		"\tw.EndSearch()\n\tw.pool.WakeNext()\n", "\tw.EndSearch()\n"},
		{"internal/task/look.go", "\tif stops {\n\t\tp.Engine.WakeNext()\n\t} else if wake {\n", "\tif wake {\n"}}},
	{"place: wake by a store", "Pool/fork, three workers", []Edit{{"internal/place/place.go",
		"{ return w.swap(s, s+oneActive+oneSearching) }", "{\n\tw.word.Store(uint64(s + oneActive + oneSearching))\n\treturn true\n}"}}},
	{"place: a searcher is counted by a store", "Pool/fork$", []Edit{{"internal/place/place.go",
		"{ return w.swap(s, s+oneSearching) }", "{\n\tw.word.Store(uint64(s + oneSearching))\n\treturn true\n}"}}},
	{"idle: a publisher wakes nobody", "Pool/both at once", []Edit{{"internal/engine/demand.go",
		"\t\tp.Wake() // (R10)\n", ""}}},
	{"hold: the worker that ends it looks for no forks", "Pool/both at once, held", []Edit{{"internal/engine/budget.go",
		"\tp.held.Store(false) // (W17) then look for forks\n\tp.MatchWork()\n", "\tp.held.Store(false)\n"}}},
	{"hold: the worker that ends it looks first", "Pool/both at once, held", []Edit{{"internal/engine/budget.go",
		"\tp.held.Store(false) // (W17) then look for forks\n\tp.MatchWork()\n", "\tp.MatchWork()\n\tp.held.Store(false)\n"}}},
	{"hold: what begins publishes nothing", "Pool/both block, held before", []Edit{{"internal/engine/worker.go",
		"\tif !p.held.Load() && p.Idlers() > 0 { // (R17), (R10)\n", "\tif p.held.Load() {\n\t\treturn\n\t}\n\tif p.Idlers() > 0 {\n"}}},
	{"hold: a publisher looks at it first", "Pool/both at once, held", []Edit{{"internal/engine/demand.go",
		"\tmoved := w.publish(todo.Most)\n", "\theld := p.held.Load()\n\tmoved := w.publish(todo.Most)\n"}, {"internal/engine/demand.go",
		"!p.held.Load() { // (R17)", "!held {"}}},
	{"tasks: the queue is said to be empty outside the lock", "Pool/tasks from two$", []Edit{{"internal/task/list.go",
		"\tl.in.mu.Lock()\n\tdefer l.in.mu.Unlock()\n\tl.q, l.in.q = l.in.q, l.q\n", "\tl.in.mu.Lock()\n\tl.q, l.in.q = l.in.q, l.q\n\tl.in.mu.Unlock()\n"}}},
	{"end: the global queue takes tasks after it", "Pool/shutdown", []Edit{{"internal/task/list.go",
		"\tif in.gone {\n", "\tif false {\n"}}},
	{"end: a worker's queue takes tasks after it", "Pool/shutdown, a task that is over", []Edit{{"internal/task/queue.go",
		"\tq.gone = q.gone || gone\n", ""}}},
	{"end: the queues are looked at before it", "Pool/shutdown", []Edit{{"internal/task/close.go",
		"\t\tended = !again && queued == 0 && p.Engine.Places.TryEnd()\n",
		"\t\tfor _, q := range queues {\n\t\t\tq.thaw(false)\n\t\t}\n\t\tended = !again && queued == 0 && p.Engine.Places.TryEnd()\n\t\tfor _, q := range slices.Backward(queues) {\n\t\t\tq.freeze()\n\t\t}\n"}}},
	{"place: ended without a look at what is left", "Pool/shutdown", []Edit{{"internal/place/place.go",
		"{ return w.swap(closed, closed|ended) }", "{ return w.word.Or(ended)&ended == 0 }"}}},
	{"tasks: Resume wakes nobody", "Pool/pause", []Edit{{"internal/task/close.go",
		"\tif p.Paused.CompareAndSwap(true, false) {\n\t\tp.resumes.Add(1)\n\t\tp.Engine.MatchWork()\n", "\tif p.Paused.CompareAndSwap(true, false) {\n\t\tp.resumes.Add(1)\n"}}},
	{"limit: no second try before the wait", "Pool/limited", []Edit{{"internal/task/room.go",
		"if r.Take() { // (R30)", "if false { // (R30)"}}},
	{"limit: nobody is told of room", "Pool/limited", []Edit{{"internal/task/room.go",
		"\tr.count.leave() // (W30)\n\tr.Next()\n", "\tr.count.leave() // (W30)\n"}}},
	{"limit: a task leaves the queue while its worker searches", "Pool/limited, how many", []Edit{{"internal/task/serve.go",
		"\t\tp.LeaveQueue() // (W31) w is not idle, and does not count as searching\n", ""}, {"internal/task/look.go",
		"\tt, _ = q.items.pop(q, false)\n\tn := q.items.give(more, w.batch)\n", "\tt, _ = q.items.pop(q, false)\n\tp.LeaveQueue()\n\tn := q.items.give(more, w.batch)\n"}}},
	{"future: claimed by a store", "Pool/wait from outside", []Edit{{"internal/task/state.go",
		"if t.word.CompareAndSwap(uint32(s), uint32(s|to)) {", "if t.word.Store(uint32(s | to)); true {"}}},
	{"future: done by a store", "Pool/wait from outside", []Edit{{"internal/task/state.go",
		"s := Status(t.word.Swap(stateDone)) // (W40)", "s := t.Load()\n\tt.word.Store(stateDone) // (W40)"}}},
	{"future: a waiter does not look again", "Pool/wait from outside", []Edit{{"internal/task/state.go",
		"{ return Status(t.word.Or(stateWatched)).IsDone() }", "{\n\tt.word.Or(stateWatched)\n\treturn false\n}"}, {"internal/task/future.go",
		"l.Wait(ctx, Seat{}, f.IsDone)", "l.Wait(ctx, Seat{}, func() bool { return false })"}}},
	{"future: a canceller is not counted while it claims", "Pool/cancel, then figures", []Edit{{"internal/task/future.go",
		"\te.EnterBlocked()\n\tif !f.claimToDrop() {\n\t\te.LeaveBlocked()\n\t\treturn nil, false\n\t}\n\treturn e.LeaveBlocked, true\n", "\t_ = e\n\treturn func() {}, f.claimToDrop()\n"}}},
	{"after: a dependent does not look again", "Pool/after$", []Edit{{"internal/task/after.go",
		"\tif c.state.Watch() {\n\t\tsettle(", "\tif c.state.Watch(); false {\n\t\tsettle("}}},
	{"after: a dependent looks first", "Pool/after$", []Edit{{"internal/task/after.go",
		"\tm := c.needExtras()\n\tfor {\n", "\tm := c.needExtras()\n\tdone := c.state.Watch()\n\tfor {\n"}, {"internal/task/after.go",
		"\tif c.state.Watch() {\n\t\tsettle(", "\tif done {\n\t\tsettle("}}},
	{"after: the end of a task leaves those that come after it", "Pool/after$", []Edit{{"internal/task/future.go",
		"all != nil { // (R46)", "false { // (R46)"}}},
	{"after: the end takes the list, and then it is done", "Pool/after$", []Edit{{"internal/task/future.go",
		"\twatched := f.Ctx.state.Finish()\n\tm := f.Ctx.extras.Load()\n", "\tm := f.Ctx.extras.Load()\n\tvar taken *dependency\n\tif m != nil {\n\t\ttaken = m.dependents.Swap(nil)\n\t}\n\twatched := f.Ctx.state.Finish()\n"}, {"internal/task/future.go",
		"all := m.dependents.Swap(nil); all != nil { // (R46)", "all := taken; all != nil { // (R46)"}}},
	{"after: counted by a load and a store", "Pool/after two", []Edit{{"internal/task/after.go",
		"\tif h.open.Add(-1) > 0 {", "\tn := h.open.Load() - 1\n\tif h.open.Store(n); n > 0 {"}}},
	{"held: the pool ends meanwhile", "Pool/after, shut down", []Edit{{"internal/task/held.go",
		"return l.n == 0 && end()", "return end()"}}},
	{"held: what comes after the end stays held", "Pool/after, close", []Edit{{"internal/task/held.go",
		"\tif p.Phase.Load() == Cancelled && p.Unhold(h) {", "\tif false {"}}},
	{"promise: completed by a store", "Pool/a promise of two", []Edit{{"internal/task/state.go",
		"\t\tif t.word.CompareAndSwap(uint32(s), uint32(s&^stateHeld|stateRunning)) {\n\t\t\treturn true\n\t\t}\n", "\t\tt.word.Store(uint32(s&^stateHeld | stateRunning))\n\t\treturn true\n"}}},
	{"subpool: a task looks for a slot outside of the lock", "Pool/subpools", []Edit{{"internal/task/subpool.go",
		"\tif s.running < s.Limit {\n",
		"\ts.mu.Unlock()\n\tfree := s.Running() < s.Limit\n\ts.mu.Lock()\n\tif free {\n"}}},
	{"subpool: the next one has its slot after the lock", "Pool/subpools", []Edit{{"internal/task/subpool.go",
		"\tif ok {\n\t\ts.take(h)\n", "\ts.mu.Unlock()\n\ts.mu.Lock()\n\tif ok {\n\t\ts.take(h)\n"}}},
	{"subpool: a wait keeps the slot", "Pool/a slot is lent, a promise", []Edit{{"internal/task/lend.go",
		"\tdefer c.lendSlot(on).Reclaim()\n", ""}}},
	{"subpool: what runs on top of a task leaves it its slot", "Pool/a slot is lent, two deep", []Edit{{"internal/task/inplace.go",
		"\tdefer c.lendSlot(slotOfBody(t.Body)).Reclaim()\n", ""}}},
	{"subpool: a slot that is lent is kept for its task", "Pool/a slot is lent, two deep", []Edit{{"internal/task/subpool.go",
		"\t\ts.mu.Unlock()\n\t\ts.freed()\n", "\t\ts.mu.Unlock()\n"}}},
	{"subpool: each wait of a task lends its slot", "Pool/a slot is lent, twice", []Edit{{"internal/task/subpool.go",
		"\tcase slotLent:\n\tdefault:", "\tcase slotLent:\n\t\tfirst = true\n\tdefault:"}}},
	{"subpool: the first wait to end takes the slot back", "Pool/a slot is lent, twice", []Edit{{"internal/task/subpool.go",
		"slot.waits == 0 && slot.state == slotLent {", "slot.state == slotLent {"}}},
	{"subpool: a task gets the slot back that waits for others as well", "Pool/a slot is lent, twice", []Edit{{"internal/task/subpool.go",
		" && w.Slot.state == slotLent && w.Slot.waits == 1 {", " && w.Slot.state == slotLent {"}}},
	{"subpool: a slot is passed on while too many run", "Pool/a slot is lent, a promise", []Edit{{"internal/task/subpool.go",
		" && on.Slot.state == slotInLine && s.running <= s.Limit\n", " && on.Slot.state == slotInLine\n"}}},
	{"subpool: a task that was dropped asks for a slot", "Pool/a slot is lent, cancelled", []Edit{{"internal/task/subpool.go",
		"\tcase slotNone:\n\t\th.Slot.state = slotOver\n\t}\n\ts.unlock(h)\n", "\t}\n\ts.unlock(h)\n"}, {"internal/task/subpool.go",
		"\th.Slot.state, h.Slot.by = slotOver, nil\n", "\tif h.Slot.by = nil; was != slotNone {\n\t\th.Slot.state = slotOver\n\t}\n"}}},
	{"subpool: a task that was dropped keeps its slot", "Pool/a slot is lent, cancelled", []Edit{{"internal/task/future.go",
		"\t\tif h.end(); h.Slot.Of != nil {\n", "\t\tif h.end(); h.Slot.Of != nil && !(f.Ctx.extras.Load().dropped) {\n"}}},
	{"subpool: a task keeps the room that it has had", "Pool/a slot is lent, limited", []Edit{{"internal/task/subpool.go",
		"\tif leaves {\n\t\ts.Room.Leave()\n", "\tif leaves {\n"}}},
	{"join: the owner blocks without a compare-and-swap", "Pool/fork$", []Edit{{"internal/engine/jobstate.go",
		"{ return s.word.CompareAndSwap(jobOpen, jobAwaited) } // (R20)", "{\n\ts.word.Store(jobAwaited)\n\treturn true\n}"}}},
	{"join: the thief is done by a store", "Pool/fork$", []Edit{{"internal/engine/jobstate.go",
		"before := s.word.Swap(jobDone) // (W20)", "before := s.word.Load()\n\ts.word.Store(jobDone) // (W20)"}}},
	{"join: the thief wakes nobody", "Pool/fork$", []Edit{{"internal/engine/join.go",
		"\tclose(w.wakeup)\n", "\tif false {\n\t\tclose(w.wakeup)\n\t}\n"}}},
	{"join: the thief adds its figures up when the owner goes on", "Pool/fork, then figures", []Edit{{"internal/engine/join.go",
		"\t\tw.flush() // the pool may be at rest before w is\n", ""}}},
	{"join: the thief keeps its slot", "Pool/fork, three workers", []Edit{{"internal/engine/join.go",
		"\t\tcase !w.Hold.YieldPlace():\n", "\t\tcase false:\n"}}},
	{"idle: a leaver does not ask for forks", "Pool/a place is free late$", []Edit{{"internal/engine/places.go",
		"\t\tw.Raise(Hunger) // (W12)\n", ""}}},
	{"demand: answered by a store", "Pool/a place is free late, a thief is busy", []Edit{{"internal/engine/demand.go",
		"\tatomic.CompareAndSwapUint32(&w.Demand, level, None)\n", "\tatomic.StoreUint32(&w.Demand, None)\n"}}},
	{"idle: Resize wakes nobody", "Pool/resize", []Edit{{"close.go",
		"\tif p.tasks.Engine.SetLimit(int32(n), true) {\n\t\tp.tasks.Engine.MatchWork()\n", "\tif p.tasks.Engine.SetLimit(int32(n), true) {\n"}}},
	{"idle: a worker that is parked too long stays on the list", "Pool/idle timeout", []Edit{{"internal/engine/places.go",
		"\t\tp.parked = slices.Delete(p.parked, i, i+1)\n", ""}}},
	{"idle: parked without the lock", "Pool/idle timeout", []Edit{{"internal/engine/places.go",
		"\tp.mu.Lock()\n\tdefer p.mu.Unlock()\n\tif i := slices.Index(p.parked, w); i >= 0 && w.unparked == unparked {\n\t\tp.parked = slices.Delete(p.parked, i, i+1)\n\t\tunparked <- false\n\t}\n",
		"\ti := slices.Index(p.parked, w)\n\tatomic.Gosched()\n\tif i >= 0 {\n\t\tp.parked = p.parked[:len(p.parked)-1]\n\t\tunparked <- false\n\t}\n"}}},
	{"idle: the timer of an earlier rest lets a worker leave", "Pool/idle timeout", []Edit{{"internal/engine/places.go",
		"i >= 0 && w.unparked == unparked {", "i >= 0 {"}}},
	{"tasks: Blocking keeps the place", "Pool/blocking", []Edit{{"internal/task/lend.go",
		"\tif !c.Seat().Lend() {\n", "\tif true {\n"}}},
	{"hold: a round ends by a store", "Pool/scope while", []Edit{{"internal/place/hold.go",
		"\treturn left, h.swap(s, to)\n", "\th.word.Store(uint64(to))\n\treturn left, true\n"}}},
	{"hold: a Scope is entered by a store", "Pool/scope while", []Edit{{"internal/place/hold.go",
		"\t\tif h.swap(s, s&^scopeBits|scopeUsed) {\n\t\t\treturn true\n\t\t}\n", "\t\th.word.Store(uint64(s&^scopeBits | scopeUsed))\n\t\treturn true\n"}}},
	{"hold: what runs on in the seat is not counted at the end of the round", "Pool/in place while", []Edit{{"internal/task/serve.go",
		"\t\t_ = p.Engine.Places.EnterBlocked(n)\n", ""}}},
	{"future: done before the result", "Pool/wait from outside", []Edit{{"internal/task/future.go",
		"\tf.Err = err\n\twatched := f.Ctx.state.Finish()\n",
		"\twatched := f.Ctx.state.Finish()\n\tf.Err = err\n"}}},
	{"join: done before the result", "Pool/fork$", []Edit{{"internal/engine/join.go",
		"\tj.run(w)\n", "\tj.state.word.CompareAndSwap(jobOpen, jobDone)\n\tj.run(w)\n"}}},

	{"join: a helper that passes its slot on does not count as blocked", "Pool/help$", []Edit{{"internal/engine/join.go",
		"\t\tcase w.helping > 0: // it has a wait of its own to go on with\n\t\t\t_ = w.pool.Places.EnterBlocked(1)\n\t\t\tw.passed = true\n", ""}}},
	{"join: a place that was passed on is not replaced", "Pool/help$", []Edit{{"internal/engine/join.go",
		"\t\tw.passed = false\n\t\tw.unblock()\n", "\t\tw.passed = false\n"}}},
	{"way: the submitter of an urgent task asks nobody", "Pool/giving way$", []Edit{{"internal/task/submit.go", "\tp.urge()\n", ""}}},
	{"way: a worker that begins looks for nothing more urgent", "Pool/giving way$", []Edit{{"internal/task/way.go",
		"\tif p.best.Load() < level && p.Engine.Idlers() <= 0 { // (R14)", "\tif false {"}}},
	{"way: a worker looks before it notes its level", "Pool/giving way$", []Edit{{"internal/task/way.go",
		"\tw.Engine.Level.Store(level)     // (W15)\n", "\tdefer w.Engine.Level.Store(level)\n"}}},
	{"way: a worker that frees a place lets nobody go on", "Pool/giving way$", []Edit{{"internal/task/source.go",
		"\tfor p.way.n.Load() > 0 && p.letOneGoOn() { // (R11)\n\t}\n", ""}, {"internal/task/source.go", "of(*w).passPlace()", ""}}},
	{"way: a worker that gives way enters after it has freed its place", "Pool/giving way$", []Edit{{"internal/task/way.go",
		"\t\tp.way.enter(w)\n", "\t\tw.Engine.Hold.YieldPlace()\n\t\tp.Engine.Block()\n\t\tp.way.enter(w)\n"},
		{"internal/engine/blocking.go", "\tenter()\n", "\tenter()\n\tw.passed = true\n"}}},
	{"way: a place is passed on before the task is counted", "Pool/giving way, shut down", []Edit{{"internal/task/serve.go",
		"return false // see passPlace", "w.passPlace()\n\t\t\treturn"}}},
	{"by priority: nobody is told of what has spilled", "Pool/by priority", []Edit{{"internal/task/levels.go",
		"\tl.tell()\n\tq.notEmpty()\n", "\tl.tell()\n"}}},
	{"by priority: spilled without the lock", "Pool/by priority", []Edit{{"internal/task/levels.go",
		"\t\tg.mu.Lock()\n\t\tto := g.items.(*globalLevels)\n\t\tl.q.Spill(policy.Spilled, to.q.Push)\n", "\t\tto := g.items.(*globalLevels)\n\t\tl.q.Spill(policy.Spilled, to.q.Push)\n\t\tg.mu.Lock()\n"}}},
	{"tally: what was dropped begins", "tally/an end", []Edit{{"internal/place/tally.go",
		"\treturn t.begun.Add(oneTask)&over == 0", "\treturn t.begun.Add(oneTask) != 0"}}},
	{"tally: tasks are queued after the end", "tally/an end", []Edit{{"internal/place/tally.go",
		"\t\tif in&over != 0 {\n", "\t\tif false {\n"}}},
	{"tally: a task is queued by a store", "tally/submitters", []Edit{{"internal/place/tally.go",
		"\t\tif t.in.CompareAndSwap(in, in+oneTask) {\n\t\t\treturn true\n\t\t}\n", "\t\tt.in.Store(in + oneTask)\n\t\treturn true\n"}}},
	{"tally: the waiter looks before it says so", "tally/two", []Edit{{"internal/place/tally.go",
		"\tdone := t.done.Or(watched) // (R43) then load in", "\tdone := t.done.Load() // (R43)\n\tdefer t.done.Or(watched) // then load in"}}},
	{"tally: the last one looks again at what is done", "tally/two", []Edit{{"internal/place/tally.go",
		"\treturn done&watched != 0 && done>>1 ==", "\treturn t.done.Load()&watched != 0 && t.done.Load()>>1 =="}}},
	{"tally: what was dropped is counted before the end", "tally/an end", []Edit{{"internal/place/tally.go",
		"\tbegun := t.begun.Or(over) // from here on, none begins\n\tin := t.in.Or(over)       // from here on, none is queued\n",
		"\tbegun, in := t.begun.Load(), t.in.Load()\n\tt.begun.Or(over)\n\tt.in.Or(over)\n"}}},
	{"ordered: the owner does not look for a thief", "ordered", []Edit{{"ordered/gate.go",
		"if g.thief.Load() != 0 {        // (R51)", "if false {"}}},
	{"ordered: the owner says that it is in after it has looked", "ordered", []Edit{{"ordered/gate.go",
		"\tg.word.Store(g.known | ownerIn) // (W50) then load thief; pairs with (R50)\n\tif g.thief.Load() != 0 {        // (R51)\n\t\tg.mu.Lock()\n\t\tg.locked = true\n\t}\n",
		"\tif g.thief.Load() != 0 {\n\t\tg.mu.Lock()\n\t\tg.locked = true\n\t}\n\tg.word.Store(g.known | ownerIn)\n"}}},
	{"ordered: the thief does not look for the owner", "ordered", []Edit{{"ordered/gate.go",
		"if g.word.Load()&ownerIn != 0 { // (R50)", "if false {"}}},
	{"ordered: the thief says that it is in after it has looked", "ordered", []Edit{{"ordered/gate.go",
		"\tg.thief.Store(1)                // (W51) then load word; pairs with (R51)\n", "\tdefer g.thief.Store(1)\n"}}},
	{"ordered: thieves without a lock", "ordered", []Edit{{"ordered/gate.go",
		"if !g.mu.TryLock() {", "if g.mu.TryLock(); false {"}}},
	{"ordered: the thief leaves the owner's length as it was", "ordered", []Edit{{"ordered/gate.go",
		"g.word.CompareAndSwap(w, w/oneVisit*oneVisit+uint64(n)*oneValue)", "_ = n"}}},
	{"ordered: the thief stores the length", "ordered", []Edit{{"ordered/gate.go",
		"\tif w := g.word.Load(); w&ownerIn == 0 {\n\t\tg.word.CompareAndSwap(w, w/oneVisit*oneVisit+uint64(n)*oneValue)\n\t}\n",
		"\tg.word.Store(g.word.Load()/oneVisit*oneVisit + uint64(n)*oneValue)\n"}}},
	{"ordered: what is on the way does not count", "ordered", []Edit{{"ordered/ordered.go",
		"\tl.moving.Store(begun + uint64(k)*oneValue) // (W54) before the victim has less; pairs with (R54)\n", ""}}},
	{"ordered: the rest of what was stolen is lost", "ordered", []Edit{{"ordered/ordered.go",
		"\t\tfor _, it := range l.batch[1:] {\n", "\t\tfor _, it := range l.batch[len(l.batch):] {\n"}}},
	{"ordered: a queue that is busy is passed by", "ordered", []Edit{{"ordered/ordered.go",
		"\t\t\tbusy = true\n", ""}}},
	{"ordered: two goroutines take a value", "ordered/handles", []Edit{{"ordered/addressable.go",
		"if e.h.turn.CompareAndSwap(e.turn, e.turn+1) {", "if e.h.turn.Load() == e.turn {\n\t\t\te.h.turn.Store(e.turn + 1)"}}},
	{"ordered: a value is removed and fixed", "ordered/handles", []Edit{{"ordered/addressable.go",
		"if h.turn.CompareAndSwap(turn, turn+n) {", "if h.turn.Store(turn + n); true {"}}},
	{"ordered: a value between two entries does not count", "ordered/handles", []Edit{{"ordered/addressable.go",
		"\ta.moving.Add(1) // (W56) before the old entry stops counting; pairs with (R56)\n\tdefer a.moving.Add(-1)\n", ""}}},
	{"ordered: Fix pushes before the turn", "ordered/handles", []Edit{{"ordered/addressable.go",
		"\tturn, ok := h.advance(2)\n\tif ok {\n\t\tpush(ticket[T]{h, turn})\n", "\tpush(ticket[T]{h, h.turn.Load() + 2})\n\t_, ok := h.advance(2)\n\tif ok {\n"}}},
	{"strand: the children are counted before the carrier has parked", "strand/stalls(,|$)", []Edit{{"strand/join.go",
		"\t} else {\n\t\tc := s.c\n", "\t} else if s.joined.Add(int64(s.spawned)) != 0 {\n\t\tc := s.c\n"}, {"strand/join.go",
		"return s.joined.Add(int64(s.spawned)) == 0 } // (W50)", "return false }"}}},
	{"strand: the children are counted by a store", "strand/stalls(,|$)", []Edit{{"strand/join.go",
		"return s.joined.Add(int64(s.spawned)) == 0 } // (W50)", "n := s.joined.Load() + int64(s.spawned)\n\tatomic.Gosched()\n\ts.joined.Store(n)\n\treturn n == 0 }"}}},
	{"strand: a child ends by a store", "strand/stalls(,|$)", []Edit{{"strand/join.go",
		"return s.joined.Add(-1) == 0 } // (W50)", "\n\tn := s.joined.Load() - 1\n\tatomic.Gosched()\n\ts.joined.Store(n)\n\treturn n == 0\n}"}}},
	{"strand: the last child does not go on with its parent", "strand/stalls(,|$)", []Edit{{"strand/carrier.go",
		"\tif p.ends() {\n", "\tif p.ends(); false {\n"}}},
	{"strand: what resumes a strand that waits for nobody leaves it", "strand/stalls(,|$)", []Edit{{"strand/carrier.go",
		"!s.parks() {", "!s.parks() || true {"}}},
	{"strand: one child has ended, and the strand goes on", "strand/stalls for two", []Edit{{"strand/join.go",
		"== -int64(s.spawned) { // (R50)", "!= 0 {"}}},
	{"strand: the word is not set back", "strand/one after", []Edit{{"strand/join.go",
		"\t\ts.joined.Store(0)\n", ""}}},
	{"strand: a child whose parent was not stolen counts", "strand/a child(, m|$)", []Edit{{"strand/carrier.go",
		"\t\tp.spawned-- // nobody else knows of the child\n", ""}}},
	{"strand: a child does not look whether its parent was stolen", "strand/a child(, m|$)", []Edit{{"strand/carrier.go",
		"\tif k := c.l.pop(); k != nil {\n\t\tp.spawned-- // nobody else knows of the child\n", "\tk := c.l.pop()\n\tatomic.Writes(&p.spawned)\n\tif p.spawned--; k != nil {\n"}}},
	{"strand: the child is read after the push", "strand/two children", []Edit{{"strand/carrier.go",
		"\t\t\t\tk = on\n", "\t\t\t\tatomic.Reads(&k.childOf)\n\t\t\t\tparent = k.childOf\n\t\t\t\tk = on\n"}}},
	{"strand: a strand keeps the call that its child begins with", "strand/two results", []Edit{{"strand/carrier.go",
		"\t\t\tk.call, on.call = on.call, k.call\n", ""}}},
	{"strand: a carrier stays with its worker", "strand/two children", []Edit{{"strand/carrier.go",
		"\tc.l, c.limit, c.demand = nil, always, &noDemand\n", "\tc.limit, c.demand = always, &noDemand\n"}, {"strand/carrier.go",
		"\tc.l, c.limit, c.demand = l, l.limit(c.level), &l.w.Demand\n", "\tif c.l == nil {\n\t\tc.l = l\n\t}\n"}}},
	{"strand: a failure is told after the end", "strand/failure/recovered", []Edit{{"strand/carrier.go",
		"\tif failed != nil {\n\t\tp.fail(failed.err, failed.order)\n\t}\n", "\tif failed != nil {\n\t\tdefer func() {\n\t\t\tatomic.Gosched()\n\t\t\tp.fail(failed.err, failed.order)\n\t\t}()\n\t}\n"}}},
	{"strand: a piece that was taken back counts", "strand/a child(, m|$)", []Edit{{"internal/engine/finish.go",
		"\tf.left.Add(-1) // not the last: what w runs is of f as well\n", ""}}},
	{"strand: idle carriers of a thief are lost", "strand/two children", []Edit{{"strand/list.go",
		"\tl.run.take(l.spares)\n", ""}}},
	{"strand: idle carriers are given back without the lock", "strand/two children", []Edit{{"strand/run.go",
		"func (r *run) take(all []*carrier) {\n\tr.mu.Lock()\n\tdefer r.mu.Unlock()\n", "func (r *run) take(all []*carrier) {\n"}}},
	{"strand: the carriers are stopped before the last piece is done", "strand/stalls(,|$)", []Edit{{"strand/run.go",
		"\tr.finish.Wait(w)\n", "\tr.end()\n\tr.finish.Wait(w)\n"}, {"strand/run.go",
		"\t\tr.end()\n", ""}}},
	{"Mutex: half is taken one by one", "Mutex", []Edit{{"deque/mutex.go",
		"\tfor i := range n {\n\t\tdst[i] = d.ring.take(d.head)\n\t\td.head++\n\t}\n",
		"\tfor i := range n {\n\t\tdst[i] = d.ring.take(d.head)\n\t\td.head++\n\t\td.mu.Unlock()\n\t\td.mu.Lock()\n\t}\n"}}},
	{"Mutex: the owner pops without the lock", "Mutex", []Edit{{"deque/mutex.go",
		"func (d *mutexDeque[T]) ownPop() (v T, ok bool) {\n\td.mu.Lock()\n\tdefer d.mu.Unlock()\n", "func (d *mutexDeque[T]) ownPop() (v T, ok bool) {\n"}}},
}, slices.Concat(strandMutations, traceMutations)...)

// README.md has a row for each mutation, in the order of the list. With -v, -every 1 prints them all.
func TestTableIsComplete(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(`os.ReadFile("README.md"):`, err)
	}
	_, table, _ := strings.Cut(string(text), "|---|---|---|---:|---:|\n")
	var names []string
	for row := range strings.Lines(table) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(row, "| "), " |"); ok {
			names = append(names, name)
		}
	}
	for i, m := range mutations {
		if i >= len(names) || names[i] != m.name {
			t.Fatalf("row %d of the table is not of %q", i+1, m.name)
		}
	}
	if len(names) > len(mutations) {
		t.Errorf("there is no mutation %q", names[len(mutations)])
	}
}

var executions = regexp.MustCompile(`\t(\d+) executions`)

// compiled reports whether a mutation is compiled and run. For the others, only the text that it replaces is looked for.
func compiled() bool {
	n := *every
	if n == 0 && thorough {
		n = 40
	}
	return *deep || n > 0 && rand.IntN(n) == 0
}

// Each mutation makes a program fail, and its schedule fails again. To compile them all takes minutes.
func TestMutations(t *testing.T) {
	t.Parallel()
	table := make([]string, len(mutations))
	for i, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if !compiled() {
				if _, err := Prepare(root(t), t.TempDir(), m.edits); err != nil {
					t.Error("Prepare(root(t), t.TempDir(), m.edits):", err)
				}
				return
			}
			drive := build(t, m.edits, m.files()...)
			begin := time.Now()
			out, err := exec.Command(drive, "-run", m.programs).CombinedOutput()
			took := time.Since(begin)
			before, failure, found := bytes.Cut(out, []byte("FAIL\n"))
			if err == nil || !found {
				t.Fatalf("it was not found: %v\n%s", err, out)
			}
			var n int
			for _, s := range executions.FindAllSubmatch(before, -1) {
				var k int
				fmt.Sscan(string(s[1]), &k)
				n += k
			}
			lines := strings.Split(strings.TrimSpace(string(before)), "\n")
			program, _, _ := strings.Cut(lines[len(lines)-1], "\t")
			what, _, _ := strings.Cut(string(failure), "\n")
			_, schedule, _ := strings.Cut(string(failure), "schedule [")
			schedule, _, _ = strings.Cut(schedule, "]")
			replay := strings.ReplaceAll(schedule, " ", ",")
			again, err := exec.Command(drive, "-run", "^"+regexp.QuoteMeta(program)+"$", "-replay", replay).CombinedOutput()
			if err == nil || !bytes.Contains(again, []byte(what)) {
				t.Errorf("schedule %s of %s does not fail again: %v\n%s", replay, program, err, again)
			}
			what, _, _ = strings.Cut(what, ":")
			table[i] = fmt.Sprintf("| %s | `%s` | %s | %d | %v |\n", m.name, strings.ReplaceAll(program, "|", `\|`), what, n, took.Round(time.Millisecond))
		})
	}
	t.Cleanup(func() {
		if testing.Verbose() {
			fmt.Print("| mutation | found by | as | schedules | time |\n|---|---|---|---:|---:|\n", strings.Join(table, ""))
		}
	})
}
