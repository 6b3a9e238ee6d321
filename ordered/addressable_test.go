package ordered

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/filch-go/filch/internal/race"
)

// reference is a queue as simple as can be: values by priority and age.
type reference struct{ items []referenceItem }

type referenceItem struct{ priority, age, v int }

func (r *reference) push(priority, age, v int) {
	r.items = append(r.items, referenceItem{priority, age, v})
	slices.SortFunc(r.items, func(a, b referenceItem) int {
		if a.priority != b.priority {
			return a.priority - b.priority
		}
		return a.age - b.age
	})
}

func (r *reference) remove(v int) bool {
	i := slices.IndexFunc(r.items, func(it referenceItem) bool { return it.v == v })
	if i >= 0 {
		r.items = slices.Delete(r.items, i, i+1)
	}
	return i >= 0
}

// A goroutine alone, with Strict, gets what a sorted list gives, whatever is removed or gets another
// priority.
func TestAddressableIsInOrder(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 0))
		a := NewAddressable[int](1, 1+int(seed%9), Strict())
		l := a.Local(0)
		var ref reference
		var handles []*Handle[int]
		for age := range 600 {
			p := rng.IntN(6) * (1 + rng.IntN(2)*5000)
			switch op := rng.IntN(8); {
			case op < 3 || len(handles) == 0:
				push := a.Push
				if rng.IntN(2) == 0 {
					push = l.Push
				}
				handles = append(handles, push(p, len(handles)))
				ref.push(p, age, len(handles)-1)
			case op < 5:
				priority, v, ok := l.Next()
				if ok != (len(ref.items) > 0) || ok && (v != ref.items[0].v || priority != ref.items[0].priority) {
					t.Fatalf("seed %d, step %d: %d of %d, %v; want %v", seed, age, v, priority, ok, ref.items)
				}
				if ok {
					ref.items = ref.items[1:]
				}
			case op < 6:
				v := rng.IntN(len(handles))
				if got, ok := handles[v].Remove(); ok != ref.remove(v) || ok && got != v {
					t.Fatalf("seed %d, step %d: Remove: %d, %v", seed, age, got, ok)
				}
			default:
				v := rng.IntN(len(handles))
				fix := handles[v].Fix
				if op == 7 {
					fix = func(p int) bool { return l.Fix(handles[v], p) }
				}
				there := ref.remove(v)
				if there {
					ref.push(p, age, v)
				}
				if fix(p) != there {
					t.Fatalf("seed %d, step %d: Fix says %v", seed, age, !there)
				}
			}
			if a.Len() < len(ref.items) {
				t.Fatalf("seed %d, step %d: Len is %d of %d", seed, age, a.Len(), len(ref.items))
			}
		}
		for _, want := range ref.items {
			if v, ok := l.Pop(); !ok || v != want.v {
				t.Fatalf("seed %d: %d, %v; want %v", seed, v, ok, want)
			}
		}
		if _, ok := l.Pop(); ok || a.Len() != 0 || l.Len() != 0 || a.behind.Load() != 0 {
			t.Fatalf("seed %d: %v, Len %d, %d left behind", seed, ok, a.Len(), a.behind.Load())
		}
	}
}

