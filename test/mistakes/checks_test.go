package mistakes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/environ"
	"github.com/filch-go/filch/internal/goroutine"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// handed is what a call gets.
type handed struct {
	w *filch.Worker
	f *filch.Frame[int, int]
	l *filch.Link[int, int]
}

var constant = func(*filch.Frame[int, int], int) int { return 1 }

type use struct {
	op, thing string
	use       func(at *handed)
}

// uses are all that is checked.
var uses = map[string]use{
	"Join": {"Worker.Join", "Worker", func(at *handed) { at.w.Join(rig.Nop, rig.Nop) }},
	"Join of values": {"Join", "Worker", func(at *handed) {
		filch.Join(at.w, func(*filch.Worker) int { return 1 }, func(*filch.Worker) int { return 1 })
	}},
	"Do":         {"Worker.Do", "Worker", func(at *handed) { at.w.Do(rig.Nop) }},
	"Call":       {"Func.Call", "Worker", func(at *handed) { filch.NewFunc(constant).Call(at.w, 1) }},
	"Chain.Call": {"Chain.Call", "Worker", func(at *handed) { chainFib.Call(at.w, 3) }},
	"Async":      {"Worker.Async", "Worker", func(at *handed) { at.w.Async(rig.Nop) }},
	"Finish":     {"Worker.Finish", "Worker", func(at *handed) { at.w.Finish(rig.Nop) }},
	"Blocking":   {"Worker.Blocking", "Worker", func(at *handed) { at.w.Blocking(func() {}) }},
	"Frame.Fork": {"Frame.Fork", "Frame", func(at *handed) { at.f.Fork(0) }},
	"Link.Fork":  {"Link.Fork", "Link", func(at *handed) { at.l.Fork(0) }},
	"Link.Join":  {"Link.Join", "Link", func(at *handed) { at.l.Join() }},
	"Frame.Call": {"Frame.Call", "Frame", func(at *handed) { at.f.Call(0) }},
	"Frame.Join": {"Frame.Join", "Frame", func(at *handed) { at.f.Join(-1) }},
	"JoinAll": {"Mark.JoinAll", "Mark", func(at *handed) {
		for range at.f.Mark().JoinAll {
		}
	}},
	"Func.On": {"Func.On", "Worker", func(at *handed) { handFrame.On(at.w, func(*filch.Frame[int, int]) {}) }},
	"CallUntil": {"Func.CallUntil", "Worker", func(at *handed) {
		filch.NewFunc(constant).CallUntil(at.w, &filch.Stop{}, 1)
	}},
}

var chainFib = filch.NewChain(func(l *filch.Link[int, int], n int) int { return n })

// handedIn calls f with all that a call gets, inside of a Do of p.
func handedIn(p *filch.Pool, f func(at *handed)) {
	p.Do(func(w *filch.Worker) {
		given = func(at *handed) { at.w = w; f(at) }
		handFrame.Call(w, 1)
	})
}

var (
	given     func(at *handed)
	handFrame = filch.NewFunc(func(f *filch.Frame[int, int], _ int) int {
		frame := f
		kept := given
		given = func(at *handed) { at.f = frame; kept(at) }
		return handLink.Call(f.Worker(), 1)
	})
	handLink = filch.NewChain(func(l *filch.Link[int, int], _ int) int {
		given(&handed{l: l})
		return 1
	})
)

// elsewhere returns what use panics with on a goroutine of its own.
func elsewhere(use func()) (s string) {
	var all sync.WaitGroup
	all.Go(func() { s = rig.Recovered(use) })
	all.Wait()
	return s
}

// What is used on another goroutine, or after its call, panics: the message names the function, and
// where both places are. The pool is none the worse for it.
func TestMisusedWorkersAreTold(t *testing.T) {
	for name, u := range uses {
		t.Run(name, func(t *testing.T) {
			p, out := rig.Checked(1) // where nobody asks for forks
			defer p.Close()
			var kept handed
			var got string
			open := rig.Recovered(func() { // what was forked is told of as well
				handedIn(p, func(at *handed) {
					kept = *at
					got = elsewhere(func() { u.use(at) })
				})
			})
			if forked := strings.HasSuffix(name, ".Fork"); forked != strings.Contains(open, "returned with 1 of its forks not joined") || !forked && open != "" {
				t.Errorf("the call itself: %q", open)
			}
			late := rig.Recovered(func() { u.use(&kept) })
			handedIn(p, func(*handed) { // of the same functions
				if again := rig.Recovered(func() { u.use(&kept) }); !strings.HasPrefix(again, "filch: "+u.op) || !strings.Contains(again, "after the call") {
					t.Errorf("in another call: %q", again)
				}
			})
			for said, want := range map[string]string{
				got:  fmt.Sprintf("filch: %s: a %s is used on another goroutine than the one that it was handed to; fork in place of go", u.op, u.thing),
				late: fmt.Sprintf("filch: %s: a %s is used after the call that it was handed to has returned; use it only in that call", u.op, u.thing),
			} {
				if !strings.HasPrefix(said, want) || !strings.Contains(said, "\n\nhanded out at\n\tgithub.com/filch-go/filch/test/mistakes.handedIn ") ||
					!strings.Contains(said, "\n\nused at\n\tgithub.com/filch-go/filch/test/mistakes.init.func") {
					t.Errorf("%q\nnot\n%q", said, want)
				}
			}
			if n := rig.FibFunc.Call(p, 10); n != 55 {
				t.Errorf("the next call: %d", n)
			}
			if s := out.String(); s != "" {
				t.Errorf("a misuse that panics also logged: %s", s)
			}
		})
	}
}

