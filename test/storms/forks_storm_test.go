package storms

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// Bursts of work, with rests of random length between them in which workers
// leave, spin or are on their way: a lost wake-up makes an arm wait for ever
// for the other.
func TestNoWakeupIsLost(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, workers := range []int{2, 3, 8} {
		p := filch.New(filch.WithWorkers(workers))
		rounds := 0
		for start := time.Now(); time.Since(start) < rig.StressTime()/3; rounds++ {
			arms := 2 + rng.IntN(workers-1)
			var in sync.WaitGroup
			in.Add(arms)
			met := make(chan bool)
			go func() {
				in.Wait()
				close(met)
			}()
			watchdog := time.AfterFunc(time.Minute, func() {
				var b strings.Builder
				pprof.Lookup("goroutine").WriteTo(&b, 2)
				panic(fmt.Sprintf("seed %d, %d workers, round %d: %d arms have not met in a minute; %+v\n%s",
					seed, workers, rounds, arms, p.Stats(), b.String()))
			})
			both := rig.Any(rng, rig.Forms).Both
			var spread func(n int) rig.Step
			spread = func(n int) rig.Step {
				return func(w *filch.Worker) {
					if n == 1 {
						in.Done()
						<-met
						return
					}
					both(w, spread(n/2), spread(n-n/2))
				}
			}
			p.Do(spread(arms))
			watchdog.Stop()
			for range rng.IntN(1 << rng.IntN(14)) {
				if rng.IntN(64) == 0 {
					runtime.Gosched()
				}
			}
		}
		t.Logf("%d workers: %d rounds, %+v", workers, rounds, p.Stats())
	}
}

// A bit of everything at once, from several goroutines.
func TestForksAtRandomLoseNoLeaf(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var wg sync.WaitGroup
		for i := range uint64(4) {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, i))
				for start := time.Now(); time.Since(start) < rig.StressTime()/3; {
					both := rig.Any(rng, rig.Forms).Both
					var work func(rng *rand.Rand, depth int) func(w *filch.Worker) int
					work = func(rng *rand.Rand, depth int) func(w *filch.Worker) int {
						r1, r2 := rand.New(rand.NewPCG(rng.Uint64(), 1)), rand.New(rand.NewPCG(rng.Uint64(), 2))
						return func(w *filch.Worker) (n int) {
							switch {
							case depth == 0:
								for range r1.IntN(100) {
									runtime.Gosched()
								}
								return 1
							case r1.IntN(50) == 0:
								rig.Catch(func() {
									both(w, rig.Nop, func(*filch.Worker) { panic("b") })
								})
							case r1.IntN(50) == 0:
								p.Do(func(w *filch.Worker) { n = work(r2, depth)(w) })
								return n
							}
							var x, y int
							both(w,
								func(w *filch.Worker) { x = work(r1, depth-1)(w) },
								func(w *filch.Worker) { y = work(r2, depth-1)(w) })
							return x + y
						}
					}
					depth := rng.IntN(10)
					p.Do(func(w *filch.Worker) {
						if n := work(rng, depth)(w); n != 1<<depth {
							t.Errorf("seed %d, %d workers: %d leaves, not %d", seed, workers, n, 1<<depth)
						}
					})
				}
			})
		}
		wg.Wait()
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
	}
}
