package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/explore/sched"
	filch "github.com/filch-go/filch/internal/explore/subject"
	"github.com/filch-go/filch/internal/explore/subject/trace"
)

// placedProgram is run with a Recorder, and once more without by the same choices.
type placedProgram struct {
	name    string
	workers int
	opts    []filch.Option
	bound   int
	start   func(r *sched.Run, p *filch.Pool, at *placement) (check func() error)
}

// A placement says where the parts of a program ran. The steps say in which order.
type placement struct{ lines []string }

// ran notes that a part runs, on a worker if it is known.
func (at *placement) ran(part any, w *filch.Worker) {
	on := "a worker"
	if w != nil {
		on = fmt.Sprint("worker ", w.Number())
	}
	at.lines = append(at.lines, fmt.Sprintf("%v on thread %d, %s", part, sched.Thread(), on))
}

// task returns a task that notes where it runs.
func (at *placement) task(part any) func(context.Context) {
	return func(context.Context) { at.ran(part, nil) }
}

var placed = []placedProgram{
	{"fork", 2, nil, 2, placedForks(1)},
	{"fork twice", 2, nil, 1, placedForks(2)},
	{"fork, three workers", 3, nil, 1, placedForks(2)},
	// One is stolen, and the worker that waits for it steals one from the thief.
	{"help", 2, nil, 1, func(r *sched.Run, p *filch.Pool, at *placement) func() error {
		r.Go(func() { helping(at).Call(p, 0) })
		return func() error { return nil }
	}},
	{"asyncs", 2, nil, 1, func(r *sched.Run, p *filch.Pool, at *placement) func() error {
		r.Go(func() {
			p.Do(func(w *filch.Worker) {
				for part := range 2 {
					w.Async(func(w *filch.Worker) { at.ran(part, w) })
				}
			})
		})
		return func() error { return nil }
	}},
	{"tasks", 2, nil, 1, func(r *sched.Run, p *filch.Pool, at *placement) func() error {
		r.Go(func() { p.Go(background, at.task(0)) })
		r.Go(func() { p.Go(background, at.task(1)) })
		return func() error { return nil }
	}},
	{"tasks of a task", 2, nil, 1, func(r *sched.Run, p *filch.Pool, at *placement) func() error {
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				at.ran("parent", nil)
				p.Go(ctx, at.task(0))
				p.Go(ctx, at.task(1))
			})
		})
		return func() error { return nil }
	}},
	{"blocking", 1, nil, 1, func(r *sched.Run, p *filch.Pool, at *placement) func() error {
		met := make(chan bool)
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				filch.Blocking(ctx, func() { sched.Receive(met) })
				at.ran("blocked", nil)
			})
		})
		r.Go(func() { p.Go(background, func(context.Context) { sched.Close(met); at.ran("other", nil) }) })
		return func() error { return nil }
	}},
	{"wait inside", 2, nil, 1, func(r *sched.Run, p *filch.Pool, at *placement) func() error {
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				f := filch.Submit(ctx, p, func(context.Context) (int, error) { at.ran("child", nil); return 7, nil })
				f.Wait(ctx)
				at.ran("parent", nil)
			})
		})
		return func() error { return nil }
	}},
	{"giving way", 1, byPriority, 1, func(r *sched.Run, p *filch.Pool, at *placement) func() error {
		var over sched.Bool
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				filch.ScopeOf(ctx).Do(func(w *filch.Worker) { loops(w, &over); at.ran("loop", w) })
			}, filch.AtPriority(1))
		})
		r.Go(func() { p.Go(background, func(context.Context) { at.ran("urgent", nil); over.Store(true) }) })
		return func() error { return nil }
	}},
}

