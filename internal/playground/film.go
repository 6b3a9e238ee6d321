package playground

import (
	"fmt"
	"slices"

	"github.com/filch-go/filch/internal/sim"
)

// A Film is a run, recorded: what has happened, and what each queue had whenever that changed. So the state at any
// time is found by looking it up, and a step back costs what a step forward costs.
//
// Threads have the numbers of the serial order, in which one worker spawns them that runs children first. They are
// the same under all schedulers.
type Film struct {
	Result *sim.Result
	Depths []int32 // by thread: how many threads are above it
	Events []int32 // rows of time, kind, worker, other worker and thread
	Queues []int32 // rows of QueueRow numbers and threads

	numbers map[uint64]int32 // by path
	last    [][]int32        // by worker, the common queue first: its last row, without time and worker
	row     []int32
}

// EventRow is how many numbers an event has in Events.
const EventRow = 5

// QueueRow is how many numbers a queue has in Queues before its threads: the time, the worker, how many threads are in it,
// how many of them are private, and how many are recorded. These follow, the thieves' end first, and -1 for one that has been
// taken by another way.
const QueueRow = 5

// shownEach is how many threads of a queue are recorded at each of its ends.
const shownEach = 16

// newFilm returns the Film of a run that has not begun: its queues are empty.
func newFilm(workers int) *Film {
	f := &Film{numbers: map[uint64]int32{}}
	for range 1 + workers {
		f.last = append(f.last, []int32{0, 0, 0})
	}
	return f
}

// number gives the threads their numbers. One worker that steals continuations spawns them in the serial order.
func (f *Film) number(c sim.Config) error {
	parent := int32(-1)
	c.Scheduler, c.Workers = "continuation", 1
	c.Tell = func(e sim.Event) {
		switch e.Kind {
		case sim.Spawned:
			f.numbers[e.Thread] = int32(len(f.Depths))
			depth := int32(0)
			if parent >= 0 {
				depth = f.Depths[parent] + 1
			}
			f.Depths = append(f.Depths, depth)
		case sim.Ended: // a node of the thread that spawns next
			parent = f.numbers[e.Thread]
		}
	}
	_, err := sim.Run(c)
	return err
}

func (f *Film) tell(e sim.Event) {
	if len(f.Events) >= MaxEvents*EventRow {
		panic(tooLarge(fmt.Sprintf("more than %d things happen in the run, too many to show; filch sim runs it", MaxEvents)))
	}
	if e.Time > maxTime {
		panic(tooLarge(fmt.Sprintf("the run takes more than %d steps, too many to show; filch sim runs it", maxTime)))
	}
	thread, ok := f.numbers[e.Thread]
	if !ok {
		thread = -1
	}
	f.Events = append(f.Events, int32(e.Time), int32(e.Kind), e.Worker, e.Other, thread)
}

// watch records the queues that have changed.
func (f *Film) watch(v sim.View) {
	for w := range int32(len(f.last)) {
		if f.last[w][0] == 0 && v.Queued(w-1) == 0 {
			continue
		}
		row := f.queue(v, w-1)
		if slices.Equal(row, f.last[w]) {
			continue
		}
		f.Queues = append(f.Queues, int32(v.Time()), w-1)
		f.Queues = append(f.Queues, row...)
		f.last[w] = append(f.last[w][:0], row...)
	}
}

// queue returns the row of a queue, without time and worker. Of a long queue only its ends are recorded.
func (f *Film) queue(v sim.View, w int32) []int32 {
	size := v.Queued(w)
	f.row = append(f.row[:0], int32(size), int32(v.Private(w)), int32(min(size, 2*shownEach)))
	for i := 0; i < size; i++ {
		if i == shownEach {
			i = max(i, size-shownEach)
		}
		number := int32(-1) // none is left there
		if path, ok := v.Waiting(w, i); ok {
			number = f.numbers[path]
		}
		f.row = append(f.row, number)
	}
	return f.row
}
