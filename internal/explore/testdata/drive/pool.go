package main

import (
	"context"
	"fmt"

	"github.com/filch-go/filch/internal/explore/sched"
	filch "github.com/filch-go/filch/internal/explore/subject"
	"github.com/filch-go/filch/internal/explore/subject/steal"
)

// poolProgram is a few calls of a pool from threads of their own.
type poolProgram struct {
	name    string
	workers int
	opts    []filch.Option
	bound   int // preemptions, if not 2; negative: so many if it is asked for, but one less every day
	start   func(r *sched.Run, p *filch.Pool) (check func() error)
}

var background = context.Background()

// async returns what counts one more.
func async(n *ran, i int) func(w *filch.Worker) {
	return func(*filch.Worker) {
		sched.Writes(&n[i])
		n[i]++
	}
}

// tree is a recursion that forks.
var tree = filch.NewFunc(func(f *filch.Frame[node, int], n node) int {
	if n.depth == 0 {
		n.ran[0]++
		return 1
	}
	h := f.Fork(node{n.depth - 1, n.ran})
	b := f.Call(node{n.depth - 1, n.ran})
	return f.Join(h) + b
})

type node struct {
	depth int
	ran   *ran
}

var chain = filch.NewChain(func(l *filch.Link[node, int], n node) int {
	if n.depth == 0 {
		n.ran[0]++
		return 1
	}
	arg := node{n.depth - 1, n.ran}
	l.Fork(arg)
	b := call(l.Next(), arg)
	if l.TakeBack() {
		return call(l, arg) + b
	}
	return l.Join() + b
})

func call(l *filch.Link[node, int], n node) int {
	if n.depth == 0 {
		n.ran[0]++
		return 1
	}
	panic("too deep")
}

// The arguments of a function from arms.
const (
	start   = iota
	first   // one arm,
	second  // and the other
	nothing // does nothing
	busy    // start, while another worker is busy until that is done
	wait    // what keeps it busy
)

// meeting is of two arms, each of which waits for the other to begin.
type meeting struct {
	both           *filch.Func[int, int]
	first, stolen  sched.Bool
	second, over   chan bool
	entered, leave chan bool // the one that gives up a place has entered, and may
}

// useUp makes the fork that is owed to the other worker.
func useUp(f *filch.Frame[int, int]) {
	h := f.Fork(nothing)
	f.Call(nothing)
	f.Join(h)
}

// until polls until b is set.
func until(b *sched.Bool, f *filch.Frame[int, int]) {
	for seen := sched.Seen(); !b.Load(); seen = sched.Seen() {
		f.Worker().Poll()
		sched.Await(seen)
	}
}

// loops does as a loop does that is not asked for forks until b is set.
func loops(w *filch.Worker, b *sched.Bool) {
	for seen := sched.Seen(); !b.Load(); seen = sched.Seen() {
		w.Demand()
		sched.Await(seen)
	}
}

// arms returns a function whose arms meet; before they do, it calls prelude, if
// there is any.
func arms(m *meeting, prelude func(f *filch.Frame[int, int])) *filch.Func[int, int] {
	m.second, m.over, m.entered, m.leave = make(chan bool), make(chan bool), make(chan bool), make(chan bool)
	return filch.NewFunc(func(f *filch.Frame[int, int], arg int) int {
		switch arg {
		case start:
			if prelude != nil {
				prelude(f)
			}
			h := f.Fork(first)
			f.Call(second)
			f.Join(h)
		case first:
			m.first.Store(true)
			sched.Receive(m.second)
		case second:
			sched.Close(m.second)
			until(&m.first, f)
		case busy:
			sched.Receive(m.entered)
			sched.Close(m.leave)
			h := f.Fork(wait)
			until(&m.stolen, f)
			f.Call(start)
			sched.Close(m.over)
			f.Join(h)
		case wait:
			m.stolen.Store(true)
			sched.Receive(m.over)
		}
		return 0
	})
}

func forks(depth, callers int, do func(p *filch.Pool, n node) int) func(*sched.Run, *filch.Pool) func() error {
	return func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		for range callers {
			r.Go(func() {
				if got := do(p, node{depth, n}); got != 1<<depth {
					r.Fail("wrong result: the tree has %d leaves", got)
				}
			})
		}
		return func() error { return n.want(callers << depth) }
	}
}

