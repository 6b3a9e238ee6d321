package sim

import (
	"slices"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// The cells of a timeline have all the work, and no more than there is room for, however often it was folded.
func TestTimelineHasAllTheWork(t *testing.T) {
	for _, c := range []struct{ workers, rows, columns int }{{1, 1, 2}, {3, 3, 1000}, {7, 3, 5}, {64, 10, 33}, {1000, 16, 8}} {
		line := NewTimeline(c.workers, c.rows, c.columns)
		r := run(t, Config{Program: dag.Fib(12), Scheduler: "child", Workers: c.workers, Seed: 3, Tell: line.Tell})
		var sum int64
		for row := range line.Rows {
			for column := range line.Columns {
				n := line.Busy(row, column)
				if n < 0 || n > int64(line.Workers)*line.Steps {
					t.Errorf("%v: a cell of %d workers and %d steps has %d", c, line.Workers, line.Steps, n)
				}
				sum += n
			}
		}
		if sum != r.T1 || line.End != r.Time {
			t.Errorf("%v: %d of %d steps of work, until %d of %d", c, sum, r.T1, line.End, r.Time)
		}
		if line.Rows > c.rows || line.Rows*line.Workers < c.workers || line.Steps > 1 && line.Steps*int64(c.columns) >= 2*r.Time {
			t.Errorf("%v: %d rows of %d workers, %d steps a cell for %d steps", c, line.Rows, line.Workers, line.Steps, r.Time)
		}
	}
}

// A worker without a processor is not busy, whatever it runs.
func TestTimelineUnderAKernel(t *testing.T) {
	for _, k := range testKernels() {
		line := NewTimeline(16, 4, 50)
		r := run(t, Config{Program: uneven{dag.Fib(8)}, Scheduler: "child", Workers: 16, Kernel: k, Tell: line.Tell})
		if line.total() != r.T1 || line.End != r.Time {
			t.Errorf("%s: %d of %d steps of work, until %d of %d", k.Name, line.total(), r.T1, line.End, r.Time)
		}
	}
}

// What machines that leave have run counts too, until they leave.
func TestTimelineOfMachinesThatLeave(t *testing.T) {
	for _, hands := range []bool{false, true} {
		for seed := range uint64(5) {
			line := NewTimeline(16, 4, 50)
			churn := &Churn{Machine: 2, Up: 60, Down: 30, Hands: hands}
			c := Config{Program: uneven{dag.Fib(11)}, Scheduler: "child", Workers: 16, Seed: seed, Churn: churn, Tell: line.Tell}
			r := run(t, c)
			if busy := 16*r.Time - r.Idle - r.Absent; line.total() != busy {
				t.Errorf("seed %d: %d of %d busy worker-steps", seed, line.total(), busy)
			}
			c.Topology = Topology{{Groups: 8, Latency: 13}, {Groups: 2}}
			run(t, c)
		}
	}
}

// As long as a run fits, each cell says whether a worker was busy at a step.
func TestTimelineIsExactForSmallRuns(t *testing.T) {
	line := NewTimeline(2, 2, 10)
	busy := func(worker int32, from, to int64) {
		line.Tell(Event{Kind: Began, Time: from, Worker: worker, Weight: to - from})
		line.Tell(Event{Kind: Ended, Time: to, Worker: worker})
	}
	busy(0, 0, 3)
	busy(1, 2, 3)
	busy(0, 4, 10)
	if got := line.row(0); !slices.Equal(got, []int64{1, 1, 1, 0, 1, 1, 1, 1, 1, 1}) {
		t.Errorf("worker 0: %v", got)
	}
	busy(1, 10, 11)
	if got := line.row(0); !slices.Equal(got, []int64{2, 1, 2, 2, 2, 0, 0, 0, 0, 0}) {
		t.Errorf("worker 0, folded: %v", got)
	}
	if got := line.row(1); !slices.Equal(got, []int64{0, 1, 0, 0, 0, 1, 0, 0, 0, 0}) {
		t.Errorf("worker 1, folded: %v", got)
	}
}

// total is the sum of all cells.
func (t *Timeline) total() (sum int64) {
	for _, n := range t.busy {
		sum += n
	}
	return sum
}
