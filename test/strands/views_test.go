package strands

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/strand"
)

var background = context.Background()

// withStolen calls a and b by Join, and has another worker take b while a runs, after before.
func withStolen(w *filch.Worker, before, after, b func(w *filch.Worker)) {
	begun := make(chan bool)
	w.Join(func(w *filch.Worker) {
		before(w)
		w.Blocking(func() { <-begun })
		after(w)
	}, func(w *filch.Worker) {
		close(begun)
		b(w)
	})
}

// writes returns a function that writes s, and then calls all.
func writes(log *strand.Reducer[strand.Text], s string, all ...func()) func(w *filch.Worker) {
	return func(w *filch.Worker) {
		log.View(w).WriteString(s)
		for _, f := range all {
			f()
		}
	}
}

// recovered returns what f panics with, and true if it exits.
func recovered(f func()) (v any, exits bool) {
	var done sync.WaitGroup
	done.Go(func() {
		returned := false
		defer func() {
			v = recover()
			exits = !returned && v == nil
		}()
		f()
		returned = true
	})
	done.Wait()
	return v, exits
}

var errOops = errors.New("oops")

func oops() { panic(errOops) }

// What is stolen comes after all that its forker does before the join, and what is stolen from that too.
func TestWhatIsStolenComesAtItsJoin(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	log := strand.NewText()
	p.Do(func(w *filch.Worker) {
		log.View(w).WriteString("<")
		withStolen(w, writes(log, "a"), writes(log, "b"), func(w *filch.Worker) {
			withStolen(w, writes(log, "c"), writes(log, "d"), writes(log, "e"))
			log.View(w).WriteString("f")
		})
		log.View(w).WriteString(">")
	})
	if got := log.Value().String(); got != "<abcdef>" {
		t.Error("log.Value().String():", got)
	}
}

// A panic that is recovered inside leaves what one worker would have added: what ran before it, and nothing
// of forks that it drops.
func TestAPanicThatIsRecoveredInside(t *testing.T) {
	for name, c := range map[string]struct {
		join func(w *filch.Worker, log *strand.Reducer[strand.Text])
		want string
	}{
		"a stolen fork": {func(w *filch.Worker, log *strand.Reducer[strand.Text]) {
			withStolen(w, writes(log, "a"), writes(log, "b"), writes(log, "c", oops))
		}, "(abc)"},
		"in its own join": {func(w *filch.Worker, log *strand.Reducer[strand.Text]) {
			withStolen(w, writes(log, "a"), writes(log, "b"), func(w *filch.Worker) {
				withStolen(w, writes(log, "c"), writes(log, "d"), writes(log, "e", oops))
			})
		}, "(abcde)"},
		"the forker": {func(w *filch.Worker, log *strand.Reducer[strand.Text]) {
			withStolen(w, writes(log, "a"), writes(log, "b", oops), writes(log, "c"))
		}, "(ab)"},
		"the forker, and another fork in it": {func(w *filch.Worker, log *strand.Reducer[strand.Text]) {
			withStolen(w, writes(log, "a"), func(w *filch.Worker) {
				withStolen(w, writes(log, "b"), writes(log, "c"), writes(log, "d"))
				oops()
			}, writes(log, "e"))
		}, "(abcd)"},
	} {
		p := filch.New(filch.WithWorkers(2))
		for range 2 { // the second time nothing is left of the first
			log := strand.NewText()
			p.Do(func(w *filch.Worker) {
				log.View(w).WriteString("(")
				func() {
					defer func() {
						if err, _ := recover().(*filch.PanicError); !errors.Is(err, errOops) {
							t.Errorf("%s: %v", name, err)
						}
					}()
					c.join(w, log)
				}()
				log.View(w).WriteString(")")
			})
			if got := log.Value().String(); got != c.want {
				t.Errorf("%s: %s, not %s", name, got, c.want)
			}
		}
		p.Close()
	}
}