func count(n *ran, i int) func(context.Context) { return func(context.Context) { n[i]++ } }

// closeDuring is Close while tasks are submitted.
func closeDuring(tasks int) func(*sched.Run, *filch.Pool) func() error {
	return func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		for i := range tasks {
			r.Go(func() { p.Go(background, count(n, i)) })
		}
		r.Go(func() {
			if err := p.Close(); err != nil {
				r.Fail("Close: %v", err)
			}
		})
		return func() error {
			if s := p.Stats().Tasks; s.Done != int64(n[0]+n[1]) || s.Done+s.Cancelled+s.Rejected != int64(tasks) {
				return fmt.Errorf("wrongly counted: %v, %+v", n, s)
			}
			return nil
		}
	}
}

// stealing returns the option for it.
func stealing(from steal.Order, opts ...filch.StealOption) []filch.Option {
	return []filch.Option{filch.WithStealing(from, opts...)}
}

// meet is of two arms that meet.
func meet(r *sched.Run, p *filch.Pool) func() error {
	m := &meeting{}
	m.both = arms(m, nil)
	r.Go(func() { m.both.Call(p, start) })
	return func() error { return nil }
}

// tasksOfTask is a task that submits two.
func tasksOfTask(r *sched.Run, p *filch.Pool) func() error {
	n := &ran{}
	r.Go(func() {
		p.Go(background, func(ctx context.Context) {
			p.Go(ctx, count(n, 0))
			p.Go(ctx, count(n, 1))
		})
	})
	return func() error { return n.want(1, 1) }
}

var byPriority = []filch.Option{filch.WithOrder(filch.ByPriority)}

