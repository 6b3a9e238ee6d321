package ordered

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/filch-go/filch/internal/model"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/thorough"
)

func pops(l *Local[int], n int) (got []int) {
	for range n {
		v, ok := l.Pop()
		if !ok {
			v = -1
		}
		got = append(got, v)
	}
	return got
}

// When there is no more room, the worse half goes to the global queue, and the
// newcomer after it.
func TestTheWorseHalfGoesToTheGlobalQueue(t *testing.T) {
	l := New[int](1, 2).Local(0)
	for i := range 4 {
		l.Push(i, i)
	}
	if got := pops(l, 5); !slices.Equal(got, []int{0, 3, 1, 2, -1}) {
		t.Errorf("pops(l, 5): %v", got)
	}
	// Of one priority, the oldest stay.
	q := New[int](1, 4)
	l = q.Local(0)
	for i := range 5 {
		l.Push(7, i)
	}
	if l.Len() != 2 || q.Len() != 5 {
		t.Errorf("%d of %d are local", l.Len(), q.Len())
	}
	if got := pops(l, 6); !slices.Equal(got, []int{0, 1, 2, 3, 4, -1}) {
		t.Errorf("pops(l, 6): %v", got)
	}
	// It is the worse half of all, not one of each priority; rounded down.
	q = New[int](1, 5)
	l = q.Local(0)
	for i, p := range []int{3, 1, 2, 1, 3, 0} {
		l.Push(p, i)
	}
	if got := pops(l, 7); !slices.Equal(got, []int{1, 3, 2, 5, 0, 4, -1}) {
		t.Errorf("pops(l, 7): %v", got)
	}
	// With room for one, what comes later is global.
	l = New[int](1, 1).Local(0)
	for i := range 3 {
		l.Push(-i, i)
	}
	if got := pops(l, 4); !slices.Equal(got, []int{0, 2, 1, -1}) {
		t.Errorf("pops(l, 4): %v", got)
	}
}

// After 60 values that were local, a Local gives a global one, if there is one, and
// counts anew in any case. What fails does not count.
func TestTheGlobalQueueHasItsTurn(t *testing.T) {
	q := New[int](1, 0)
	l := q.Local(0)
	for range 100 {
		l.Pop()
	}
	for i := range 3 {
		q.Push(5, -1-i)
	}
	for i := range 200 {
		l.Push(0, i)
	}
	got := pops(l, 200)
	for i, v := range got {
		if global := i == 60 || i == 121 || i == 182; global != (v < 0) {
			t.Errorf("pop %d gives %d", i+1, v)
		}
	}
	l = New[int](1, 0).Local(0)
	for i := range 130 {
		l.Push(0, i)
	}
	pops(l, 70)
	l.q.Push(-1, -1)
	if got := pops(l, 60); slices.Index(got, -1) != 50 { // the 121st
		t.Errorf("the global value comes at %d", slices.Index(got, -1))
	}
}

// A thief takes half of the values of the best priority, rounded up.
func TestAThiefTakesHalfOfTheBestPriority(t *testing.T) {
	for batch, want := range map[int][]int{1: {3, 4, 5}, 2: {3, 4, 5}, 4: {3, 4, 5, 6}, 100: {3, 4, 5, 6}} {
		q := New[int](2, 0, StealBatch(batch))
		for i, p := range []int{2, 2, 2, 1, 1, 1, 1, 1, 3} {
			q.Local(0).Push(p, i)
		}
		thief := q.Local(1)
		got := pops(thief, 1)
		if thief.Len() != len(want)-1 || q.Len() != 8 {
			t.Errorf("batch %d: the thief has %d more, and all have %d", batch, thief.Len(), q.Len())
		}
		if got = append(got, pops(thief, len(want)-1)...); !slices.Equal(got, want) {
			t.Errorf("batch %d: %v, want %v", batch, got, want)
		}
	}
}

