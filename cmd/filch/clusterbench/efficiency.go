package clusterbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/internal/sim"
	"github.com/filch-go/filch/internal/sim/dag"
)

func isUnknown(err error) bool { return errors.Is(err, cluster.ErrUnknownHandler) }

// Efficiency is which part of the time of all places went into the tasks themselves.
type Efficiency struct {
	Leaf      time.Duration // for how long a task is to sleep
	Took      time.Duration // for how long it did, on average
	Tasks     int
	Predicted float64 // by the simulator
	Measured  float64
}

// Efficiencies are those of tasks of growing size, and what the simulator was told.
type Efficiencies struct {
	Processes, Places int           // places of each process
	Task              time.Duration // what a task costs the servers, one after the other: that of an empty one on all places
	Between           time.Duration // what a place loses between two tasks: on one process, with tasks of a millisecond
	Rows              []Efficiency
}

// step is the step of the simulator.
const step = 10 * time.Microsecond

// Efficient measures tasks that sleep, on processes with places, and lets the simulator predict it: from what an empty
// task costs on all places, and what a place of one process loses between two tasks.
func Efficient(ctx context.Context, command Command, processes, places int, leaves []time.Duration, told func(what string)) (e Efficiencies, err error) {
	e = Efficiencies{Processes: processes, Places: places}
	u, err := Embedded.start(ctx)
	if err != nil {
		return e, err
	}
	defer u.stop()
	n, err := (&onFilch{up: u, replicas: 1}).open(ctx, "submitter", cluster.WithPlaces(0))
	if err != nil {
		return e, err
	}
	defer n.Close(ctx)
	if err := e.findBetween(ctx, command, u, n, told); err != nil {
		return e, err
	}
	for i := range processes {
		p, err := startProcess(command, u, fmt.Sprint("p", i), places)
		if err != nil {
			return e, err
		}
		defer p.leave()
	}
	told("empty tasks")
	const empty = 5000
	took, _, err := sleepAll(ctx, n, 0, empty)
	if err != nil {
		return e, err
	}
	e.Task = took / empty
	for _, leaf := range leaves {
		told(fmt.Sprint("tasks of ", leaf))
		if err := e.measure(ctx, n, leaf); err != nil {
			return e, err
		}
	}
	return e, nil
}

// findBetween measures what a place loses between two tasks.
func (e *Efficiencies) findBetween(ctx context.Context, command Command, u *up, n *cluster.Node, told func(string)) error {
	told("one process")
	p, err := startProcess(command, u, "one", e.Places)
	if err != nil {
		return err
	}
	defer p.leave()
	var lost []time.Duration
	for range 9 { // the median, since a machine can be busy with something else for a while
		const each = 50
		all, leaf, err := sleepAll(ctx, n, time.Millisecond, each*e.Places)
		if err != nil {
			return err
		}
		lost = append(lost, max(0, all/each-leaf))
	}
	slices.Sort(lost)
	e.Between = lost[len(lost)/2]
	return nil
}

// total is how long a row takes, about.
const total = time.Second

func (e *Efficiencies) measure(ctx context.Context, n *cluster.Node, leaf time.Duration) error {
	all := e.Processes * e.Places
	r := Efficiency{Leaf: leaf, Tasks: max(2, int(total/leaf)) * all}
	r.Tasks = min(r.Tasks, 10_000)
	took, mean, err := sleepAll(ctx, n, leaf, r.Tasks)
	if err != nil {
		return err
	}
	r.Took = mean
	r.Measured = r.of(took, all)
	simulated, err := e.simulate(mean, r.Tasks)
	if err != nil {
		return err
	}
	r.Predicted = r.of(simulated, all)
	e.Rows = append(e.Rows, r)
	return nil
}

// of returns which part of the time of all places the tasks took.
func (r *Efficiency) of(time time.Duration, places int) float64 {
	return float64(r.Took) * float64(r.Tasks) / float64(places) / float64(time)
}

// simulate lets a worker of the simulator put the tasks into a central queue, from which all take them. A push and a pop
// hold the queue for half of what a task costs the servers each, and each task takes what a place loses with it besides.
func (e *Efficiencies) simulate(leaf time.Duration, tasks int) (time.Duration, error) {
	lock := max(1, int64(e.Task/2/step))
	weight := max(1, int64((leaf+max(0, e.Between-e.Task/2))/step))
	program, _, err := dag.Parse(fmt.Sprintf("loop=%d@%d", tasks, weight))
	if err != nil {
		return 0, err
	}
	r, err := sim.Run(sim.Config{Program: program, Scheduler: "central", Workers: e.Processes * e.Places, Seed: 1, CentralCost: lock})
	if err != nil {
		return 0, err
	}
	return time.Duration(r.Time) * step, nil
}

// sleepAll submits tasks that sleep, and returns how long it takes until all have ended, and how long each slept on average.
func sleepAll(ctx context.Context, n *cluster.Node, leaf time.Duration, tasks int) (all, mean time.Duration, err error) {
	f, err := submitSleep(ctx, n, 0) // the handler is there
	if err != nil {
		return 0, 0, err
	}
	if _, err := f.Wait(ctx); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	futures := make(chan *cluster.Future[int64], tasks)
	if err := inParallel(tasks, func() error {
		f, err := submitSleep(ctx, n, leaf)
		if err == nil {
			futures <- f
		}
		return err
	}); err != nil {
		return 0, 0, err
	}
	close(futures)
	for f := range futures {
		slept, err := f.Wait(ctx)
		if err != nil {
			return 0, 0, err
		}
		mean += time.Duration(slept) / time.Duration(tasks)
	}
	return time.Since(begin), mean, nil
}