var poolPrograms = []poolProgram{
	{"fork", 2, nil, -3, forks(1, 1, func(p *filch.Pool, n node) int { return tree.Call(p, n) })},
	{"fork twice", 2, nil, 0, forks(2, 1, func(p *filch.Pool, n node) int { return tree.Call(p, n) })},
	{"fork, three workers", 3, nil, -2, forks(2, 1, func(p *filch.Pool, n node) int { return tree.Call(p, n) })},
	// The figures of a pool that has ended are exact.
	{"fork, then figures", 2, nil, -3, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			tree.Call(p, node{1, n})
			if err := p.Close(); err != nil {
				r.Fail("Close: %v", err)
			}
			if s := p.Stats(); s.Published != s.TakenBack+s.Steals {
				r.Fail("of %d published forks, %d were taken back and %d stolen", s.Published, s.TakenBack, s.Steals)
			}
		})
		return func() error { return nil }
	}},
	// A task that is cancelled is counted before the pool ends.
	{"cancel, then figures", 1, nil, -2, func(r *sched.Run, p *filch.Pool) func() error {
		submitted := make(chan bool)
		r.Go(func() {
			f := filch.Submit(background, p, func(context.Context) (int, error) { return 0, nil })
			sched.Close(submitted)
			f.Cancel()
		})
		r.Go(func() {
			sched.Receive(submitted)
			if err := p.Close(); err != nil {
				r.Fail("Close: %v", err)
			}
			if s := p.Stats().Tasks; s.Submitted != s.Done+s.Cancelled {
				r.Fail("%d submitted, %d done, %d cancelled", s.Submitted, s.Done, s.Cancelled)
			}
		})
		return func() error { return nil }
	}},
	{"chain", 2, nil, -3, forks(1, 1, func(p *filch.Pool, n node) int { return chain.Call(p, n) })},
	{"both at once", 2, nil, 1, meet},
	// Orders of victims that take steps which others do not.
	{"both at once, localized", 2, stealing(steal.Localized), 0, meet},
	{"both at once, nearest", 2, stealing(steal.Nearest), 0, meet},
	{"both at once, adaptive", 2, stealing(steal.Adaptive), 0, meet},
	{"both at once, after a yield", 2, stealing(steal.RoundRobin, filch.YieldFirst()), 0, meet},
	{"fork, localized", 3, stealing(steal.Localized), -2, forks(2, 1, func(p *filch.Pool, n node) int { return tree.Call(p, n) })},
	{"tasks of a task, localized", 2, stealing(steal.Localized, filch.StealOne()), 0, tasksOfTask},
	{"tasks of a task, after a yield", 2, stealing(steal.Adaptive, filch.YieldFirst()), -2, tasksOfTask},
	// For a while, nobody is woken for forks.
	{"both at once, held", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		m := &meeting{}
		m.both = arms(m, func(*filch.Frame[int, int]) { p.Hold() })
		r.Go(func() { m.both.Call(p, start) })
		return func() error { return nil }
	}},
	// Both arms block, and neither answers what is asked of it later.
	{"both block, held before", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		a, b := make(chan bool), make(chan bool)
		both := filch.NewFunc(func(f *filch.Frame[int, int], arg int) int {
			switch arg {
			case start:
				h := f.Fork(first)
				f.Call(second)
				f.Join(h)
			case first:
				sched.Close(a)
				sched.Receive(b)
			case second:
				sched.Close(b)
				sched.Receive(a)
			}
			return 0
		})
		r.Go(func() {
			p.Hold()
			both.Call(p, start)
		})
		return func() error { return nil }
	}},
	// The second fork is the owner's affair until the other place is free.
	{"a place is free late", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		m := &meeting{}
		m.both = arms(m, useUp)
		r.Go(func() { m.both.Call(p, start) })
		r.Go(func() { p.Do(func(*filch.Worker) {}) })
		return func() error { return nil }
	}},
	// A thief is busy until both arms are done, and has asked for more before.
	{"a place is free late, a thief is busy", 3, nil, -1, func(r *sched.Run, p *filch.Pool) func() error {
		m := &meeting{}
		m.both = arms(m, nil)
		r.Go(func() { m.both.Call(p, busy) })
		r.Go(func() {
			p.Do(func(*filch.Worker) {
				sched.Close(m.entered)
				sched.Receive(m.leave)
			})
		})
		return func() error { return nil }
	}},
	// A is stolen; the worker that waits for it steals B from the thief, which waits for that.
	{"help", 2, nil, -2, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		var stolen [2]sched.Bool
		fn := filch.NewFunc(func(f *filch.Frame[int, int], arg int) int {
			n[arg]++
			if arg > 0 {
				stolen[arg-1].Store(true)
			}
			if arg < 2 {
				h := f.Fork(arg + 1)
				until(&stolen[arg], f)
				f.Join(h)
			}
			return 0
		})
		r.Go(func() { fn.Call(p, 0) })
		return func() error { return n.want(1, 1, 1) }
	}},
	{"an async", 2, nil, -3, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			p.Do(func(w *filch.Worker) { w.Async(async(n, 0)) })
			n.read(1)
		})
		return func() error { return n.want(1) }
	}},
	{"asyncs", 2, nil, 2, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			p.Do(func(w *filch.Worker) {
				w.Async(async(n, 0))
				w.Async(async(n, 1))
			})
			n.read(2)
		})
		return func() error { return n.want(1, 1) }
	}},
	{"asyncs, three workers", 3, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			p.Do(func(w *filch.Worker) {
				w.Async(async(n, 0))
				w.Async(async(n, 1))
				w.Async(async(n, 2))
			})
			n.read(3)
		})
		return func() error { return n.want(1, 1, 1) }
	}},
	// The first is stolen, and what it queues is stolen from the thief, or not.
	{"asyncs of a stolen one", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		var stolen sched.Bool
		r.Go(func() {
			p.Do(func(w *filch.Worker) {
				w.Finish(func(w *filch.Worker) {
					w.Async(func(w *filch.Worker) {
						stolen.Store(true)
						w.Async(async(n, 0))
						w.Async(async(n, 1))
						w.Poll()
						async(n, 2)(w)
					})
					for seen := sched.Seen(); !stolen.Load(); seen = sched.Seen() {
						w.Poll()
						sched.Await(seen)
					}
				})
				n.read(3)
			})
		})
		return func() error { return n.want(1, 1, 1) }
	}},
	// The Finish in what was stolen waits for its own alone, and the thief is helped with them.
	{"finish in an async", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			p.Do(func(w *filch.Worker) {
				w.Async(func(w *filch.Worker) {
					w.Finish(func(w *filch.Worker) { w.Async(async(n, 0)) })
					n.read(1)
					async(n, 1)(w)
				})
				w.Async(async(n, 2))
			})
			n.read(3)
		})
		return func() error { return n.want(1, 1, 1) }
	}},
	{"two callers", 2, nil, -2, forks(1, 2, func(p *filch.Pool, n node) int { return tree.Call(p, n) })},
	{"two callers, one worker", 1, nil, 0, forks(1, 2, func(p *filch.Pool, n node) int { return tree.Call(p, n) })},
	{"tasks from two", 1, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() { p.Go(background, count(n, 0)) })
		r.Go(func() { p.Go(background, count(n, 1)) })
		return func() error { return n.want(1, 1) }
	}},
	{"tasks from two, two workers", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() { p.Go(background, count(n, 0)) })
		r.Go(func() { p.Go(background, count(n, 1)) })
		return func() error { return n.want(1, 1) }
	}},
	{"tasks of a task", 2, nil, 0, tasksOfTask},
	// A task that is more urgent comes while a worker has others.
	{"by priority", 2, byPriority, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				p.Go(ctx, count(n, 0))
				p.Go(ctx, count(n, 1))
			})
		})
		r.Go(func() { p.Go(background, count(n, 2), filch.AtPriority(-1)) })
		return func() error { return n.want(1, 1, 1) }
	}},
	// The third task spills two.
	{"by priority, spill", 2, byPriority, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				for i := range 3 {
					p.Go(ctx, count(n, i), filch.AtPriority(i))
				}
			})
		})
		r.Go(func() { p.Go(background, count(n, 3)) })
		return func() error { return n.want(1, 1, 1, 1) }
	}},
	// Fork-join work goes on until a more urgent task has run, which gets its place.
	{"giving way", 1, byPriority, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		var over sched.Bool
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				filch.ScopeOf(ctx).Do(func(w *filch.Worker) { loops(w, &over) })
				n[0]++
			}, filch.AtPriority(1))
		})
		r.Go(func() {
			p.Go(background, func(context.Context) { n[1]++; over.Store(true) })
		})
		return func() error { return n.want(1, 1) }
	}},
	// A task that a loop did not have to give way to is followed by one that it must.
	{"giving way, asked before", 2, byPriority, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		var over, last sched.Bool
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				filch.ScopeOf(ctx).Do(func(w *filch.Worker) { loops(w, &over) })
				n[0]++
			}, filch.AtPriority(1))
			p.Go(background, func(context.Context) { n[1]++ })
			p.Go(background, func(context.Context) {
				p.Go(background, func(context.Context) { n[2]++; last.Store(true) })
				for seen := sched.Seen(); !last.Load(); seen = sched.Seen() {
					sched.Await(seen)
				}
				over.Store(true)
			})
		})
		return func() error { return n.want(1, 1, 1) }
	}},
	// The last place is passed on before the pool ends.
	{"giving way, shut down", 1, byPriority, 1, func(r *sched.Run, p *filch.Pool) func() error {
		var over sched.Bool
		begun := make(chan bool)
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				sched.Close(begun)
				filch.ScopeOf(ctx).Do(func(w *filch.Worker) { loops(w, &over) })
			}, filch.AtPriority(1))
			sched.Receive(begun)
			p.Go(background, func(context.Context) { over.Store(true) })
			p.Shutdown(background)
			if done := p.Stats().Tasks.Done; done != 2 {
				r.Fail("2 tasks are done, and %d are counted", done)
			}
		})
		return func() error { return nil }
	}},
	// Two tasks are more urgent than two loops.
	{"giving way, two workers", 2, byPriority, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		var over [2]sched.Bool
		r.Go(func() {
			for i := range 2 {
				p.Go(background, func(ctx context.Context) {
					filch.ScopeOf(ctx).Do(func(w *filch.Worker) { loops(w, &over[i]) })
					n[i]++
				}, filch.AtPriority(1))
			}
			for i := range 2 {
				p.Go(background, func(context.Context) { n[2+i]++; over[i].Store(true) })
			}
		})
		return func() error { return n.want(1, 1, 1, 1) }
	}},
	{"wait from outside", 1, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		r.Go(func() {
			f := filch.Submit(background, p, func(context.Context) (int, error) { return 7, nil })
			if v, err := f.Wait(background); v != 7 || err != nil {
				r.Fail("wrong result: %d, %v", v, err)
			}
		})
		return func() error { return nil }
	}},
	{"after", 1, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		promise := filch.NewPromise[int](p)
		r.Go(func() {
			p.Go(background, count(n, 0), filch.After(promise.Future()))
		})
		r.Go(func() { promise.Complete(7, nil) })
		return func() error { return n.want(1) }
	}},
	{"after two", 1, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		a, b := filch.NewPromise[int](p), filch.NewPromise[int](p)
		p.Go(background, count(n, 0), filch.After(a.Future(), b.Future()))
		r.Go(func() { a.Complete(7, nil) })
		r.Go(func() { b.Complete(7, nil) })
		return func() error { return n.want(1) }
	}},
	{"after, shut down", 1, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		promise := filch.NewPromise[int](p)
		p.Go(background, count(n, 0), filch.After(promise.Future()))
		r.Go(func() { promise.Complete(7, nil) })
		r.Go(func() { p.Shutdown(background) })
		return func() error { return n.want(1) }
	}},
	{"after, close", 1, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		promise := filch.NewPromise[int](p)
		r.Go(func() {
			f := filch.Submit(background, p, func(context.Context) (int, error) { return 7, nil }, filch.After(promise.Future()))
			f.Wait(background)
		})
		r.Go(func() { p.Close() })
		return func() error { return nil }
	}},
	{"a promise of two", 1, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		promise := filch.NewPromise[int](p)
		p.Go(background, count(n, 0), filch.After(promise.Future()))
		var completed sched.Int32
		for i := range 2 {
			r.Go(func() {
				if promise.Complete(i, nil) {
					completed.Add(1)
				}
			})
		}
		return func() error {
			if k := completed.Load(); k != 1 {
				return fmt.Errorf("not done exactly once: a promise was completed %d times", k)
			}
			return n.want(1)
		}
	}},
	// Two limits of one. A task of the second comes after one of the first, which two others wait for.
	{"subpools", 1, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		a, b := p.Subpool(1), p.Subpool(1)
		run := func(in *filch.Subpool, i int) func(context.Context) (int, error) {
			return func(context.Context) (int, error) {
				if in.Running() != 1 {
					r.Fail("%d tasks of a Subpool of 1 run", in.Running())
				}
				n[i]++
				return 0, nil
			}
		}
		f := filch.Submit(background, p, run(a, 0), a)
		filch.Submit(background, p, run(b, 1), b, filch.After(f))
		filch.Submit(background, p, run(a, 2), a)
		r.Go(func() { filch.Submit(background, p, run(a, 3), a) })
		return func() error {
			if a.Running()+b.Running()+a.Queued()+b.Queued() != 0 {
				return fmt.Errorf("left over at rest: a slot, or a task that waits for one")
			}
			return n.want(1, 1, 1, 1)
		}
	}},
	// A task waits for one that is of no limit, and that one for another which needs the slot.
	{"a slot is lent, two deep", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		s := &slots{n: &ran{}, p: p, sub: p.Subpool(1)}
		r.Go(func() {
			s.submit(r, background, 0, func(ctx context.Context) {
				filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
					s.submit(r, ctx, 1, nil).Wait(ctx)
					return 0, nil
				}).Wait(ctx)
			})
		})
		return s.want(1, 1)
	}},
	// Two tasks wait for others of their limit of one, which are submitted where one may wait.
	{"a slot is lent, limited", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		s := &slots{n: &ran{}, p: p, sub: p.Subpool(1, filch.WithQueueLimit(1, filch.Block))}
		r.Go(func() {
			s.submit(r, background, 0, func(ctx context.Context) {
				a, b := s.submit(r, ctx, 1, nil), s.submit(r, ctx, 2, nil)
				a.Wait(ctx)
				b.Wait(ctx)
			})
		})
		return s.want(1, 1, 1)
	}},
	// A task waits for a promise. Another begins in its slot, and a third waits in line.
	{"a slot is lent, a promise", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		s := &slots{n: &ran{}, p: p, sub: p.Subpool(1)}
		promise := filch.NewPromise[int](p)
		s.submit(r, background, 0, func(ctx context.Context) {
			promise.Future().Wait(ctx)
			s.submit(r, ctx, 3, nil).Wait(ctx)
		})
		r.Go(func() {
			s.submit(r, background, 1, func(context.Context) { promise.Complete(1, nil) })
			s.submit(r, background, 2, nil)
		})
		return s.want(1, 1, 1, 1)
	}},
	// Two goroutines wait in the name of one task: for a promise, and for a task that needs the slot.
	{"a slot is lent, twice", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		s := &slots{n: &ran{}, p: p, sub: p.Subpool(1)}
		promise, both := filch.NewPromise[int](p), make(chan bool)
		s.submit(r, background, 0, func(ctx context.Context) {
			r.Go(func() {
				promise.Future().Wait(ctx)
				sched.Close(both)
			})
			f := s.submit(r, ctx, 1, nil)
			f.Wait(ctx)
			g := s.submit(r, ctx, 2, func(context.Context) { promise.Complete(1, nil) })
			filch.Blocking(ctx, func() { sched.Receive(both) })
			g.Wait(ctx)
		})
		return s.want(1, 1, 1)
	}},
	// A task waits for one in line, which is cancelled meanwhile.
	{"a slot is lent, cancelled", 1, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		s := &slots{n: &ran{}, p: p, sub: p.Subpool(1)}
		promise := filch.NewPromise[int](p)
		f := s.submit(r, background, 1, nil, filch.After(promise.Future()))
		s.submit(r, background, 0, func(ctx context.Context) {
			promise.Complete(1, nil)
			f.Wait(ctx)
		})
		r.Go(f.Cancel)
		return s.want(1)
	}},
	{"two wait for one", 1, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		var f *filch.Future[int]
		ready := make(chan bool)
		r.Go(func() {
			f = filch.Submit(background, p, func(context.Context) (int, error) { return 7, nil })
			sched.Close(ready)
			f.Wait(background)
		})
		r.Go(func() {
			sched.Receive(ready)
			if v, err := f.Wait(background); v != 7 || err != nil {
				r.Fail("wrong result: %d, %v", v, err)
			}
		})
		return func() error { return nil }
	}},
	{"wait inside", 2, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				f := filch.Submit(ctx, p, func(context.Context) (int, error) { n[0]++; return 7, nil })
				if v, err := f.Wait(ctx); v != 7 || err != nil {
					r.Fail("wrong result: %d, %v", v, err)
				}
				n[1]++
			})
		})
		return func() error { return n.want(1, 1) }
	}},
	{"limited", 1, []filch.Option{filch.WithQueueLimit(1, filch.Block)}, -2, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() { p.Go(background, count(n, 0)); p.Go(background, count(n, 1)) })
		r.Go(func() { p.Go(background, count(n, 2)) })
		return func() error { return n.want(1, 1, 1) }
	}},
	{"limited, two workers", 2, []filch.Option{filch.WithQueueLimit(1, filch.Block)}, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() { p.Go(background, count(n, 0)); p.Go(background, count(n, 1)) })
		r.Go(func() { p.Go(background, count(n, 2)); p.Go(background, count(n, 3)) })
		return func() error { return n.want(1, 1, 1, 1) }
	}},
	// Of three tasks, none of which ends before all were submitted, one is refused at
	// least: one runs and one waits.
	{"limited, how many", 1, []filch.Option{filch.WithQueueLimit(1, filch.Reject)}, 0, func(r *sched.Run, p *filch.Pool) func() error {
		var submitters, accepted sched.Int64
		over := make(chan bool)
		submit := func(tasks int) {
			for range tasks {
				if p.Go(background, func(context.Context) { sched.Receive(over) }) == nil {
					accepted.Add(1)
				}
			}
			if submitters.Add(1) == 2 {
				sched.Close(over)
			}
		}
		r.Go(func() { submit(2) })
		r.Go(func() { submit(1) })
		return func() error {
			if n := accepted.Load(); n < 1 || n > 2 {
				return fmt.Errorf("%d tasks were accepted, not one or two", n)
			}
			return nil
		}
	}},
	{"two at once", 2, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		met := make(chan bool)
		r.Go(func() {
			p.Go(background, func(context.Context) { sched.Receive(met); n[0]++ })
			p.Go(background, func(context.Context) { sched.Close(met); n[1]++ })
		})
		return func() error { return n.want(1, 1) }
	}},
	{"pause", 1, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		p.Pause()
		r.Go(func() { p.Go(background, count(n, 0)) })
		r.Go(func() { p.Resume() })
		return func() error { return n.want(1) }
	}},
	{"close", 1, nil, 0, closeDuring(1)},
	{"close, two tasks", 1, nil, -2, closeDuring(2)},
	{"resize", 1, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		met := make(chan bool)
		r.Go(func() {
			p.Go(background, func(context.Context) { sched.Receive(met); n[0]++ })
			p.Go(background, func(context.Context) { sched.Close(met); n[1]++ })
		})
		r.Go(func() { p.Resize(2) })
		return func() error { return n.want(1, 1) }
	}},
	{"blocking", 1, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		met := make(chan bool)
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				filch.Blocking(ctx, func() { sched.Receive(met) })
				n[0]++
			})
		})
		r.Go(func() { p.Go(background, func(context.Context) { sched.Close(met); n[1]++ }) })
		return func() error { return n.want(1, 1) }
	}},
	// Two goroutines use the worker of a task as their Scope while the task ends.
	{"scope while a task ends", 1, nil, 2, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		users := map[*filch.Worker]bool{}
		var meanwhile sched.Int32
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				begun := make(chan bool)
				for i := range 2 {
					sched.Go(func() {
						if i == 0 {
							sched.Close(begun)
						}
						filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
							if n[i]++; users[w] {
								r.Fail("two goroutines use one worker")
							}
							users[w] = true
							meanwhile.Add(1)
							users[w] = false
						})
					})
				}
				sched.Receive(begun)
			})
		})
		return func() error { return n.want(1, 1) }
	}},
	// A Future runs in place, on a goroutine that a task has made, while the task ends and
	// another one is queued.
	{"in place while a task ends", 1, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		begun, over := make(chan bool), make(chan bool)
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				sched.Go(func() {
					filch.Submit(ctx, p, func(context.Context) (int, error) {
						sched.Close(begun)
						sched.Receive(over)
						n[0]++
						return 7, nil
					}).Wait(ctx)
				})
				sched.Receive(begun)
			})
		})
		r.Go(func() { sched.Receive(begun); sched.Close(over) })
		r.Go(func() { p.Go(background, count(n, 1)) })
		return func() error { return n.want(1, 1) }
	}},
	{"help with tasks", 1, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		p.Pause()
		p.Go(background, count(n, 0))
		r.Go(func() { p.Resume() })
		r.Go(func() { p.Help(background) })
		return func() error { return n.want(1) }
	}},
	{"group", 1, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			g := p.Group(background)
			for i := range 2 {
				g.Go(func(context.Context) error { n[i]++; return nil })
			}
			if err := g.Wait(); err != nil || n[0]+n[1] != 2 {
				r.Fail("wrong result: %v, %v", err, n)
			}
		})
		return func() error { return n.want(1, 1) }
	}},
	{"group inside", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				g := p.Group(ctx)
				for i := range 2 {
					g.Go(func(context.Context) error { n[i]++; return nil })
				}
				if err := g.Wait(); err != nil || n[0]+n[1] != 2 {
					r.Fail("wrong result: %v, %v", err, n)
				}
			})
		})
		return func() error { return n.want(1, 1) }
	}},
	{"idle timeout", 1, []filch.Option{filch.WithIdleTimeout(1)}, -2, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() { p.Go(background, count(n, 0)) })
		r.Go(func() { p.Go(background, count(n, 1)) })
		return func() error { return n.want(1, 1) }
	}},
	{"idle timeout, close", 1, []filch.Option{filch.WithIdleTimeout(1)}, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() { p.Go(background, count(n, 0)) })
		r.Go(func() { p.Shutdown(background) })
		return func() error {
			if s := p.Stats().Tasks; s.Done != int64(n[0]) || s.Done+s.Cancelled+s.Rejected != 1 {
				return fmt.Errorf("wrongly counted: %v, %+v", n, s)
			}
			return nil
		}
	}},
	{"shutdown", 1, nil, -3, func(r *sched.Run, p *filch.Pool) func() error {
		var running sched.Int32
		var err error
		p.Do(func(*filch.Worker) {}) // leaves a worker that need not be made, under a lock
		r.Go(func() {
			err = p.Go(background, func(context.Context) {
				running.Add(1)
				running.Add(-1)
			})
		})
		r.Go(func() {
			if err := p.Shutdown(background); err != nil || running.Load() != 0 {
				r.Fail("Shutdown returned too early: %v, and %d tasks run", err, running.Load())
			}
		})
		return func() error {
			if s := p.Stats().Tasks; err == nil && s.Done != 1 || err != nil && s.Done+s.Cancelled != 0 {
				return fmt.Errorf("accepted, and not run, or refused and not: %v, %+v", err, s)
			}
			return nil
		}
	}},
	// The second comes when a worker that has looked for the last time is about to leave.
	{"shutdown, another comes", 1, nil, -2, func(r *sched.Run, p *filch.Pool) func() error {
		accepted := int64(0)
		p.Do(func(*filch.Worker) {})
		r.Go(func() {
			for range 2 {
				if p.Go(background, func(context.Context) {}) == nil {
					accepted++
				}
			}
		})
		r.Go(func() { p.Shutdown(background) })
		return func() error {
			if s := p.Stats().Tasks; s.Done != accepted {
				return fmt.Errorf("accepted, and not run: of %d tasks: %+v", accepted, s)
			}
			return nil
		}
	}},
	// What submits with the context of a task that is over is not waited for, and uses the queue of a worker.
	{"shutdown, a task that is over submits", 1, nil, -2, func(r *sched.Run, p *filch.Pool) func() error {
		done := int64(1)
		over := make(chan bool)
		r.Go(func() {
			var of context.Context
			filch.Submit(background, p, func(ctx context.Context) (int, error) { of = context.WithoutCancel(ctx); return 7, nil }).Wait(background)
			sched.Close(over)
			if p.Go(of, func(context.Context) {}) == nil {
				done++
			}
		})
		r.Go(func() {
			sched.Receive(over)
			p.Shutdown(background)
		})
		return func() error {
			if s := p.Stats().Tasks; s.Done != done {
				return fmt.Errorf("accepted, and not run: of %d tasks: %+v", done, s)
			}
			return nil
		}
	}},
}