// A Pop looks at its own queue, then at those of others, then at the global one.
func TestAPopLooksAtItsOwnQueueFirst(t *testing.T) {
	q := New[int](3, 0)
	q.Push(0, 3)
	q.Local(0).Push(5, 1)
	q.Local(2).Push(0, 2)
	if got := pops(q.Local(0), 4); !slices.Equal(got, []int{1, 2, 3, -1}) {
		t.Errorf("pops(q.Local(0), 4): %v", got)
	}
	// Also if thieves have taken all of its own, which it cannot know.
	q.Local(0).Push(0, 1)
	if got := pops(q.Local(1), 1); !slices.Equal(got, []int{1}) {
		t.Errorf("pops(q.Local(1), 1): %v", got)
	}
	q.Push(0, 3)
	q.Local(2).Push(0, 2)
	if got := pops(q.Local(0), 3); !slices.Equal(got, []int{2, 3, -1}) {
		t.Errorf("pops(q.Local(0), 3): %v", got)
	}
	// Strict: the global best goes first if it is more urgent than the best of its own, before
	// what others have, even if that is the last of its own.
	q = New[int](2, 0, Strict())
	q.Local(0).Push(5, 1)
	q.Local(1).Push(9, 2)
	q.Push(1, 3)
	if got := pops(q.Local(0), 4); !slices.Equal(got, []int{3, 1, 2, -1}) {
		t.Errorf("pops(q.Local(0), 4): %v", got)
	}
}

// Each other Local is as likely as the next to be the first victim.
func TestVictimsAreFair(t *testing.T) {
	for n := 2; n <= 5; n++ {
		q := New[int](n, 0)
		const self, passes = 1, 30_000
		first := make([]int, n)
		for i := range n {
			if i != self {
				q.Local(i).Push(0, i)
			}
		}
		for range passes {
			i, ok := q.Local(self).Pop()
			if !ok {
				t.Fatal("nothing to steal")
			}
			first[i]++
			q.Local(i).Push(0, i)
		}
		for i, k := range first {
			if want := passes / (n - 1); i != self && (k < want*9/10 || k > want*11/10) {
				t.Errorf("of %d, %d was robbed first %d times of %d", n, i, k, passes)
			}
		}
	}
}

// Without StealBatch a thief takes one value, if no other has its priority.
func TestOneIsStolen(t *testing.T) {
	q := New[int](2, 0)
	for i := range 10 {
		q.Local(0).Push(i, i)
	}
	if v, _ := q.Local(1).Pop(); v != 0 || q.Local(1).Len() != 0 || q.Local(0).Len() != 9 {
		t.Errorf("%d was stolen, and %d more", v, q.Local(1).Len())
	}
}

// priorities are kinds of them.
var priorities = map[string]func(r *rand.Rand) int{
	"one":      func(*rand.Rand) int { return 0 },
	"few":      func(r *rand.Rand) int { return r.IntN(8) },
	"near":     func(r *rand.Rand) int { return r.IntN(10_000) },
	"nearer":   func(r *rand.Rand) int { return r.IntN(1_000_000) },
	"some":     func(r *rand.Rand) int { return r.IntN(600) - 100 },
	"distinct": func(r *rand.Rand) int { return r.Int() - math.MaxInt/2 },
	"extreme": func(r *rand.Rand) int {
		return []int{math.MinInt, math.MinInt + 1, -1, 0, math.MaxInt - 1, math.MaxInt}[r.IntN(6)]
	},
}

// Strict: a goroutine that is alone has all in order, of priority and age.
func TestAGoroutineAloneHasAllInOrderIfStrict(t *testing.T) {
	seed := rand.Uint64()
	for name, priority := range priorities {
		r := rand.New(rand.NewPCG(seed, 0))
		q := New[int](1, 1+r.IntN(10), Strict())
		l := q.Local(0)
		var m model.Queue
		for id := range 10_000 {
			if grow := id/100%2 == 0; len(m) == 0 || r.IntN(10) < 7 == grow {
				p := priority(r)
				l.Push(p, id)
				m.Push(model.Entry{p, id})
				continue
			}
			p, id, ok := l.Next()
			if want := m.Pop(); !ok || want != (model.Entry{p, id}) {
				t.Fatalf("seed %d, %s: %v, want %v", seed, name, model.Entry{p, id}, want)
			}
		}
	}
	q := New[int](1, 0, Strict())
	q.Local(0).Push(1, 1)
	q.Push(0, 0) // past the local queue
	if got := pops(q.Local(0), 2); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("pops(q.Local(0), 2): %v", got)
	}
}