// placedForks is a tree of forks whose leaves note where they run.
func placedForks(depth int) func(*sched.Run, *filch.Pool, *placement) func() error {
	return func(r *sched.Run, p *filch.Pool, at *placement) func() error {
		leaves := 0
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n >= 1<<depth {
				leaves++
				at.ran(n, f.Worker())
				return 1
			}
			h := f.Fork(2 * n)
			b := f.Call(2*n + 1)
			return f.Join(h) + b
		})
		r.Go(func() { fn.Call(p, 1) })
		return func() error {
			if leaves != 1<<depth {
				return fmt.Errorf("not done exactly once: %d leaves ran", leaves)
			}
			return nil
		}
	}
}

// helping returns a function of which one fork is stolen, and the worker that waits for it steals one from the thief.
func helping(at *placement) *filch.Func[int, int] {
	var stolen [2]sched.Bool
	return filch.NewFunc(func(f *filch.Frame[int, int], part int) int {
		at.ran(part, f.Worker())
		if part > 0 {
			stolen[part-1].Store(true)
		}
		if part < 2 {
			h := f.Fork(part + 1)
			until(&stolen[part], f)
			f.Join(h)
		}
		return 0
	})
}

// run runs the program, with a Recorder or without. If it comes and goes, a thread of its own starts it, reads it and stops it.
func (q placedProgram) run(r *sched.Run, on, goes bool) (at *placement, check func() error) {
	sched.Advance(1) // a time of 0 is none
	p := filch.New(append(q.opts, filch.WithWorkers(q.workers), filch.WithStallTimeout(0))...)
	rec := trace.New(p, trace.WithCapacity(4))
	switch {
	case goes:
		r.Go(func() {
			if on {
				sched.Aside(1)
				rec.Start()
				rec.Snapshot()
				rec.Stop()
			}
		})
	case on:
		rec.Start()
	}
	at = &placement{}
	program := q.start(r, p, at)
	return at, func() error {
		if err := program(); err != nil {
			return err
		}
		if t := rec.Snapshot(); on && !goes && t.Len() == 0 {
			return fmt.Errorf("nothing was recorded")
		}
		if s := p.Stats(); s.Active != 0 || s.Searching != 0 || s.Blocked != 0 || s.Tasks.Queued != 0 {
			return fmt.Errorf("left over at rest: %+v", s)
		}
		slices.Sort(at.lines)
		at.lines = append(at.lines, fmt.Sprintf("%+v", p.Stats()))
		return nil
	}
}

// explored runs the program with a Recorder. By the choices that are left when those of the Recorder's own steps are taken out,
// the program without one takes the same steps, and each part of it runs at the same place.
func (q placedProgram) explored(goes bool) sched.Program {
	return func(r *sched.Run) func() error {
		r.Notes = true
		at, check := q.run(r, true, goes)
		return func() error {
			if err := check(); err != nil {
				return err
			}
			var off *placement
			want := r.Steps(false)
			got, failure := sched.Again(func(r *sched.Run) func() error {
				at, check := q.run(r, false, goes)
				off = at
				return check
			}, want)
			if failure != "" {
				return fmt.Errorf("without a Recorder: %s", failure)
			}
			if !slices.Equal(got, want) {
				n := 0
				for n < min(len(got), len(want)) && got[n] == want[n] {
					n++
				}
				return fmt.Errorf("recording changes the schedule: of %d and %d steps, the first %d are the same; then come\n%v\nwith a Recorder, and without\n%v", len(want), len(got), n, want[n:], got[n:])
			}
			if !slices.Equal(at.lines, off.lines) {
				return fmt.Errorf("recording changes what runs where: with a Recorder\n%s\nand without\n%s", strings.Join(at.lines, "\n"), strings.Join(off.lines, "\n"))
			}
			return nil
		}
	}
}

// A witness is a hook, which notes what it is told.
type witness struct{ events []event.Event }

func (h *witness) Event(e event.Event) { h.events = append(h.events, e) }