// A Worker that has given up its place for Blocking is used by nothing meanwhile.
func TestAWorkerInItsBlockingIsTold(t *testing.T) {
	p, _ := rig.Checked(1)
	defer p.Close()
	p.Do(func(w *filch.Worker) {
		w.Blocking(func() {
			if s := rig.Recovered(func() { w.Join(rig.Nop, rig.Nop) }); !strings.HasPrefix(s, "filch: Worker.Join: a Worker is used inside of its Blocking") {
				t.Errorf("a Join inside of its Blocking panicked with %q", s)
			}
		})
		w.Join(rig.Nop, rig.Nop)
	})
}

// Joins are looked at as well: with forks open, that would be private without checks.
func TestForeignJoinsAreTold(t *testing.T) {
	p, _ := rig.Checked(1)
	defer p.Close()
	filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			return 0
		}
		h := f.Fork(0)
		if s := elsewhere(func() { f.Join(h) }); !strings.Contains(s, "filch: Frame.Join: a Frame is used on another goroutine") {
			t.Errorf("a Frame's Join on another goroutine panicked with %q", s)
		}
		return f.Join(h) // which is as it was
	}).Call(p, 1)
	filch.NewChain(func(l *filch.Link[int, int], n int) int {
		if n == 0 {
			return 0
		}
		l.Fork(0)
		if s := elsewhere(func() { l.Join() }); !strings.Contains(s, "filch: Link.Join: a Link is used on another goroutine") {
			t.Errorf("a Link's Join on another goroutine panicked with %q", s)
		}
		return l.Join()
	}).Call(p, 1)
}

// A stolen fork is named, since no stack leads to it.
func TestAWorkerOfAStolenForkIsTold(t *testing.T) {
	racetest.Skip(t, "it checks which goroutine runs what")
	p, _ := rig.Checked(2)
	defer p.Close()
	stolen, said := make(chan bool), make(chan string, 1)
	p.Do(func(w *filch.Worker) {
		w.Join(func(*filch.Worker) { <-stolen }, func(w *filch.Worker) {
			close(stolen)
			said <- elsewhere(func() { w.Join(rig.Nop, rig.Nop) })
		})
	})
	if s := <-said; !strings.Contains(s, "handed out to a fork of ") || !strings.Contains(s, "which this worker took from another\n\ta goroutine of the pool\n") {
		t.Errorf("a use of the worker of a stolen fork does not say where that came from: %q", s)
	}
}

// Each call has a Worker of its own: a late use is told though another call runs.
func TestNoCallGetsAnothersWorker(t *testing.T) {
	p, _ := rig.Checked(2)
	defer p.Close()
	var kept *filch.Worker
	p.Do(func(w *filch.Worker) { kept = w })
	p.Do(func(w *filch.Worker) {
		if w == kept {
			t.Error("it is the same")
		}
		if s := rig.Recovered(func() { kept.Join(rig.Nop, rig.Nop) }); !strings.Contains(s, "after the call") {
			t.Errorf("a Join after the call panicked with %q", s)
		}
	})
	if err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		filch.ScopeOf(ctx).Do(func(w *filch.Worker) { kept = w; w.Join(rig.Nop, rig.Nop) })
		return 0, errors.New(rig.Recovered(func() { kept.Join(rig.Nop, rig.Nop) }))
	}); true {
		if _, err := err.Wait(context.Background()); !strings.Contains(err.Error(), "after the call") {
			t.Errorf("of a task: %v", err)
		}
	}
	for p.Stats().Active > 0 {
		runtime.Gosched()
	}
}