// Two Locals and pushes past them, in one goroutine, against a model of all three
// queues.
func FuzzQueue(f *testing.F) {
	f.Add(uint8(2), uint8(1), []byte("aAbBcCdDpPqQgG"))
	f.Add(uint8(5), uint8(3), bytes.Repeat([]byte{0, 1, 2, 8, 9, 16, 40}, 50))
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		ops := make([]byte, 2000)
		for i := range ops {
			ops[i] = byte(r.Uint32())
		}
		f.Add(uint8(r.Uint32()), uint8(r.IntN(4)), ops)
	}
	f.Fuzz(func(t *testing.T, capacity, batch uint8, ops []byte) {
		size := 1 + int(capacity%20)
		most := 1 + int(batch%8)
		q := New[int](2, size, StealBatch(most))
		var locals [2]model.Queue
		var global model.Queue
		var tick [2]int
		pop := func(i int) (e model.Entry, ok bool) {
			if tick[i] == 60 {
				tick[i] = 0
				if len(global) > 0 {
					return global.Pop(), true
				}
			}
			if len(locals[i]) > 0 {
				tick[i]++
				return locals[i].Pop(), true
			}
			if v := &locals[1-i]; len(*v) > 0 {
				k := max((v.Bests()+1)/2, min(most, len(*v)/2))
				e = v.Pop()
				for range k - 1 {
					locals[i].Push(v.Pop())
				}
				tick[i]++
				return e, true
			}
			if len(global) > 0 {
				return global.Pop(), true
			}
			return e, false
		}
		for id, op := range ops {
			i := int(op & 1)
			p := int(op>>3) * []int{1, 100, 1000, 100_003}[id/50%4]
			switch {
			case op&6 == 6 || op&2 == 0 && id%5 == 0:
				p, v, ok := q.Local(i).Next()
				if want, any := pop(i); any != ok || ok && want != (model.Entry{p, v}) {
					t.Fatalf("operation %d: %v, %v, want %v, %v", id, model.Entry{p, v}, ok, want, any)
				}
			case op&6 == 4:
				q.Push(p, id)
				global.Push(model.Entry{p, id})
			default:
				q.Local(i).Push(p, id)
				if m := &locals[i]; len(*m) < size {
					m.Push(model.Entry{p, id})
				} else {
					for _, e := range m.Spill(size / 2) {
						global.Push(e)
					}
					global.Push(model.Entry{p, id})
				}
			}
			if n := len(locals[0]) + len(locals[1]) + len(global); q.Len() != n {
				t.Fatalf("operation %d: %d values, want %d", id, q.Len(), n)
			}
		}
	})
}

var stress = flag.Duration("stress", time.Second, "how long each stress test runs")

