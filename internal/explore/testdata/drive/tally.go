package main

import (
	"fmt"

	"github.com/filch-go/filch/internal/explore/sched"
	filch "github.com/filch-go/filch/internal/explore/subject"
)

// tallied counts what a tally said.
type tallied struct {
	filch.Tally
	queued, ran, dropped, lasts int
	none                        bool // there was nothing to wait for
}

func (t *tallied) queue() bool {
	ok := t.Queue()
	if ok {
		t.queued++
	}
	return ok
}

func (t *tallied) run() {
	if t.Begin() {
		t.ran++
		t.tell(t.Done())
	}
}

func (t *tallied) drop() {
	n, last := t.Drop()
	t.dropped += n
	t.tell(last)
}

func (t *tallied) tell(last bool) {
	if last {
		t.lasts++
	}
}

// end fails unless each task was run or dropped, and a waiter that had to wait was told once.
func (t *tallied) end() error {
	told := 1
	if t.none {
		told = 0
	}
	if t.ran+t.dropped != t.queued || t.Left() != 0 || t.lasts != told {
		return fmt.Errorf("wrongly counted: %d queued, %d ran, %d dropped; told %d times; %v", t.queued, t.ran, t.dropped, t.lasts, &t.Tally)
	}
	return nil
}

// Two tasks, one of them on its way, and a waiter for both.
func tallyOfTwo(r *sched.Run) func() error {
	t := &tallied{}
	t.queue()
	t.queue()
	for range 2 {
		r.Go(t.run)
	}
	r.Go(func() { t.none = t.Watch() })
	return t.end
}

// The same, with an end to what is queued, and one that comes late.
func tallyWithAnEnd(r *sched.Run) func() error {
	t := &tallied{}
	t.queue()
	t.queue()
	t.none = t.Watch()
	r.Go(t.run)
	r.Go(func() {
		if t.queue() {
			t.run()
		}
	})
	r.Go(t.drop)
	return t.end
}

// Two submitters at once.
func tallyOfSubmitters(r *sched.Run) func() error {
	t := &tallied{}
	t.queue()
	t.none = t.Watch()
	for range 2 {
		r.Go(func() {
			if t.queue() {
				t.run()
			}
		})
	}
	return func() error { t.run(); return t.end() }
}

func init() {
	parts = append(parts, func(bool, bool) []program {
		return []program{
			{"tally/two", tallyOfTwo, -1},
			{"tally/an end", tallyWithAnEnd, -1},
			{"tally/submitters", tallyOfSubmitters, -1},
		}
	})
}