// slots are tasks of a Subpool with one slot.
type slots struct {
	n      *ran
	p      *filch.Pool
	sub    *filch.Subpool
	leaves sched.Int32 // that run; those do not wait
}

// submit submits a task, which counts itself as the i-th, and calls f, or if that is nil, is a leaf.
func (s *slots) submit(r *sched.Run, ctx context.Context, i int, f func(ctx context.Context), opts ...filch.TaskOption) *filch.Future[int] {
	return filch.Submit(ctx, s.p, func(ctx context.Context) (int, error) {
		s.n[i]++
		if f != nil {
			f(ctx)
			return 0, nil
		}
		if k := s.leaves.Add(1); k != 1 {
			r.Fail("%d tasks that do not wait run in a Subpool of 1", k)
		}
		s.leaves.Add(-1)
		return 0, nil
	}, append(opts, s.sub)...)
}

// want checks that all was done, and no slot is left over.
func (s *slots) want(counts ...int) func() error {
	return func() error {
		if s.sub.Running() != 0 || s.sub.Queued() != 0 {
			return fmt.Errorf("left over at rest: %d run, %d wait for a slot", s.sub.Running(), s.sub.Queued())
		}
		return s.n.want(counts...)
	}
}

func init() { parts = append(parts, poolExplored) }

func poolExplored(deep, chosen bool) (all []program) {
	for _, p := range poolPrograms {
		bound := p.bound
		switch {
		case bound == 0:
			bound = 2 // more is too much for so many steps
		case bound < 0 && !chosen && !deep:
			bound = -bound - 1
		case bound < 0:
			bound = -bound
		}
		if deep {
			bound++
		}
		all = append(all, program{"Pool/" + p.name, p.explored, bound})
	}
	return all
}

func (q poolProgram) explored(r *sched.Run) func() error {
	p := filch.New(append(q.opts, filch.WithWorkers(q.workers), filch.WithStallTimeout(0))...)
	check := q.start(r, p)
	return func() error {
		if err := check(); err != nil {
			return err
		}
		if s := p.Stats(); s.Active != 0 || s.Searching != 0 || s.Blocked != 0 || s.Tasks.Queued != 0 {
			return fmt.Errorf("left over at rest: %+v", s)
		}
		return nil
	}
}
