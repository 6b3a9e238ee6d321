package task

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// Turns come in the order in which they were given, whoever waits for them first. Those of tasks that do not start
// are passed at any time, and twice does no harm.
func TestStartsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(1, FIFO)
		var all sync.WaitGroup
		var told []uint64 // in turn, which orders the writes
		workers := make([]*Worker, 8)
		for i := range workers {
			workers[i] = newWorker(p, i)
			workers[i].turn = p.starts.give()
		}
		for i, w := range slices.Backward(workers) {
			switch {
			case i == 3 || i == 6: // do not start
				w.endTurn()
				p.starts.pass(uint64(i) + 1)
			case i > 0:
				all.Go(func() { w.InTurn(func() { told = append(told, uint64(i)) }) })
			}
			synctest.Wait()
			if len(told) != 0 {
				t.Fatalf("%v were told before the first had its turn", told)
			}
		}
		all.Go(func() { workers[0].InTurn(func() { told = append(told, 0) }) })
		all.Wait()
		if want := []uint64{0, 1, 2, 4, 5, 7}; !slices.Equal(told, want) {
			t.Errorf("told in the order %v, not %v", told, want)
		}
		if o := &p.starts; o.passed != o.last || len(o.ahead) != 0 || len(o.waits) != 0 {
			t.Errorf("%d of %d turns were passed; %d are ahead, and %d wait", o.passed, o.last, len(o.ahead), len(o.waits))
		}
	})
}
