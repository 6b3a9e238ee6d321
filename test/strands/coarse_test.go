package strands

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/strand"
)

// coarseWays spawn k children of a second, one of which may be the strand itself, and wait for them.
var coarseWays = map[string]func(s *strand.Strand, k int){
	"in a loop": func(s *strand.Strand, k int) {
		for range k {
			s.Spawn(func(*strand.Strand) { time.Sleep(time.Second) })
		}
		s.Sync()
	},
	"by halving": halve,
}

func halve(s *strand.Strand, n int) {
	for ; n > 1; n -= n / 2 {
		part := n / 2
		s.Spawn(func(s *strand.Strand) { halve(s, part) })
	}
	time.Sleep(time.Second)
	s.Sync()
}

func fineSpawns(s *strand.Strand, n int) {
	if n < 2 {
		return
	}
	s.Spawn(func(s *strand.Strand) { fineSpawns(s, n-1) })
	fineSpawns(s, n-2)
	s.Sync()
}

// eachCoarse calls check with how long k children take on so many workers after fine spawns in the same strand.
func eachCoarse(t *testing.T, fine int, opts []strand.Option, check func(way string, workers, k int, took time.Duration)) {
	for name, way := range coarseWays {
		for workers := 2; workers <= 8; workers++ {
			for k := 1; k <= 64; k++ {
				if os.Getenv("FILCH_LONG") == "" && (k > 2*workers && k%11 != 4 || (k+workers)%2 != 0) {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					p := filch.New(filch.WithWorkers(workers))
					defer p.Close()
					strand.Run(p, func(s *strand.Strand) {
						fineSpawns(s, fine)
						s.Sync()
						begin := time.Now()
						way(s, k)
						check(name, workers, k, time.Since(begin))
					}, opts...)
				})
			}
		}
	}
}

// Eager spawns of k children of a second take ⌈k/P⌉ seconds on P workers, whatever was spawned just before.
func TestCoarseEagerSpawnsAfterFineOnes(t *testing.T) {
	for _, fine := range []int{8, 0, 15} {
		if thorough.Sampled() && fine != 8 {
			continue
		}
		t.Run(fmt.Sprint("fib ", fine), func(t *testing.T) {
			eachCoarse(t, fine, []strand.Option{strand.Eager()}, func(way string, workers, k int, took time.Duration) {
				if want := time.Duration((k+workers-1)/workers) * time.Second; took != want {
					t.Errorf("%d children %s on %d workers took %v, not %v", k, way, workers, took, want)
				}
			})
		})
	}
}