// A pool inside its own work is logged once, with checks or only a logger.
func TestANestedPoolIsLoggedOnce(t *testing.T) {
	racetest.Skip(t, "it checks which goroutine runs what")
	nested := func(p *filch.Pool) func(*filch.Worker) {
		return func(*filch.Worker) { p.Do(rig.Nop); p.TryDo(rig.Nop); rig.FibFunc.Call(p, 3) }
	}
	for name, c := range map[string]struct {
		call string
		do   func(p *filch.Pool)
	}{
		"in Do":     {"Pool.Do", func(p *filch.Pool) { p.Do(nested(p)) }},
		"in a task": {"Pool.Do", func(p *filch.Pool) { wait(p, func(context.Context) { nested(p)(nil) }) }},
		"in a stolen fork": {"Func.Call", func(p *filch.Pool) {
			stolen := make(chan bool)
			p.Do(func(w *filch.Worker) {
				w.Join(func(*filch.Worker) { <-stolen }, func(*filch.Worker) { rig.FibFunc.Call(p, 3); close(stolen) })
			})
		}},
		"in another pool":      {"", func(p *filch.Pool) { q := filch.New(); defer q.Close(); q.Do(nested(p)) }},
		"on another goroutine": {"", func(p *filch.Pool) { p.Do(func(w *filch.Worker) { elsewhere(func() { p.Do(rig.Nop) }) }) }},
		"in Blocking":          {"", func(p *filch.Pool) { p.Do(func(w *filch.Worker) { w.Blocking(func() { p.Do(rig.Nop) }) }) }},
		"in Blocking of a task": {"", func(p *filch.Pool) {
			wait(p, func(ctx context.Context) { filch.Blocking(ctx, func() { p.Do(rig.Nop) }) })
		}},
		"in a long running task":  {"", func(p *filch.Pool) { wait(p, func(context.Context) { p.Do(rig.Nop) }, filch.LongRunning()) }},
		"by a Worker":             {"", func(p *filch.Pool) { p.Do(func(w *filch.Worker) { w.Do(rig.Nop); rig.FibFunc.Call(w, 10) }) }},
		"by the Scope of a task":  {"", func(p *filch.Pool) { wait(p, func(ctx context.Context) { filch.ScopeOf(ctx).Do(rig.Nop) }) }},
		"one call after another ": {"", func(p *filch.Pool) { p.Do(rig.Nop); p.Do(rig.Nop) }},
	} {
		for _, mode := range []string{"logger", "checks"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				if mode == "logger" && name == "in Do" && runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
					t.Skip("a guest is noted only where that is cheap")
				}
				var out rig.SyncBuffer
				opts := []filch.Option{filch.WithWorkers(2), filch.WithName("pool"), filch.WithLogger(slog.New(slog.NewTextHandler(&out, nil)))}
				if mode == "checks" {
					opts = append(opts, filch.WithChecks())
				}
				p := filch.New(opts...)
				defer p.Close()
				c.do(p)
				c.do(p)
				s := out.String()
				if c.call == "" && s != "" {
					t.Errorf("a pool that is not nested logged %s", s)
				}
				if c.call != "" && (strings.Count(s, "WARN") != 1 || !strings.Contains(s, "a pool is used inside its own work") ||
					!strings.Contains(s, "pool=pool call="+c.call) || !strings.Contains(s, " checks_test.go:")) {
					t.Errorf("a nested pool is not logged once, with the call %s and where it is: %s", c.call, s)
				}
			})
		}
	}
}

// Without checks, one call in some is looked at, also after many that are as they should be.
func TestANestedPoolIsFoundLate(t *testing.T) {
	var out rig.SyncBuffer
	p := filch.New(filch.WithWorkers(2), filch.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
	defer p.Close()
	for range 1000 {
		p.Do(rig.Nop)
	}
	wait(p, func(context.Context) {
		for range 100 {
			p.Do(rig.Nop)
		}
	})
	if s := out.String(); strings.Count(s, "WARN") != 1 {
		t.Errorf("a nested pool that is found late is logged %d times, not once: %q", strings.Count(s, "WARN"), s)
	}
}

// wait runs f as a task of p, and waits for it.
func wait(p *filch.Pool, f func(ctx context.Context), opts ...filch.TaskOption) {
	filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { f(ctx); return 0, nil }, opts...).Wait(context.Background())
}

// What would wait for itself panics, or returns an error, at once.
func TestWhatWouldWaitForItselfIsTold(t *testing.T) {
	p, _ := rig.Checked(2)
	defer p.Close()
	for name, op := range map[string]func(g *filch.Group) error{"Wait": (*filch.Group).Wait, "Stop": (*filch.Group).Stop} {
		g := p.Group(context.Background())
		g.Go(func(context.Context) error { return op(g) })
		g.Go(func(ctx context.Context) error { return nil })
		err := g.Wait()
		if err == nil || !strings.Contains(err.Error(), "Group.Wait: called by a task of the group") || !strings.Contains(err.Error(), "\n\nsubmitted at\n\tgithub.com/filch-go/filch/test/mistakes.TestWhatWould") {
			t.Errorf("%s: a task that waits for its own group ended with %v", name, err)
		}
	}
	g := p.Group(context.Background())
	g.Go(func(ctx context.Context) error {
		inner := p.Group(ctx)
		inner.Go(func(context.Context) error { return nil }, filch.Named("inner"))
		return inner.Wait()
	}, filch.Named("outer"))
	if err := g.Wait(); err != nil {
		t.Errorf("a group with a task in a task ended with %v", err)
	}
	for name, op := range map[string]func() error{"Close": p.Close, "Shutdown": func() error { return p.Shutdown(context.Background()) }} {
		p.Do(func(*filch.Worker) {
			if s := rig.Recovered(func() { op() }); !strings.HasPrefix(s, "filch: "+name+": called inside a Do of the pool") || !strings.Contains(s, "handed out at") {
				t.Errorf("%s inside a Do of its pool panicked with %q", name, s)
			}
		})
		if p.Closed() {
			t.Errorf("%s has closed it", name)
		}
		wait(p, func(context.Context) {
			q := filch.New()
			if err := q.Close(); err != nil {
				t.Error("the end of another pool inside a Do:", err)
			}
		})
	}
}

