package sim

import (
	"slices"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
	"github.com/filch-go/filch/internal/sim/random"
)

// wishes is a kernel that wishes what a test says.
type wishes []int32

func (k *wishes) Wish(to []int32) []int32 { return append(to, *k...) }

// newWishes returns the processors of so many workers, which nothing runs on, and what is wished for next.
func newWishes(t *testing.T, workers int) (*processors, *wishes) {
	m, err := newMachine(Config{Program: dag.Fib(3), Scheduler: "abp", Workers: workers, Kernel: &kernel.Kernel{Name: "dedicated"}})
	if err != nil {
		t.Fatal("newMachine(…):", err)
	}
	k := new(wishes)
	m.procs.kernel = k
	return m.procs, k
}

// giveNext gives processors to what is wished, and returns which workers have them.
func (p *processors) giveNext() []int32 {
	p.m.wheel.Now = p.step + 1
	p.give()
	return p.given
}

// A worker that has yielded has a processor again when all it waits for have had one, or have one now. As many workers have
// processors as the kernel wished. The test keeps a list of what each worker waits for.
func TestNoWorkerGoesOnBeforeThoseItYieldedTo(t *testing.T) {
	const n = 9
	for seed := range uint64(200) {
		p, k := newWishes(t, n)
		var waits [n]map[int32]bool
		rng := random.Mix(seed)
		order := make([]int32, n)
		for w := range order {
			order[w] = int32(w)
		}
		for range 300 {
			*k = (*k)[:0]
			for i := range 1 + random.Below(&rng, n) {
				j := i + random.Below(&rng, n-i)
				order[i], order[j] = order[j], order[i]
				*k = append(*k, order[i])
			}
			given := p.giveNext()
			if len(given) != len(*k) {
				t.Fatalf("seed %d, step %d: %v have processors; the kernel wished for %v", seed, p.step, given, *k)
			}
			for w := range int32(n) {
				for _, r := range given {
					delete(waits[w], r)
				}
			}
			for i, w := range given {
				if len(waits[w]) > 0 || slices.Contains(given[:i], w) {
					t.Fatalf("seed %d, step %d: %v have processors, and worker %d waits for %v", seed, p.step, given, w, waits[w])
				}
				waits[w] = map[int32]bool{}
				to := int32(random.Below(&rng, n))
				choice := random.Below(&rng, 3)
				switch choice {
				case 0:
					p.m.yield(w, all)
				case 1:
					p.m.yield(w, to)
				}
				for r := range int32(n) {
					if !slices.Contains(given, r) && (choice == 0 || choice == 1 && r == to) {
						waits[w][r] = true
					}
				}
			}
		}
	}
}

func TestHandedOverProcessorStaysUntilItIsTakenAway(t *testing.T) {
	p, k := newWishes(t, 4)
	expect := func(wished wishes, want ...int32) {
		t.Helper()
		*k = wished
		if got := p.giveNext(); !slices.Equal(got, want) {
			t.Fatalf("step %d: %v wished, and %v have processors instead of %v", p.step, wished, got, want)
		}
	}
	expect(wishes{0, 1}, 0, 1)
	p.m.handOver(0, 2)
	expect(wishes{0, 1}, 2, 1)
	p.m.handOver(2, 3) // it was the processor of 0
	expect(wishes{0, 1}, 3, 1)
	expect(wishes{0, 1}, 3, 1)
	expect(wishes{0, 3}, 0, 3) // 3 has one of its own
	expect(wishes{0, 1}, 3, 1)
	expect(wishes{1}, 1)
	expect(wishes{0, 1}, 0, 1) // it was taken away in between
	p.m.handOver(1, 2)
	p.sleep(2)
	expect(wishes{0, 1}, 0, 1) // 2 does not need it
}

// A worker that sleeps keeps none from going on.
func TestYieldToASleeper(t *testing.T) {
	p, k := newWishes(t, 3)
	*k = wishes{0, 1}
	p.giveNext()
	p.sleep(2)
	p.m.yield(0, 2)
	p.m.yield(1, all)
	if got := p.giveNext(); !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("%v have processors", got)
	}
}