// An outermost call that panics or exits adds nothing, and leaves nothing to the next on its worker.
func TestAnOutermostCallThatFailsAddsNothing(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	inTask := func(f func(w *filch.Worker)) {
		failed := filch.Submit(background, p, func(ctx context.Context) (int, error) {
			filch.ScopeOf(ctx).Do(f)
			return 0, nil
		})
		if _, err := failed.Wait(background); err != nil {
			panic(err)
		}
	}
	call := filch.NewFunc(func(f *filch.Frame[func(*filch.Worker), int], body func(*filch.Worker)) int {
		body(f.Worker())
		return 0
	})
	for name, do := range map[string]func(f func(w *filch.Worker)){
		"Do":    p.Do,
		"Call":  func(f func(w *filch.Worker)) { call.Call(p, f) },
		"task":  inTask,
		"loop":  func(f func(w *filch.Worker)) { par.ForScope(p, 1, func(s filch.Scope, _ int) { s.Do(f) }) },
		"TryDo": func(f func(w *filch.Worker)) { _ = p.TryDo(f) },
	} {
		log := strand.NewText()
		for what, fail := range map[string]func(){"panic": oops, "Goexit": runtime.Goexit} {
			for where, f := range map[string]func(w *filch.Worker){
				"alone":     writes(log, "a", fail),
				"in a fork": func(w *filch.Worker) { withStolen(w, writes(log, "a"), writes(log, "b"), writes(log, "c", fail)) },
				"beside it": func(w *filch.Worker) { withStolen(w, writes(log, "a"), writes(log, "b", fail), writes(log, "c")) },
				"in Finish": func(w *filch.Worker) {
					w.Finish(func(w *filch.Worker) { w.Async(writes(log, "a")); w.Async(writes(log, "b", fail)) })
				},
			} {
				if v, exits := recovered(func() { do(f) }); v == nil && !exits {
					t.Errorf("%s, %s %s: returned", name, what, where)
				}
			}
		}
		do(writes(log, "x"))
		do(func(w *filch.Worker) { withStolen(w, writes(log, "y"), writes(log, ""), writes(log, "z")) })
		if got := log.Value().String(); got != "xyz" {
			t.Errorf("log.Value().String(): %s: %s", name, got)
		}
	}
}

// A panic of combine arrives at the join, or at the end of the call, and later calls go on.
func TestAPanicOfCombineArrivesAtTheJoin(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	bad := true
	r := strand.NewReducer(func() int { return 0 }, func(a, b int) int {
		if bad {
			oops()
		}
		return a + b
	})
	add := func(w *filch.Worker) { *r.View(w)++ }
	nothing := func(*filch.Worker) {}
	for name, f := range map[string]func(w *filch.Worker){
		"at a join":                  func(w *filch.Worker) { withStolen(w, add, nothing, add) },
		"at the end of a Finish":     func(w *filch.Worker) { w.Finish(func(w *filch.Worker) { asyncs(w, 2, add) }) },
		"at the end of the Do":       func(w *filch.Worker) { asyncs(w, 2, add) },
		"where another has panicked": func(w *filch.Worker) { withStolen(w, add, nothing, func(w *filch.Worker) { add(w); oops() }) },
	} {
		bad = true
		v, _ := recovered(func() { p.Do(f) })
		if err, _ := v.(*filch.PanicError); !errors.Is(err, errOops) {
			t.Errorf("recovered(…): %s: %v", name, v)
		}
		bad = false
	}
	for range 2 {
		p.Do(add)
	}
	bad = true
	if v, _ := recovered(func() { p.Do(add) }); v == nil {
		t.Error("the end of a call has not panicked")
	}
	if got := r.Value(); got != 2 {
		t.Error("r.Value():", got)
	}
}

// asyncs makes n asyncs that all run at the same time.
func asyncs(w *filch.Worker, n int, f func(w *filch.Worker)) {
	var met sync.WaitGroup
	met.Add(n)
	for range n {
		w.Async(func(w *filch.Worker) {
			met.Done()
			w.Blocking(met.Wait)
			f(w)
		})
	}
}

// Asyncs lose nothing, whoever runs them.
func TestAsyncsLoseNothing(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		p := filch.New(filch.WithWorkers(workers))
		sum, most := strand.NewSum[int](), strand.NewMax(0)
		const n = 5000
		var add func(w *filch.Worker, lo, hi int)
		add = func(w *filch.Worker, lo, hi int) {
			for hi-lo > 1 {
				mid := (lo + hi) / 2
				from, to := mid, hi
				w.Async(func(w *filch.Worker) { add(w, from, to) })
				hi = mid
			}
			if lo%100 == 0 {
				runtime.Gosched()
			}
			*sum.View(w) += lo
			v := most.View(w)
			*v = max(*v, lo)
		}
		p.Do(func(w *filch.Worker) {
			add(w, 0, n)
			w.Finish(func(w *filch.Worker) {
				asyncs(w, 4, func(w *filch.Worker) { *sum.View(w)++ })
			})
		})
		if got := sum.Value(); got != n*(n-1)/2+4 || most.Value() != n-1 {
			t.Errorf("%d workers: %d, %d", workers, got, most.Value())
		}
		p.Close()
	}
}

