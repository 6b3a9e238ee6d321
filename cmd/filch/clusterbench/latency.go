package clusterbench

import (
	"context"
	"slices"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// Latency is how long it takes from the call of Submit to the start of the handler, on an idle cluster.
type Latency struct {
	Servers  Servers
	P50, P99 time.Duration
}

// Latencies measures so many tasks, one after the other, from one node to another.
func Latencies(ctx context.Context, s Servers, tasks int) (Latency, error) {
	u, err := s.start(ctx)
	if err != nil {
		return Latency{}, err
	}
	defer u.stop()
	q := &onFilch{up: u, replicas: s.replicas}
	from, err := q.open(ctx, "submitter", cluster.WithPlaces(0))
	if err != nil {
		return Latency{}, err
	}
	defer from.Close(ctx)
	to, err := q.open(ctx, "runner", cluster.WithPlaces(2))
	if err != nil {
		return Latency{}, err
	}
	defer to.Close(ctx)
	started := make(chan time.Time, 1)
	h := cluster.Handle(to, handlerName, func(context.Context, int) (int, error) { started <- time.Now(); return 1, nil })
	if f, err := h.Submit(ctx, 1); err != nil { // makes the lanes
		return Latency{}, err
	} else if _, err := f.Wait(ctx); err != nil {
		return Latency{}, err
	}
	<-started
	var times []time.Duration
	for range tasks {
		time.Sleep(rest)
		begin := time.Now()
		if _, err := cluster.Submit[int, int](ctx, from, handlerName, 1); err != nil {
			return Latency{}, err
		}
		times = append(times, (<-started).Sub(begin))
	}
	slices.Sort(times)
	return Latency{s, times[len(times)/2], times[len(times)*99/100]}, nil
}

// rest is how long a cluster is left alone between tasks.
const rest = 2 * time.Millisecond

// Local is what a task costs that is submitted and waited for, in each round: by Pool.Go and a channel, by filch.Submit,
// and by a node that runs it itself.
type Local struct{ Go, Submit, Node []time.Duration }

// Locals measures rounds of so many tasks, in turns.
func Locals(ctx context.Context, rounds, tasks int) (l Local, err error) {
	u, err := Embedded.start(ctx)
	if err != nil {
		return l, err
	}
	defer u.stop()
	pool := filch.New(filch.WithWorkers(2))
	defer pool.Close()
	n, err := (&onFilch{up: u, replicas: 1}).open(ctx, "local", cluster.WithPool(pool))
	if err != nil {
		return l, err
	}
	defer n.Close(ctx)
	h := cluster.Handle(n, handlerName, empty)
	done := make(chan struct{})
	ways := []func() error{
		func() error {
			if err := pool.Go(ctx, func(context.Context) { done <- struct{}{} }); err != nil {
				return err
			}
			<-done
			return nil
		},
		func() error {
			_, err := filch.Submit(ctx, pool, func(ctx context.Context) (int, error) { return empty(ctx, 1) }).Wait(ctx)
			return err
		},
		func() error {
			f, err := h.Submit(ctx, 1, cluster.LocalFirst())
			if err == nil {
				_, err = f.Wait(ctx)
			}
			return err
		},
	}
	for i := range rounds + 1 {
		for k, took := range []*[]time.Duration{&l.Go, &l.Submit, &l.Node} {
			d, err := each(tasks, ways[k])
			if err != nil {
				return l, err
			}
			if i > 0 { // the first is to warm up
				*took = append(*took, d)
			}
		}
	}
	return l, nil
}

// each returns what a call of f takes, of so many.
func each(times int, f func() error) (time.Duration, error) {
	begin := time.Now()
	for range times {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return time.Since(begin) / time.Duration(times), nil
}
