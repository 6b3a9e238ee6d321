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
	if f, err := h.Submit(ctx, 1, cluster.Durable()); err != nil { // makes the lanes
		return Latency{}, err
	} else if _, err := f.Wait(ctx); err != nil {
		return Latency{}, err
	}
	<-started
	var times []time.Duration
	for range tasks {
		time.Sleep(rest)
		begin := time.Now()
		if _, err := cluster.Submit[int, int](ctx, from, handlerName, 1, cluster.Durable()); err != nil {
			return Latency{}, err
		}
		times = append(times, (<-started).Sub(begin))
	}
	slices.Sort(times)
	return Latency{s, times[len(times)/2], times[len(times)*99/100]}, nil
}

// rest is how long a cluster is left alone between tasks.
const rest = 2 * time.Millisecond

// Local is what a task costs that is submitted and waited for: in a pool, and in a node that runs it itself.
type Local struct{ Pool, Node []time.Duration }

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
	for i := range rounds + 1 {
		p := each(tasks, func() {
			if err = pool.Go(ctx, func(context.Context) { done <- struct{}{} }); err == nil {
				<-done
			}
		})
		c := each(tasks, func() {
			f, e := h.Submit(ctx, 1)
			if e != nil {
				err = e
				return
			}
			if _, e := f.Wait(ctx); e != nil {
				err = e
			}
		})
		if err != nil {
			return l, err
		}
		if i > 0 { // the first is to warm up
			l.Pool, l.Node = append(l.Pool, p), append(l.Node, c)
		}
	}
	return l, nil
}

// each returns what a call of f takes, of so many.
func each(times int, f func()) time.Duration {
	begin := time.Now()
	for range times {
		f()
	}
	return time.Since(begin) / time.Duration(times)
}