// Whatever many goroutines do at once, each value is handed out once, by Pop or Remove, and Len is not
// 0 before.
func TestAddressableInAStorm(t *testing.T) {
	seed := rand.Uint64()
	for _, goroutines := range []int{1, 2, 8} {
		for _, opts := range [][]Option{nil, {Strict()}, {StealBatch(4)}} {
			const each = 2000
			n := goroutines * each
			a := NewAddressable[int](goroutines, 16, opts...)
			out := make([]atomic.Int32, n)
			handles := make([]atomic.Pointer[Handle[int]], n)
			var got, removed atomic.Int64
			var wg sync.WaitGroup
			for g := range goroutines {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(seed, uint64(g)))
					l := a.Local(g)
					take := func(v int) { out[v].Add(1); got.Add(1) }
					for i := range each {
						v := g*each + i
						push := l.Push
						if rng.IntN(4) == 0 {
							push = a.Push
						}
						handles[v].Store(push(rng.IntN(50), v))
						for range rng.IntN(4) {
							h := handles[rng.IntN(n)].Load()
							if h == nil {
								continue
							}
							switch rng.IntN(4) {
							case 0:
								if v, ok := h.Remove(); ok {
									removed.Add(1)
									take(v)
								}
							case 1:
								l.Fix(h, rng.IntN(50))
							default:
								h.Fix(rng.IntN(50))
							}
						}
						if rng.IntN(2) == 0 {
							if v, ok := l.Pop(); ok {
								take(v)
							}
						}
					}
					for a.Len() > 0 {
						if v, ok := l.Pop(); ok {
							take(v)
						} else {
							runtime.Gosched()
						}
					}
				})
			}
			wg.Wait()
			for v := range out {
				if k := out[v].Load(); k != 1 {
					t.Fatalf("seed %d, %d goroutines: %d was handed out %d times", seed, goroutines, v, k)
				}
			}
			if a.behind.Load() != 0 || a.moving.Load() != 0 || removed.Load() == 0 {
				t.Errorf("seed %d: %d left behind, %d moving, %d removed", seed, a.behind.Load(), a.moving.Load(), removed.Load())
			}
		}
	}
}

// What is left behind is swept: far more removals than values do not make the queue longer, and the
// values that stay keep their order.
func TestAddressableIsSwept(t *testing.T) {
	a := NewAddressable[int](1, 8)
	l := a.Local(0)
	for i := range 10 {
		a.Push(10-i/5, i)
	}
	longest := 0
	for i := range 100_000 {
		h := a.Push(1_000_000+i, -1) // far from its turn
		if i%3 == 0 {
			h.Fix(2_000_000)
		}
		h.Remove()
		longest = max(longest, a.Len())
		if n := length(a.q.word.Load()); int(n) != a.q.global.Len() {
			t.Fatalf("removal %d: the global queue has %d entries, and says %d", i, a.q.global.Len(), n)
		}
	}
	if longest > 2*(10+8+64)+8 {
		t.Errorf("%d entries for 10 values", longest)
	}
	for _, want := range []int{5, 6, 7, 8, 9, 0, 1, 2, 3, 4} {
		if priority, v, ok := l.Next(); !ok || v != want || priority != 10-v/5 {
			t.Errorf("%d of priority %d, %v; want %d", v, priority, ok, want)
		}
	}
	if v, ok := l.Pop(); ok || a.Len() != 0 {
		t.Errorf("%d, %v, Len %d", v, ok, a.Len())
	}
}

// One of several goroutines that find the queue half empty at the same time sweeps it.
func TestAddressableIsSweptOnce(t *testing.T) {
	const n, removers = 1000, 8
	a := NewAddressable[int](1, 1)
	var handles []*Handle[int]
	for i := range n {
		handles = append(handles, a.Push(i, i))
	}
	most := int64(n/2 + 1 + 64)
	for range most { // not swept yet
		handles[0].Remove()
		handles = handles[1:]
	}
	visits := func() uint64 { return a.q.word.Load() / oneVisit }
	before := visits()
	a.q.mu.Lock()
	var all sync.WaitGroup
	for _, h := range handles[:removers] {
		all.Go(func() { h.Remove() })
	}
	for a.behind.Load() < most+removers {
		runtime.Gosched()
	}
	a.q.mu.Unlock()
	all.Wait()
	if k := visits() - before; k != 1 {
		t.Errorf("it was swept %d times", k)
	}
	if k := a.Len(); k != n-int(most)-removers {
		t.Errorf("%d entries for %d values", k, n-int(most)-removers)
	}
}

