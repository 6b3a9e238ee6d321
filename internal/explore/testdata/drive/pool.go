package main

import (
	"context"
	"fmt"

	"github.com/filch-go/filch/internal/explore/sched"
	filch "github.com/filch-go/filch/internal/explore/subject"
)

// poolProgram is a few calls of a pool from threads of their own.
type poolProgram struct {
	name    string
	workers int
	opts    []filch.Option
	bound   int // preemptions, if not 2
	start   func(r *sched.Run, p *filch.Pool) (check func() error)
}

var background = context.Background()

// ran counts how often each of a few things has been done.
type ran [8]int

func (n *ran) want(counts ...int) error {
	for i, k := range counts {
		if n[i] != k {
			return fmt.Errorf("%d was done %d times, not %d", i, n[i], k)
		}
	}
	return nil
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

func forks(depth, callers int, do func(p *filch.Pool, n node) int) func(*sched.Run, *filch.Pool) func() error {
	return func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		for range callers {
			r.Go(func() {
				if got := do(p, node{depth, n}); got != 1<<depth {
					r.Fail("the tree has %d leaves", got)
				}
			})
		}
		return func() error { return n.want(callers << depth) }
	}
}

func count(n *ran, i int) func(context.Context) { return func(context.Context) { n[i]++ } }

var poolPrograms = []poolProgram{
	{"fork", 2, nil, 3, forks(1, 1, func(p *filch.Pool, n node) int { return tree.Call(p, n) })},
	{"fork twice", 2, nil, 0, forks(2, 1, func(p *filch.Pool, n node) int { return tree.Call(p, n) })},
	{"fork, three workers", 3, nil, 0, forks(2, 1, func(p *filch.Pool, n node) int { return tree.Call(p, n) })},
	{"chain", 2, nil, 3, forks(1, 1, func(p *filch.Pool, n node) int { return chain.Call(p, n) })},
	{"both at once", 2, nil, 1, func(r *sched.Run, p *filch.Pool) func() error {
		// Each arm waits for the other to begin.
		var a, b sched.Bool
		both := filch.NewFunc(func(f *filch.Frame[int, int], arm int) int {
			switch arm {
			case 0:
				h := f.Fork(1)
				f.Call(2)
				f.Join(h)
			case 1:
				a.Store(true)
				for !b.Load() {
					sched.Gosched()
				}
			case 2:
				b.Store(true)
				for !a.Load() {
					f.Worker().Poll()
					sched.Gosched()
				}
			}
			return 0
		})
		r.Go(func() { both.Call(p, 0) })
		return func() error { return nil }
	}},
	{"two callers", 2, nil, 0, forks(1, 2, func(p *filch.Pool, n node) int { return tree.Call(p, n) })},
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
	{"tasks of a task", 2, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() {
			p.Go(background, func(ctx context.Context) {
				p.Go(ctx, count(n, 0))
				p.Go(ctx, count(n, 1))
			})
		})
		return func() error { return n.want(1, 1) }
	}},
	{"wait from outside", 1, nil, 0, func(r *sched.Run, p *filch.Pool) func() error {
		r.Go(func() {
			f := filch.Submit(background, p, func(context.Context) (int, error) { return 7, nil })
			if v, err := f.Wait(background); v != 7 || err != nil {
				r.Fail("%d, %v", v, err)
			}
		})
		return func() error { return nil }
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
				r.Fail("%d, %v", v, err)
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
					r.Fail("%d, %v", v, err)
				}
				n[1]++
			})
		})
		return func() error { return n.want(1, 1) }
	}},
	{"limited", 1, []filch.Option{filch.WithQueueLimit(1, filch.Block)}, 0, func(r *sched.Run, p *filch.Pool) func() error {
		n := &ran{}
		r.Go(func() { p.Go(background, count(n, 0)) })
		r.Go(func() { p.Go(background, count(n, 1)) })
		return func() error { return n.want(1, 1) }
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
	{"shutdown", 1, nil, 3, func(r *sched.Run, p *filch.Pool) func() error {
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
				r.Fail("Shutdown: %v, and %d tasks run", err, running.Load())
			}
		})
		return func() error {
			if s := p.Stats().Tasks; err == nil && s.Done+s.Cancelled != 1 || err != nil && s.Done != 0 {
				return fmt.Errorf("%v, %+v", err, s)
			}
			return nil
		}
	}},
}

func (q poolProgram) explored(r *sched.Run) func() error {
	p := filch.New(append(q.opts, filch.WithWorkers(q.workers), filch.WithStallTimeout(0))...)
	check := q.start(r, p)
	return func() error {
		if err := check(); err != nil {
			return err
		}
		if s := p.Stats(); s.Active != 0 || s.Searching != 0 || s.Blocked != 0 || s.Tasks.Queued != 0 {
			return fmt.Errorf("at rest: %+v", s)
		}
		return nil
	}
}