// The result of a loop is in the order of its indices, however it is divided.
func TestLoopsAreInOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		p := filch.New(filch.WithWorkers(workers), filch.WithBusyPoll())
		for _, n := range []int{0, 1, 2, 7, 100, 1000} {
			for name, opts := range map[string][]par.Option{
				"": nil, "grain 1": {par.WithGrain(1)}, "grain 7": {par.WithGrain(7)}, "aligned": {par.WithAlign(8)}, "limited": {par.WithMaxWorkers(2)},
			} {
				list := strand.NewAppend[int]()
				loop(p, n, list, opts)
				p.Do(func(w *filch.Worker) { // with elements before and after the loop
					*list.View(w) = append(*list.View(w), n)
					loop(w, n, list, opts)
					*list.View(w) = append(*list.View(w), n)
				})
				got := list.Value()
				for i, v := range got {
					if want := i % (n + 1); v != want || len(got) != 2*n+2 {
						t.Errorf("%d of %d workers, %s: %d is at %d of %d", n, workers, name, v, i, len(got))
						break
					}
				}
			}
		}
		p.Close()
	}
}

// loop appends the indices up to n.
func loop(s filch.Scope, n int, list *strand.Reducer[[]int], opts []par.Option) {
	par.ForScope(s, n, func(s filch.Scope, i int) {
		if i%16 == 0 {
			runtime.Gosched()
		}
		v := list.View(s)
		*v = append(*v, i)
	}, opts...)
}

// In virtual time, four workers share eight seconds, and each stolen part has one view.
func TestViewsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(4))
		defer p.Close()
		log := strand.NewText()
		begin := time.Now()
		par.ForScope(p, 8, func(s filch.Scope, i int) {
			fmt.Fprint(log.View(s), i)
			time.Sleep(time.Second)
			fmt.Fprint(log.View(s), i)
		}, par.WithGrain(1))
		if got, took := log.Value().String(), time.Since(begin); got != "0011223344556677" || took != 2*time.Second {
			t.Errorf("%s in %v", got, took)
		}
	})
}

// Outermost calls at the same time do not share a view, and lose nothing.
func TestCallsAtTheSameTime(t *testing.T) {
	p, q := filch.New(filch.WithWorkers(2)), filch.New(filch.WithWorkers(2))
	defer p.Close()
	defer q.Close()
	sum := strand.NewSum[int]()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				[]*filch.Pool{p, q}[i%2].Do(func(w *filch.Worker) {
					w.Join(func(w *filch.Worker) { *sum.View(w)++ }, func(w *filch.Worker) { *sum.View(w)++ })
				})
			}
		})
	}
	all.Wait()
	if got := sum.Value(); got != 1600 {
		t.Error("sum.Value():", got)
	}
}

// A Do on the pool inside of another one is outermost: its part comes first, for it ends first.
func TestADoInsideADo(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	log := strand.NewText()
	p.Do(func(w *filch.Worker) {
		log.View(w).WriteString("a")
		p.Do(writes(log, "b"))
		if got := log.Value().String(); got != "b" {
			t.Error("log.Value().String():", got)
		}
		w.Do(writes(log, "c"))
	})
	if got := log.Value().String(); got != "bac" {
		t.Error("log.Value().String():", got)
	}
}

// With more Reducers than are looked through one by one.
func TestManyReducersHaveTheirValues(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for _, n := range []int{7, 8, 9, 100} {
		logs := make([]*strand.Reducer[strand.Text], n)
		for i := range logs {
			logs[i] = strand.NewText()
		}
		write := func(s string, lo, hi int) func(w *filch.Worker) {
			return func(w *filch.Worker) {
				for _, log := range logs[lo:hi] {
					log.View(w).WriteString(s)
				}
			}
		}
		for range 2 {
			p.Do(func(w *filch.Worker) { withStolen(w, write("a", 0, n/2), write("b", 0, n), write("c", n/3, n)) })
		}
		for i, log := range logs {
			want := "b"
			if i < n/2 {
				want = "ab"
			}
			if i >= n/3 {
				want += "c"
			}
			if got := log.Value().String(); got != want+want {
				t.Errorf("%d of %d: %s, not %s", i, n, got, want+want)
			}
		}
	}
}

