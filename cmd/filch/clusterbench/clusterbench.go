// Package clusterbench measures package cluster, beside a plain program on JetStream that does the same.
package clusterbench

import (
	"context"
	"fmt"
	"time"
)

// queue is a durable queue of tasks.
type queue interface {
	// fill puts n empty tasks into the queue.
	fill(ctx context.Context, n int) error
	// drain runs n tasks, places at once, and returns when all are removed from the queue.
	drain(ctx context.Context, places, n int) error
	close()
}

// systems are what is measured.
var systems = []struct {
	name  string
	start func(ctx context.Context, s Servers, results bool) (queue, error)
}{
	{"raw", startRaw},
	{"filch", startFilch},
}

// Options say what [Rates] measures.
type Options struct {
	Servers []Servers
	Places  []int
	Tasks   int
	Runs    int
	Step    func(what string) // called before each run
}

// Steps is how many runs there are.
func (o Options) Steps() int { return len(o.Servers) * len(o.Places) * 2 * len(systems) * (o.Runs + 1) }

// Rate is how long it took to run the tasks of a queue that was filled before.
type Rate struct {
	Servers Servers
	System  string
	Results bool // a result is stored for each task
	Places  int
	Tasks   int
	Times   []time.Duration // of each run; those of the systems with the same index were measured after one another
}

// Name says on what servers it was, and with what.
func (r *Rate) Name() string {
	if r.Results {
		return r.Servers.String() + ", results"
	}
	return r.Servers.String() + ", no results"
}

// syncedLess is how many times fewer tasks are run where each write is synced.
const syncedLess = 10

// runWait is how long a run may take.
const runWait = 5 * time.Minute

// Rates measures at what rate empty tasks are run. The systems take turns, each time on new servers with a new folder.
func Rates(ctx context.Context, o Options) (all []*Rate, err error) {
	for _, s := range o.Servers {
		for _, results := range []bool{true, false} {
			for _, places := range o.Places {
				group := make([]*Rate, len(systems))
				tasks := o.Tasks
				if s.Sync {
					tasks = max(1, tasks/syncedLess)
				}
				for i, system := range systems {
					group[i] = &Rate{Servers: s, System: system.name, Results: results, Places: places, Tasks: tasks}
				}
				if err := o.group(ctx, group); err != nil {
					return nil, err
				}
				all = append(all, group...)
			}
		}
	}
	return all, nil
}

// group measures systems in turns, once to warm up.
func (o Options) group(ctx context.Context, group []*Rate) error {
	for run := range o.Runs + 1 {
		for i, r := range group {
			o.Step(fmt.Sprintf("%s, %s, places %d", r.Name(), r.System, r.Places))
			took, err := r.once(ctx, i)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", r.Name(), r.System, err)
			}
			if run > 0 {
				r.Times = append(r.Times, took)
			}
		}
	}
	return nil
}

// once runs the tasks once.
func (r *Rate) once(ctx context.Context, system int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, runWait)
	defer cancel()
	q, err := systems[system].start(ctx, r.Servers, r.Results)
	if err != nil {
		return 0, err
	}
	defer q.close()
	if err := q.fill(ctx, r.Tasks); err != nil {
		return 0, err
	}
	begin := time.Now()
	err = q.drain(ctx, r.Places, r.Tasks)
	return time.Since(begin), err
}
