package par

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

func newInt() *int { return new(int) }

func intoInt(st *int, i int) { *st += i }

func rangeInto(st *int, lo, hi int) {
	for i := lo; i < hi; i++ {
		*st += i
	}
}

func mergeInt(into, from *int) { *into += *from }

// owned is a state that tells whether it is in use.
type owned struct {
	busy atomic.Bool
	n    int // elements: written while busy
}

func (o *owned) use(t *testing.T, elements int, f func()) {
	if !o.busy.CompareAndSwap(false, true) {
		t.Error("a state is used by two at the same time")
	}
	o.n += elements
	f()
	if !o.busy.CompareAndSwap(true, false) {
		t.Error("a state was given back by another")
	}
}

// countsOf counts what is in x, by maps of states.
func countsOf(s filch.Scope, x []int, byRange bool, opts []Option) map[int]int {
	fresh := func() *map[int]int { return &map[int]int{} }
	add := func(m *map[int]int, i int) { (*m)[x[i]]++ }
	merge := func(into, from *map[int]int) {
		for k, n := range *from {
			(*into)[k] += n
		}
	}
	if !byRange {
		return *ReduceInto(s, len(x), fresh, add, merge, opts...)
	}
	return *ReduceIntoRange(s, len(x), fresh, func(m *map[int]int, lo, hi int) {
		for i := lo; i < hi; i++ {
			add(m, i)
		}
	}, merge, opts...)
}

var someOptions = [][]Option{nil, {WithGrain(1)}, {WithGrain(7)}, {WithAlign(5)}, {WithGrain(7), WithAlign(5)}, {WithMaxWorkers(1)}, {WithMaxWorkers(2)}}

func TestReduceIntoIsLikeALoop(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, r *rand.Rand) {
		x := ints(n, 100, r)
		want := map[int]int{}
		for _, v := range x {
			want[v]++
		}
		for i, opts := range someOptions {
			for _, byRange := range []bool{false, true} {
				if got := countsOf(s, x, byRange, opts); !maps.Equal(got, want) {
					t.Fatalf("options %d, ranges %v: %v, not %v", i, byRange, got, want)
				}
			}
		}
	})
}

func TestLoopsWithAStateDoAllOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, s filch.Scope, n int, _ *rand.Rand) {
		for _, opts := range someOptions {
			var once [2][]atomic.Int32
			once[0], once[1] = make([]atomic.Int32, n), make([]atomic.Int32, n)
			var made atomic.Int32
			fresh := func() *owned { made.Add(1); return new(owned) }
			ForInit(s, n, fresh, func(st *owned, i int) { st.use(t, 1, func() { once[0][i].Add(1) }) }, opts...)
			ForRangeInit(s, n, fresh, func(st *owned, lo, hi int) {
				if lo >= hi {
					t.Errorf("empty range %d, %d", lo, hi)
				}
				st.use(t, hi-lo, func() {
					for i := lo; i < hi; i++ {
						once[1][i].Add(1)
					}
				})
			}, opts...)
			for k := range once {
				for i := range once[k] {
					if c := once[k][i].Load(); c != 1 {
						t.Fatalf("loop %d: element %d was done %d times", k, i, c)
					}
				}
			}
			if n == 0 && made.Load() != 0 {
				t.Errorf("%d states for nothing", made.Load())
			}
		}
	})
}

// mostStates returns how many states there may be: seldom more than workers, when one of them goes on after a
// wait whose place another has.
func mostStates(workers int) int {
	if workers == 1 {
		return 1
	}
	return 2 * workers
}

// As many states are made as there are workers or hardly more, once each, however many chunks they take. A
// limit of workers is one of states.
func TestAStateIsMadeForEachWorker(t *testing.T) {
	racetest.Skip(t, "each piece has a state of its own")
	for _, workers := range []int{1, 2, 8} {
		for _, n := range []int{1, 7, 100, 1000} {
			synctest.Test(t, func(t *testing.T) { // so that the others have time to come
				p := filch.New(filch.WithWorkers(workers))
				defer p.Close()
				var made atomic.Int32
				fresh := func() *owned { made.Add(1); return new(owned) }
				sum := ReduceInto(p, n, fresh,
					func(st *owned, _ int) { st.use(t, 1, func() { time.Sleep(time.Second) }) },
					func(into, from *owned) { into.n += from.n })
				if sum.n != n {
					t.Errorf("%d elements of %d", sum.n, n)
				}
				if k := int(made.Load()); k > min(mostStates(workers), n) || k < min(workers, n/10) {
					t.Errorf("%d workers, %d elements: %d states", workers, n, k)
				}
				made.Store(0)
				ForInit(p, n, fresh, func(st *owned, _ int) { st.use(t, 1, func() { time.Sleep(time.Second) }) }, WithMaxWorkers(3))
				if k := made.Load(); k > 3 {
					t.Errorf("%d workers, %d elements: %d states with a limit of 3", workers, n, k)
				}
			})
		}
	}
}

