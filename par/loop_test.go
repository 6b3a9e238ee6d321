package par

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
	"weak"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// What is remembered of a function follows what is measured if it differs by more than a quarter: at
// once if it is dearer, by halves if it is cheaper, and not upwards if there was too little time to
// tell.
func TestWhatIsRememberedFollowsWhatIsMeasured(t *testing.T) {
	for _, s := range []struct{ old, each, took, want int64 }{
		{0, 1000, 1, 1000},
		{0, 1, 1, fastest},
		{1000, 1250, blur, 1000},
		{1000, 1251, blur, 1251},
		{1000, 1251, blur - 1, 1000},
		{1000, 750, 1, 1000},
		{1000, 749, 1, 874},
		{1, 1000, blur - 1, 1},
	} {
		var c cost
		c.each.Store(s.old)
		if c.learn(s.each, s.took); c.known() != s.want {
			t.Errorf("%+v: %d is remembered", s, c.known())
		}
	}
}

// Functions that share a place forget each other.
func TestCostsInOnePlace(t *testing.T) {
	racetest.Skip(t, "it checks what a loop costs")
	f := func() {}
	c := costOf(f, asIs)
	c.each.Store(5)
	if costOf(f, asIs).known() != 5 {
		t.Error("it was forgotten")
	}
	c.of.Store(1) // another
	if n := costOf(f, asIs).known(); n != 0 {
		t.Errorf("%d is known of another function", n)
	}
	if costOf(f, toCount) == costOf(f, asIs) {
		t.Error("what is done with an element does not matter")
	}
}

// Two functions that one call asks for do not forget each other if their places are the same.
func TestTwoCostsInOnePlace(t *testing.T) {
	racetest.Skip(t, "it checks what a loop costs")
	f := func() {}
	c := costOf(f, asIs)
	other := &costs[(uintptr(unsafe.Pointer(c))-uintptr(unsafe.Pointer(&costs[0])))/unsafe.Sizeof(*c)^1]
	was := other.of.Load()
	defer other.of.Store(was)
	c.of.Store(1)
	other.of.Store(0)
	if d := costOf(f, asIs); d != other {
		t.Error("the free place is not taken")
	} else if d.each.Store(7); costOf(f, asIs).known() != 7 || c.of.Load() != 1 {
		t.Error("one of them was forgotten")
	}
}

// What is known to take no more than little is left to one, and the rest divided.
func TestHowMuchIsDivided(t *testing.T) {
	racetest.Skip(t, "it checks what a loop costs")
	var c cost
	if c.cheap(1) {
		t.Error("what is not known is said to be cheap")
	}
	c.each.Store(ns)
	if !c.cheap(little/ns) || c.cheap(little/ns+1) {
		t.Errorf("%d nanoseconds: %t, and one more: %t", little/ns, c.cheap(little/ns), c.cheap(little/ns+1))
	}
	for _, s := range []struct {
		grain, n int
		each     int64
		want     bool
	}{
		{0, 1, 0, false}, {0, 2, 0, true}, {0, 1, little, false}, {0, 2, little, true},
		{0, little/ns - 1, ns, false}, {0, little / ns, ns, true},
		{10, 10, 0, false}, {10, 11, ns, true}, {1, 2, ns, true}, {1, 1, little, false},
	} {
		l := loop{config: config{grain: s.grain}}
		if got := l.divisible(s.n, s.each); got != s.want {
			t.Errorf("l.divisible(s.n, s.each): %+v: %t", s, got)
		}
	}
	synctest.Test(t, func(t *testing.T) { // where nothing takes time
		p := filch.New(filch.WithWorkers(1))
		p.Close()
		body := func(int) {}
		for n, alone := range map[int]bool{little / ns: true, little/ns + 1: false} {
			costOf(body, asIs).each.Store(ns)
			if v := rig.Catch(func() { For(p, n, body) }); (v == nil) != alone {
				t.Errorf("%d elements of a nanosecond on a closed pool: %v", n, v)
			}
		}
	})
}

// Four values for each worker are under way in a Pipeline, if nothing else is said.
func TestHowManyAreInFlight(t *testing.T) {
	for _, workers := range []int{2, 3} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers))
			defer p.Close()
			var taken atomic.Int64
			err := Stage(From(upTo(100, &taken)), 1, func(v int) (int, error) {
				if time.Sleep(time.Second); v == 0 && taken.Load() != int64(4*workers) {
					t.Errorf("%d values have been taken for %d workers", taken.Load(), workers)
				}
				return v, nil
			}).Run(p, func(int) error { return nil })
			if err != nil {
				t.Error("Stage(From(upTo(100, &taken)), 1, …).Run(p, …):", err)
			}
		})
	}
}

// A value that has left a stage is not held there.
func TestPipelinesRetainNothing(t *testing.T) {
	type big struct{ _ [1 << 10]byte }
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	var second weak.Pointer[big]
	source := func(yield func(*big) bool) {
		yield(new(big))
	}
	a := Stage(From(source), 1, func(*big) (*big, error) {
		v := new(big)
		second = weak.Make(v)
		return v, nil
	})
	b := Stage(a, 1, func(*big) (int, error) { return 1, nil })
	if err := b.Run(p, func(int) error {
		runtime.GC()
		if second.Value() != nil {
			t.Error("what a stage has returned is held after the next")
		}
		return nil
	}); err != nil {
		t.Error("b.Run(p, …):", err)
	}
}
