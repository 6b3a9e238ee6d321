package sight

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/environ"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

const ms = time.Millisecond

// burden is what a stolen fork costs in a burdened span.
const burden = 4 * time.Microsecond

// works is a leaf that takes d of virtual time.
func worksFor(d time.Duration) { time.Sleep(d) }

// measured measures f in virtual time, where nothing but works takes any.
func measured(t *testing.T, f func(w *filch.Worker)) (p filch.Profile) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { p = *filch.Measure(f) })
	return p
}

// Call k of leafAfter is a leaf of k ms.
func leafBody(f *filch.Frame[int, int], k int) int { worksFor(time.Duration(k) * ms); return k }

var leaves = filch.NewFunc(leafBody)

// halves forks one half of n leaves of a millisecond, and goes through the other.
var halves = filch.NewFunc(func(f *filch.Frame[int, int], n int) int { return halvesBody(f, n) })

func halvesBody(f *filch.Frame[int, int], n int) int {
	if n == 1 {
		worksFor(ms)
		return 1
	}
	h := f.Fork(n / 2)
	a := f.Call(n - n/2)
	return a + f.Join(h)
}

var chainHalves = filch.NewChain(chainHalvesBody)

func chainHalvesBody(l *filch.Link[int, int], n int) int {
	if n == 1 {
		worksFor(ms)
		return 1
	}
	l.Fork(n / 2)
	a := chainHalvesBody(l.Next(), n-n/2)
	if l.TakeBack() {
		return a + chainHalvesBody(l, n/2)
	}
	return a + l.Join()
}

func joinHalves(w *filch.Worker, n int) int {
	if n == 1 {
		worksFor(ms)
		return 1
	}
	a, b := filch.Join(w,
		func(w *filch.Worker) int { return joinHalves(w, n-n/2) },
		func(w *filch.Worker) int { return joinHalves(w, n/2) })
	return a + b
}

// product multiplies two squares of 2^k tiles: four products at a time, of those of its quarters, twice.
var product = filch.NewFunc(productBody)

func productBody(f *filch.Frame[int, int], k int) int {
	if k == 0 {
		worksFor(ms)
		return 1
	}
	n := 0
	for range 2 {
		m := f.Mark()
		for range 3 {
			f.Fork(k - 1)
		}
		n += f.Call(k - 1)
		for _, r := range m.JoinAll {
			n += r
		}
	}
	return n
}

// onLeaves returns what calls body in a function.
func onLeaves(body func(f *filch.Frame[int, int])) func(w *filch.Worker) {
	return func(w *filch.Worker) { leaves.On(w, body) }
}

