package par

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

// Loops over little allocate nothing but their result, on a worker as on a pool.
func TestSmallLoopsAllocateNothing(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("an atomic.Int64 is never on a stack of 32 bits")
	}
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	for _, n := range []int{0, 1, 4, 64} {
		for name, c := range smallLoops(n) {
			for _, workers := range []int{1, 2} {
				synctest.Test(t, func(t *testing.T) { // where nothing is dear
					p := filch.New(filch.WithWorkers(workers))
					defer p.Close()
					test := func(s filch.Scope) {
						k, most := 0.0, c.result
						if s == filch.Scope(p) && name == "ForScope" && n > 0 {
							most++ // a call of Do, since its body gets a Worker
						}
						for range 20 { // until costs are known: time may pass where a worker comes to rest
							if k = testing.AllocsPerRun(10, func() { c.run(s) }); k <= most {
								return
							}
						}
						t.Errorf("%s of %d on a %T of %d workers: %v allocations", name, n, s, workers, k)
					}
					test(p)
					p.Do(func(w *filch.Worker) { test(w) })
				})
			}
		}
	}
}

// A smallLoop is a call, and how many allocations its result is.
type smallLoop struct {
	result float64
	run    func(s filch.Scope)
}

// smallLoops are loops of n elements.
func smallLoops(n int) map[string]smallLoop {
	sum, one := 0, new(int)
	theInt := func() *int { return one }
	atEight, atMostOne := []Option{WithAlign(8)}, []Option{WithMaxWorkers(1)}
	index := func(i int) { sum += i }
	inScope := func(_ filch.Scope, i int) { sum += i }
	inRange := func(lo, hi int) { sum += hi - lo }
	tile := func(x0, _, _, _ int) { sum += x0 }
	element := func(_, v int) { sum += v }
	failing := func(i int) error { return nil }
	mapped := func(v int) int { return v + 1 }
	mappedErr := func(v int) (int, error) { return v + 1, nil }
	even, never, always := func(v int) bool { return v&1 == 0 }, func(int) bool { return false }, func(int) bool { return true }
	counted := func(lo, hi int) int { return hi - lo }
	notFound := func(_, _ int) int { return -1 }
	allRight, noneRight := func(_, _ int) bool { return true }, func(_, _ int) bool { return false }
	pointed, fromPointer := func(_ int, v *int) { sum += *v }, func(v *int) int { return *v }
	notIndex := func(int) bool { return false }
	x, dst := make([]int, n), make([]int, n)
	return map[string]smallLoop{
		"For":           {0, func(s filch.Scope) { For(s, n, index) }},
		"ForScope":      {0, func(s filch.Scope) { ForScope(s, n, inScope) }},
		"ForRange":      {0, func(s filch.Scope) { ForRange(s, n, inRange) }},
		"ForTiles":      {0, func(s filch.Scope) { ForTiles(s, n, 1, tile) }},
		"ForErr":        {0, func(s filch.Scope) { ForErr(s, n, failing) }},
		"ForInit":       {0, func(s filch.Scope) { ForInit(s, n, theInt, intoInt) }},
		"ForRangeInit":  {0, func(s filch.Scope) { ForRangeInit(s, n, theInt, rangeInto) }},
		"ReduceInto":    {0, func(s filch.Scope) { ReduceInto(s, n, theInt, intoInt, mergeInt) }},
		"aligned":       {1, func(s filch.Scope) { ForRange(s, n, inRange, atEight...) }},
		"limited":       {1, func(s filch.Scope) { For(s, n, index, atMostOne...) }},
		"Each":          {0, func(s filch.Scope) { Each(s, x, element) }},
		"MapInto":       {0, func(s filch.Scope) { MapInto(s, dst, x, mapped) }},
		"Map":           {1, func(s filch.Scope) { Map(s, x, mapped) }},
		"MapErr":        {1, func(s filch.Scope) { MapErr(s, x, mappedErr) }},
		"Reduce":        {0, func(s filch.Scope) { Reduce(s, x, 0, add) }},
		"MapReduce":     {0, func(s filch.Scope) { MapReduce(s, x, 0, mapped, add) }},
		"ReduceRange":   {0, func(s filch.Scope) { ReduceRange(s, n, 0, counted, add) }},
		"MinMaxFunc":    {0, func(s filch.Scope) { MinMaxFunc(s, x, cmp.Compare[int]) }},
		"Count":         {0, func(s filch.Scope) { Count(s, x, even) }},
		"CountRange":    {0, func(s filch.Scope) { CountRange(s, n, counted) }},
		"IndexFunc":     {0, func(s filch.Scope) { IndexFunc(s, x, never) }},
		"IndexFuncAny":  {0, func(s filch.Scope) { IndexFuncAny(s, x, never) }},
		"IndexRange":    {0, func(s filch.Scope) { IndexRange(s, n, notFound) }},
		"Any":           {0, func(s filch.Scope) { Any(s, x, never) }},
		"All":           {0, func(s filch.Scope) { All(s, x, always) }},
		"AllRange":      {0, func(s filch.Scope) { AllRange(s, n, allRight) }},
		"AnyRange":      {0, func(s filch.Scope) { AnyRange(s, n, noneRight) }},
		"MinBy":         {0, func(s filch.Scope) { MinBy(s, x, mapped) }},
		"MaxBy":         {0, func(s filch.Scope) { MaxBy(s, x, mapped) }},
		"EachPtr":       {0, func(s filch.Scope) { EachPtr(s, x, pointed) }},
		"MapPtr":        {1, func(s filch.Scope) { MapPtr(s, x, fromPointer) }},
		"Indices":       {0, func(s filch.Scope) { Indices(s, n, notIndex) }},
		"IsSortedFunc":  {0, func(s filch.Scope) { IsSortedFunc(s, x, cmp.Compare[int]) }},
		"Fill":          {0, func(s filch.Scope) { Fill(s, dst, 1) }},
		"Copy":          {0, func(s filch.Scope) { Copy(s, dst, x) }},
		"PrefixSum":     {0, func(s filch.Scope) { PrefixSum(s, dst, x) }},
		"Scan":          {1, func(s filch.Scope) { Scan(s, dst, x, add) }},
		"ScanExclusive": {1, func(s filch.Scope) { ScanExclusive(s, dst, x, 0, add) }},
	}
}