// Goroutines with a Local each and others that push past them: each value comes out
// once, nothing stays behind, and a goroutine that takes all that it can get leaves nothing.
func TestEachValueComesOutOnce(t *testing.T) {
	seed, span := rand.Uint64(), *stress/24
	if thorough.Sampled() {
		span /= 4
	}
	for round := 0; round < 4; round++ {
		for name, priority := range priorities {
			var opts []Option
			if round%2 == 1 {
				opts = append(opts, Strict())
			}
			if round >= 2 {
				opts = append(opts, StealBatch(8))
			}
			const workers, others = 4, 2
			q := New[int](workers, 1+rand.IntN(40), opts...)
			var seen sync.Map
			var pushed, popped atomic.Int64
			end := time.Now().Add(span)
			take := func(l *Local[int]) bool {
				id, ok := l.Pop()
				if !ok {
					return false
				}
				if _, twice := seen.LoadOrStore(id, true); twice {
					t.Errorf("seed %d, %s: %d came twice", seed, name, id)
				}
				popped.Add(1)
				return true
			}
			var working atomic.Int32
			working.Store(workers + others)
			var wg sync.WaitGroup
			for i := range workers + others {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(seed, uint64(i)))
					for n := 0; n%64 != 0 || time.Now().Before(end); n++ {
						if id := n*(workers+others) + i; i >= workers {
							q.Push(priority(r), id)
							pushed.Add(1)
							for q.Len() > 1000 {
								runtime.Gosched()
							}
						} else if r.IntN(2+n/100%2) == 0 {
							q.Local(i).Push(priority(r), id)
							pushed.Add(1)
						} else {
							take(q.Local(i))
						}
					}
					// Nobody goes before all is done.
					for working.Add(-1); i < workers; {
						if !take(q.Local(i)) && working.Load() <= 0 && q.Len() == 0 {
							break
						}
					}
				})
			}
			wg.Wait()
			if pushed.Load() != popped.Load() || q.Len() != 0 {
				t.Fatalf("seed %d, %s: %d pushed, %d popped, %d left", seed, name, pushed.Load(), popped.Load(), q.Len())
			}
		}
	}
}

// Len is never 0 while there is something, wherever it goes.
func TestLenWhileValuesMove(t *testing.T) {
	q := New[int](4, 8)
	q.Push(0, 1)
	stop := make(chan bool)
	var wg sync.WaitGroup
	for i := range 2 { // each keeps at least one of two in the queues
		wg.Go(func() {
			l := q.Local(i)
			for {
				select {
				case <-stop:
					return
				default:
				}
				l.Push(0, 2)
				if _, ok := l.Pop(); !ok {
					t.Error("nothing, though there is always something")
					return
				}
			}
		})
	}
	for start := time.Now(); time.Since(start) < *stress/4; {
		if q.Len() == 0 {
			t.Error("Len is 0")
			break
		}
	}
	close(stop)
	wg.Wait()
}

// Thieves make room for the owner, which need not spill then; and a queue that was
// robbed of all is empty, and full again only after as many values.
func TestThievesMakeRoom(t *testing.T) {
	q := New[int](2, 4)
	owner, thief := q.Local(0), q.Local(1)
	for round := range 1000 {
		for i := range 4 {
			owner.Push(i%2, i)
		}
		if owner.Len() != 4 || length(q.word.Load()) != 0 {
			t.Fatalf("round %d: %d are local", round, owner.Len())
		}
		for i := range 4 {
			if _, ok := thief.Pop(); !ok {
				t.Fatalf("round %d: nothing left after %d", round, i)
			}
		}
		if q.Len() != 0 || owner.Len() != 0 {
			t.Fatalf("round %d: %d are left", round, q.Len())
		}
	}
}

// What one goroutine has too much of is shared by all.
func TestUnbalancedLoadIsShared(t *testing.T) {
	for name, priority := range priorities {
		q := New[int](4, 1000)
		r := rand.New(rand.NewPCG(1, 0))
		for i := range 800 {
			q.Local(0).Push(priority(r), i)
		}
		for range 200 {
			for i := range 4 {
				if _, ok := q.Local(i).Pop(); !ok {
					t.Fatalf("%s: Local %d is idle while %d are left", name, i, q.Len())
				}
			}
		}
	}
}

// While one goroutine is in for long, others neither wait nor take from there.
func TestThievesDoNotWait(t *testing.T) {
	q := New[int](2, 0)
	q.Local(0).Push(0, 1)
	q.Push(0, 2)
	q.Local(0).enter()
	if v, ok := q.Local(1).Pop(); v != 2 || !ok {
		t.Errorf("q.Local(1).Pop(): %d, %v", v, ok)
	}
	q.Local(0).leave(1)
	if v, ok := q.Local(1).Pop(); v != 1 || !ok {
		t.Errorf("q.Local(1).Pop(): %d, %v", v, ok)
	}
}

