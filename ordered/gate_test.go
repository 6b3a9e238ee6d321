package ordered

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// Each visit changes the word of a gate, also one that leaves as many values as there were: that is
// how Len knows that something has moved while it looked.
func TestEachVisitShows(t *testing.T) {
	q := New[int](2, 4)
	a, b := q.Local(0), q.Local(1)
	seen := map[uint64]bool{}
	look := func(what string) {
		t.Helper()
		_, version := q.look()
		if seen[version] {
			t.Errorf("%s: nothing shows that", what)
		}
		seen[version] = true
	}
	look("at first")
	for i := range 3 {
		a.Push(i, i)
		look("a push")
		b.Pop() // steals it
		look("a steal")
		b.Push(i, i)
		look("a push")
		b.Pop()
		look("a pop")
		q.Push(i, i)
		look("a push past the locals")
		b.Pop()
		look("a pop of a global value")
		for j := range 6 {
			a.Push(0, j)
			look("a push that may spill")
		}
		for q.Len() > 0 {
			b.Pop()
			look("a pop that may steal")
		}
	}
}

// The word tells how many values there are, however many visits there were.
func TestLengthOfAWord(t *testing.T) {
	var g gate
	for n := range 1000 {
		g.enter()
		if g.word.Load()&ownerIn == 0 {
			t.Fatal("the owner does not show")
		}
		g.leave(n)
		if w := g.word.Load(); length(w) != n || w&ownerIn != 0 || w/oneVisit != uint64(n+1) {
			t.Fatalf("visit %d: the word is %x", n+1, w)
		}
	}
	if !g.enterThief() {
		t.Fatal("a thief is kept out by nobody")
	}
	g.leaveThief(7)
	if w := g.word.Load(); length(w) != 7 || w/oneVisit != 1000 {
		t.Errorf("after a thief: %x", w)
	}
}

// A thief that the owner keeps out leaves no trace: the owner takes no lock afterwards, nor while
// it is there, and the next thief comes in.
func TestAThiefThatIsKeptOut(t *testing.T) {
	var g gate
	g.enter()
	if g.enterThief() {
		t.Fatal("both are in")
	}
	if g.thief.Load() != 0 {
		t.Error("a thief shows that is not there")
	}
	g.leave(1)
	g.enter()
	if g.locked {
		t.Error("the owner has the lock, and nobody is there")
	}
	g.leave(2)
	if !g.enterThief() {
		t.Fatal("a thief is kept out by nobody")
	}
	if g.enterThief() {
		t.Error("two thieves are in")
	}
	g.leaveThief(1)
	if g.thief.Load() != 0 {
		t.Error("a thief shows that has left")
	}
	g.enter()
	if g.locked {
		t.Error("the owner has the lock, and nobody is there any more")
	}
	g.leave(0)
}

// An owner that has met a thief takes the lock, and gives it back when it leaves.
func TestTheOwnerGivesTheLockBack(t *testing.T) {
	var g gate
	g.thief.Store(1) // as one that is about to find out that the owner is in
	g.enter()
	if g.mu.TryLock() {
		t.Fatal("the owner has no lock against a thief")
	}
	g.thief.Store(0)
	g.leave(1)
	if !g.enterThief() {
		t.Fatal("the owner has left with the lock")
	}
	g.leaveThief(1)
	g.enter()
	g.leave(0)
}

// Who is alone with values that are not all of one priority has them local, with Strict as well,
// as long as there is room and nothing global is as urgent.
func TestStrictStaysLocal(t *testing.T) {
	q := New[int](1, 4, Strict())
	l := q.Local(0)
	for i, want := range []int{1, 2, 3, 4} {
		l.Push(i, i)
		if l.Len() != want || q.Len() != want {
			t.Errorf("after %d pushes %d of %d are local", i+1, l.Len(), q.Len())
		}
	}
	l.Push(0, 4) // full: the worse half goes, and the newcomer is more urgent than that
	if l.Len() != 3 || q.Len() != 5 {
		t.Errorf("after a spill %d of %d are local", l.Len(), q.Len())
	}
	l.Push(2, 5) // no more urgent than what is global
	if l.Len() != 3 || q.Len() != 6 {
		t.Errorf("%d of %d are local", l.Len(), q.Len())
	}
	if got := pops(l, 7); !slices.Equal(got, []int{0, 4, 1, 2, 5, 3, -1}) {
		t.Errorf("pops(l, 7): %v", got)
	}
}