// knownPrograms are programs whose work and span are known.
var knownPrograms = []struct {
	name       string
	f          func(w *filch.Worker)
	work, span time.Duration // in ms
	burdens    time.Duration // on the longest path
	forks      int64
}{
	{"nothing", func(w *filch.Worker) {}, 0, 0, 0, 0},
	{"serial", func(w *filch.Worker) { worksFor(7 * ms) }, 7, 7, 0, 0},
	{"a comb", onLeaves(func(f *filch.Frame[int, int]) {
		m := f.Mark()
		for range 10 {
			worksFor(ms)
			f.Fork(5)
		}
		for range m.JoinAll {
		}
	}), 60, 15, 1, 10},
	{"a comb with a long back", onLeaves(func(f *filch.Frame[int, int]) {
		var forks [10]filch.Fork
		for i := range forks {
			forks[i] = f.Fork(5)
			worksFor(ms)
		}
		worksFor(20 * ms)
		for i := range forks {
			f.Join(forks[len(forks)-1-i])
		}
	}), 80, 30, 0, 10},
	{"phases", onLeaves(func(f *filch.Frame[int, int]) {
		for range 8 {
			h := f.Fork(2)
			worksFor(ms)
			f.Join(h)
		}
	}), 24, 16, 8, 8},
	{"halves", func(w *filch.Worker) { halves.Call(w, 64) }, 64, 1, 6, 63},
	{"unequal halves", func(w *filch.Worker) { halves.Call(w, 100) }, 100, 1, 6, 99},
	{"halves of a chain", func(w *filch.Worker) { chainHalves.Call(w, 64) }, 64, 1, 6, 63},
	{"a deep chain", func(w *filch.Worker) { chainHalves.Call(w, 1000); chainHalves.Call(w, 2) }, 1002, 2, 10, 1000},
	{"halves of closures", func(w *filch.Worker) { joinHalves(w, 64) }, 64, 1, 6, 63},
	{"one after the other", func(w *filch.Worker) { halves.Call(w, 64); chainHalves.Call(w, 8); joinHalves(w, 2) }, 74, 3, 6 + 3 + 1, 63 + 7 + 1},
	{"closures", func(w *filch.Worker) {
		w.Join(func(*filch.Worker) { worksFor(3 * ms) }, func(*filch.Worker) { worksFor(5 * ms) })
	}, 8, 5, 1, 1},
	{"one form in another", func(w *filch.Worker) {
		w.Join(func(w *filch.Worker) { halves.Call(w, 16) }, func(w *filch.Worker) {
			w.Do(func(w *filch.Worker) { chainHalves.Call(w, 8) })
			worksFor(ms)
		})
	}, 25, 2, 4, 15 + 7 + 1},
	{"a matrix product", func(w *filch.Worker) { product.Call(w, 3) }, 512, 8, 2*2*2 + 2*2 + 2, 6 + 6*8 + 6*64},
	{"forks that are dropped", onLeaves(func(f *filch.Frame[int, int]) {
		h := f.Fork(20)
		worksFor(3 * ms)
		m := f.Mark()
		for i := range 10 {
			f.Fork(i)
		}
		for i := range m.JoinAll {
			if i == 7 {
				break
			}
		}
		f.Join(h)
	}), 3 + 9 + 8 + 7 + 20, 20, 1, 11},
	{"asyncs", func(w *filch.Worker) {
		for range 10 {
			worksFor(ms)
			w.Async(func(w *filch.Worker) {
				w.Async(func(*filch.Worker) { worksFor(20 * ms) })
				worksFor(5 * ms)
			})
		}
	}, 10 + 10*25, 30, 2, 20},
	{"asyncs in a Finish", func(w *filch.Worker) {
		for range 3 {
			w.Finish(func(w *filch.Worker) {
				w.Async(func(*filch.Worker) { worksFor(2 * ms) })
				w.Do(func(w *filch.Worker) { w.Async(func(*filch.Worker) { worksFor(4 * ms) }) })
				worksFor(ms)
			})
		}
	}, 21, 12, 3, 6},
	{"forks and asyncs", func(w *filch.Worker) {
		w.Async(func(w *filch.Worker) { halves.Call(w, 8) })
		w.Join(
			func(w *filch.Worker) { worksFor(ms) },
			func(w *filch.Worker) {
				w.Finish(func(w *filch.Worker) { w.Async(func(w *filch.Worker) { worksFor(3 * ms) }) })
			})
	}, 12, 3, 2, 1 + 7 + 1 + 1},
}

// Work, span and forks are what they are by construction, whatever the form of the forks.
func TestMeasureOfKnownPrograms(t *testing.T) {
	for _, c := range knownPrograms {
		want := filch.Profile{Work: c.work * ms, Span: c.span * ms, BurdenedSpan: c.span*ms + c.burdens*burden, Forks: c.forks}
		for range 2 {
			if got := measured(t, c.f); got != want {
				t.Errorf("%s: %+v, want %+v", c.name, got, want)
			}
		}
	}
}

// A search that ends early has the work that it has done.
func TestMeasureOfASearch(t *testing.T) {
	var found int
	search := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		worksFor(ms)
		if n == 0 {
			f.Stop()
			return 1
		}
		h := f.Fork(n - 1)
		sum := 0
		for range 3 {
			sum += f.Call(0)
		}
		return sum + f.Join(h)
	})
	var stopped bool
	p := measured(t, func(w *filch.Worker) {
		var stop filch.Stop
		found, stopped = search.CallUntil(w, &stop, 5)
	})
	if want := (filch.Profile{Work: 2 * ms, Span: 2 * ms, BurdenedSpan: 2 * ms, Forks: 1}); p != want || found != 1 || !stopped {
		t.Errorf("%+v, want %+v; found %d, stopped %t", p, want, found, stopped)
	}
}