// forksInOrder fails unless what a hook is told of each fork comes in its order, from any event on: Published, and then
// Stolen and Finished, or TakenBack and Joined.
func (h *witness) forksInOrder() error {
	last := map[uint64]event.Kind{}
	follows := map[event.Kind][]event.Kind{
		event.Stolen: {event.Published}, event.TakenBack: {event.Published}, event.Finished: {event.Stolen}, event.Joined: {event.TakenBack},
	}
	for _, e := range h.events {
		switch e.Kind {
		case event.Published, event.Stolen, event.TakenBack, event.Finished, event.Joined:
		default:
			continue
		}
		if before, ok := last[e.ID]; ok && e.ID != 0 && !slices.Contains(follows[e.Kind], before) {
			return fmt.Errorf("wrongly told: %v after %v, of\n%v", e, before, h.events)
		}
		last[e.ID] = e.Kind
	}
	return nil
}

// comesAndGoes is a loop of forks, while a hook comes, goes, and comes again. What it is told of each fork is in order.
func comesAndGoes(r *sched.Run) func() error {
	p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0))
	h := &witness{}
	fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		for range n {
			h := f.Fork(0)
			f.Worker().Poll()
			sched.Gosched()
			f.Join(h)
			sched.Gosched()
		}
		return 0
	})
	r.Go(func() { fn.Call(p, 2) })
	r.Go(func() {
		for range 2 {
			event.SourceOf(p).AddHook(h)
			sched.Gosched()
			event.SourceOf(p).RemoveHook(h)
			sched.Gosched()
		}
	})
	return h.forksInOrder
}

// A visitor is a hook that comes and goes.
type visitor struct {
	witness
	first, last int // of the events that one is told that stays: what it must be told
}

// comeAndGo is a tree of forks, while two hooks come and go. What each is told is a piece of what one is told that stays: all
// from when it has come until it goes.
func comeAndGo(r *sched.Run) func() error {
	p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0))
	all, some := &witness{}, [2]*visitor{{}, {}}
	event.SourceOf(p).AddHook(all)
	check := forks(2, 1, func(p *filch.Pool, n node) int { return tree.Call(p, n) })(r, p)
	for _, h := range some {
		r.Go(func() {
			event.SourceOf(p).AddHook(h)
			h.first = len(all.events)
			sched.Gosched()
			h.last = len(all.events)
			event.SourceOf(p).RemoveHook(h)
		})
	}
	return func() error {
		for _, h := range some {
			if !h.isPieceOf(all.events) {
				return fmt.Errorf("wrongly told: %v\nis no piece of\n%v\nwith those from %d to %d", h.events, all.events, h.first, h.last)
			}
		}
		before := len(all.events)
		for _, h := range some { // nothing is told that has gone
			h.events = nil
		}
		p.Do(func(*filch.Worker) {})
		if len(all.events) == before || len(some[0].events)+len(some[1].events) > 0 {
			return fmt.Errorf("wrongly told: after all, %v, %v and %v", all.events[before:], some[0].events, some[1].events)
		}
		return errors.Join(check(), all.forksInOrder())
	}
}

func (h *visitor) isPieceOf(all []event.Event) bool {
	n := len(h.events)
	for from := max(0, h.last-n); from <= h.first && from+n <= len(all); from++ {
		if slices.Equal(h.events, all[from:from+n]) {
			return true
		}
	}
	return false
}

// stays is a hook that is told of all, while one worker helps the other.
func stays(r *sched.Run) func() error {
	p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0))
	h := &witness{}
	event.SourceOf(p).AddHook(h)
	r.Go(func() { helping(&placement{}).Call(p, 0) })
	return h.forksInOrder
}

// rings is a ring of two events that two goroutines write, each events of its own, while it is read.
func rings(r *sched.Run) func() error {
	sched.Advance(100)
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	rec := trace.New(p, trace.WithCapacity(2))
	rec.Start()
	sched.Advance(100)
	pool := event.SourceOf(p).(interface{ Tell(event.Event) })
	const each = 3
	for writer := range 2 {
		r.Go(func() {
			for n := range each {
				pool.Tell(written(writer, n))
			}
		})
	}
	r.Go(func() {
		if _, err := recorded(rec); err != nil {
			r.Fail("%v", err)
		}
	})
	return func() error {
		n, err := recorded(rec)
		if err == nil && n != 2*each {
			err = fmt.Errorf("wrongly counted: %d of %d events are recorded or lost", n, 2*each)
		}
		return err
	}
}

