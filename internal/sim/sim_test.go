package sim

import (
	"testing"
	"time"
)

// run simulates, or fails.
func run(t testing.TB, c Config) *Result {
	t.Helper()
	r, err := Run(c)
	if err != nil {
		t.Fatalf("%s on %d workers, seed %d: %v", c.Scheduler, c.Workers, c.Seed, err)
	}
	return r
}

func TestOneWorkerTakesTheWorkAndStealsNothing(t *testing.T) {
	for _, s := range Schedulers() {
		r := run(t, Config{Program: Fib(15), Scheduler: s, Workers: 1})
		if r.Time != r.T1 || r.Steals != 0 || r.Idle != 0 {
			t.Errorf("%s: %+v", s, *r)
		}
	}
}

// The article on work stealing has this example: a loop that forks n children.
func TestQueueOfALoop(t *testing.T) {
	const n = 1000
	child := run(t, Config{Program: Loop(n), Scheduler: "child", Workers: 1})
	continuation := run(t, Config{Program: Loop(n), Scheduler: "continuation", Workers: 1})
	if child.MaxDeque != n || continuation.MaxDeque != 1 {
		t.Errorf("the queue grows to %d by child stealing, and to %d by continuation stealing", child.MaxDeque, continuation.MaxDeque)
	}
}

func TestIdleWorkersStealAllTheTime(t *testing.T) {
	for _, workers := range []int{2, 8, 1000} {
		r := run(t, Config{Program: Fib(20), Scheduler: "continuation", Workers: workers, Seed: 1})
		if r.Idle != r.Attempts {
			t.Errorf("%d workers were idle for %d steps, and have tried to steal %d times", workers, r.Idle, r.Attempts)
		}
	}
}

func BenchmarkSteps(b *testing.B) {
	f, _ := Serial(Fib(27), nil)
	for b.Loop() {
		begin := time.Now()
		r := run(b, Config{Program: Fib(27), Facts: &f, Scheduler: "continuation", Workers: 64, Seed: 1})
		b.ReportMetric(64*float64(r.Time)/1e6/time.Since(begin).Seconds(), "Msteps/s")
	}
}
