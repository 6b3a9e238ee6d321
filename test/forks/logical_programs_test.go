package forks

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/par"
)

// A logicalProgram is a program that has a race of logically parallel parts, or none.
type logicalProgram struct {
	name  string
	races bool
	run   func(p *filch.Pool)
}

// join calls two functions by Join.
func join(p *filch.Pool, a, b func(w *filch.Worker)) {
	p.Do(func(w *filch.Worker) { w.Join(a, b) })
}

var ctx0 = context.Background()

// unseen calls f. What that synchronises with is no order to the detector.
func unseen(f func()) {
	race.Disable()
	defer race.Enable()
	f()
}

// task submits f, which returns nothing.
func task(p *filch.Pool, f func(), opts ...filch.TaskOption) *filch.Future[struct{}] {
	return filch.Submit(ctx0, p, func(context.Context) (struct{}, error) { f(); return struct{}{}, nil }, opts...)
}

var logicalPrograms = []logicalProgram{
	{"a shared total of a recursive sum", true, func(p *filch.Pool) {
		total := 0
		filch.NewFunc(func(f *filch.Frame[int, struct{}], n int) struct{} {
			if n == 0 {
				total++
				return struct{}{}
			}
			h := f.Fork(n - 1)
			f.Call(n - 1)
			return f.Join(h)
		}).Call(p, 4)
	}},
	{"a total that is returned", false, func(p *filch.Pool) {
		filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			if n == 0 {
				return 1
			}
			h := f.Fork(n - 1)
			b := f.Call(n - 1)
			return f.Join(h) + b
		}).Call(p, 4)
	}},
	{"a read against a write", true, func(p *filch.Pool) {
		x, seen := 1, 0
		join(p, func(*filch.Worker) { seen = x }, func(*filch.Worker) { x = 2 })
		_ = seen
	}},
	{"two reads", false, func(p *filch.Pool) {
		x, a, b := 1, 0, 0
		join(p, func(*filch.Worker) { a = x }, func(*filch.Worker) { b = x })
		_, _ = a, b
	}},
	{"a map", true, func(p *filch.Pool) {
		m := map[int]int{}
		join(p, func(*filch.Worker) { m[1] = 1 }, func(*filch.Worker) { m[2] = 2 })
	}},
	{"append to one slice", true, func(p *filch.Pool) {
		s := make([]int, 0, 8)
		join(p, func(*filch.Worker) { s = append(s, 1) }, func(*filch.Worker) { s = append(s, 2) })
	}},
	{"halves of one slice", false, func(p *filch.Pool) {
		s := make([]int, 8)
		join(p, func(*filch.Worker) { s[3] = 1 }, func(*filch.Worker) { s[4] = 2 })
	}},
	{"the result of a closure", true, func(p *filch.Pool) {
		var err error
		join(p, func(*filch.Worker) { err = nil }, func(*filch.Worker) { err = context.Canceled })
		_ = err
	}},
	{"results of generic Join", false, func(p *filch.Pool) {
		p.Do(func(w *filch.Worker) {
			a, b := filch.Join(w, func(*filch.Worker) *int { return new(int) }, func(*filch.Worker) *int { return new(int) })
			*a += *b
		})
	}},
	{"state that a loop has captured", true, func(p *filch.Pool) {
		p.Do(func(w *filch.Worker) {
			last := 0
			w.Finish(func(w *filch.Worker) {
				for i := range 3 {
					w.Async(func(*filch.Worker) { last = i })
				}
			})
			_ = last
		})
	}},
	{"asyncs with a place each", false, func(p *filch.Pool) {
		p.Do(func(w *filch.Worker) {
			var all [3]int
			w.Finish(func(w *filch.Worker) {
				for i := range all {
					w.Async(func(*filch.Worker) { all[i] = i })
				}
			})
			all[0]++
		})
	}},
	{"asyncs of asyncs", true, func(p *filch.Pool) {
		x := 0
		p.Do(func(w *filch.Worker) {
			for range 2 {
				w.Async(func(w *filch.Worker) { w.Async(func(*filch.Worker) { x++ }) })
			}
		})
	}},
	{"an async and the body of its Finish", true, func(p *filch.Pool) {
		x := 0
		p.Do(func(w *filch.Worker) {
			w.Finish(func(w *filch.Worker) {
				w.Async(func(*filch.Worker) { x++ })
				x++
			})
		})
	}},
	{"an accumulator without a reducer", true, func(p *filch.Pool) {
		sum := 0
		par.For(p, 4, func(i int) { sum += i })
	}},
	{"a write after the join", false, func(p *filch.Pool) {
		x := 0
		p.Do(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) {}, func(*filch.Worker) { x = 1 })
			w.Join(func(*filch.Worker) { x++ }, func(*filch.Worker) {})
			x++
		})
	}},
	{"a mutex", false, func(p *filch.Pool) {
		var mu sync.Mutex
		x := 0
		inc := func(*filch.Worker) { mu.Lock(); x++; mu.Unlock() }
		join(p, inc, inc)
	}},
	{"a channel", false, func(p *filch.Pool) {
		c := make(chan struct{}, 1)
		x := 0
		join(p, func(*filch.Worker) { x++; c <- struct{}{} }, func(w *filch.Worker) { w.Blocking(func() { <-c }); x++ })
	}},
	{"publication by an atomic", false, func(p *filch.Pool) {
		var ready atomic.Bool
		x, seen := 0, 0
		join(p, func(*filch.Worker) { x = 1; ready.Store(true) }, func(*filch.Worker) {
			if ready.Load() {
				seen = x
			}
		})
		_ = seen
	}},
	{"a mutex around one of two", true, func(p *filch.Pool) {
		var mu sync.Mutex
		x := 0
		join(p, func(*filch.Worker) { mu.Lock(); x++; mu.Unlock() }, func(*filch.Worker) { x++ })
	}},
	{"a parent that reads before the join", true, func(p *filch.Pool) {
		filch.NewFunc(func(f *filch.Frame[*int, int], x *int) int {
			if *x > 0 {
				*x++
				return 0
			}
			y := 1
			h := f.Fork(&y)
			seen := y
			return f.Join(h) + seen
		}).Call(p, new(int))
	}},
	{"a parent that blocks until its fork has begun on a worker that is new", true, func(p *filch.Pool) {
		x, begun := 0, make(chan struct{})
		p.Do(func(w *filch.Worker) {
			w.Join(func(w *filch.Worker) {
				x++
				w.Blocking(func() { <-begun })
			}, func(*filch.Worker) {
				close(begun)
				x++
			})
		})
	}},
	{"a parent that writes before the fork", false, func(p *filch.Pool) {
		filch.NewFunc(func(f *filch.Frame[*int, int], x *int) int {
			if *x > 0 {
				*x++
				return 0
			}
			y := 1
			y++
			h := f.Fork(&y)
			r := f.Join(h)
			return r + y
		}).Call(p, new(int))
	}},
	{"a link against the body of a chain", true, func(p *filch.Pool) {
		x := 0
		chainOf(func(int) { x++ }).Call(p, 2)
	}},
	{"a chain with a place for each", false, func(p *filch.Pool) {
		var all [8]int
		chainOf(func(n int) { all[n]++ }).Call(p, 2)
	}},
	{"two Funcs in turn by On", true, func(p *filch.Pool) {
		x := 0
		one := filch.NewFunc(func(f *filch.Frame[int, struct{}], n int) struct{} { x += n; return struct{}{} })
		filch.NewFunc(func(f *filch.Frame[int, struct{}], n int) struct{} {
			one.On(f.Worker(), func(g *filch.Frame[int, struct{}]) {
				h := g.Fork(1)
				g.Call(2)
				g.Join(h)
			})
			return struct{}{}
		}).Call(p, 1)
	}},
	{"cousins, deep in two forks", true, func(p *filch.Pool) {
		x := 0
		deep := func(w *filch.Worker) { w.Join(func(*filch.Worker) {}, func(*filch.Worker) { x++ }) }
		join(p, deep, deep)
	}},
	{"two tasks with one variable", true, func(p *filch.Pool) {
		x := 0
		a, b := task(p, func() { x++ }), task(p, func() { x++ })
		_, _ = a.Wait(ctx0)
		_, _ = b.Wait(ctx0)
	}},
	{"tasks with a variable each", false, func(p *filch.Pool) {
		x, y := 0, 0
		a, b := task(p, func() { x++ }), task(p, func() { y++ })
		_, _ = a.Wait(ctx0)
		_, _ = b.Wait(ctx0)
		_ = x + y
	}},
	{"a task and its submitter before the wait", true, func(p *filch.Pool) {
		x := 0
		a := task(p, func() { x++ })
		x++
		_, _ = a.Wait(ctx0)
	}},
	{"a task after another, by After", false, func(p *filch.Pool) {
		x := 0
		a := task(p, func() { x++ })
		b := task(p, func() { x++ }, filch.After(a))
		_, _ = b.Wait(ctx0)
		x++
	}},
	{"two tasks after one", true, func(p *filch.Pool) {
		x := 0
		a := task(p, func() { x++ })
		b, c := task(p, func() { x++ }, filch.After(a)), task(p, func() { x++ }, filch.After(a))
		_, _ = b.Wait(ctx0)
		_, _ = c.Wait(ctx0)
	}},
	{"a task after a promise", false, func(p *filch.Pool) {
		promise, x := filch.NewPromise[int](p), 0
		a := task(p, func() { x++ }, filch.After(promise.Future()))
		x++
		promise.Complete(1, nil)
		_, _ = a.Wait(ctx0)
	}},
	{"tasks of a group", true, func(p *filch.Pool) {
		g, x := p.Group(ctx0), 0
		for range 2 {
			g.Go(func(context.Context) error { x++; return nil })
		}
		_ = g.Wait()
	}},
	{"a group, and what comes after its Wait", false, func(p *filch.Pool) {
		g, x := p.Group(ctx0), 0
		g.Go(func(context.Context) error { x++; return nil })
		_ = g.Wait()
		g = p.Group(ctx0)
		g.Go(func(context.Context) error { x++; return nil })
		_ = g.Wait()
		x++
	}},
	{"tasks of a Subpool of one", false, func(p *filch.Pool) {
		g, one, x := p.Group(ctx0), p.Subpool(1), 0
		for range 3 {
			g.Go(func(context.Context) error { x++; return nil }, one)
		}
		_ = g.Wait()
	}},
	{"tasks of a Subpool of two", true, func(p *filch.Pool) {
		g, two, x := p.Group(ctx0), p.Subpool(2), 0
		for range 3 {
			g.Go(func(context.Context) error { x++; return nil }, two)
		}
		_ = g.Wait()
	}},
	{"a task of a Subpool of two, and one that is submitted when it has ended", true, func(p *filch.Pool) {
		g, two, x, ended := p.Group(ctx0), p.Subpool(2), 0, make(chan struct{}, 1)
		g.Go(func(context.Context) error {
			x++
			unseen(func() { ended <- struct{}{} })
			return nil
		}, two)
		unseen(func() { <-ended })
		for range 1000 {
			runtime.Gosched() // until it has been counted, too
		}
		g.Go(func(context.Context) error { x++; return nil }, two)
		_ = g.Wait()
	}},
	{"a memo that is asked in one task: what it computes runs there", false, func(p *filch.Pool) {
		x := 0
		m := filch.NewMemo(p, func(context.Context, int) (int, error) { x++; return x, nil })
		a := task(p, func() {
			x++
			_, _ = m.Get(ctx0, 1)
			_, _ = m.Get(ctx0, 2)
			x++
		})
		_, _ = a.Wait(ctx0)
	}},
	{"tasks of Go", true, func(p *filch.Pool) {
		x, done := 0, make(chan struct{}, 2)
		for range 2 {
			_ = p.Go(ctx0, func(context.Context) { x++; done <- struct{}{} })
		}
		<-done
		<-done
	}},
	{"forks of two tasks", true, func(p *filch.Pool) {
		x := 0
		fork := func(ctx context.Context) error {
			filch.ScopeOf(ctx).Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) {}, func(*filch.Worker) { x++ }) })
			return nil
		}
		g := p.Group(ctx0)
		g.Go(fork)
		g.Go(fork)
		_ = g.Wait()
	}},
	{"a task of a task, and its submitter", true, func(p *filch.Pool) {
		x := 0
		g := p.Group(ctx0)
		g.Go(func(ctx context.Context) error {
			a := filch.Submit(ctx, p, func(context.Context) (int, error) { x++; return x, nil })
			x++
			_, err := a.Wait(ctx)
			return err
		})
		_ = g.Wait()
	}},
	{"a memo", false, func(p *filch.Pool) {
		var fib *filch.Memo[int, *int]
		fib = filch.NewMemo(p, func(ctx context.Context, n int) (*int, error) {
			v := n
			if n > 1 {
				a, _ := fib.Get(ctx, n-1)
				b, _ := fib.Get(ctx, n-2)
				v = *a + *b
			}
			return &v, nil
		})
		_, _ = fib.Get(ctx0, 5)
	}},
	{"a loop of neighbours", false, func(p *filch.Pool) {
		all := make([]byte, 100)
		par.For(p, len(all), func(i int) { all[i]++ })
		all[7]++
	}},
	{"a loop of indices that overlap", true, func(p *filch.Pool) {
		all := make([]int, 101)
		par.For(p, 100, func(i int) { all[i]++; all[i+1]++ })
	}},
	// Of more indices, the detector may have forgotten the stack of one; see docs/races.md.
	{farIndices, true, func(p *filch.Pool) {
		x := 0
		par.For(p, 50, func(i int) {
			if i == 0 || i == 49 {
				x++
			}
		})
	}},
	{"a loop over a slice", false, func(p *filch.Pool) {
		all := make([]int, 100)
		par.Each(p, all, func(i, v int) { all[i] += v + 1 })
	}},
	{"a sum by Reduce", false, func(p *filch.Pool) {
		par.ReduceRange(p, 100, 0, func(lo, hi int) int { return hi - lo }, func(a, b int) int { return a + b })
	}},
	{"running sums", false, func(p *filch.Pool) {
		all := make([]int, 1000)
		par.Fill(p, all, 1)
		par.Scan(p, all, all, func(a, b int) int { return a + b })
	}},
	{"a loop with a state for each worker", false, func(p *filch.Pool) {
		par.ReduceInto(p, 100, func() *int { return new(int) }, func(st *int, i int) { *st += i }, func(into, from *int) { *into += *from })
	}},
	{"a state that is shared by mistake", true, func(p *filch.Pool) {
		one := new(int)
		par.ForInit(p, 100, func() *int { return one }, func(st *int, i int) { *st += i })
	}},
	{"a misuse of a reduction", true, func(p *filch.Pool) {
		last := 0
		par.ReduceRange(p, 100, 0, func(lo, hi int) int { last += hi; return hi - lo }, func(a, b int) int { return a + b })
	}},
	{"a sort", false, func(p *filch.Pool) {
		all := make([]int, 5000)
		for i := range all {
			all[i] = i * 7919 % 5003
		}
		par.Sort(p, all)
	}},
	{"a loop in a loop", true, func(p *filch.Pool) {
		rows := make([]int, 3)
		par.ForScope(p, 3, func(s filch.Scope, i int) {
			par.For(s, 3, func(int) { rows[i]++ })
		})
	}},
}

// chainOf returns a chain of a tree whose nodes call visit with a number of their own.
func chainOf(visit func(n int)) *filch.Chain[int, int] {
	var body func(l *filch.Link[int, int], n int) int
	body = func(l *filch.Link[int, int], n int) int {
		visit(n)
		if n >= 4 {
			return 1
		}
		l.Fork(2 * n)
		b := body(l.Next(), 2*n+1)
		if l.TakeBack() {
			return body(l, 2*n) + b
		}
		return l.Join() + b
	}
	return filch.NewChain(body)
}