// Fork-join work that blocks is logged, once a place, if others could do something meanwhile.
func TestForksThatBlockAreLogged(t *testing.T) {
	racetest.Skip(t, "it checks which goroutine runs what")
	for name, c := range map[string]struct {
		workers int
		do      func(w *filch.Worker)
		logs    int
	}{
		"a sleep":       {2, func(w *filch.Worker) { time.Sleep(time.Second) }, 1},
		"a channel":     {2, func(w *filch.Worker) { <-time.After(time.Second) }, 1},
		"two places":    {2, func(w *filch.Worker) { nap(time.Second); time.Sleep(3 * time.Second) }, 2},
		"a place twice": {2, func(w *filch.Worker) { nap(time.Second); nap(time.Second) }, 1},
		"in a loop": {2, func(w *filch.Worker) {
			for range 3 {
				nap(time.Second)
			}
		}, 1},
		"a stolen fork": {3, func(w *filch.Worker) { w.Join(rig.Nop, func(*filch.Worker) { nap(time.Second) }) }, 1},
		"a Future": {2, func(w *filch.Worker) {
			filch.Submit(context.Background(), w.Pool(), func(context.Context) (int, error) { time.Sleep(time.Second); return 1, nil }, filch.LongRunning()).Wait(context.Background())
		}, 1},
		"a Future of the task": {2, func(w *filch.Worker) {
			f := filch.Submit(context.Background(), w.Pool(), func(ctx context.Context) (int, error) {
				begun := make(chan bool)
				f := filch.Submit(ctx, w.Pool(), func(context.Context) (int, error) { close(begun); nap(time.Second); return 1, nil }, filch.LongRunning())
				<-begun
				filch.ScopeOf(ctx).Do(func(*filch.Worker) { f.Wait(ctx) })
				return 1, nil
			})
			w.Blocking(func() { f.Wait(context.Background()) })
		}, 0},
		"for a moment": {2, func(w *filch.Worker) { nap(50 * time.Millisecond) }, 0},
		"in Blocking":  {2, func(w *filch.Worker) { w.Blocking(func() { nap(time.Second) }) }, 0},
		"at a join": {3, func(w *filch.Worker) {
			w.Join(func(*filch.Worker) { nap(time.Millisecond) }, func(w *filch.Worker) { w.Blocking(func() { nap(time.Second) }) })
		}, 0},
		"at a join of another pool": {3, func(*filch.Worker) {
			q := filch.New(filch.WithWorkers(2))
			defer q.Close()
			q.Do(func(w *filch.Worker) {
				w.Join(func(*filch.Worker) { nap(time.Millisecond) }, func(w *filch.Worker) { w.Blocking(func() { nap(time.Second) }) })
			})
		}, 0},
		"nobody is kept up": {1, func(w *filch.Worker) { nap(time.Second) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, out := rig.Checked(c.workers)
				p.Do(c.do)
				s := out.String()
				if strings.Count(s, "fork-join work has been blocked") != c.logs || strings.Count(s, "WARN") != c.logs ||
					c.logs > 0 && (!strings.Contains(s, "Worker.Blocking") || !strings.Contains(s, " checks_test.go:")) {
					t.Errorf("blocked work was logged %d times, not %d, or without what to do and where:\n%s", strings.Count(s, "fork-join work has been blocked"), c.logs, s)
				}
				p.Close()
			})
		})
	}
}

// Work that is blocked in all slots is logged within a second, with all stacks, and once: and it goes on when it can.
func TestADeadlockOfForksIsLogged(t *testing.T) {
	racetest.Skip(t, "it checks which goroutine runs what")
	const late = 10*time.Second + 7*time.Millisecond // since the first look
	wait := func(ch chan bool) rig.Step { return func(*filch.Worker) { <-ch } }
	for name, c := range map[string]struct {
		workers int
		do      func(w *filch.Worker, ch chan bool)
		logs    int
		within  time.Duration // since the beginning
	}{
		"at once":    {2, func(w *filch.Worker, ch chan bool) { w.Join(wait(ch), wait(ch)) }, 1, time.Second},
		"one worker": {1, func(w *filch.Worker, ch chan bool) { <-ch }, 1, time.Second},
		"late": {2, func(w *filch.Worker, ch chan bool) {
			w.Blocking(func() { time.Sleep(late) })
			w.Join(wait(ch), wait(ch))
		}, 1, late + time.Second},
		"a mutex": {1, func(w *filch.Worker, ch chan bool) {
			c := sync.NewCond(&sync.Mutex{})
			go func() { <-ch; c.L.Lock(); defer c.L.Unlock(); c.Broadcast() }()
			c.L.Lock()
			c.Wait()
			c.L.Unlock()
		}, 1, time.Second},
		"one that sleeps": {2, func(w *filch.Worker, ch chan bool) {
			w.Join(wait(ch), func(*filch.Worker) { nap(20 * time.Second) })
		}, 0, 0},
		"Future.Wait": {2, func(w *filch.Worker, ch chan bool) {
			promise := filch.NewPromise[int](w.Pool())
			go func() { <-ch; promise.Complete(1, nil) }()
			w.Join(func(*filch.Worker) { promise.Future().Wait(context.Background()) }, wait(ch))
		}, 1, time.Second},
		"Group.Wait": {1, func(w *filch.Worker, ch chan bool) {
			g := w.Pool().Group(context.Background())
			g.Go(func(context.Context) error { <-ch; return nil }, filch.LongRunning())
			g.Wait()
		}, 1, time.Second},
		"a moment": {2, func(w *filch.Worker, ch chan bool) {
			short := make(chan bool)
			go func() { time.Sleep(90 * time.Millisecond); close(short) }()
			w.Join(wait(short), wait(short))
		}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, out := rig.Checked(c.workers)
				begin, ch := time.Now(), make(chan bool)
				go func() { time.Sleep(20 * time.Second); close(ch) }()
				p.Do(func(w *filch.Worker) { c.do(w, ch) })
				s := out.String()
				<-ch
				if n := strings.Count(s, "blocked in all slots"); n != c.logs || strings.Count(s, "WARN") != n {
					t.Errorf("it was logged %d times, not %d:\n%s", n, c.logs, s)
				}
				if c.logs == 0 {
					p.Close()
					return
				}
				at, _, _ := strings.Cut(strings.TrimPrefix(s, "time="), " ")
				if logged, err := time.Parse(time.RFC3339Nano, at); err != nil || logged.Sub(begin) > c.within {
					t.Errorf("it was logged after %v, not %v (%v)", logged.Sub(begin), c.within, err)
				}
				if n := strings.Count(s, " at github.com/filch-go/filch/test/mistakes.TestADeadlockOfForksIsLogged."); n < c.workers+1 { // and what sleeps
					t.Errorf("%d stacks were logged, not %d at least:\n%s", n, c.workers+1, s)
				}
				p.Close()
			})
		})
	}
}

