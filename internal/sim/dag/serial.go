package dag

import (
	"fmt"

	"github.com/filch-go/filch/internal/sim/cache"
	"github.com/filch-go/filch/internal/sim/random"
)

// Facts is what holds of a program whatever runs it.
type Facts struct {
	Work    int64 // T1: the steps of all nodes
	Span    int64 // Tinf: the steps of the longest path
	Nodes   int64
	Threads int64
	Live    int    // S1: the most threads alive at once when one worker runs children first; the height of the spawn tree
	Touched int64  // blocks that nodes touch, each as often as it is touched
	Unit    bool   // all nodes have a weight of 1
	Sum     uint64 // of all nodes, each by its thread and its place: equal if each ran once
	Misses  int64  // M1: of one worker's cache
	Cache   int    // the blocks that it holds
}

// activation is a thread of the serial run.
type activation struct {
	Thread
	at   int64 // the end of the longest path to here
	ends int64 // the furthest end of a child
}

// Serial runs p on one worker, children first, and counts.
func Serial(p Program, cache *cache.Cache) (Facts, error) {
	var f Facts
	f.Unit = true
	if cache != nil {
		f.Cache = cache.Size
	}
	var n Node // here since a Program makes it escape
	stack := []activation{{Thread: Thread{Args: p.Root(), Path: random.Mix(0)}}}
	f.Threads = 1
	for len(stack) > 0 {
		f.Live = max(f.Live, len(stack))
		t := &stack[len(stack)-1]
		n = Node{}
		p.Node(&t.Thread, &n)
		if n.Weight < 0 {
			return f, BadWeight(&t.Thread, n.Weight)
		}
		if n.Weight > MaxWork-f.Work {
			return f, fmt.Errorf("sim: the work is more than %d steps, the most that there may be", int64(MaxWork))
		}
		if n.Join || n.Last {
			t.at = max(t.at, t.ends)
		}
		f.Nodes++
		f.Work += n.Weight
		f.Unit = f.Unit && n.Weight == 1
		f.Sum += random.Mix(t.Path ^ uint64(t.PC))
		f.Touched += int64(n.Blocks)
		f.Misses += cache.Touch(n.Block, n.Blocks)
		t.at += n.Weight
		t.PC++
		switch {
		case n.Last:
			at := t.at
			stack = stack[:len(stack)-1]
			if len(stack) == 0 {
				f.Span = at
				break
			}
			up := &stack[len(stack)-1]
			up.ends = max(up.ends, at)
		case n.Spawns:
			f.Threads++
			child := Thread{Args: n.Child, Path: Path(t.Path, t.PC)}
			stack = append(stack, activation{Thread: child, at: t.at})
		}
	}
	return f, nil
}
