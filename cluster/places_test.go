package cluster

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
		var p places
		p.init(0)
		var order []int
		for level := range levels {
			for range 100 {
				go func() {
					if n, err := p.take(t.Context(), level, 1); n != 1 || err != nil {
						t.Error(n, err)
					}
					order = append(order, level)
				}()
			}
		}
		synctest.Wait()
		for range 300 {
			p.put(1)
			synctest.Wait()
		}
		if first := slices.Index(order, Low); first != starved {
			t.Error("the first low one was number", first)
		}
		if p.free != 0 || len(order) != 300 {
			t.Error(p.free, len(order))
		}
	})
}

func TestAPlaceThatComesAsItsWaitEndsIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p places
		p.init(0)
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		var n int
		var err error
		go func() { n, err = p.take(ctx, Normal, 5) }()
		synctest.Wait()
		p.put(3)
		cancel(stop)
		synctest.Wait()
		if p.free+n != 3 || (n == 0) != errors.Is(err, stop) {
			t.Error(p.free, n, err)
		}
	})
}

func TestPlacesStorm(t *testing.T) {
	var p places
	p.init(4)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range 2000 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(200))*time.Microsecond)
				if n, err := p.take(ctx, r.IntN(levels), 1+r.IntN(5)); err == nil {
					if n < 1 || n > 4 {
						t.Error("places:", n)
					}
					p.put(n)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if p.free != 4 {
		t.Error("free places:", p.free)
	}
}