// What is measured runs in the order of one worker, and as often.
func TestMeasuredCodeRunsAsOnOneWorker(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	program := func(w *filch.Worker) (log []string) {
		say := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
		fn := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			say("func %d", n)
			if n < 2 {
				return n
			}
			h := f.Fork(n - 1)
			b := f.Call(n - 2)
			say("joins %d", n)
			return f.Join(h) + b
		})
		say("= %d", fn.Call(w, 6))
		var body func(l *filch.Link[int, int], n int) int
		body = func(l *filch.Link[int, int], n int) int {
			say("chain %d", n)
			if n < 2 {
				return n
			}
			l.Fork(n - 1)
			b := body(l.Next(), n-2)
			say("joins %d", n)
			if l.TakeBack() {
				return body(l, n-1) + b
			}
			return l.Join() + b
		}
		say("= %d", filch.NewChain(body).Call(w, 6))
		w.Join(func(w *filch.Worker) { say("a") }, func(w *filch.Worker) { say("b") })
		w.Finish(func(w *filch.Worker) {
			for i := range 3 {
				w.Async(func(w *filch.Worker) {
					say("async %d", i)
					w.Async(func(*filch.Worker) { say("its async") })
				})
			}
		})
		return log
	}
	var got, want []string
	filch.New(filch.WithWorkers(1)).Do(func(w *filch.Worker) { want = program(w) })
	filch.Measure(func(w *filch.Worker) { got = program(w) })
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("measured:\n%s\nnot:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A panic that f recovers does not confuse what is counted around it, wherever it comes from.
func TestMeasureGoesOnAfterARecoveredPanic(t *testing.T) {
	boom := errors.New("boom")
	recovers := func(f func()) {
		defer func() {
			if err, ok := recover().(error); !ok || !errors.Is(err, boom) {
				t.Errorf("recovered %v", err)
			}
		}()
		f()
	}
	leaves.Call(filch.Default(), 0)
	for name, panics := range map[string]func(w *filch.Worker){
		"a body": func(w *filch.Worker) {
			leaves.On(w, func(f *filch.Frame[int, int]) {
				f.Fork(1)
				f.Fork(1)
				worksFor(ms)
				panic(boom)
			})
		},
		"a join": func(w *filch.Worker) {
			w.Join(func(w *filch.Worker) {
				w.Join(func(*filch.Worker) { worksFor(ms); panic(boom) }, func(*filch.Worker) {})
			}, func(*filch.Worker) {})
		},
		"the other side of a join": func(w *filch.Worker) {
			w.Join(func(*filch.Worker) {}, func(w *filch.Worker) {
				w.Join(func(*filch.Worker) {}, func(*filch.Worker) { worksFor(ms); panic(boom) })
			})
		},
		"a link": func(w *filch.Worker) {
			filch.NewChain(func(l *filch.Link[int, int], n int) int {
				if n > 3 {
					worksFor(ms)
					panic(boom)
				}
				l.Fork(n + 1)
				l.Next().Fork(n + 1)
				return l.Next().Join() + l.Join()
			}).Call(w, 0)
		},
		"an async": func(w *filch.Worker) {
			w.Finish(func(w *filch.Worker) {
				w.Async(func(w *filch.Worker) {})
				w.Async(func(w *filch.Worker) {
					w.Finish(func(w *filch.Worker) {
						w.Async(func(*filch.Worker) { worksFor(ms); panic(boom) })
					})
				})
			})
		},
		"a Do": func(w *filch.Worker) { w.Do(func(*filch.Worker) { worksFor(ms); panic(boom) }) },
	} {
		p := measured(t, func(w *filch.Worker) {
			leaves.On(w, func(f *filch.Frame[int, int]) {
				outer := f.Fork(10)
				recovers(func() { panics(w) })
				worksFor(2 * ms)
				inner := f.Fork(8)
				worksFor(ms)
				f.Join(inner)
				f.Join(outer)
			})
		})
		if p.Work != 22*ms || p.Span != 11*ms {
			t.Errorf("%s: %+v, want work 22 ms and span 11 ms", name, p)
		}
	}
}

// A panic of f arrives as from Do, and so does runtime.Goexit.
func TestMeasureEndsAsItsFunctionDoes(t *testing.T) {
	boom := errors.New("boom")
	func() {
		defer func() {
			err, ok := recover().(*filch.PanicError)
			if !ok || !errors.Is(err, boom) {
				t.Errorf("recovered %v", err)
			}
		}()
		filch.Measure(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) {}, func(w *filch.Worker) { panic(boom) })
		})
	}()
	returned, ended := false, make(chan bool)
	go func() {
		defer close(ended)
		filch.Measure(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) {}, func(w *filch.Worker) { runtime.Goexit() })
		})
		returned = true
	}()
	<-ended
	if returned {
		t.Error("Measure returned after Goexit")
	}
	if p := filch.Measure(func(w *filch.Worker) { halves.Call(w, 2) }); p.Forks != 1 {
		t.Errorf("the next one: %+v", p)
	}
}