// A handle keeps no value that was taken.
func TestHandlesKeepNothing(t *testing.T) {
	a := NewAddressable[*[100]int](1, 4)
	var handles []*Handle[*[100]int]
	var values []weak.Pointer[[100]int]
	for i := range 10 {
		v := new([100]int)
		values = append(values, weak.Make(v))
		handles = append(handles, a.Push(i, v))
	}
	for i := range 5 {
		a.Local(0).Pop()
		handles[5+i].Remove()
	}
	runtime.GC()
	for i, v := range values {
		if v.Value() != nil {
			t.Errorf("value %d is still there", i)
		}
	}
	for _, h := range handles {
		if _, ok := h.Remove(); ok || h.Fix(1) || a.Local(0).Fix(h, 1) {
			t.Error("it is taken")
		}
	}
}

// A push allocates the handle and nothing else.
func TestAPushAllocatesTheHandleAndNothingElse(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	a := NewAddressable[int](1, 100)
	l := a.Local(0)
	if n := testing.AllocsPerRun(1000, func() { l.Push(1, 1); l.Pop() }); n != 1 {
		t.Errorf("a push and a pop: %v allocations", n)
	}
	h := a.Push(1, 1)
	if n := testing.AllocsPerRun(1000, func() { h.Fix(2); l.Fix(h, 1) }); n != 0 {
		t.Errorf("Fix: %v allocations", n)
	}
}

func TestMisuseOfAnAddressableQueueIsTold(t *testing.T) {
	a, b := NewAddressable[int](1, 0), NewAddressable[int](1, 0)
	h := b.Push(1, 1)
	for want, f := range map[string]func(){
		"ordered: New: locals is 0; there must be one":                    func() { NewAddressable[int](0, 0) },
		"ordered: New: locals is -1; there must be one":                   func() { NewAddressable[int](-1, 0) },
		"ordered: Local(1): there are 1":                                  func() { a.Local(1) },
		"ordered: AddressableLocal.Fix: the Handle is not of this queue":  func() { a.Local(0).Fix(h, 1) },
		"ordered: AddressableLocal.Fix: the Handle is not of this queue ": func() { a.Local(0).Fix(nil, 1) },
		"ordered: Handle.Fix: the Handle is not from a Push":              func() { new(Handle[int]).Fix(1) },
		"ordered: Handle.Remove: the Handle is not from a Push":           func() { (*Handle[int])(nil).Remove() },
	} {
		func() {
			defer func() {
				if s := fmt.Sprint(recover()); s != want && s+" " != want {
					t.Errorf("%s; want %s", s, want)
				}
			}()
			f()
		}()
	}
	if v, ok := h.Remove(); v != 1 || !ok {
		t.Error("the handle of another queue is spoiled")
	}
}

// A push of a random priority and a pop, with 100 values there, beside a Queue and beside a Queue whose
// values have room for a handle.
func BenchmarkAddressable(b *testing.B) {
	const levels, values = 256, 100
	type roomy struct {
		v int
		_ *int
	}
	run := func(name string, push func(p, v int), pop func()) {
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			b.ReportAllocs()
			for b.Loop() {
				push(r.IntN(levels), 1)
				pop()
			}
		})
	}
	q := New[int](1, 0).Local(0)
	w := New[roomy](1, 0).Local(0)
	a := NewAddressable[int](1, 0)
	l := a.Local(0)
	for i := range values {
		q.Push(i, i)
		w.Push(i, roomy{v: i})
		l.Push(i, i)
	}
	run("Queue", q.Push, func() { q.Pop() })
	run("with room for a handle", func(p, v int) { w.Push(p, roomy{v: v}) }, func() { w.Pop() })
	run("Addressable", func(p, v int) { l.Push(p, v) }, func() { l.Pop() })
	var last *Handle[int]
	run("push and Remove", func(p, v int) { last = a.Push(p, v) }, func() { last.Remove() })
	hs := [values]*Handle[int]{}
	for i := range hs {
		hs[i] = a.Push(i, i)
	}
	b.Run("Fix", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 1))
		for i := 0; b.Loop(); i++ {
			hs[i%values].Fix(r.IntN(levels))
		}
	})
}
