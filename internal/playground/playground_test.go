package playground

import (
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/sim"
)

var request = Request{DAG: "fib=9", Scheduler: "child", Workers: "4", Seed: "1", StealCost: "1"}

func film(t *testing.T, r Request) *Film {
	t.Helper()
	f, err := Run(r)
	if err != nil {
		t.Fatal("Run(r):", err)
	}
	return f
}

// A recorded run comes to what the run alone comes to, under each scheduler.
func TestFilmChangesNothing(t *testing.T) {
	for _, name := range sim.Schedulers() {
		r := request
		r.Scheduler = name
		c, _, err := r.Config()
		if err != nil {
			t.Fatal("r.Config():", err)
		}
		want, err := sim.Run(c)
		if err != nil {
			t.Fatal("sim.Run(c):", err)
		}
		want.DAG = r.DAG
		if got := film(t, r).Result; *got != *want {
			t.Errorf("%s: %+v, want %+v", name, *got, *want)
		}
	}
}

// Threads have the same numbers under all schedulers, and each is spawned once.
func TestNumbersAreThoseOfTheSerialOrder(t *testing.T) {
	for _, name := range sim.Schedulers() {
		r := request
		r.Scheduler = name
		f := film(t, r)
		spawned := map[int32]bool{}
		for e := 0; e < len(f.Events); e += EventRow {
			if f.Events[e+1] == int32(sim.Spawned) {
				spawned[f.Events[e+4]] = true
			}
		}
		if len(spawned) != len(f.Depths) || spawned[-1] {
			t.Errorf("%s: %d threads were spawned, of %d", name, len(spawned), len(f.Depths))
		}
	}
	r := request
	r.DAG, r.Workers, r.Scheduler = "loop=3", "1", "child"
	f := film(t, r)
	if got := f.Depths; len(got) != 4 || got[0] != 0 || got[1] != 1 || got[2] != 1 || got[3] != 1 {
		t.Errorf("the depths are %v", got)
	}
	if last := f.Queues[len(f.Queues)-QueueRow:]; last[2] != 0 || last[4] != 0 {
		t.Errorf("the last change of a queue is %v; it must be to an empty one", last)
	}
}

// Of a long queue both ends are recorded, and how long it is.
func TestOfALongQueueBothEndsAreRecorded(t *testing.T) {
	r := request
	r.DAG, r.Workers = "loop=100", "1"
	f := film(t, r)
	longest := int32(0)
	for q := 0; q < len(f.Queues); q += QueueRow + int(f.Queues[q+4]) {
		size, shown := f.Queues[q+2], f.Queues[q+4]
		if shown != min(size, 2*shownEach) {
			t.Fatalf("%d of %d threads are recorded", shown, size)
		}
		if size > longest {
			longest = size
			row := f.Queues[q+QueueRow:][:shown]
			if row[0] != 1 || row[shown-1] != size {
				t.Fatalf("a queue of %d threads has %v", size, row)
			}
		}
	}
	if longest != 99 { // the last one runs at once, since the loop joins
		t.Errorf("the longest queue has %d threads", longest)
	}
}

func TestBadRequestsAndLargeOnesAreRefused(t *testing.T) {
	for _, c := range []struct {
		change func(*Request)
		want   string
	}{
		{func(r *Request) { r.Workers = "0" }, `workers: "0" is not a whole number from 1 to 256`},
		{func(r *Request) { r.Workers = "many" }, `workers: "many"`},
		{func(r *Request) { r.Seed = "-1" }, `seed: "-1"`},
		{func(r *Request) { r.StealCost = "0" }, `steal cost: "0"`},
		{func(r *Request) { r.Scheduler = "none" }, `unknown scheduler "none"`},
		{func(r *Request) { r.DAG = "fib=x" }, "fib=x"},
		{func(r *Request) { r.Graph = "{\n]" }, "line 2, column 1"},
		{func(r *Request) { r.DAG = "chain=1000000000" }, "the program has more than 500000 nodes"},
		{func(r *Request) { r.DAG, r.Workers = "chain=200000", "64" }, "more than 2000000 things happen"},
		{func(r *Request) { r.DAG, r.Workers = "chain=10@1000000000", "1" }, "takes more than 2147483647 steps"},
	} {
		r := request
		c.change(&r)
		if f, err := Run(r); f != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %q", r, err, c.want)
		}
	}
}
