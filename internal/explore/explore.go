// Package explore runs the scheduler's lock-free parts through all interleavings
// of a few small programs. What is explored is the code as it is: a copy in which
// imports of sync, sync/atomic and runtime are replaced by package sched, compiled
// by means of an overlay.
package explore

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	module = "github.com/filch-go/filch"
	base   = module + "/internal/explore" // this package
)

// An Edit replaces a piece of a file, which must be there once. The file is named
// from the root of the repository.
type Edit struct{ File, Old, New string }

// subject is a package of filch to be explored, and how it is made fit for that.
type subject struct {
	dir   string
	edits []Edit
}

var subjects = []subject{
	{"deque", []Edit{
		{"ring.go", "const minRing = 32\n", "const minRing = 4\n"},
		{"ring.go", "func (r *ring[T]) at(i int64) *T { return &r.slots[int(i)&(len(r.slots)-1)] }",
			"func (r *ring[T]) at(i int64) *T {\n\tp := &r.slots[int(i)&(len(r.slots)-1)]\n\tatomic.Plain(unsafe.Pointer(p), true)\n\treturn p\n}"},
	}},
	{"ordered", []Edit{
		{"gate.go", "// gate admits the owner", "// Gate is a gate for a program of its own.\ntype Gate = gate\n\nfunc (g *Gate) Enter() { g.enter() }\n\nfunc (g *Gate) Leave(n int) { g.leave(n) }\n\nfunc (g *Gate) EnterThief() bool { return g.enterThief() }\n\nfunc (g *Gate) LeaveThief(n int) { g.leaveThief(n) }\n\n// gate admits the owner"},
		// Plain memory that goes from one goroutine to another.
		{"addressable.go", "\tv := h.v\n", "\tatomic.Writes(&h.v)\n\tv := h.v\n"},
	}},
	{"internal/queue", []Edit{
		{"levels.go", "func (l *Levels[T]) list(at uint) *level[T] {\n", "func (l *Levels[T]) list(at uint) *level[T] {\n\tatomic.Writes(&l.n)\n"},
		{"levels.go", "func (l *Levels[T]) shorten(list *level[T], at uint, n int) {\n", "func (l *Levels[T]) shorten(list *level[T], at uint, n int) {\n\tatomic.Writes(&l.n)\n"},
	}},
	{"internal/place", nil},
	{"internal/policy", []Edit{
		{"share.go", "OwnQueue = 256\n", "OwnQueue = 2\n"},
		// Steals come seldom, however many there are.
		{"publish.go", "return sinceLast >= Price }", "return true }"},
		// Nobody spins for long.
		{"spin.go", "maxTurns = 1 << 12\n", "maxTurns = 2\n"},
		{"spin.go", "yieldEvery = 16\n", "yieldEvery = 2\n"},
	}},
	{"internal/clock", []Edit{
		// The clock stands still, but where a program advances it.
		{"clock.go", "func Now() int64 { return int64(time.Since(epoch)) }", "func Now() int64 { return atomic.Clock() }"},
	}},
	{"steal", []Edit{
		// Where a thread runs is up to the system.
		{"nearest.go", "newDistances(t, processor.Current)", "newDistances(t, func() int { return 0 * processor.Unknown })"},
		{"nearest.go", "\t\"sync\"\n", "\tsync \"sync\"\n"},
	}},
	{"internal/views", []Edit{
		// Plain memory that goes from one worker to another.
		{"views.go", "\tif t != nil {\n", "\tif t != nil {\n\t\tatomic.Writes(&t.list)\n"},
		{"views.go", "\tif t.index != nil {\n", "\tatomic.Writes(&t.list)\n\tif t.index != nil {\n"},
		{"views.go", "\tt.list = append(t.list, entry{k, view})\n", "\tatomic.Writes(&t.list)\n\tt.list = append(t.list, entry{k, view})\n"},
		{"views.go", "\tclear(t.noted[:])\n", "\tatomic.Writes(&t.list)\n\tclear(t.noted[:])\n"},
	}},
	{"internal/engine", []Edit{
		// What is there for Dump alone orders nothing.
		{"note.go", "type note = atomic.Uint64\n", "type note struct{ v uint64 }\n\nfunc (n *note) Load() uint64 { return n.v }\n\nfunc (n *note) Store(v uint64) { n.v = v }\n\nvar _ atomic.Bool\n"},
		// Goroutines and channels.
		{"places.go", "\t\t\tgo w.start()\n", "\t\t\tatomic.Go(w.start)\n"},
		{"search.go", "\t\t\tgo w.start()\n", "\t\t\tatomic.Go(w.start)\n"},
		{"join.go", "close(w.wakeup)", "atomic.Close(w.wakeup)"},
		{"join.go", "<-w.wakeup", "atomic.Receive(w.wakeup)"},
		{"blocking.go", "close(s.wakeup)", "atomic.Close(s.wakeup)"},
		{"places.go", "\tdefer time.AfterFunc(p.Linger, func() { p.dismiss(w, unparked) }).Stop()\n\treturn <-unparked\n",
			"\t_ = time.AfterFunc\n\tatomic.Go(func() { p.dismiss(w, unparked) })\n\tgoOn, _ := atomic.Next(unparked)\n\treturn goOn\n"},
		{"places.go", "\tw.unparked <- true\n", "\tatomic.Send(w.unparked, true)\n"},
		{"places.go", "\t\tunparked <- false\n", "\t\tatomic.Send(unparked, false)\n"},
		{"roster.go", "\t\tw.unparked <- false\n", "\t\tatomic.Send(w.unparked, false)\n"},
		// The time of a hold is over at any time.
		{"budget.go", "\t\ttime.AfterFunc(policy.HoldTime, p.release)\n", "\t\t_ = time.AfterFunc\n\t\tatomic.Go(p.release)\n"},
		{"budget.go", "// hold keeps", "// Hold is hold.\nfunc (p *Pool) Hold() { p.hold() }\n\n// hold keeps"},
		// Plain memory that goes from one goroutine to another.
		{"job.go", "j.result = j.fn.Run(w, j.arg)", "atomic.Reads(&j.arg)\n\t\tr := j.fn.Run(w, j.arg)\n\t\tatomic.Writes(&j.result)\n\t\tj.result = r"},
		{"job.go", "\tj.fn, j.arg = fn, arg\n", "\tatomic.Writes(&j.arg)\n\tj.fn, j.arg = fn, arg\n"},
		{"join.go", "\tr, err, exited := j.result, j.err, j.exited\n", "\tatomic.Reads(&j.result)\n\tr, err, exited := j.result, j.err, j.exited\n"},
		{"job.go", "\tj.fn, j.arg, j.result = nil, arg, result\n", "\tatomic.Writes(&j.arg)\n\tatomic.Writes(&j.result)\n\tj.fn, j.arg, j.result = nil, arg, result\n"},
		// Nobody waits for long.
		{"join.go", "for range 2000 {", "for range 1 {"},
		// What transcripts show.
		{"hook.go", "\t\tj.id = event.ForkID(w.ID, uint64(w.told))\n", "\t\tj.id = event.ForkID(w.ID, uint64(w.told))\n\t\tpublished = append(published, j)\n"},
		// What hooks are told is beside the program.
		{"hook.go", "\tw.pool.Tell(e)\n", "\tatomic.Aside(1)\n\tw.pool.Tell(e)\n\tatomic.Aside(-1)\n"},
		{"hook.go", "\th.Event(e)\n", "\tatomic.Aside(1)\n\th.Event(e)\n\tatomic.Aside(-1)\n"},
		{"hook.go", "func(err error) { go func() { panic(err) }() }", "func(err error) { panic(err) }"},
		{"hook.go", "\tif t.id != 0 && ", "\tatomic.Aside(1)\n\tdefer atomic.Aside(-1)\n\tif t.id != 0 && "},
		{"hook.go", "\t\"errors\"\n", "\t\"errors\"\n\t\"fmt\"\n"},
		{"hook.go", "// nameFork gives j, which", "// published has the jobs that were given an ID, some more than once.\nvar published []*Job\n\n// Words tells the words of p: of its places, its workers and its published forks.\nfunc (p *Pool) Words(tell func(what, word string)) {\n\ttell(\"places\", p.Places.Load().String())\n\tfor _, w := range *p.Workers.Load() {\n\t\ttell(fmt.Sprintf(\"worker %d holds\", w.ID), w.Hold.Load().String())\n\t}\n\tfor _, j := range published {\n\t\tif j.owner != nil && j.owner.pool == p {\n\t\t\tw, n := event.Fork(j.id)\n\t\t\ttell(fmt.Sprintf(\"fork %d.%d is\", w, n), j.state.String())\n\t\t}\n\t}\n}\n\n// nameFork gives j, which"},
		// Stacks are Go's own.
		{"census.go", "\t\"runtime\"\n", "\truntime \"runtime\"\n"},
		{"budget.go", "\t\"runtime\"\n", "\truntime \"runtime\"\n"},
	}},
	{"internal/tell", []Edit{ // stacks are Go's own
		{"words.go", "\t\"runtime\"\n", "\truntime \"runtime\"\n"},
		{"stack.go", "\t\"runtime\"\n", "\truntime \"runtime\"\n"},
		{"goroutine.go", "\t\"runtime\"\n", "\truntime \"runtime\"\n"},
	}},
	{"internal/checks", []Edit{{"disorder.go", "\t\"runtime\"\n", "\truntime \"runtime\"\n"}}},
	{"internal/task", []Edit{
		{"told.go", "\ttold := &w.told\n", "\tatomic.Aside(1)\n\tdefer atomic.Aside(-1)\n\ttold := &w.told\n"},
		{"told.go", "\tvar from *engine.Worker\n", "\tatomic.Aside(1)\n\tdefer atomic.Aside(-1)\n\tvar from *engine.Worker\n"},
		{"latch.go", "\tselect {\n\tcase <-ch:\n\t\treturn nil\n\tcase <-ctx.Done():\n\t}\n", "\tif atomic.Receive(ch); true {\n\t\treturn nil\n\t}\n"},
		{"latch.go", "\t\tclose(l.ch)\n\t}\n\tif l.stop", "\t\tatomic.Close(l.ch)\n\t}\n\tif l.stop"},
		{"close.go", "close(p.closed)", "atomic.Close(p.closed)"},
		{"group.go", "// Group is a number of tasks", "// Tally is that of a group.\ntype Tally = place.Tally\n\n// Group is a number of tasks"},
		// Plain memory that goes from one goroutine to another.
		{"future.go", "\tf.Err = err\n", "\tatomic.Writes(&f.Err)\n\tf.Err = err\n"},
		// Nobody waits for long.
		{"future.go", "for range 200 {", "for range 1 {"},
		// Stacks are Go's own.
		{"stack.go", "\t\"runtime\"\n", "\truntime \"runtime\"\n"},
		// What hooks are told is beside the program.
		{"around.go", "\tname, _ := b.About()\n\to := c.seen()\n", "\tatomic.Aside(1)\n\tdefer atomic.Aside(-1)\n\tname, _ := b.About()\n\to := c.seen()\n"},
		{"around.go", "\terr := f()\n\ttold.Returned", "\tatomic.Aside(-1)\n\terr := f()\n\tatomic.Aside(1)\n\ttold.Returned"},
	}},
	{"strand", []Edit{
		// Coroutines, goroutines and channels.
		{"carrier.go", "\t\"iter\"\n", "\titer \"" + base + "/sched\"\n"},
		{"carrier.go", "\tgo func() {\n\t\tdefer close(over)\n\t\tk.stop()\n\t}()\n\t<-over\n",
			"\tatomic.Go(func() {\n\t\tdefer atomic.Close(over)\n\t\tk.stop()\n\t})\n\tatomic.Receive(over)\n"},
		{"run.go", "\tp := &pump{jobs: make(chan func()), done: make(chan struct{}), relabel: true}\n\tp.drive = p.drives\n\tgo r.pool.Tag(func(uint64, tag.Step) {\n\t\tfor job := range p.jobs {\n\t\t\tjob()\n\t\t\tp.done <- struct{}{}\n\t\t}\n\t})\n",
			"\tp := &pump{jobs: make(chan func(), 1), done: make(chan struct{}, 1), relabel: true}\n\tp.drive = p.drives\n\tatomic.Go(func() {\n\t\tr.pool.Tag(func(uint64, tag.Step) {\n\t\t\tfor job, ok := atomic.Next(p.jobs); ok; job, ok = atomic.Next(p.jobs) {\n\t\t\t\tjob()\n\t\t\t\tatomic.Send(p.done, struct{}{})\n\t\t\t}\n\t\t})\n\t})\n"},
		{"run.go", "\tp.jobs <- job\n\t<-p.done\n", "\tatomic.Send(p.jobs, job)\n\tatomic.Next(p.done)\n"},
		{"run.go", "close(p.jobs)", "atomic.Close(p.jobs)"},
		// Plain memory that goes from one worker to another.
		{"carrier.go", "func (c *carrier) leave() {\n", "func (c *carrier) leave() {\n\tatomic.Writes(&c.l)\n"},
		{"carrier.go", "func (c *carrier) enter(l *list) {\n", "func (c *carrier) enter(l *list) {\n\tatomic.Writes(&c.l)\n"},
		{"carrier.go", "\topen := c.open\n", "\tatomic.Writes(&c.open)\n\topen := c.open\n"},
		{"strand.go", "\tc.leave()\n\treturn c\n", "\tatomic.Writes(&c.open)\n\tc.leave()\n\treturn c\n"},
		{"carrier.go", "\tc.open, s.parent = none, nil\n", "\tatomic.Writes(&c.open)\n\tc.open, s.parent = none, nil\n"},
		{"carrier.go", "\t\treturn k\n", "\t\tatomic.Writes(&p.spawned)\n\t\treturn k\n"},
		{"carrier.go", "\t\t\tk.child, k.heir = nil, on.first\n", "\t\t\tatomic.Writes(&k.childOf)\n\t\t\tk.child, k.heir = nil, on.first\n"},
		{"join.go", "\tif s.spawned <= 0 {\n", "\tatomic.Writes(&s.spawned)\n\tif s.spawned <= 0 {\n"},
		{"join.go", "func (s *Strand) parks() bool { ", "func (s *Strand) parks() bool {\n\tatomic.Writes(&s.spawned)\n\t"},
		{"carrier.go", "\ts.after.views, s.after = c.l.w.", "\tatomic.Writes(&s.after)\n\tatomic.Writes(&s.after.views)\n\ts.after.views, s.after = c.l.w."},
		{"list.go", "\tc.heir.after = p.bound\n", "\tatomic.Writes(&c.heir.after)\n\tc.heir.after = p.bound\n"},
		{"segment.go", "\t\tw.JoinViews(b.views)\n", "\t\tatomic.Reads(&b.views)\n\t\tw.JoinViews(b.views)\n"},
		{"segment.go", "func (s *Strand) crosses(b *boundary) {\n", "func (s *Strand) crosses(b *boundary) {\n\tatomic.Writes(&s.bounds)\n"},
		{"segment.go", "\tb := s.bounds\n", "\tatomic.Writes(&s.bounds)\n\tb := s.bounds\n"},
		// Nothing is earned but by the clock.
		{"pay.go", "credit: 2,", "credit: 0,"},
		// Where children and parents meet.
		{"join.go", "\tif s.joined.Load() ", "\tatomic.Meet()\n\tif s.joined.Load() "},
		{"carrier.go", "\t\tcase stalled:\n", "\t\tcase stalled:\n\t\t\tatomic.Meet()\n"},
		{"carrier.go", "\tif failed != nil {\n", "\tatomic.Meet()\n\tif failed != nil {\n"},
		{"join.go", "\t\told := s.failure.Load()\n", "\t\told := s.failure.Load()\n\t\tatomic.Meet()\n"},
		{"strand.go", "\tc.child, c.childOf, c.order = f, s, 2*s.count\n", "\tatomic.Writes(&s.spawned)\n\tatomic.Writes(&c.childOf)\n\tc.child, c.childOf, c.order = f, s, 2*s.count\n"},
		{"list.go", "\tif l.newest-l.oldest == uint(len(l.ring)) {\n", "\tatomic.Writes(&l.newest)\n\tif l.newest-l.oldest == uint(len(l.ring)) {\n"},
		{"list.go", "\tif l.oldest != l.newest {\n", "\tatomic.Writes(&l.newest)\n\tif l.oldest != l.newest {\n"},
		{"list.go", "\tif l.oldest == l.newest {\n", "\tatomic.Writes(&l.newest)\n\tif l.oldest == l.newest {\n"},
		{"run.go", "\tn := len(r.spares)\n", "\tatomic.Writes(&r.spares)\n\tn := len(r.spares)\n"},
		{"run.go", "\tr.spares = append(r.spares, all...)\n", "\tatomic.Writes(&r.spares)\n\tr.spares = append(r.spares, all...)\n"},
		{"run.go", "\t\tfor _, c := range all {\n", "\t\tatomic.Writes(&r.spares)\n\t\tfor _, c := range all {\n"},
		// Goroutines end with their run, as in a bubble.
		{"home.go", " || clock.InBubble() {", " || clock.InBubble() || true {"},
		{"value.go", "\t\t\tv, f, arg := c.v, c.f, c.arg\n", "\t\t\tatomic.Writes(&c.arg)\n\t\t\tv, f, arg := c.v, c.f, c.arg\n"},
		{"value.go", "\tc.v, c.f, c.arg = v, f, arg\n", "\tatomic.Writes(&c.arg)\n\tc.v, c.f, c.arg = v, f, arg\n"},
		{"value.go", "\treturn v.v\n}", "\tatomic.Reads(&v.v)\n\treturn v.v\n}"},
	}},
	{".", []Edit{
		// What transcripts show.
		{"options.go", "// withHook makes the pool", "// WithHook is withHook.\nfunc WithHook(h event.Hook) Option { return withHook(h) }\n\n// Words tells the words of p.\nfunc (p *Pool) Words(tell func(what, word string)) { p.tasks.Engine.Words(tell) }\n\n// Hold keeps workers from being woken for forks for a while.\nfunc (p *Pool) Hold() { p.tasks.Engine.Hold() }\n\n// Number is that of w.\nfunc (w *Worker) Number() int { return w.tasks.Engine.ID }\n\n// withHook makes the pool"},
		{"pool.go", "// Pool is a set of slots", "// Tally is that of a group.\ntype Tally = task.Tally\n\n// Pool is a set of slots"},
		{"close.go", "\t<-end\n\treturn nil\n", "\tatomic.Receive(end)\n\treturn nil\n"},
		{"close.go", "\tselect {\n\tcase <-end:\n\t\treturn nil\n\tcase <-ctx.Done():\n\t}\n", "\tif atomic.Receive(end); true {\n\t\treturn nil\n\t}\n"},
		// Plain memory that goes from one goroutine to another.
		{"async.go", "\t\tp.asyncs = append(p.asyncs, *slot)\n", "\t\tatomic.Writes(&p.asyncs)\n\t\tp.asyncs = append(p.asyncs, *slot)\n"},
		{"async.go", "\tfor i := len(p.asyncs) - 1; i >= 0; i-- {\n", "\tatomic.Writes(&p.asyncs)\n\tfor i := len(p.asyncs) - 1; i >= 0; i-- {\n"},
		{"future.go", "\tt.value, err = t.f(c)\n", "\tvalue, err := t.f(c)\n\tatomic.Writes(&t.value)\n\tt.value = value\n"},
		{"future.go", "\treturn f.task.value, f.task.Err\n", "\tatomic.Reads(&f.task.Err)\n\tatomic.Reads(&f.task.value)\n\treturn f.task.value, f.task.Err\n"},
	}},
	{"trace", []Edit{
		{"recording.go", "const mostRings = 256\n", "const mostRings = 2\n"},
		{"ring.go", "const portion = 64\n", "const portion = 2\n"},
		// Plain memory that goes from one goroutine to another.
		{"ring.go", "\tr.events[r.begun&", "\tatomic.Writes(&r.begun)\n\tr.events[r.begun&"},
		{"ring.go", "(all []event.Event, next, nowLost uint64) {\n", "(all []event.Event, next, nowLost uint64) {\n\tatomic.Reads(&r.begun)\n"},
	}},
}