func nap(d time.Duration) { time.Sleep(d) }

// What New and its like have not made is told at the first use.
func TestWhatWasNotMadeIsTold(t *testing.T) {
	p := filch.New()
	defer p.Close()
	for _, all := range []map[string]func(){poolsNotMade(), othersNotMade(p)} {
		for want, do := range all {
			want, _, _ = strings.Cut(want, ";")
			if got := rig.Recovered(do); !strings.HasPrefix(got, "filch: "+want) {
				t.Errorf("%q, not %q", got, want)
			}
		}
	}
	if s := p.Stats(); s.Active != 0 {
		t.Errorf("%d places are taken", s.Active)
	}
}

// poolsNotMade are calls of a nil or zero Pool or Worker, by what is said of them.
func poolsNotMade() map[string]func() {
	var none *filch.Pool
	var zero filch.Pool
	var noWorker *filch.Worker
	return map[string]func(){
		"Do: the Pool is nil or zero: make one with New;nil":    func() { none.Do(rig.Nop) },
		"Do: the Pool is nil or zero: make one with New":        func() { zero.Do(rig.Nop) },
		"TryDo: the Pool is nil or zero: make one with New;nil": func() { none.TryDo(rig.Nop) },
		"TryDo: the Pool is nil or zero: make one with New":     func() { zero.TryDo(rig.Nop) },
		"DoContext: the Pool is nil or zero: make one with New": func() { zero.DoContext(context.Background(), rig.Nop) },
		"Call: the Pool is nil or zero: make one with New;nil":  func() { rig.FibFunc.Call(none, 1) },
		"Call: the Pool is nil or zero: make one with New":      func() { rig.FibFunc.Call(&zero, 1) },
		"Call: the Worker is nil or zero: make one with Do":     func() { rig.FibFunc.Call(noWorker, 1) },
		"Do: the Worker is nil or zero":                         func() { noWorker.Do(rig.Nop) },
		"Go: the Pool is nil or zero: make one with New;nil":    func() { none.Go(context.Background(), func(context.Context) {}) },
		"Go: the Pool is nil or zero: make one with New":        func() { zero.Go(context.Background(), func(context.Context) {}) },
		"TryGo: the Pool is nil or zero: make one with New":     func() { zero.TryGo(context.Background(), func(context.Context) {}) },
		"Submit: p is nil": func() { filch.Submit(context.Background(), none, rig.One) },
		"Submit: the Pool is nil or zero: make one with New":       func() { filch.Submit(context.Background(), &zero, rig.One) },
		"Group: the Pool is nil or zero: make one with New;nil":    func() { none.Group(context.Background()) },
		"Group: the Pool is nil or zero: make one with New":        func() { zero.Group(context.Background()) },
		"Close: the Pool is nil or zero: make one with New;nil":    func() { none.Close() },
		"Close: the Pool is nil or zero: make one with New":        func() { zero.Close() },
		"Shutdown: the Pool is nil or zero: make one with New":     func() { zero.Shutdown(context.Background()) },
		"Drain: the Pool is nil or zero: make one with New;nil":    func() { none.Drain() },
		"Drain: the Pool is nil or zero: make one with New":        func() { zero.Drain() },
		"Done: the Pool is nil or zero: make one with New":         func() { zero.Done() },
		"Pause: the Pool is nil or zero: make one with New":        func() { zero.Pause() },
		"PauseAndWait: the Pool is nil or zero: make one with New": func() { zero.PauseAndWait(context.Background()) },
		"Resume: the Pool is nil or zero: make one with New":       func() { zero.Resume() },
		"Resize: the Pool is nil or zero: make one with New":       func() { zero.Resize(1) },
		"Help: the Pool is nil or zero: make one with New":         func() { zero.Help(context.Background()) },
		"Stats: the Pool is nil or zero: make one with New":        func() { zero.Stats() },
		"Queued: the Pool is nil or zero: make one with New":       func() { zero.Queued() },
		"Running: the Pool is nil or zero: make one with New":      func() { zero.Running() },
		"Dump: the Pool is nil or zero: make one with New":         func() { zero.Dump(os.Stderr) },
		"Subpool: the Pool is nil or zero: make one with New;nil":  func() { none.Subpool(1) },
		"Subpool: the Pool is nil or zero: make one with New":      func() { zero.Subpool(1) },
		"NewPromise: the Pool is nil or zero: make one with New":   func() { filch.NewPromise[int](&zero) },
		"NewMemo: the Pool is nil or zero: make one with New": func() {
			filch.NewMemo(&zero, func(_ context.Context, k int) (int, error) { return k, nil })
		},
		"Done: the Pool is nil or zero: make one with New;nil":         func() { none.Done() },
		"Pause: the Pool is nil or zero: make one with New;nil":        func() { none.Pause() },
		"Resume: the Pool is nil or zero: make one with New;nil":       func() { none.Resume() },
		"PauseAndWait: the Pool is nil or zero: make one with New;nil": func() { none.PauseAndWait(context.Background()) },
	}
}

