package par

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
)

// allocated returns how many bytes f allocates, the least of a few times: others may allocate
// meanwhile, and workers that start.
func allocated(f func()) float64 {
	least := math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.TotalAlloc-before.TotalAlloc))
	}
	return least
}

// large is an element of 64 bytes.
type large struct {
	key int
	_   [56]byte
}

// What the documentation says of memory is so, result included, within a fifth; that of SortFunc is
// at most what it says.
func TestMemoryIsAsPromised(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates as well")
	}
	if math.MaxInt == math.MaxInt32 {
		t.Skip("the figures are for words of 64 bits")
	}
	const n = 150_000
	r := rand.New(rand.NewPCG(1, 2))
	x, larges, strings := make([]int, n), make([]large, n), make([]string, n)
	for i := range x {
		x[i] = int(r.Uint64())
		larges[i].key = x[i]
		strings[i] = fmt.Sprint(x[i])
	}
	ints, texts, bigs := slices.Clone(x), slices.Clone(strings), slices.Clone(larges)
	positive := func(v int) bool { return v > 0 }
	for _, workers := range []int{1, 4} {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		for _, tt := range []struct {
			name     string
			promised float64 // bytes for each element
			f        func()
		}{
			{"Sort of numbers", 8, func() { copy(ints, x); Sort(p, ints) }},
			{"Sort of strings", 24, func() { copy(texts, strings); Sort(p, texts) }},
			{"SortFunc of numbers", (400 + 20*8) / 1000., func() { copy(ints, x); SortFunc(p, ints, cmp.Compare[int]) }},
			{"SortFunc of large elements", (400 + 20*64) / 1000., func() {
				copy(bigs, larges)
				SortFunc(p, bigs, func(a, b large) int { return cmp.Compare(a.key, b.key) })
			}},
			{"SortStableFunc", 8, func() { copy(ints, x); SortStableFunc(p, ints, cmp.Compare[int]) }},
			{"Shuffle", 8 + 1, func() { Shuffle(p, ints, 1) }},
			{"Filter", 8/2 + 2/8., func() { Filter(p, x, positive) }},
			{"Partition", 8 + 2/8., func() { Partition(p, x, positive) }},
			{"GroupBy of few", 8 + 8 + 4, func() { GroupBy(p, x, func(v int) int { return v & 15 }) }},
			{"GroupBy of all", 8 + 8 + 4 + 100 + 350, func() { GroupBy(p, x, func(v int) int { return v }) }},
		} {
			if got := allocated(tt.f) / n; got < 0.6*tt.promised || got > 1.2*tt.promised {
				t.Errorf("%s, %d workers: %.2f bytes for each element, %.2f are promised", tt.name, workers, got, tt.promised)
			}
		}
		few := ints[:fewDealt]
		if got := allocated(func() { Shuffle(p, few, 1) }); got > 1000 {
			t.Errorf("Shuffle of %d, %d workers: %v bytes", len(few), workers, got)
		}
	}
}

// Four values for each worker are under way, unless InFlight says otherwise.
func TestInFlightIsFourForEachWorker(t *testing.T) {
	for _, workers := range []int{2, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers))
			defer p.Close()
			var taken atomic.Int64
			goOn, done := make(chan bool), make(chan error)
			go func() {
				done <- Stage(From(upTo(1000, &taken)), 0, func(v int) (int, error) { return v, nil }).Run(p, func(v int) error {
					<-goOn // so that nothing leaves
					return nil
				})
			}()
			synctest.Wait()
			if got := taken.Load(); got != int64(4*workers) {
				t.Errorf("%d workers: %d values are under way", workers, got)
			}
			close(goOn)
			if err := <-done; err != nil {
				t.Error("<-done:", err)
			}
		})
	}
}

// A value costs a task of a group and one allocation more, if it need not wait for room.
func TestAValueOfAStreamCostsATask(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	s := NewStream(context.Background(), p, func(_ context.Context, v int) (int, error) { return v, nil },
		func(context.Context, int) error { return nil }, InFlight(10_000))
	const n = 1000
	each := testing.AllocsPerRun(5, func() {
		for i := range n {
			if err := s.Send(i); err != nil {
				t.Fatal("s.Send(i):", err)
			}
		}
	}) / n
	g := p.Group(context.Background())
	task := testing.AllocsPerRun(5, func() {
		for range n {
			g.GoFrom(context.Background(), func(context.Context) error { return nil }, filch.Fair())
		}
	}) / n
	if err := errors.Join(s.Close(), g.Wait()); err != nil || each > task+1.1 {
		t.Errorf("%v allocations a value, and %v a task of a group: %v", each, task, err)
	}
}