// What does not fork on the worker that f gets is a part of what calls it.
func TestMeasureOfWhatIsNotItsOwn(t *testing.T) {
	p := measured(t, func(w *filch.Worker) {
		pool := filch.New(filch.WithWorkers(2))
		w.Join(
			func(*filch.Worker) { halves.Call(pool, 8) },
			func(w *filch.Worker) { filch.Measure(func(w *filch.Worker) { halves.Call(w, 2) }) })
		w.Join( // no other worker takes the fork when this one gives up its place
			func(w *filch.Worker) { w.Blocking(func() { worksFor(3 * ms) }) },
			func(w *filch.Worker) { worksFor(5 * ms) })
		f := filch.Submit(context.Background(), pool, func(ctx context.Context) (int, error) {
			filch.ScopeOf(ctx).Do(func(w *filch.Worker) { halves.Call(w, 4) })
			return 1, nil
		})
		_, _ = f.Wait(context.Background())
	})
	if want := (filch.Profile{Work: 16 * ms, Span: 11 * ms, BurdenedSpan: 11*ms + burden, Forks: 2}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
}

// Code that is measured afterwards costs what it did, and forks are published again.
func TestNothingIsLeftOfAMeasurement(t *testing.T) {
	filch.Measure(func(w *filch.Worker) { halves.Call(w, 64); chainHalves.Call(w, 64) })
	if n := testing.AllocsPerRun(100, func() { filch.Default().Do(func(w *filch.Worker) { rig.FibOfInts.Call(w, 10) }) }); n > 0 && !race.Enabled && !environ.On("FILCH_CHECKS") {
		t.Errorf("%v allocations", n)
	}
	synctest.Test(t, func(t *testing.T) {
		pool := filch.New(filch.WithWorkers(4))
		begin := time.Now()
		halves.Call(pool, 64)
		chainHalves.Call(pool, 64)
		if took := time.Since(begin); took != 32*ms {
			t.Errorf("128 leaves on 4 workers took %v", took)
		}
	})
}

// twig is a random tree: so many milliseconds, and then its branches.
type twig struct {
	takes    time.Duration
	branches []twig
}

func grown(rng *rand.Rand, height int) twig {
	t := twig{takes: time.Duration(rng.IntN(3)) * ms}
	if height > 0 {
		t.branches = make([]twig, rng.IntN(4))
		for i := range t.branches {
			t.branches[i] = grown(rng, height-1)
		}
	}
	return t
}

var climb = filch.NewFunc(func(f *filch.Frame[*twig, int], t *twig) int {
	worksFor(t.takes)
	m := f.Mark()
	for i := range t.branches {
		f.Fork(&t.branches[i])
	}
	for range m.JoinAll {
	}
	worksFor(t.takes)
	return 0
})

func (t *twig) workAndSpan() (work, span time.Duration) {
	for i := range t.branches {
		w, s := t.branches[i].workAndSpan()
		work += w
		span = max(span, s)
	}
	return work + 2*t.takes, span + 2*t.takes
}

// No schedule is faster than SpeedUp says, and where leaves are equal and workers at rest, none is slower.
func TestSchedulesKeepToTheProfile(t *testing.T) {
	check := func(what string, p filch.Profile, workers int, call func(s filch.Scope), slower bool) {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			call(filch.New(filch.WithWorkers(workers)))
			took := time.Since(begin)
			least, most := p.SpeedUp(workers)
			if got := float64(p.Work) / float64(took); got > most+1e-9 || slower && got < least-1e-9 {
				t.Errorf("%s on %d workers: %v times as fast, not %v to %v; %+v", what, workers, got, least, most, p)
			}
		})
	}
	for _, workers := range []int{1, 2, 3, 8} {
		for _, n := range []int{1, 2, 7, 64, 100} {
			p := measured(t, func(w *filch.Worker) { halves.Call(w, n) })
			check(fmt.Sprint(n, " leaves"), p, workers, func(s filch.Scope) { halves.Call(s, n) }, true)
		}
		for seed := range uint64(rig.Fewer(30)) {
			tree := grown(rand.New(rand.NewPCG(seed, 2)), 5)
			p := measured(t, func(w *filch.Worker) { climb.Call(w, &tree) })
			if work, span := tree.workAndSpan(); p.Work != work || p.Span != span {
				t.Errorf("tree %d: %+v, want work %v and span %v", seed, p, work, span)
			}
			if p.Work > 0 {
				check(fmt.Sprint("tree ", seed), p, workers, func(s filch.Scope) { climb.Call(s, &tree) }, false)
			}
		}
	}
}