// othersNotMade are calls of all else that is nil or zero.
func othersNotMade(p *filch.Pool) map[string]func() {
	var noFunc *filch.Func[int, int]
	var zeroFunc filch.Func[int, int]
	var noChain *filch.Chain[int, int]
	var zeroChain filch.Chain[int, int]
	var group filch.Group
	var noMemo *filch.Memo[int, int]
	var zeroMemo filch.Memo[int, int]
	var noPromise *filch.Promise[int]
	var zeroPromise filch.Promise[int]
	var noFuture *filch.Future[int]
	var zeroFuture filch.Future[int]
	var noGroup *filch.Group
	var noResults *filch.ResultGroup[int]
	var zeroResults filch.ResultGroup[int]
	var noSubpool *filch.Subpool
	var zeroBest filch.Best[int, int]
	until := &filch.Stop{}
	return map[string]func(){
		"Func.Call: the Func is nil or zero: make one with NewFunc;nil":                     func() { noFunc.Call(p, 1) },
		"Func.Call: the Func is nil or zero: make one with NewFunc":                         func() { zeroFunc.Call(p, 1) },
		"Chain.Call: the Chain is nil or zero: make one with NewChain;nil":                  func() { noChain.Call(p, 1) },
		"Chain.Call: the Chain is nil or zero: make one with NewChain":                      func() { zeroChain.Call(p, 1) },
		"Group.Go: the Group is nil or zero: make one with Pool.Group":                      func() { group.Go(func(context.Context) error { return nil }) },
		"Group.GoFrom: the Group is nil or zero: make one with Pool.Group":                  func() { group.GoFrom(context.Background(), func(context.Context) error { return nil }) },
		"Group.Wait: the Group is nil or zero: make one with Pool.Group":                    func() { group.Wait() },
		"Group.Stop: the Group is nil or zero: make one with Pool.Group":                    func() { group.Stop() },
		"Group.Done: the Group is nil or zero: make one with Pool.Group":                    func() { group.Done() },
		"Group.Context: the Group is nil or zero: make one with Pool.Group":                 func() { noGroup.Context() },
		"ResultGroup.Go: the ResultGroup is nil or zero: make one with NewResultGroup":      func() { noResults.Go(rig.One) },
		"ResultGroup.TryGo: the ResultGroup is nil or zero: make one with NewResultGroup":   func() { zeroResults.TryGo(rig.One) },
		"ResultGroup.GoFrom: the ResultGroup is nil or zero: make one with NewResultGroup":  func() { zeroResults.GoFrom(context.Background(), rig.One) },
		"ResultGroup.Wait: the ResultGroup is nil or zero: make one with NewResultGroup":    func() { noResults.Wait() },
		"ResultGroup.Stop: the ResultGroup is nil or zero: make one with NewResultGroup":    func() { noResults.Stop() },
		"ResultGroup.Done: the ResultGroup is nil or zero: make one with NewResultGroup":    func() { zeroResults.Done() },
		"ResultGroup.Context: the ResultGroup is nil or zero: make one with NewResultGroup": func() { noResults.Context() },
		"Subpool.Running: the Subpool is nil or zero: make one with Pool.Subpool":           func() { noSubpool.Running() },
		"Subpool.Queued: the Subpool is nil or zero: make one with Pool.Subpool":            func() { noSubpool.Queued() },
		"Promise.Complete: the Promise is nil or zero: make one with NewPromise":            func() { zeroPromise.Complete(1, nil) },
		"Promise.Future: the Promise is nil or zero: make one with NewPromise":              func() { zeroPromise.Future() },
		"Memo.Get: the Memo is nil or zero: make one with NewMemo":                          func() { zeroMemo.Get(context.Background(), 1) },
		"Memo.Forget: the Memo is nil or zero: make one with NewMemo":                       func() { zeroMemo.Forget(1) },
		"Best.Get: the Best is nil or zero: make one with NewLeast or NewGreatest":          func() { zeroBest.Get() },
		"Best.Offer: the Best is nil or zero: make one with NewLeast or NewGreatest": func() {
			zeroBest.Offer(-1, 0)
		},
		"Memo.Get: the Memo is nil or zero: make one with NewMemo;nil":                     func() { noMemo.Get(context.Background(), 1) },
		"Promise.Complete: the Promise is nil or zero: make one with NewPromise;nil":       func() { noPromise.Complete(1, nil) },
		"Future.Wait: the Future is nil or zero: make one with Submit or NewPromise":       func() { zeroFuture.Wait(context.Background()) },
		"Future.Done: the Future is nil or zero: make one with Submit or NewPromise":       func() { zeroFuture.Done() },
		"Future.Wait: the Future is nil or zero: make one with Submit or NewPromise;nil":   func() { noFuture.Wait(context.Background()) },
		"Future.Done: the Future is nil or zero: make one with Submit or NewPromise;nil":   func() { noFuture.Done() },
		"Future.Cancel: the Future is nil or zero: make one with Submit or NewPromise;nil": func() { noFuture.Cancel() },
		"Group.Go: the Group is nil or zero: make one with Pool.Group;nil":                 func() { noGroup.Go(func(context.Context) error { return nil }) },
		"Group.GoFrom: the Group is nil or zero: make one with Pool.Group;nil":             func() { noGroup.GoFrom(context.Background(), func(context.Context) error { return nil }) },
		"Group.Wait: the Group is nil or zero: make one with Pool.Group;nil":               func() { noGroup.Wait() },
		"Group.Stop: the Group is nil or zero: make one with Pool.Group;nil":               func() { noGroup.Stop() },
		"Group.Done: the Group is nil or zero: make one with Pool.Group;nil":               func() { noGroup.Done() },
		"Future.Cancel: the Future is nil or zero: make one with Submit or NewPromise":     func() { zeroFuture.Cancel() },
		"After: dependency 0 is a zero Future: make one with Submit or NewPromise":         func() { filch.After(&zeroFuture) },
		"Func.CallUntil: the Func is nil or zero: make one with NewFunc;nil":               func() { noFunc.CallUntil(p, until, 1) },
		"Func.CallUntil: the Func is nil or zero: make one with NewFunc":                   func() { zeroFunc.CallUntil(p, until, 1) },
		"Func.On: the Func is nil or zero: make one with NewFunc;nil":                      func() { noFunc.On(nil, nil) },
		"Func.On: the Func is nil or zero: make one with NewFunc":                          func() { zeroFunc.On(nil, nil) },
	}
}

