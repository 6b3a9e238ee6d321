package clusterbench

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster"
)

// Failover is how long after the kill of a process a task of its node has begun on another one.
type Failover struct {
	AckWait time.Duration // of the handler: how long the servers wait for signs of life
	Took    []time.Duration
}

// Failovers kills a process so many times.
func Failovers(ctx context.Context, command Command, times int) (Failover, error) {
	r := Failover{AckWait: ackWait}
	u, err := Embedded.start(ctx)
	if err != nil {
		return r, err
	}
	defer u.stop()
	n, err := (&onFilch{up: u, replicas: 1}).open(ctx, "submitter", cluster.WithPlaces(0))
	if err != nil {
		return r, err
	}
	defer n.Close(ctx)
	for range times {
		took, err := failover(ctx, command, u, n)
		if err != nil {
			return r, err
		}
		r.Took = append(r.Took, took)
	}
	return r, nil
}

// failover submits a task, kills the node that begins with it, and waits until another one has begun with it.
func failover(ctx context.Context, command Command, u *up, n *cluster.Node) (time.Duration, error) {
	started := make(chan *nats.Msg, 16)
	sub, err := u.nc.ChanSubscribe(startedSubject, started)
	if err != nil {
		return 0, err
	}
	defer sub.Unsubscribe()
	first, err := startProcess(command, u, "first", 1)
	if err != nil {
		return 0, err
	}
	defer first.kill()
	f, err := submitSleep(ctx, n, time.Hour)
	if err != nil {
		return 0, err
	}
	if err := begun(ctx, started); err != nil {
		return 0, err
	}
	second, err := startProcess(command, u, "second", 1)
	if err != nil {
		return 0, err
	}
	defer second.kill()
	begin := time.Now()
	first.kill()
	err = begun(ctx, started)
	took := time.Since(begin)
	if err == nil {
		err = n.Cancel(ctx, f.ID())
	}
	return took, err
}

// begun waits until a node tells that it has begun with a task.
func begun(ctx context.Context, started <-chan *nats.Msg) error {
	select {
	case <-started:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// submitSleep submits a task that sleeps. The handler may not be known yet: its node has just started.
func submitSleep(ctx context.Context, n *cluster.Node, d time.Duration) (*cluster.Future[int64], error) {
	for {
		f, err := cluster.Submit[int64, int64](ctx, n, sleeper, int64(d))
		if err == nil {
			return f, nil
		}
		if !isUnknown(err) {
			return nil, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}
