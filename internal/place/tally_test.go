package place

import (
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch/internal/race"
)

// A Tally agrees with plain counts, whatever is done in turn.
func TestTallyAgreesWithPlainCounts(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var tally Tally
		queued, running, over, waits := 0, 0, false, false
		for step := range 60 {
			bad := false
			switch what := rng.IntN(8); {
			case what < 2:
				bad = tally.Queue() == over
				if !over {
					queued++
				}
			case what == 2:
				tally.Start()
				running++
			case what == 3 && running > 0:
				if bad = tally.Requeue() == over; !over {
					running, queued = running-1, queued+1
				}
			case what == 4 && queued > 0:
				if bad = !tally.Begin(); true {
					queued, running = queued-1, running+1
				}
			case what == 5 && running > 0:
				running--
				bad = tally.Done() != (waits && queued+running == 0)
			case what == 6 && step > 40:
				n, last := tally.Drop()
				if over {
					bad = n != 0 || last
				} else {
					bad = n != queued || last != (waits && running == 0)
				}
				queued, over = 0, true
				bad = bad || tally.Begin()
			case what == 7 && step > 20:
				waits = true
				bad = tally.Watch() != (queued+running == 0)
			}
			if bad || tally.Left() != queued+running {
				t.Fatalf("seed %d, step %d: %v; %d are queued, %d run, over: %t, a waiter: %t", seed, step, &tally, queued, running, over, waits)
			}
		}
	}
}

// Each task is run or dropped, and the last one tells, once.
func TestTallyTellsOfTheLast(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var tally Tally
		var mu sync.Mutex // as of a group
		var ran, lasts atomic.Int64
		var wg sync.WaitGroup
		n, drops := 1+rng.IntN(40), rng.IntN(2) == 0
		tasks := make(chan bool, n)
		tell := func(last bool) {
			if last {
				lasts.Add(1)
			}
		}
		queued := int64(0)
		for range n {
			if tally.Queue() {
				queued++
				tasks <- true
			}
		}
		close(tasks)
		none := tally.Watch()
		for range 3 {
			wg.Go(func() {
				for range tasks {
					if tally.Begin() {
						ran.Add(1)
						tell(tally.Done())
					}
				}
			})
		}
		dropped := 0
		if drops {
			wg.Go(func() {
				mu.Lock()
				defer mu.Unlock()
				n, last := tally.Drop()
				dropped = n
				tell(last)
			})
		}
		wg.Wait()
		if ran.Load()+int64(dropped) != queued || none || lasts.Load() != 1 || tally.Left() != 0 {
			t.Fatalf("seed %d: of %d, %d ran and %d were dropped; the last told %d times, %v", seed, queued, ran.Load(), dropped, lasts.Load(), &tally)
		}
	}
}

// A task that is done twice is an error of ours.
func TestTallyNoticesOneTooMany(t *testing.T) {
	if !race.Enabled {
		t.Skip("it is looked for under the race detector")
	}
	defer func() {
		if s, _ := recover().(string); !strings.Contains(s, "more tasks are done") {
			t.Errorf("the panic says %q", s)
		}
	}()
	var tally Tally
	tally.Start()
	tally.Done()
	tally.Done()
}