// A pool prints its name, and nothing of what is inside.
func TestAPoolPrintsItsName(t *testing.T) {
	p := filch.New(filch.WithName("kitchen"), filch.WithWorkers(2))
	defer p.Close()
	for want, got := range map[string]string{
		"kitchen, 2 workers":           fmt.Sprint(p),
		"a Pool that New has not made": fmt.Sprint(&filch.Pool{}),
		"kitchen, 1 worker":            func() string { p.Resize(1); return fmt.Sprintf("%v", p) }(),
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Errors and panics name the package once.
func TestMessagesNameThePackageOnce(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	var f *filch.Future[int]
	made := make(chan bool)
	f = filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { <-made; return f.Wait(ctx) })
	close(made)
	_, itself := f.Wait(context.Background())
	var closed, down error
	wait(p, func(ctx context.Context) { closed, down = p.Close(), p.Shutdown(context.Background()) })
	for _, err := range []error{itself, closed, down} {
		if !errors.Is(err, filch.ErrInside) || strings.Count(err.Error(), "filch") != 1 {
			t.Errorf("the error is not ErrInside, or does not name the package once: %v", err)
		}
	}
	bad := rig.Recovered(func() {
		filch.New().Do(func(w *filch.Worker) { w.Async(nil) })
	})
	if first, _, _ := strings.Cut(bad, "\n"); first != "panic in filch: Async: f is nil" {
		t.Errorf("an Async of nil panicked with %q", first)
	}
}

// Under the race detector alone, a late use of a Worker that no call has is told, with the place of the use.
func TestLateWorkersUnderTheRaceDetector(t *testing.T) {
	if !race.Enabled || environ.On("FILCH_CHECKS") {
		t.Skip("it is told only there")
	}
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var kept *filch.Worker
	p.Do(func(w *filch.Worker) { kept = w })
	const want = "filch: Worker.Join: a Worker is used after the call that it was handed to has returned; use it only in that call, and in what that calls\n\nused at\n\tgithub.com/filch-go/filch/test/mistakes.TestLate"
	if s := rig.Recovered(func() { kept.Join(rig.Nop, rig.Nop) }); !strings.HasPrefix(s, want) {
		t.Errorf("a Join on a late worker panicked with %q, not %q", s, want)
	}
	if n := rig.FibFunc.Call(p, 10); n != 55 {
		t.Errorf("the next call: %d", n)
	}
}

// Under the race detector alone, what is used on another goroutine panics as well, though the goroutines do
// not race.
func TestForeignUsesUnderTheRaceDetector(t *testing.T) {
	if !race.Enabled || os.Getenv("FILCH_CHECKS") != "" || !goroutine.Cheap {
		t.Skip("it is told only there")
	}
	all := maps.Clone(uses)
	all["Poll"] = use{"Worker.Poll", "Worker", func(at *handed) { at.w.Poll() }}
	all["Demand"] = use{"Worker.Demand", "Worker", func(at *handed) { at.w.Demand() }}
	all["Link.TakeBack"] = use{"Link.TakeBack", "Link", func(at *handed) { at.l.TakeBack() }}
	for name, u := range all {
		t.Run(name, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(1))
			defer p.Close()
			var got string
			open := rig.Recovered(func() {
				handedIn(p, func(at *handed) { got = elsewhere(func() { u.use(at) }) })
			})
			if want := fmt.Sprintf("filch: %s: a %s is used on another goroutine", u.op, u.thing); !strings.HasPrefix(got, want) {
				t.Errorf("on another goroutine %s panicked with %q, not %q", name, got, want)
			}
			if forked := strings.HasSuffix(name, ".Fork"); forked != strings.Contains(open, "returned with 1 of its forks not joined") || !forked && open != "" {
				t.Errorf("the call itself panicked with %q", open)
			}
			if n := rig.FibFunc.Call(p, 10); n != 55 {
				t.Errorf("the next call returned %d, not 55", n)
			}
		})
	}
}

