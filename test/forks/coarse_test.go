package forks

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
)

// naps forks n leaves that sleep, in one loop, and joins them.
func naps(n int) func(f *filch.Frame[int, int], arg int) int {
	return func(f *filch.Frame[int, int], arg int) int {
		if arg < 0 {
			time.Sleep(rig.Leaf)
			return 1
		}
		hs := make([]filch.Fork, n)
		for i := range hs {
			hs[i] = f.Fork(-1)
		}
		sum := 0
		for i := n - 1; i >= 0; i-- {
			sum += f.Join(hs[i])
		}
		return sum
	}
}

// In a bubble of synctest the clock moves only when all goroutines sleep, so
// what is measured is the schedule and nothing else.

// k leaves take ⌈k/P⌉ rounds on P workers at rest, whichever way they are forked: never more,
// and less only by what ran on extra slots. After a wait a worker goes on at once, for
// one leaf beside all the others if their places are taken; see WithWorkers.
func TestCoarseForksOverlap(t *testing.T) {
	halve := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 1 {
			time.Sleep(rig.Leaf)
			return 1
		}
		h := f.Fork(n / 2)
		sum := f.Call(n - n/2)
		return f.Join(h) + sum
	})
	var join func(w *filch.Worker, n int) int
	join = func(w *filch.Worker, n int) int {
		if n == 1 {
			time.Sleep(rig.Leaf)
			return 1
		}
		a, b := filch.Join(w,
			func(w *filch.Worker) int { return join(w, n/2) },
			func(w *filch.Worker) int { return join(w, n-n/2) })
		return a + b
	}
	ways := map[string]func(p *filch.Pool, n int) int{
		"in a loop":  func(p *filch.Pool, n int) int { return filch.NewFunc(naps(n)).Call(p, 0) },
		"by halving": func(p *filch.Pool, n int) int { return halve.Call(p, n) },
		"by Join": func(p *filch.Pool, n int) (sum int) {
			p.Do(func(w *filch.Worker) { sum = join(w, n) })
			return sum
		},
	}
	for _, c := range []struct{ workers, forks int }{
		{1, 8}, {2, 2}, {2, 64}, {3, 64}, {8, 8}, {8, 9}, {8, 64}, {64, 64}, {64, 1000}, {8, 10000},
	} {
		if thorough.Sampled() && c.forks > 64 {
			continue
		}
		for name, way := range ways {
			t.Run(fmt.Sprintf("%d forks on %d workers %s", c.forks, c.workers, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := filch.New(filch.WithWorkers(c.workers))
					rounds := (c.forks + c.workers - 1) / c.workers
					for range 3 {
						before := p.Stats().Waits
						start := time.Now()
						if n := way(p, c.forks); n != c.forks {
							t.Fatalf("%d leaves ran, not %d", n, c.forks)
						}
						took := time.Since(start)
						synctest.Wait() // until all workers have reported
						extra := 1 + int(p.Stats().Waits-before)
						least := (c.forks - extra + c.workers - 1) / c.workers
						if took > time.Duration(rounds)*rig.Leaf || took < time.Duration(least)*rig.Leaf {
							t.Errorf("took %v, not the %d rounds of %v, or %d at least; %+v", took, rounds, rig.Leaf, least, p.Stats())
						}
					}
				})
			})
		}
	}
}

// The workers are busy when the forks are made, and fall idle while the owner
// is in a leaf that never forks.
func TestCoarseForksReachWorkersThatFallIdleLater(t *testing.T) {
	for _, c := range []struct {
		workers, forks int
		busy           time.Duration
	}{
		{8, 64, rig.Leaf / 10}, {8, 64, rig.Leaf / 2}, {8, 64, rig.Leaf * 9 / 10}, {8, 64, 3 * rig.Leaf / 2},
		{8, 1000, rig.Leaf}, {8, 1000, 2 * rig.Leaf}, {8, 1000, 6 * rig.Leaf}, {4, 100, rig.Leaf}, {4, 100, 4 * rig.Leaf}, {3, 64, rig.Leaf}, {2, 30, 3 * rig.Leaf},
	} {
		workers, forks, busy := c.workers, c.forks, c.busy
		t.Run(fmt.Sprintf("%d forks on %d workers busy for %v", forks, workers, busy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers))
				fn := filch.NewFunc(naps(forks))
				var took time.Duration
				var wg sync.WaitGroup
				for range workers - 1 {
					wg.Go(func() {
						p.Do(func(*filch.Worker) { time.Sleep(busy) })
					})
				}
				synctest.Wait()
				start := time.Now()
				fn.Call(p, 0)
				took = time.Since(start)
				wg.Wait()
				work := time.Duration(forks)*rig.Leaf + time.Duration(workers-1)*busy
				ideal := float64(work) / float64(workers) / float64(rig.Leaf)
				got := float64(took) / float64(rig.Leaf)
				t.Logf("%.2f leaves; the work would fill %.2f on %d workers", got, ideal, workers)
				if got > ideal+1 {
					t.Errorf("took the time of %.2f leaves, more than one above %.2f", got, ideal)
				}
			})
		})
	}
}

// Fine-grained forks seldom hide a coarse one that comes next. They may: when
// thieves come and go meanwhile, the reserve can be used up by the end. Without
// it, nearly all of these run one nap after the other.
func TestCoarseForkAfterFineOnes(t *testing.T) {
	serial, all := 0, 0
	for _, workers := range []int{2, 4, 8} {
		for n := range 13 {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers))
				p.Do(func(w *filch.Worker) {
					rig.FibFunc.Call(w, n)
					start := time.Now()
					nap := func(*filch.Worker) { time.Sleep(rig.Leaf) }
					w.Join(nap, nap)
					if all++; time.Since(start) > rig.Leaf {
						serial++
					}
				})
			})
		}
	}
	if serial > all/4 {
		t.Errorf("%d of %d pairs of naps ran one after the other", serial, all)
	}
}
