package sim

import (
	"slices"
	"testing"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/random"
	filch "github.com/filch-go/filch/ordered"
)

// One worker takes threads in the order in which package ordered gives them: its own queue overflows, and after
// policy.Every of its own comes one of the global queue.
func TestOrderedTakesWhatPackageOrderedDoes(t *testing.T) {
	for _, n := range []uint32{1, policy.OwnQueue, policy.OwnQueue + 1, 1000, 5000} {
		q := filch.New[uint64](1, policy.OwnQueue)
		own := q.Local(0)
		var got, want, left []uint64
		p := dag.Loop(n)
		r := run(t, Config{Program: p, Scheduler: "ordered", Workers: 1, Tell: func(e Event) {
			switch {
			case e.Thread == random.Mix(0): // the parent
			case e.Kind == Spawned:
				own.Push(int(random.Mix(^e.Thread)%hashLevels), e.Thread)
				left = append(left, random.Mix(^e.Thread)%hashLevels)
			case e.Kind == Began:
				got = append(got, e.Thread)
			}
		}})
		var inversions int64
		slices.Sort(left)
		for range n {
			v, _ := own.Pop()
			want = append(want, v)
			level := random.Mix(^v) % hashLevels
			at, _ := slices.BinarySearch(left, level)
			if at > 0 {
				inversions++
			}
			left = slices.Delete(left, at, at+1)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d threads: another order than that of package ordered", n)
		}
		if r.Inversions != inversions || n > 1000 && inversions == 0 {
			t.Errorf("%d threads: %d inversions, not %d", n, r.Inversions, inversions)
		}
	}
}

// A thief takes half, rounded up, of the threads that have the victim's best priority.
func TestOrderedStealsHalfOfTheBest(t *testing.T) {
	m, err := newMachine(Config{Program: dag.Loop(100), Scheduler: "ordered", Workers: 2})
	if err != nil {
		t.Fatal("newMachine(…):", err)
	}
	s := m.sched.(*ordered)
	for id, p := range []int32{0, 7, 5, 5, 9, 5, 5, 5} { // thread 0 is none
		s.priority = append(s.priority, p)
		if id > 0 {
			s.queue(0, ID(id))
		}
	}
	first := s.take(1, 0)
	s.arrive(1)
	if first != 2 || !slices.Equal(drain(s, 1), []ID{3, 5}) || !slices.Equal(drain(s, 0), []ID{6, 7, 1, 4}) {
		t.Errorf("thief and victim do not have the threads that they should")
	}
	if s.waiting.words != 0 {
		t.Errorf("of the threads that wait, some are still counted")
	}
}

// drain removes all from the queue of w, the first that would begin first.
func drain(s *ordered, w int32) (ids []ID) {
	for id := s.best(&s.own[w]); id != None; id = s.best(&s.own[w]) {
		ids = append(ids, id)
	}
	return ids
}

// By depth, what is deepest goes first, so that few threads are alive.
func TestOrderedByDepthSavesSpace(t *testing.T) {
	c := Config{Program: dag.Fib(18), Scheduler: "ordered", Workers: 1}
	hash := run(t, c)
	c.Priority = PriorityDepth
	depth := run(t, c)
	if depth.MaxLive*4 > hash.MaxLive {
		t.Errorf("%d threads alive by depth, %d by hash", depth.MaxLive, hash.MaxLive)
	}
}