// A call that heeds a Stop, and one of a body by another Frame of it, are looked at as well.
func TestForeignCallsThatHeedAStopAreTold(t *testing.T) {
	p, _ := rig.Checked(1)
	defer p.Close()
	filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			return 0
		}
		if s := elsewhere(func() { f.Call(0) }); !strings.HasPrefix(s, "filch: Frame.Call: a Frame is used on another goroutine") {
			t.Errorf("on another goroutine Call panicked with %q", s)
		}
		return f.Call(0)
	}).CallUntil(p, &filch.Stop{}, 1)
}

// While the owner forks, a Join on another goroutine is told as that, and not as one out of order; and TakeBack
// says no, so that Join comes next.
func TestForeignJoinsOfOldForksAreTold(t *testing.T) {
	p, _ := rig.Checked(1)
	defer p.Close()
	filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			return 0
		}
		a := f.Fork(0)
		b := f.Fork(0)
		if s := elsewhere(func() { f.Join(a) }); !strings.HasPrefix(s, "filch: Frame.Join: a Frame is used on another goroutine") {
			t.Errorf("on another goroutine Join of a fork below the newest panicked with %q", s)
		}
		return f.Join(b) + f.Join(a)
	}).Call(p, 1)
	filch.NewChain(func(l *filch.Link[int, int], n int) int {
		if n == 0 {
			return 7
		}
		l.Fork(0)
		elsewhere(func() {
			if l.TakeBack() {
				t.Error("on another goroutine TakeBack took the fork")
			}
		})
		if l.TakeBack() {
			t.Error("with checks TakeBack took the fork, so nothing looks at its call")
		}
		if n := l.Join(); n != 7 {
			t.Errorf("Join returned %d, not 7", n)
		}
		return 0
	}).Call(p, 1)
}

// Programs that make no mistake say nothing, at any number of workers: those of this test, and with the
// variable that turns checks on, the examples, and tests that use all there is.
func TestRightProgramsStaySilent(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p, out := rig.Checked(workers)
		for range 3 {
			if n := rig.FibFunc.Call(p, 15); n != 610 {
				t.Errorf("fib: %d", n)
			}
			for _, form := range rig.Forms {
				var n [2]int
				form.Both(p, func(*filch.Worker) { n[0] = 1 }, func(*filch.Worker) { n[1] = 1 })
				if n != [2]int{1, 1} {
					t.Errorf("%s: the two parts ran %v times, not once each", form.Name, n)
				}
			}
			p.Do(func(w *filch.Worker) {
				w.Async(func(w *filch.Worker) { w.Async(rig.Nop) })
				if s := rig.Recovered(func() { w.Join(func(*filch.Worker) { panic("bad") }, rig.Nop) }); !strings.Contains(s, "bad") {
					t.Errorf("a Join whose first part panics with bad panicked with %q", s)
				}
				w.Join(rig.Nop, rig.Nop)
			})
			g := p.Group(context.Background())
			for range 10 {
				g.Go(func(ctx context.Context) error {
					filch.ScopeOf(ctx).Do(func(w *filch.Worker) { rig.FibFunc.Call(w, 10) })
					_, err := filch.Submit(ctx, p, func(context.Context) (int, error) { return 1, nil }).Wait(ctx)
					return err
				})
			}
			if err := g.Wait(); err != nil {
				t.Error("a group of ten tasks:", err)
			}
		}
		if err := p.Close(); err != nil || out.String() != "" {
			t.Errorf("%d workers: %v\n%s", workers, err, out.String())
		}
	}
}