// A body that runs loops of its own, or blocks, keeps its state: a worker that goes on meanwhile has another.
func TestStatesAreNotSharedWithBodiesThatWait(t *testing.T) {
	racetest.Skip(t, "each piece has a state of its own")
	for name, wait := range map[string]func(p *filch.Pool, s filch.Scope){
		"a loop on the pool": func(p *filch.Pool, _ filch.Scope) { For(p, 3, func(int) { time.Sleep(time.Second) }, WithGrain(1)) },
		"a block": func(_ *filch.Pool, s filch.Scope) {
			s.Do(func(w *filch.Worker) { w.Blocking(func() { time.Sleep(time.Second) }) })
		},
	} {
		for _, workers := range []int{1, 2, 4} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers))
				defer p.Close()
				var running, most, made atomic.Int32
				const n = 60
				sum := ReduceInto(p, n, func() *owned { made.Add(1); return new(owned) },
					func(st *owned, i int) {
						most.Store(max(most.Load(), running.Add(1)))
						st.use(t, 1, func() { wait(p, p) })
						running.Add(-1)
					},
					func(into, from *owned) { into.n += from.n })
				if sum.n != n {
					t.Errorf("%s on %d workers: %d elements", name, workers, sum.n)
				}
				if k := made.Load(); k > n/2 || k < most.Load() {
					t.Errorf("%s on %d workers: %d states for %d bodies at a time", name, workers, k, most.Load())
				}
			})
		}
	}
}

// What is taken while another is in use is another, also by the goroutine that has that one, and what was given
// back is taken before one is made.
func TestWhatWasGivenBackIsTakenBeforeOneIsMade(t *testing.T) {
	racetest.Skip(t, "each piece has a state of its own")
	made := 0
	var s shelf[int]
	s.fresh = func() int {
		if made++; made == 2 { // takes one itself
			if v := s.take(); v != 3 {
				t.Errorf("inside fresh: %d", v)
			}
			return 2
		}
		return made
	}
	a, b := s.take(), s.take()
	if a != 1 || b != 2 {
		t.Errorf("made %d and %d", a, b)
	}
	s.put(a)
	if v := s.take(); v != a {
		t.Errorf("%d in place of what was given back", v)
	}
	s.put(b)
	s.put(a)
	if v, w := s.take(), s.take(); v != a || w != b || made != 3 {
		t.Errorf("%d and %d, after %d", v, w, made)
	}
	if !slices.Equal(s.made, []int{1, 3, 2}) {
		t.Errorf("made: %v", s.made)
	}
}

// States are merged in the order in which they were made, each once.
func TestStatesAreMergedInOrder(t *testing.T) {
	racetest.Skip(t, "each piece has a state of its own")
	type numbered struct {
		number int
		has    []int // numbers of those that were merged into it
		busy   atomic.Bool
	}
	for _, workers := range []int{1, 2, 3, 5, 8} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers))
			defer p.Close()
			var mu sync.Mutex
			made := 0
			fresh := func() *numbered {
				time.Sleep(time.Millisecond) // so that others may come meanwhile
				mu.Lock()
				defer mu.Unlock()
				made++
				return &numbered{number: made - 1, has: []int{made - 1}}
			}
			result := ReduceInto(p, 200, fresh, func(*numbered, int) { time.Sleep(time.Second) }, func(into, from *numbered) {
				if !into.busy.CompareAndSwap(false, true) || !from.busy.CompareAndSwap(false, true) {
					t.Error("a state is in two merges")
				}
				time.Sleep(time.Second)
				into.has = append(into.has, from.has...)
				into.busy.Store(false) // from is never used again
			})
			if made < workers || made > mostStates(workers) {
				t.Errorf("%d states on %d workers", made, workers)
			}
			// fresh is called without a lock, so that those made at the same time may change places.
			slices.Sort(result.has[1:])
			for i, number := range result.has {
				if number != i || len(result.has) != made || result.number != 0 {
					t.Fatalf("%d workers: state %d has %v", workers, result.number, result.has)
				}
			}
		})
	}
}

// The tree of merges, for each number of states.
func TestTreeOfMerges(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for n := 1; n < 40; n++ {
		all := states[*[]int]{first: &[]int{0}}
		for i := 1; i < n; i++ {
			all.more = append(all.more, &[]int{i})
		}
		got := merged(p, all, func(into, from *[]int) { *into = append(*into, *from...); *from = nil }, config{})
		if got != all.first {
			t.Error("the result is not the first")
		}
		want := make([]int, n)
		for i := range want {
			want[i] = i
		}
		equal(t, fmt.Sprint(n, " states"), *got, want)
	}
}