// A local queue never holds more than it has room for.
func TestCapacityHolds(t *testing.T) {
	for _, strict := range []bool{false, true} {
		for capacity := 1; capacity < 10; capacity++ {
			opts := []Option{}
			if strict {
				opts = append(opts, Strict())
			}
			q := New[int](2, capacity, opts...)
			l := q.Local(0)
			for i := range 100 {
				l.Push(100-i, i)
				if l.Len() > capacity {
					t.Fatalf("strict %v: %d values in a queue for %d", strict, l.Len(), capacity)
				}
			}
			if q.Len() != 100 {
				t.Errorf("strict %v: %d values in all", strict, q.Len())
			}
		}
	}
	l := New[int](1, 0).Local(0)
	for i := range defaultCapacity {
		l.Push(i, i)
	}
	if l.Len() != 256 {
		t.Errorf("%d values are local", l.Len())
	}
	if l.Push(0, 0); l.Len() != 128 {
		t.Errorf("%d values are local after a spill", l.Len())
	}
}

// The owner alone never takes the lock, whether there are values or not.
func TestOwnersFindNothingWithoutALock(t *testing.T) {
	q := New[int](2, 0)
	a, b := q.Local(0), q.Local(1)
	for range 100 {
		a.Pop()
		a.Push(1, 1)
		b.Pop()
		a.Pop()
	}
	a.enter()
	if a.locked {
		t.Error("the owner took the lock")
	}
	a.leave(0)
	if a.tick > globalEvery || b.tick > globalEvery {
		t.Errorf("ticks %d and %d", a.tick, b.tick)
	}
}

// Who finds nothing takes no lock of others and no global one, and leaves no trace of a theft.
func TestNothingIsFoundWithoutALock(t *testing.T) {
	q := New[int](2, 0)
	q.mu.Lock() // a goroutine that waits for it waits for ever
	for range 100 {
		if _, ok := q.Local(0).Pop(); ok {
			t.Error("something of nothing")
		}
	}
	q.mu.Unlock()
	if n := q.Local(0).moving.Load(); n != 0 {
		t.Errorf("a theft shows: %x", n)
	}
	q.Local(1).enter()
	if _, ok := q.Local(0).Pop(); ok { // and does not wait, for there is nothing
		t.Error("something of nothing")
	}
	q.Local(1).leave(0)
}

// What somebody else took first is not there any more, in a local queue or the global one.
func TestSomebodyElseWasFirst(t *testing.T) {
	q := New[int](2, 0)
	q.word.Store(oneValue)
	q.Local(1).word.Store(oneValue)
	if v, ok := q.Local(0).Pop(); ok {
		t.Errorf("%d of nothing", v)
	}
}

// What a thief has taken and not put down yet counts.
func TestWhatIsOnTheWayCounts(t *testing.T) {
	q := New[int](2, 0)
	q.Local(1).moving.Store(oneVisit + 2*oneValue)
	if n := q.Len(); n != 2 {
		t.Errorf("%d values", n)
	}
}

// A goroutine that waits for one that is in lets others run, so that it goes on, also on one processor.
func TestPopLetsOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	q := New[int](2, 0)
	owner := q.Local(1)
	owner.Push(0, 1)
	owner.enter()
	go func() {
		for range 3000 { // each as long as a time slice, if nobody gives it up
			runtime.Gosched()
		}
		owner.leave(1)
	}()
	late := time.AfterFunc(10*time.Second, func() {})
	if v, ok := q.Local(0).Pop(); !ok || v != 1 || !late.Stop() {
		t.Errorf("%d, %t, or it took seconds", v, ok)
	}
}
