package place

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPlacesGoToTheHighestLevelAndSometimesToTheLowest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Places
		p.Init(0)
		var order []int
		for level := range Levels {
			for range 100 {
				go func() {
					if n, err := p.Take(t.Context(), level, 1); n != 1 || err != nil {
						t.Error(n, err)
					}
					order = append(order, level)
				}()
			}
		}
		synctest.Wait()
		for range 300 {
			p.Put(1)
			synctest.Wait()
		}
		if first := slices.Index(order, Levels-1); first != Starved {
			t.Error("the first low one was number", first)
		}
		if first := slices.Index(order, 1); first != Starved+1 {
			t.Error("between those of higher and lower levels, the first normal one was number", first)
		}
		if p.Free() != 0 || len(order) != 300 {
			t.Error(p.Free(), len(order))
		}
	})
}

func TestAPlaceThatComesAsItsWaitEndsIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Places
		p.Init(0)
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		var n int
		var err error
		go func() { n, err = p.Take(ctx, 1, 5) }()
		synctest.Wait()
		p.Put(3)
		cancel(stop)
		synctest.Wait()
		if p.Free()+n != 3 || (n == 0) != errors.Is(err, stop) {
			t.Error(p.Free(), n, err)
		}
	})
}

func TestAPlaceThatComesTooLateGoesToTheNext(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for late := 0; late < 20; {
		synctest.Test(t, func(t *testing.T) {
			var p Places
			next := false
			go func() {
				_, err := p.Take(t.Context(), Levels-1, 1)
				next = err == nil
			}()
			synctest.Wait()
			p.mu.Lock()
			p.total, p.free = 1, 1 // the next grant is to one whose time is over
			p.mu.Unlock()
			n, err := p.Take(over, 0, 1)
			if err != nil {
				late++
			}
			synctest.Wait()
			if next != (n == 0) {
				t.Error("the place was given to", n, err, "and to the next:", next)
			}
			p.Put(1)
		})
	}
}

func TestAWaitForAnIdlePlaceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Places
		ctx, cancel := context.WithCancel(t.Context())
		var errs [2]error
		for i, ctx := range []context.Context{ctx, t.Context()} {
			go func() { errs[i] = p.Wait(ctx) }()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !errors.Is(errs[0], context.Canceled) {
			t.Error(errs[0])
		}
		p.Put(1)
		synctest.Wait()
		if p.idle != nil || errs[1] != nil || p.Free() != 1 {
			t.Error(p.idle, errs[1], p.Free())
		}
	})
}

func TestPlacesStorm(t *testing.T) {
	var p Places
	p.Init(4)
	var wg sync.WaitGroup
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range 16 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for range 2000 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(200))*time.Microsecond)
				if n, err := p.Take(ctx, r.IntN(Levels), 1+r.IntN(5)); err == nil {
					if n < 1 || n > 4 {
						t.Error("places:", n)
					}
					p.Put(n)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if p.Free() != 4 {
		t.Error("free places:", p.Free())
	}
}

func TestOtherTasksLeaveOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Places
		p.Init(3)
		for i, want := range []int{2, 1, 1, 1} {
			if n := p.Enter(); n != int64(i+1) || p.Free() != want {
				t.Errorf("%d others, %d places", n, p.Free())
			}
		}
		n, err := p.Take(t.Context(), 1, 3)
		if n != 1 || err != nil {
			t.Error(n, err)
		}
		taken, idle := 0, false
		go func() { taken, _ = p.Take(t.Context(), 1, 1) }()
		go func() { _ = p.Wait(t.Context()); idle = true }()
		for left := int64(3); left >= 0; left-- {
			if got := p.Leave(); got != left {
				t.Error(got, "are left, not", left)
			}
			synctest.Wait()
			if (taken == 1) != (left <= 1) || idle != (left == 0) {
				t.Errorf("with %d others: %d taken, idle %v", left, taken, idle)
			}
		}
	})
}

// Whatever the order in which others leave and lanes begin to wait, no lane is forgotten.
func TestOtherTasksThatLeaveWakeLanes(t *testing.T) {
	for range 2000 {
		var p Places
		p.Init(4)
		for range 3 {
			p.Enter()
		}
		if n, err := p.Take(t.Context(), 1, 4); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		var all sync.WaitGroup
		all.Go(func() { _ = p.Wait(t.Context()) })
		for level := range 2 {
			all.Go(func() {
				n, _ := p.Take(t.Context(), level, 1)
				p.Put(n)
			})
		}
		for range 3 {
			all.Go(func() { p.Leave() })
		}
		all.Wait()
	}
}

func TestPlacesInBatchesWaitForMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Places
		p.Init(8)
		p.InBatches(3)
		if n, err := p.Take(t.Context(), 1, 6); n != 6 || err != nil {
			t.Fatal(n, err)
		}
		got, idle := 0, false
		go func() { got, _ = p.Take(t.Context(), 1, 5) }()
		go func() { idle = p.Wait(t.Context()) == nil }()
		if synctest.Wait(); got != 0 || idle {
			t.Error("of 2 free ones, taken:", got, "idle:", idle)
		}
		p.Put(1)
		if synctest.Wait(); got != 3 || idle {
			t.Error("of 3 free ones, taken:", got, "idle:", idle)
		}
		p.Put(3)
		if synctest.Wait(); !idle {
			t.Error("not idle with 3 that nobody waits for")
		}
	})
}