// The owner takes no lock while no thief is there.
func TestOwnersTakeNoLock(t *testing.T) {
	l := New[int](2, 0).Local(0)
	l.mu.Lock() // a goroutine that waits for it waits for ever
	defer l.mu.Unlock()
	poll.End(t, "200 values pushed and popped while another goroutine has the lock", func() {
		for i := range 200 {
			l.Push(i, i)
		}
		for range 200 {
			l.Pop()
		}
	})
}

// What was handed out is not held.
func TestNothingIsRetained(t *testing.T) {
	type big struct{ _ [1 << 10]byte }
	for name, priority := range priorities {
		for _, opts := range [][]Option{nil, {Strict()}, {StealBatch(8)}} {
			q := New[*big](2, 16, opts...)
			r := rand.New(rand.NewPCG(1, 0))
			var refs []weak.Pointer[big]
			for range 100 {
				b := new(big)
				refs = append(refs, weak.Make(b))
				q.Local(0).Push(priority(r), b)
			}
			for i := range 100 {
				q.Local(i % 2).Pop()
			}
			runtime.GC()
			for _, w := range refs {
				if w.Value() != nil {
					t.Errorf("%s: a value is held", name)
					break
				}
			}
			runtime.KeepAlive(q)
		}
	}
}

func TestPushAndPopAllocateNothing(t *testing.T) {
	for name, priority := range priorities {
		q := New[int](2, 0)
		r := rand.New(rand.NewPCG(1, 0))
		for i := range 200 {
			q.Local(0).Push(priority(r), i)
		}
		n := testing.AllocsPerRun(1000, func() {
			q.Local(0).Push(priority(r), 0)
			q.Local(0).Pop()
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestBadArgumentsAreToldByName(t *testing.T) {
	for want, f := range map[string]func(){
		"ordered: New: locals is 0; there must be one":           func() { New[int](0, 0) },
		"ordered: New: capacity is -1, which is negative":        func() { New[int](1, -1) },
		"ordered: New: option 1 is nil":                          func() { New[int](1, 1, Strict(), nil) },
		"ordered: StealBatch(0): there must be a value to steal": func() { StealBatch(0) },
		"ordered: Local(2): there are 2":                         func() { New[int](2, 0).Local(2) },
		"ordered: Local(-1): there are 2":                        func() { New[int](2, 0).Local(-1) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %v", got, want)
				}
			}()
			f()
		}()
	}
}

// Two goroutines that both use a Local are a mistake, and the race detector says so.
func TestASecondOwnerIsDetected(t *testing.T) {
	const env = "ORDERED_TEST_OWNERS"
	uses := map[string]func(l *Local[int]){
		"Push": func(l *Local[int]) { l.Push(0, 1) },
		"Pop":  func(l *Local[int]) { l.Pop() },
		// With Strict, what is no more urgent than the global best does not come here.
		"PushPast": func(l *Local[int]) { l.Push(0, 1) },
	}
	if use := uses[os.Getenv(env)]; use != nil {
		q := New[int](2, 0)
		if os.Getenv(env) == "PushPast" {
			q = New[int](2, 0, Strict())
			q.Push(0, 0)
		}
		l := q.Local(0)
		done := make(chan bool)
		go func() { use(l); done <- true }()
		use(l)
		<-done
		return
	}
	if !race.Enabled {
		t.Skip("needs the race detector")
	}
	for use := range uses {
		cmd := exec.Command(os.Args[0], "-test.run=^TestASecondOwnerIsDetected$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s", env, use))
		if b, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(b, []byte("DATA RACE")) {
			t.Errorf("cmd.CombinedOutput(): %s: %v\n%s", use, err, b)
		}
	}
}

// What thieves write and what the owner does is apart. It is an error in compilation if not.
var (
	_ [unsafe.Offsetof(gate{}.thief) - unsafe.Offsetof(gate{}.word) - line]byte
	_ [unsafe.Offsetof(gate{}.known) - unsafe.Offsetof(gate{}.thief) - line]byte
	_ [unsafe.Offsetof(Local[int]{}.moving) - unsafe.Offsetof(Local[int]{}.batch) - line]byte
)