// bush is a tree of four branches each, with a body that goes through those of one.
type bush struct {
	branches [4]*bush
	leaf     func()
	visit    func(s filch.Scope, i int)
}

func newBush(depth int, leaf func()) *bush {
	b := &bush{leaf: leaf}
	if depth > 0 {
		for i := range b.branches {
			b.branches[i] = newBush(depth-1, leaf)
		}
	}
	b.visit = func(s filch.Scope, i int) { b.branches[i].walk(s) }
	return b
}

func (b *bush) walk(s filch.Scope) {
	if b.branches[0] == nil {
		b.leaf()
		return
	}
	ForScope(s, len(b.branches), b.visit)
}

// Loops in loops of the same function build as good as nothing as long as no worker asks, whatever is
// remembered of it: levels differ by what they take. The first one or two forks are published unasked.
func TestNestedLoopsAllocateLittle(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	leaves := 0
	b := newBush(5, func() { leaves++ })
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	for _, each := range []int64{fastest, 10 * ns, watched, little, tellTime * ns} {
		p.Do(func(w *filch.Worker) {
			costOf(b.visit, asIs).each.Store(each)
			if k := testing.AllocsPerRun(10, func() { b.walk(w) }); k > 20 {
				t.Errorf("an element is known to take %d ps: %v allocations for 341 loops", each, k)
			}
		})
	}
	if leaves != 5*11*1024 {
		t.Errorf("%d leaves", leaves)
	}
}

// They are shared all the same, by the workers that come while they run, and whatever is remembered.
func TestNestedLoopsAreShared(t *testing.T) {
	for _, each := range []int64{0, fastest, 10 * ns, watched, little, tellTime * ns, math.MaxInt64 / 100} {
		for _, busy := range []time.Duration{0, 10 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				const workers = 8
				p := filch.New(filch.WithWorkers(workers))
				defer p.Close()
				for range workers - 1 { // others are busy when it begins
					if busy > 0 {
						p.Go(context.Background(), func(ctx context.Context) { time.Sleep(busy) })
					}
				}
				synctest.Wait()
				b := newBush(4, func() { time.Sleep(time.Second) })
				costOf(b.visit, asIs).each.Store(each)
				begin := time.Now()
				p.Do(func(w *filch.Worker) { b.walk(w) })
				alone := int(busy / time.Second)
				best := alone + (256-alone)/workers
				if rounds := int(time.Since(begin) / time.Second); rounds > best+best/2 {
					t.Errorf("an element is known to take %d ps, others are busy for %v: %d rounds, not %d", each, busy, rounds, best)
				}
			})
		}
	}
}

// Few elements that have become dear are shared with the first worker that asks: one more may run
// before that.
func TestFewDearElementsAreShared(t *testing.T) {
	for name, run := range map[string]func(w *filch.Worker, do func()){
		"For": func(w *filch.Worker, do func()) { For(w, few, func(int) { do() }) },
		"MapInto": func(w *filch.Worker, do func()) {
			x := make([]int, few)
			MapInto(w, x, x, func(int) int { do(); return 0 })
		},
		"IndexFunc": func(w *filch.Worker, do func()) {
			IndexFunc(w, make([]int, few), func(int) bool { do(); return false })
		},
		"Reduce": func(w *filch.Worker, do func()) {
			Reduce(w, make([]int, few+1), 0, func(_, _ int) int { do(); return 0 })
		},
		"MapReduce": func(w *filch.Worker, do func()) {
			MapReduce(w, make([]int, few), 0, func(int) int { do(); return 0 }, add)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(4))
			defer p.Close()
			slow := false
			do := func() {
				if slow {
					time.Sleep(time.Second)
				}
			}
			for range 3 {
				p.Do(func(w *filch.Worker) { run(w, do) })
			}
			for range 3 {
				p.Go(context.Background(), func(context.Context) { time.Sleep(1500 * time.Millisecond) })
			}
			synctest.Wait()
			slow = true
			begin := time.Now()
			p.Do(func(w *filch.Worker) { run(w, do) })
			if rounds := int(time.Since(begin) / time.Second); rounds > 10 {
				t.Errorf("%s: %d rounds for %d elements on 4 workers, of which 3 come in the second", name, rounds, few)
			}
		})
	}
}

