package workload

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// pizza is fifty orders that take 100 to 500 ms each, or, to be done sooner, a
// fraction of that.
var pizza = &Workload{
	Name:    "pizza",
	About:   "50 orders of 100 to 500 ms, or a fraction of that: uniform tasks that sleep",
	Sizes:   []string{"1/100", "1/10", "1"},
	Default: []Default{{Size: "1/100"}},
	Sleeps:  true,
	Prepare: func(size string, _ Env) (*Job, error) {
		div := map[string]time.Duration{"1/100": 100, "1/10": 10, "1": 1}[size]
		if div == 0 {
			return nil, fmt.Errorf("pizza: unknown size %q; there are 1/100, 1/10 and 1", size)
		}
		rng := rand.New(rand.NewPCG(5, 6))
		var served atomic.Int64
		var total, longest time.Duration
		j := &Job{
			Want:   "50 served",
			Reset:  func() { served.Store(0) },
			Answer: func() string { return fmt.Sprintf("%d served", served.Load()) },
		}
		for range 50 {
			d := (100 + time.Duration(rng.IntN(401))) * time.Millisecond / div
			total += d
			longest = max(longest, d)
			j.Tasks = append(j.Tasks, func() {
				time.Sleep(d)
				served.Add(1)
			})
		}
		j.Serial = j.runTasks
		// What any schedule keeps that leaves no worker idle while an order
		// waits (Graham, 1966).
		j.Note = func(workers int, took time.Duration) string {
			bound := total/time.Duration(workers) + longest*time.Duration(workers-1)/time.Duration(workers)
			return fmt.Sprintf("%.2f of the greedy bound", float64(took)/float64(bound))
		}
		return j, nil
	},
}
