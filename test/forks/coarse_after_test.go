package forks

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
)

// leavesAfter makes k leaves that sleep on w, in one way each. They add to ran.
var leavesAfter = map[string]func(w *filch.Worker, k int, ran *atomic.Int64){
	"forks in a loop": func(w *filch.Worker, k int, ran *atomic.Int64) { ran.Add(int64(napsOf[k].Call(w, 0))) },
	"forks by halving": func(w *filch.Worker, k int, ran *atomic.Int64) {
		ran.Add(int64(halvedNaps.Call(w, k)))
	},
	"Join":  joinNaps,
	"Chain": func(w *filch.Worker, k int, ran *atomic.Int64) { ran.Add(int64(chainedNaps.Call(w, k))) },
	"Async": func(w *filch.Worker, k int, ran *atomic.Int64) {
		w.Finish(func(w *filch.Worker) {
			for range k {
				w.Async(func(*filch.Worker) { napOnce(ran) })
			}
		})
	},
	"Async by halving": func(w *filch.Worker, k int, ran *atomic.Int64) {
		w.Finish(func(w *filch.Worker) { asyncNaps(w, k, ran) })
	},
}

// napsOf has functions that fork as many leaves, by number.
var napsOf = func() (all [65]*filch.Func[int, int]) {
	for k := range all {
		all[k] = filch.NewFunc(naps(k))
	}
	return all
}()

var halvedNaps = filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
	if n == 1 {
		time.Sleep(rig.Leaf)
		return 1
	}
	h := f.Fork(n / 2)
	sum := f.Call(n - n/2)
	return f.Join(h) + sum
})

var chainedNaps = filch.NewChain(chainNaps)

func chainNaps(l *filch.Link[int, int], n int) int {
	if n == 1 {
		time.Sleep(rig.Leaf)
		return 1
	}
	l.Fork(n / 2)
	sum := chainNaps(l.Next(), n-n/2)
	if l.TakeBack() {
		return chainNaps(l, n/2) + sum
	}
	return l.Join() + sum
}

func napOnce(ran *atomic.Int64) {
	time.Sleep(rig.Leaf)
	ran.Add(1)
}

func joinNaps(w *filch.Worker, n int, ran *atomic.Int64) {
	if n == 1 {
		napOnce(ran)
		return
	}
	w.Join(
		func(w *filch.Worker) { joinNaps(w, n/2, ran) },
		func(w *filch.Worker) { joinNaps(w, n-n/2, ran) })
}

func asyncNaps(w *filch.Worker, n int, ran *atomic.Int64) {
	for ; n > 1; n -= n / 2 {
		part := n / 2
		w.Async(func(w *filch.Worker) { asyncNaps(w, part, ran) })
	}
	napOnce(ran)
}

// fineBefore is what may have run before.
var fineBefore = map[string]func(w *filch.Worker, n int){
	"fib":   func(w *filch.Worker, n int) { rig.FibFunc.Call(w, n) },
	"Join":  func(w *filch.Worker, n int) { fineJoin(w, n) },
	"Async": func(w *filch.Worker, n int) { w.Finish(func(w *filch.Worker) { fineAsync(w, n) }) },
}

func fineJoin(w *filch.Worker, n int) {
	if n > 1 {
		w.Join(func(w *filch.Worker) { fineJoin(w, n-1) }, func(w *filch.Worker) { fineJoin(w, n-2) })
	}
}

func fineAsync(w *filch.Worker, n int) {
	if n > 1 {
		w.Async(func(w *filch.Worker) { fineAsync(w, n-1) })
		w.Async(func(w *filch.Worker) { fineAsync(w, n-2) })
	}
}

// k leaves take ⌈k/P⌉ rounds on P workers, whatever fine work ran just before, in the same call or in one
// before it. In virtual time fine work takes none, so its publications cost nothing either.
func TestCoarseLeavesAfterFineWork(t *testing.T) {
	fine := []int{8}
	if rig.LongForm() {
		fine = []int{3, 8, 13, 18}
	}
	for name, make := range leavesAfter {
		for before, run := range fineBefore {
			t.Run(fmt.Sprintf("%s after %s", name, before), func(t *testing.T) {
				late, all, step, every := 0, 0, 1, 2
				switch {
				case thorough.Sampled() && race.Enabled:
					step, every = 6, 4
				case thorough.Sampled():
					step = 3
				}
				for workers := 2; workers <= 8; workers += step {
					for k := 1; k <= 64; k++ {
						if !rig.LongForm() && (k > 2*workers && k%11 != 4 || (k+workers)%every != 0) {
							continue
						}
						for _, n := range fine {
							rounds := roundsAfter(workers, func(w *filch.Worker) { run(w, n) }, func(w *filch.Worker) {
								var ran atomic.Int64
								if make(w, k, &ran); int(ran.Load()) != k {
									t.Fatalf("%d leaves ran, not %d", ran.Load(), k)
								}
							}, t)
							all++
							if want := float64((k + workers - 1) / workers); rounds > want {
								if late++; late < 5 {
									t.Errorf("%d leaves on %d workers after %s of %d took %v rounds, not %v", k, workers, before, n, rounds, want)
								}
							}
						}
					}
				}
				if late > 0 {
					t.Errorf("%d of %d cases took too long", late, all)
				}
			})
		}
	}
}

// roundsAfter returns how many leaves one after the other the second call takes, on a pool on which the first ran
// just before, on the same worker.
func roundsAfter(workers int, first, second func(w *filch.Worker), t *testing.T) (rounds float64) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		p.Do(func(w *filch.Worker) {
			first(w)
			start := time.Now()
			second(w)
			rounds = float64(time.Since(start)) / float64(rig.Leaf)
		})
	})
	return rounds
}