// Without elements there is a state nonetheless, and of one state nothing is merged.
func TestOneStateIsNotMerged(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	never := func(_, _ *int) { t.Error("merged") }
	for n, want := range []int{5, 105} {
		made := 0
		fresh := func() *int { made++; v := 5; return &v }
		if v := ReduceInto(p, n, fresh, func(st *int, _ int) { *st += 100 }, never); *v != want || made != 1 {
			t.Errorf("ReduceInto of %d: %d, %d states", n, *v, made)
		}
		if v := ReduceIntoRange(p, n, fresh, func(st *int, _, _ int) { *st += 100 }, never); *v != want || made != 2 {
			t.Errorf("ReduceIntoRange of %d: %d, %d states", n, *v, made)
		}
		if v := ReduceInto(p, 100, fresh, func(st *int, _ int) { *st++ }, never, WithMaxWorkers(1)); *v != 105 || made != 3 {
			t.Errorf("by one worker: %d, %d states", *v, made)
		}
	}
}

// What ends in a function ends the call, once, and the pool goes on.
func TestStatesThatPanicOrExit(t *testing.T) {
	ends := map[string]func(){"panic": func() { panic("bad") }, "Goexit": runtime.Goexit}
	for _, workers := range []int{1, 2, 8} {
		for name, end := range ends {
			for where, c := range map[string]struct {
				least int // workers
				n     int
				run   func(s filch.Scope, n int)
			}{
				"fresh of nothing": {1, 0, func(s filch.Scope, n int) {
					ReduceInto(s, n, func() *int { end(); return nil }, intoInt, mergeInt)
				}},
				"the first fresh": {1, 100, func(s filch.Scope, n int) {
					ForInit(s, n, func() *int { end(); return nil }, intoInt)
				}},
				"another fresh": {2, 100, func(s filch.Scope, n int) {
					var made atomic.Int32
					ForInit(s, n, func() *int {
						if made.Add(1) == 2 {
							end()
						}
						return new(int)
					}, func(*int, int) { time.Sleep(time.Second) })
				}},
				"body": {1, 100, func(s filch.Scope, n int) {
					ReduceInto(s, n, newInt, func(_ *int, i int) {
						if time.Sleep(time.Second); i == 50 {
							end()
						}
					}, func(_, _ *int) { t.Error("merged after the end") })
				}},
				"a range": {1, 100, func(s filch.Scope, n int) {
					ForRangeInit(s, n, newInt, func(*int, int, int) { time.Sleep(time.Second); end() })
				}},
				"merge": {2, 100, func(s filch.Scope, n int) {
					ReduceInto(s, n, newInt, func(*int, int) { time.Sleep(time.Second) }, func(_, _ *int) { end() })
				}},
				"Collect": {1, 100, func(s filch.Scope, n int) {
					Collect(s, n, func(lo, _ int, out []int) []int {
						if time.Sleep(time.Second); lo == 0 {
							end()
						}
						return append(out, lo)
					})
				}},
				"FlatMap": {1, 100, func(s filch.Scope, n int) {
					FlatMap(s, make([]int, n), func(_ int, out []int) []int { end(); return out })
				}},
			} {
				if workers < c.least {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					p := filch.New(filch.WithWorkers(workers))
					defer p.Close()
					returned, ended := false, make(chan any)
					go func() {
						defer func() { ended <- recover() }()
						c.run(p, c.n)
						returned = true
					}()
					v := <-ended
					err, ok := v.(*filch.PanicError)
					if returned || ok != (name == "panic") || ok && err.Value != "bad" {
						t.Errorf("%s in %s on %d workers: returned %v, with %v", name, where, workers, returned, v)
					}
					if v := ReduceInto(p, 100, newInt, intoInt, mergeInt); *v != 4950 {
						t.Errorf("%s in %s: the pool is at %d", name, where, *v)
					}
				})
			}
		}
	}
}

// After a panic no state is made any more.
func TestNoStateIsMadeAfterAPanic(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	c := config{grain: 1}
	p.Do(func(w *filch.Worker) {
		l := &loop{config: c, of: costOf(intoInt, asIs)}
		l.lend = func() (func(lo, hi int), func()) {
			t.Error("a state is taken")
			return func(int, int) {}, func() {}
		}
		l.ended.Store(true)
		l.call(w, 0, 10, intoInt)
	})
}

// fresh may use the package, on the same pool.
func TestFreshMayRunLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(3))
		defer p.Close()
		fresh := func() *owned { For(p, 5, func(int) { time.Sleep(time.Second) }, WithGrain(1)); return new(owned) }
		sum := ReduceInto(p, 50, fresh, func(st *owned, _ int) { st.use(t, 1, func() { time.Sleep(time.Second) }) },
			func(into, from *owned) { into.n += from.n })
		if sum.n != 50 {
			t.Errorf("%d elements", sum.n)
		}
	})
}

// A closed pool is a panic, unless the loop needs none.
func TestStatesOnAClosedPool(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	p.Close()
	if v := rig.Catch(func() { ReduceInto(p, 100, newInt, intoInt, mergeInt, WithGrain(1)) }); v == nil {
		t.Error("ReduceInto on a closed pool")
	}
	if v := ReduceInto(p, 100, newInt, intoInt, mergeInt, WithGrain(100)); *v != 4950 {
		t.Errorf("one chunk: %d", *v)
	}
}