// replaced are the imports that are taken over.
var replaced = map[string]string{"sync": "sync", "sync/atomic": "atomic", "runtime": "runtime"}

var (
	usesAtomic   = regexp.MustCompile(`\batomic\.[A-Z]`)
	afterPackage = regexp.MustCompile(`(?m)^package .*\n`)
)

// Build compiles the programs with the root of filch's repository in root, after
// the edits, into the file drive. Temporary files go into dir. The programs are those of all
// files in testdata/drive, or of those that are named, without .go: the fewer, the less
// of filch is compiled with them.
func Build(root, dir, drive string, edits []Edit, programs ...string) error {
	list, err := Prepare(root, dir, edits, programs...)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-overlay", list, "-o", drive, "./drive")
	cmd.Dir = filepath.Join(root, "internal", "explore")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("explore: %w\n%s", err, out)
	}
	return nil
}

// Prepare writes the edited files into dir, and the list of them that go build takes for
// -overlay. It returns the name of the list. The programs are as in Build.
func Prepare(root, dir string, edits []Edit, programs ...string) (string, error) {
	overlay := map[string]string{}
	here := filepath.Join(root, "internal", "explore")
	left := len(edits)
	for _, s := range subjects {
		files, err := filepath.Glob(filepath.Join(root, s.dir, "*.go"))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			text := string(data)
			for _, e := range edits {
				if e.File == filepath.ToSlash(filepath.Join(s.dir, filepath.Base(file))) {
					if text, err = e.apply(text); err != nil {
						return "", err
					}
					left--
				}
			}
			for _, e := range s.edits {
				if e.File == filepath.Base(file) {
					if text, err = e.apply(text); err != nil {
						return "", err
					}
				}
			}
			for _, other := range subjects {
				for _, before := range []string{"\t", "import "} {
					text = strings.ReplaceAll(text, fmt.Sprintf("%s%q\n", before, path.Join(module, other.dir)), fmt.Sprintf("%s%q\n", before, path.Join(base, "subject", other.dir)))
				}
			}
			for of, name := range replaced {
				for _, before := range []string{"\t", "import "} {
					text = strings.Replace(text, fmt.Sprintf("%s%q\n", before, of), fmt.Sprintf("%s%s %q\n", before, name, base+"/sched"), 1)
				}
			}
			if sched := fmt.Sprintf("atomic %q\n", base+"/sched"); usesAtomic.MatchString(text) && !strings.Contains(text, sched) {
				text = afterPackage.ReplaceAllString(text, "$0\nimport "+sched)
			}
			to := filepath.Join(dir, strings.NewReplacer("/", "_", ".", "root").Replace(s.dir)+"_"+filepath.Base(file))
			if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
				return "", err
			}
			overlay[filepath.Join(here, "subject", s.dir, filepath.Base(file))] = to
		}
	}
	if left != 0 {
		return "", fmt.Errorf("explore: there is no file for %d of the edits", left)
	}
	all, err := filepath.Glob(filepath.Join(here, "testdata", "drive", "*.go"))
	if err != nil {
		return "", err
	}
	for _, file := range all {
		name := filepath.Base(file)
		if len(programs) == 0 || name == "main.go" || slices.Contains(programs, strings.TrimSuffix(name, ".go")) {
			overlay[filepath.Join(here, "drive", name)] = file
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, data, 0o666); err != nil {
		return "", err
	}
	return list, nil
}

func (e Edit) apply(text string) (string, error) {
	if n := strings.Count(text, e.Old); n != 1 {
		return "", fmt.Errorf("explore: %s has %q %d times, not once", e.File, e.Old, n)
	}
	return strings.Replace(text, e.Old, e.New, 1), nil
}
