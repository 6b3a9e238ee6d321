package sim

import (
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
)

// One worker misses as often in its own cache as in a shared one of the same size. Behind its own, the shared
// cache is used for what misses there.
func TestASharedCacheIsForWhatMissesInOnesOwn(t *testing.T) {
	for _, size := range []int{1, 7, 16, 40} {
		c := Config{Program: dag.Iterative{Rounds: 5, Blocks: 16}, Scheduler: "child", Workers: 1, Cache: size}
		own := run(t, c)
		c.Cache, c.SharedCache = 0, size
		shared := run(t, c)
		c.Cache = 3
		both := run(t, c)
		if own.Misses != shared.Shared || own.Shared != 0 || shared.Misses != 0 || own.Misses == 0 {
			t.Errorf("%d blocks: %d misses in an own cache, %d in a shared one", size, own.Misses, shared.Shared)
		}
		if both.Shared > both.Misses || both.Shared < 16 || size >= 16 && both.Shared != 16 {
			t.Errorf("%d blocks: %d misses in an own cache of 3, and %d of these in the shared one", size, both.Misses, both.Shared)
		}
	}
}

// Acar, Blelloch and Blumofe: M1 + 2C*steals. Run checks it; this says that it has something to check, whatever takes
// processors away, and that the caches of the facts need not be those of the run.
func TestMissesAreWithinTheirBound(t *testing.T) {
	p := dag.Iterative{Rounds: 5, Blocks: 64}
	other := facts(t, p)
	for _, scheduler := range []string{"continuation", "abp", "bws"} {
		for _, size := range []int{1, 8, 64, 100} {
			for seed := range uint64(10) {
				c := Config{Program: p, Facts: &other, Scheduler: scheduler, Workers: 8, Seed: seed, Cache: size}
				if scheduler != "continuation" {
					c.Kernel = &kernel.Kernel{Name: "blocks", Steps: 20}
				}
				if r := run(t, c); r.M1 < 64 || r.Misses < 64 {
					t.Errorf("%s, %d blocks, seed %d: %d misses, and %d of one worker", scheduler, size, seed, r.Misses, r.M1)
				}
			}
		}
	}
}

// Caches count as what they may come to hold: no more than is touched.
func TestCachesThatTakeTooMuchMemoryAreRefused(t *testing.T) {
	for _, c := range []struct {
		workers, own, shared int
		touched              int64
		fit                  bool
	}{
		{MaxWorkers, MaxCached, 0, MaxCached, true},
		{MaxWorkers, MaxCached, 0, MaxCached + 1, false},
		{4, MaxCached / 4, 0, 1 << 40, true},
		{4, MaxCached / 4, 1, 1 << 40, false},
		{1, 0, MaxCached, 1 << 40, true},
		{1, MaxCached / 2, MaxCached / 2, 1 << 40, true},
	} {
		err := Config{Workers: c.workers, Cache: c.own, SharedCache: c.shared}.checkCaches(c.touched)
		if (err == nil) != c.fit {
			t.Errorf("Config{…}.checkCaches(c.touched): %+v: %v", c, err)
		}
	}
	f := dag.Facts{Work: 1, Span: 1, Touched: MaxCached + 1, Cache: MaxCached}
	if _, err := Run(Config{Program: dag.Chain(1), Facts: &f, Scheduler: "child", Workers: 2, Cache: MaxCached}); err == nil {
		t.Error("Run does not ask")
	}
}