// After a stop, what ran counts, and nothing is left for the next search.
func TestASearchThatIsStopped(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	sum := strand.NewSum[int]()
	search := filch.NewFunc(func(f *filch.Frame[int, bool], n int) bool {
		*sum.View(f.Worker())++
		if n == 0 {
			f.Stop()
			return true
		}
		h := f.Fork(n - 1)
		a := f.Call(n - 1)
		return f.Join(h) || a
	})
	var stop filch.Stop
	if found, _ := search.CallUntil(p, &stop, 10); !found {
		t.Error("nothing is found")
	}
	if got := sum.Value(); got < 11 || got > 2047 {
		t.Error("sum.Value():", got)
	}
	before := sum.Value()
	p.Do(func(w *filch.Worker) { *sum.View(w)++ })
	if got := sum.Value(); got != before+1 {
		t.Errorf("%d after %d", got, before)
	}
}

// An update allocates nothing, nor does a join. An outermost call allocates a view.
func TestViewsAllocateLittle(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	sum, other := strand.NewSum[int](), strand.NewSum[int]()
	f := func(w *filch.Worker) { *sum.View(w)++ }
	p.Do(func(w *filch.Worker) {
		if n := testing.AllocsPerRun(100, func() { *sum.View(w)++; *other.View(w)++ }); n != 0 {
			t.Errorf("an update: %v", n)
		}
	})
	if n := testing.AllocsPerRun(100, func() { p.Do(f) }); n != 1 {
		t.Errorf("a call: %v", n)
	}
}

// What views are asked for of the wrong things panics, and says what is wrong.
func TestMisuseOfViewsSaysWhatIsWrong(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	sum := strand.NewSum[int]()
	var none *strand.Reducer[int]
	var noHolder *strand.Holder[int]
	inTask := func(f func(s filch.Scope)) {
		if _, err := filch.Submit(background, p, func(ctx context.Context) (int, error) { f(filch.ScopeOf(ctx)); return 0, nil }).Wait(background); err != nil {
			panic(err)
		}
	}
	onWorker := func(f func(w *filch.Worker)) func() { return func() { p.Do(f) } }
	for want, f := range map[string]func(){
		"strand: View: s is a *filch.Pool, which several goroutines may use: call its Do, and pass on the Worker":       func() { sum.View(p) },
		"strand: View: s is the Scope of a task, which several goroutines may use: call its Do, and pass on the Worker": func() { inTask(func(s filch.Scope) { sum.View(s) }) },
		"strand: View: s is nil":              func() { sum.View(nil) },
		"strand: NewReducer: identity is nil": func() { strand.NewReducer(nil, func(a, _ int) int { return a }) },
		"strand: NewReducer: combine is nil":  func() { strand.NewReducer(func() int { return 0 }, nil) },
		"strand: NewHolder: make is nil":      func() { strand.NewHolder[int](nil) },
		"strand: View: the Reducer or Holder is nil or zero: make one with NewReducer or NewHolder":  onWorker(func(w *filch.Worker) { none.View(w) }),
		"strand: Value: the Reducer or Holder is nil or zero: make one with NewReducer or NewHolder": func() { new(strand.Reducer[int]).Value() },
	} {
		if v, _ := recovered(f); !strings.Contains(fmt.Sprint(v), want) {
			t.Errorf("%v\nnot: %s", v, want)
		}
	}
	for name, f := range map[string]func(w *filch.Worker){
		"a zero Reducer": func(w *filch.Worker) { new(strand.Reducer[int]).View(w) },
		"a nil Holder":   func(w *filch.Worker) { noHolder.View(w) },
		"a nil Reducer where another was used": func(w *filch.Worker) {
			sum.View(w)
			none.View(w)
		},
		"a zero Holder": func(w *filch.Worker) { new(strand.Holder[int]).View(w) },
	} {
		if v, _ := recovered(onWorker(f)); !strings.Contains(fmt.Sprint(v), "nil or zero") {
			t.Errorf("recovered(onWorker(f)): %s: %v", name, v)
		}
	}
	if v, _ := recovered(func() { sum.View((*filch.Worker)(nil)) }); v != "strand: View: s is nil" {
		t.Error("recovered(…):", v)
	}
	if v, _ := recovered(func() { none.Value() }); v == nil {
		t.Error("the value of nil")
	}
	if race.Enabled {
		v, _ := recovered(onWorker(func(w *filch.Worker) {
			sum.View(w)
			w.Blocking(func() { sum.View(w) })
		}))
		if !strings.Contains(fmt.Sprint(v), "inside of its Blocking") {
			t.Error("recovered(…):", v)
		}
	}
}