// Forks are exact in real time as well, and no time is negative.
func TestMeasureInRealTime(t *testing.T) {
	p := filch.Measure(func(w *filch.Worker) { rig.FibOfInts.Call(w, 15) })
	if p.Forks != 986 || p.Work <= 0 || p.Span <= 0 || p.Span > p.Work || p.BurdenedSpan < p.Span {
		t.Errorf("filch.Measure(…): %+v", p)
	}
}

func TestMistakesWithMeasure(t *testing.T) {
	rig.MustPanic(t, "filch: Measure: f is nil", func() { filch.Measure(nil) })
	p := &filch.Profile{Work: 10, Span: 5, BurdenedSpan: 7}
	rig.MustPanic(t, "filch: Profile.SpeedUp(0): there must be a worker", func() { p.SpeedUp(0) })
	rig.MustPanic(t, "filch: Profile.SpeedUp(-3): there must be a worker", func() { p.SpeedUp(-3) })
	rig.MustPanic(t, "filch: Profile.WriteText: w is nil", func() { _ = p.WriteText(nil) })
	rig.MustPanic(t, "filch: Profile.WriteSVG: w is nil", func() { _ = p.WriteSVG(nil) })
	rig.MustPanic(t, "filch: Join of a fork out of order", func() {
		filch.Measure(func(w *filch.Worker) {
			filch.NewChain(func(l *filch.Link[int, int], n int) int {
				l.Fork(1)
				l.Next().Fork(2)
				return l.Join()
			}).Call(w, 0)
		})
	})
	rig.MustPanic(t, "filch: Join on a Link without a fork", func() {
		filch.Measure(func(w *filch.Worker) {
			filch.NewChain(func(l *filch.Link[int, int], n int) int {
				l.Fork(1)
				l.Fork(2)
				return l.Join()
			}).Call(w, 0)
		})
	})
	rig.MustPanic(t, "filch: Join of fork 1 out of order", func() {
		filch.Measure(func(w *filch.Worker) {
			leaves.On(w, func(f *filch.Frame[int, int]) { h := f.Fork(0); f.Fork(0); f.Join(h) })
		})
	})
	rig.MustPanic(t, "returned with 1 of its forks not joined", func() {
		filch.Measure(func(w *filch.Worker) { leaves.On(w, func(f *filch.Frame[int, int]) { f.Fork(0) }) })
	})
}
