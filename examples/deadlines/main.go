// Deadlines runs jobs that must be done in time, the one with the earliest deadline
// first, and the same jobs first come, first served. On one processor, the former is
// late only if every order is (Liu and Layland, JACM 1973; there with preemption).
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/filch-go/filch"
)

// job is one that arrives, takes some time, and is late after the deadline. Times are
// those since the start.
type job struct{ arrives, takes, deadline time.Duration }

// someJobs returns jobs that keep two workers busy for about nine tenths of the time:
// most have much time, and every fifth has little.
func someJobs(n int, seed uint64) []job {
	r := rand.New(rand.NewPCG(seed, 0))
	jobs := make([]job, n)
	now := time.Duration(0)
	for i := range jobs {
		takes := time.Millisecond + time.Duration(r.IntN(3_000_000))
		patience := 500 * time.Millisecond
		if i%5 == 0 {
			patience = 10 * time.Millisecond
		}
		jobs[i] = job{now, takes, now + takes + patience}
		now += time.Duration(r.IntN(2_800_000)) // half of that, on average
	}
	return jobs
}

// work runs the jobs when they arrive, and returns how many were late, and by how much
// at most.
func work(jobs []job, order filch.Order) (late int, worst time.Duration, err error) {
	p := filch.New(filch.WithWorkers(2), filch.WithOrder(order))
	defer p.Close()
	start := time.Now()
	g := filch.NewResultGroup[time.Duration](context.Background(), p)
	for _, j := range jobs {
		time.Sleep(j.arrives - time.Since(start))
		var opts []filch.TaskOption
		if order == filch.ByPriority {
			opts = append(opts, filch.AtPriority(int(j.deadline/time.Millisecond)))
		}
		g.Go(func(context.Context) (time.Duration, error) {
			time.Sleep(j.takes) // instead of work
			return time.Since(start) - j.deadline, nil
		}, opts...)
	}
	delays, err := g.Wait()
	for _, d := range delays {
		if d > 0 {
			late++
		}
		worst = max(worst, d)
	}
	return late, worst, err
}

func main() {
	if _, err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "deadlines:", err)
		os.Exit(1)
	}
}

func run() (late map[filch.Order]int, err error) {
	late = map[filch.Order]int{}
	jobs := someJobs(300, 1)
	for _, order := range []filch.Order{filch.FIFO, filch.ByPriority} {
		n, worst, err := work(jobs, order)
		if err != nil {
			return nil, err
		}
		late[order] = n
		fmt.Printf("%-10v %3d of %d late, by %v at most\n", order, n, len(jobs), worst)
	}
	return late, nil
}
