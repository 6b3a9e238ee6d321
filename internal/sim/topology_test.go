package sim

import (
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

func TestTopologiesAreReadAsTheyAreWritten(t *testing.T) {
	for _, s := range []string{"1", "8x16", "8@100x16", "2@1000000x4@20x8x2@1", "1000000@5"} {
		far, err := ParseTopology(s)
		if err != nil || far.String() != s {
			t.Errorf("%q is read as %q, %v", s, far, err)
		}
	}
	for s, says := range map[string]string{
		"": "not a number", "x": "not a number", "8x": "not a number", "8@": "not a number of steps", "8@x": "not a number of steps",
		"0": "0 groups", "-1x4": "-1 groups", "4@-1": "-1 steps", "8@9999999999999": "9999999999999 steps",
		"4000000x2": "room for 4194304 workers", "5000000x2": "5000000 groups",
		"99999999999999999999": "not a number", "8 x 16": "not a number",
	} {
		if far, err := ParseTopology(s); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is read as %v, %v; that should say %s", s, far, err, says)
		}
	}
}

// The latency between two workers is that of the outermost groups that they do not share.
func TestALatencyIsThatOfTheOutermostGroups(t *testing.T) {
	far, err := ParseTopology("3@50x2@7x4@1")
	if err != nil {
		t.Fatal(`ParseTopology("3@50x2@7x4@1"):`, err)
	}
	d := far.distances()
	for _, c := range []struct {
		a, b    int32
		latency int64
	}{{0, 0, 0}, {0, 3, 1}, {3, 4, 7}, {4, 7, 1}, {7, 8, 50}, {0, 23, 50}, {16, 23, 7}} {
		if x, y := d.latency(c.a, c.b), d.latency(c.b, c.a); x != c.latency || y != c.latency {
			t.Errorf("from %d to %d it takes %d, and back %d, not %d", c.a, c.b, x, y, c.latency)
		}
	}
	if far.group() != 8 {
		t.Errorf("the outermost groups have %d workers", far.group())
	}
}

// What is stolen begins when the answer has come: after the latency and the cost. No attempt takes less than
// twice the latency.
func TestStealsTakeTheirTime(t *testing.T) {
	const latency, cost = 11, 4
	for _, s := range distant {
		if s == "pool" {
			continue // see TestLooksOfThePoolTakeTheirTime
		}
		asked := map[int32]int64{} // by worker: since when it may have sent its request
		stole := map[int32]int64{}
		far := Topology{{Groups: 5, Latency: latency}}
		run(t, Config{Program: uneven{dag.Fib(12)}, Scheduler: s, Workers: 5, Seed: 6, StealCost: cost, Topology: far, Tell: func(e Event) {
			switch e.Kind {
			case Attempted, Stole:
				if e.Time < asked[e.Worker]+latency {
					t.Errorf("%s: at step %d worker %d is at its victim; it had nothing since step %d", s, e.Time, e.Worker, asked[e.Worker])
				}
				asked[e.Worker] = e.Time + latency + cost
				if e.Kind == Stole {
					stole[e.Worker] = e.Time
				}
			case Ended:
				asked[e.Worker] = e.Time
			case Began:
				if at, ok := stole[e.Worker]; ok && e.Time != at+latency+cost {
					t.Errorf("%s: worker %d steals at step %d, and begins at step %d", s, e.Worker, at, e.Time)
				}
				delete(stole, e.Worker)
			}
		}})
	}
}

// A machine that leaves while its request is under way sends another when it is back.
func TestRequestsOfMachinesThatLeaveAreForgotten(t *testing.T) {
	const latency = 10
	joined := map[int32]int64{}
	run(t, Config{
		Program: dag.Fib(14), Scheduler: "child", Workers: 8, Seed: 1, Topology: Topology{{Groups: 8, Latency: latency}},
		Churn: &Churn{Up: 25, Down: 4},
		Tell: func(e Event) {
			switch at, ok := joined[e.Worker]; {
			case e.Kind == Joined:
				joined[e.Worker] = e.Time
			case ok && (e.Kind == Attempted || e.Kind == Stole) && e.Time < at+latency:
				t.Errorf("worker %d is back at step %d, and at its victim at step %d", e.Worker, at, e.Time)
			}
		},
	})
	if len(joined) == 0 {
		t.Error("no machine has come back")
	}
}