// With checks, a view on another goroutine's worker is told of, also if it was the last that was used.
func TestChecksSeeViews(t *testing.T) {
	p := filch.New(filch.WithWorkers(2), filch.WithChecks())
	defer p.Close()
	sum := strand.NewSum[int]()
	p.Do(func(w *filch.Worker) {
		*sum.View(w)++
		v, _ := recovered(func() { *sum.View(w)++ }) // on a goroutine of its own
		if !strings.Contains(fmt.Sprint(v), "goroutine") {
			t.Error("recovered(…):", v)
		}
	})
	if got := sum.Value(); got != 1 {
		t.Error("sum.Value():", got)
	}
}

// Parts that run at the same time have scratch memory of their own, which is used again.
func TestPartsAtTheSameTimeHaveMemoryOfTheirOwn(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var mu sync.Mutex
	made, inUse := 0, map[*int]bool{}
	h := strand.NewHolder(func() int { mu.Lock(); defer mu.Unlock(); made++; return 0 })
	use := func(w *filch.Worker) *int {
		v := h.View(w)
		*v++
		mu.Lock()
		defer mu.Unlock()
		if inUse[v] {
			t.Error("shared")
		}
		inUse[v] = true
		return v
	}
	leave := func(v *int) { mu.Lock(); defer mu.Unlock(); delete(inUse, v) }
	for range 50 {
		p.Do(func(w *filch.Worker) {
			withStolen(w, func(w *filch.Worker) { v := use(w); defer leave(v) }, func(*filch.Worker) {}, func(w *filch.Worker) { v := use(w); defer leave(v) })
			withStolen(w, func(*filch.Worker) {}, func(*filch.Worker) {}, func(w *filch.Worker) { leave(use(w)) })
		})
	}
	if made != 2 {
		t.Errorf("%d were made", made)
	}
	if v, _ := recovered(func() { p.Do(func(w *filch.Worker) { h.View(w); oops() }) }); v == nil {
		t.Error("returned")
	}
	p.Do(func(w *filch.Worker) { h.View(w) })
	if made != 2 {
		t.Errorf("%d were made", made)
	}
}

// What is ready-made begins with what adds nothing.
func TestWhatIsReadyMadeBeginsWithWhatAddsNothing(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	least, most, list, text := strand.NewMin(100.5), strand.NewMax("a"), strand.NewAppend[string](), strand.NewText()
	if least.Value() != 100.5 || most.Value() != "a" || list.Value() != nil || text.Value().Len() != 0 {
		t.Error("of nothing")
	}
	p.Do(func(w *filch.Worker) {
		withStolen(w, func(w *filch.Worker) {
			*least.View(w) = min(*least.View(w), 3)
			*list.View(w) = append(*list.View(w), "x")
		}, func(*filch.Worker) {}, func(w *filch.Worker) {
			*least.View(w) = min(*least.View(w), 2)
			*most.View(w) = max(*most.View(w), "b")
			*list.View(w) = append(*list.View(w), "y")
			v := text.View(w)
			n, _ := v.WriteRune('é')
			m, _ := v.Write([]byte("!"))
			_ = v.WriteByte('.')
			k, _ := v.WriteString("ok")
			if n != 2 || m != 1 || k != 2 {
				t.Error("v.WriteRune('é'):", n, m, k)
			}
		})
		text.View(w).WriteString("?")
	})
	if least.Value() != 2 || most.Value() != "b" || fmt.Sprint(list.Value()) != "[x y]" || text.Value().String() != "é!.ok?" || text.Value().Len() != 7 {
		t.Error("strand.NewMin(100.5):", least.Value(), most.Value(), list.Value(), text.Value())
	}
}