// holes is a ring with room for all that is written while two read it. What each reads is a piece of what was written, from the
// first on.
func holes(r *sched.Run) func() error {
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	rec := trace.New(p, trace.WithCapacity(8))
	rec.Start()
	pool := event.SourceOf(p).(interface{ Tell(event.Event) })
	tell := func(n int) {
		sched.Advance(1)
		pool.Tell(event.Event{Kind: event.Queued, Worker: 0, Other: -1, ID: uint64(n)})
	}
	tell(1)
	r.Go(func() {
		tell(2)
		sched.Gosched()
		tell(3)
	})
	for range 2 {
		r.Go(func() {
			var b strings.Builder
			rec.Snapshot().WriteText(&b)
			n := uint64(0)
			for line := range strings.Lines(b.String()) {
				e, err := event.Parse(line)
				if n++; err != nil || e.ID != n {
					r.Fail("wrongly told: %v is event %d; %v", e, n, err)
				}
			}
		})
	}
	return func() error { return nil }
}

// written is an event whose parts all depend on who writes it and which it is.
func written(writer, n int) event.Event {
	return event.Event{
		At: int64(101 + 2*n + writer), Kind: event.Stolen, Worker: 0, Other: 10*writer + n, ID: uint64(100*writer + n),
		Name: fmt.Sprint("event ", writer, n),
	}
}

// recorded returns how many events are recorded or lost. It fails unless each is as it was written, and each writer's are in their order.
func recorded(rec *trace.Recorder) (n int, err error) {
	t := rec.Snapshot()
	var b strings.Builder
	t.WriteText(&b)
	last := [2]int{-1, -1}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		e, err := event.Parse(line)
		writer, k := e.Other/10, e.Other%10
		if e.At += 100; err != nil || e != written(writer, k) || k <= last[writer] {
			return 0, fmt.Errorf("torn: %v, %v, of\n%s", e, err, b.String())
		}
		last[writer] = k
		n++
	}
	return n + int(t.Lost), nil
}

// followed is a ring of two events that is written while it is followed: each event is read once, or counted as lost.
func followed(r *sched.Run) func() error {
	sched.Advance(100)
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	rec := trace.New(p, trace.WithCapacity(2))
	rec.Start()
	sched.Advance(100)
	pool := event.SourceOf(p).(interface{ Tell(event.Event) })
	const written = 5
	r.Go(func() {
		for n := range written {
			pool.Tell(event.Event{At: int64(101 + n), Kind: event.Fetched, Worker: 0, Other: 1, ID: 1})
		}
	})
	follower := event.Follow(rec)
	var n, steals int
	next := func() {
		part := follower.Next(16)
		n += part.Read + int(part.Lost)
		steals += part.Steals[[2]int{0, 1}] + int(part.Lost)
	}
	r.Go(func() {
		next()
		next()
	})
	return func() error {
		if next(); n != written || steals != written {
			return fmt.Errorf("wrongly counted: of %d events %d are read or lost, and %d steals", written, n, steals)
		}
		return nil
	}
}

func init() {
	parts = append(parts, func(deep, chosen bool) (all []program) {
		more, less := 0, 0 // less than is asked for, every day
		switch {
		case deep:
			more = 1
		case !chosen:
			less = 1
		}
		for _, q := range placed {
			all = append(all,
				program{"trace/" + q.name, q.explored(false), q.bound + more},
				program{"trace/" + q.name + ", comes and goes", q.explored(true), max(0, q.bound+more-less)})
		}
		return append(all,
			program{"trace/a hook stays", stays, 1 + more},
			program{"trace/a hook comes and goes", comesAndGoes, more},
			program{"trace/two hooks come and go", comeAndGo, 1 + more},
			program{"trace/ring", rings, 2 + more},
			program{"trace/holes", holes, 2 + more - less},
			program{"trace/follower", followed, 2 + more},
		)
	})
}