// Few elements are combined as many are: in the same tree, whether their function is known to be
// cheap, or becomes dear at one of its calls.
func TestFewAreCombinedInTheSameTree(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 127} {
		x := make([]string, n)
		for i := range x {
			x[i] = fmt.Sprint(i)
		}
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			defer p.Close()
			want := ""
			for _, each := range []int64{0, fastest, little} {
				for _, dear := range []int{0, 1, 2, 3, 5, 8, 17, 33} {
					var calls atomic.Int64
					op := func(a, b string) string {
						if int(calls.Add(1)) == dear {
							time.Sleep(time.Millisecond)
						}
						return "(" + a + " " + b + ")"
					}
					same := func(v string) string { return v }
					costOf(op, asIs).each.Store(each)
					costOf(same, asIs).each.Store(each)
					got := map[string]string{"Reduce": Reduce(p, x, "", op), "MapReduce": MapReduce(p, x, "", same, op),
						"ReduceRange": ReduceRange(p, n, "", func(lo, _ int) string { return x[lo] }, op)}
					p.Do(func(w *filch.Worker) { got["Reduce on a Worker"] = Reduce(w, x, "", op) })
					if want == "" {
						want = got["Reduce"]
					}
					for name, v := range got {
						if v != want {
							t.Fatalf("%s of %d, known: %d, dear: call %d: %s, not %s", name, n, each, dear, v, want)
						}
					}
					if k := int(calls.Load()); k != 4*(n-1) {
						t.Fatalf("%d calls for 4 times %d elements", k, n)
					}
				}
			}
		})
	}
}

// Functions that get ranges end with the panic or the Goexit of a range, when no other runs.
func TestRangesThatPanicOrExit(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for _, n := range []int{1, 2, few, 1000, 100_000} {
			var running atomic.Int64
			last := func(lo, hi int, end func()) {
				running.Add(1)
				defer running.Add(-1)
				if hi == n {
					end()
				}
			}
			for name, run := range map[string]func(s filch.Scope, end func()){
				"CountRange": func(s filch.Scope, end func()) {
					CountRange(s, n, func(lo, hi int) int { last(lo, hi, end); return 1 })
				},
				"IndexRange": func(s filch.Scope, end func()) {
					IndexRange(s, n, func(lo, hi int) int { last(lo, hi, end); return -1 })
				},
				"AllRange": func(s filch.Scope, end func()) {
					AllRange(s, n, func(lo, hi int) bool { last(lo, hi, end); return true })
				},
			} {
				for range 3 { // unknown, and known
					for _, s := range []string{"a Pool", "a Worker"} {
						in := func(f func(s filch.Scope)) {
							if s == "a Pool" {
								f(p)
							} else {
								p.Do(func(w *filch.Worker) { f(w) })
							}
						}
						err, ok := rig.Catch(func() { in(func(s filch.Scope) { run(s, rig.Bad) }) }).(*filch.PanicError)
						if !ok || err.Value != "bad" || running.Load() != 0 {
							t.Errorf("%s of %d on %s of %d workers: %v", name, n, s, workers, err)
						}
						exited := make(chan bool)
						go func() {
							defer close(exited)
							in(func(s filch.Scope) { run(s, runtime.Goexit) })
							t.Errorf("%s of %d on %s of %d workers: a Goexit was lost", name, n, s, workers)
						}()
						<-exited
						if running.Load() != 0 {
							t.Errorf("%s of %d: ranges run", name, n)
						}
						in(func(s filch.Scope) { run(s, func() {}) })
					}
				}
			}
		}
		p.Close()
	}
}

// The largest numbers there can be are no mistake, where a range says that it is enough.
func TestRangesOfAllThereCanBe(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for _, n := range []int{math.MaxInt, math.MaxInt - 1, math.MaxInt32} {
			for range 3 {
				if at := IndexRange(p, n, func(lo, hi int) int { return lo }); at != 0 {
					t.Errorf("IndexRange of %d: %d", n, at)
				}
				if AllRange(p, n, func(lo, hi int) bool { return false }) {
					t.Errorf("AllRange of %d", n)
				}
			}
		}
		for _, n := range []int{1, few, few + 1, 1 << 20} {
			if k := CountRange(p, n, func(lo, hi int) int { return hi - lo }); k != n {
				t.Errorf("CountRange of %d: %d", n, k)
			}
			found := IndexRange(p, n, func(lo, hi int) int {
				if hi == n {
					return n - 1
				}
				return -1
			})
			if found != n-1 {
				t.Errorf("IndexRange of %d: %d", n, found)
			}
		}
		p.Close()
	}
}
