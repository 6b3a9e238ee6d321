package clusterbench

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// onFilch is package cluster: one node submits, another one runs.
type onFilch struct {
	up        *up
	replicas  int
	results   bool
	submitter *cluster.Node
}

// quiet leaves out warnings: that servers which have just been started do not answer yet is none here.
var quiet = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))

// handlerName is the name of the handler that is measured.
const handlerName = "empty"

func empty(context.Context, int) (int, error) { return 1, nil }

func startFilch(ctx context.Context, s Servers, results bool) (queue, error) {
	u, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	q := &onFilch{up: u, replicas: s.replicas, results: results}
	if err := q.setUp(ctx); err != nil {
		u.stop()
		return nil, err
	}
	return q, nil
}

func (q *onFilch) open(ctx context.Context, node string, opts ...cluster.Option) (*cluster.Node, error) {
	return cluster.Open(ctx, append([]cluster.Option{cluster.WithConn(q.up.nc), cluster.WithNode(node), cluster.WithReplicas(q.replicas), cluster.WithLogger(quiet)}, opts...)...)
}

// setUp opens the node that submits, and another one for a moment, so that the handler's consumers are there.
func (q *onFilch) setUp(ctx context.Context) (err error) {
	if q.submitter, err = q.open(ctx, "submitter", cluster.WithPlaces(0)); err != nil {
		return err
	}
	first, err := q.open(ctx, "first")
	if err != nil {
		return err
	}
	defer first.Close(ctx)
	f, err := cluster.Handle(first, handlerName, empty).Submit(ctx, 1)
	if err != nil {
		return err
	}
	_, err = f.Wait(ctx)
	return err
}

// submitters are how many goroutines fill a queue.
const submitters = 64

func (q *onFilch) fill(ctx context.Context, n int) error {
	var opts []cluster.SubmitOption
	if !q.results {
		opts = append(opts, cluster.NoResult())
	}
	return inParallel(n, func() error {
		_, err := cluster.Submit[int, int](ctx, q.submitter, handlerName, 1, opts...)
		return err
	})
}

// inParallel calls f n times, on some goroutines, and returns an error of one of them.
func inParallel(n int, f func() error) error {
	var left atomic.Int64
	left.Store(int64(n))
	var wg sync.WaitGroup
	errs := make(chan error, submitters)
	for range submitters {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := f(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

func (q *onFilch) drain(ctx context.Context, places, n int) error {
	pool := filch.New(filch.WithWorkers(places))
	defer pool.Close()
	node, err := q.open(ctx, "runner", cluster.WithPool(pool))
	if err != nil {
		return err
	}
	var left atomic.Int64
	left.Store(int64(n))
	done := make(chan struct{})
	cluster.Handle(node, handlerName, func(context.Context, int) (int, error) {
		if left.Add(-1) == 0 {
			close(done)
		}
		return 1, nil
	})
	select {
	case <-done:
	case <-ctx.Done():
		node.Close(ctx)
		return context.Cause(ctx)
	}
	return node.Close(ctx)
}

func (q *onFilch) close() {
	ctx, cancel := context.WithTimeout(context.Background(), startWait)
	defer cancel()
	q.submitter.Close(ctx)
	q.up.stop()
}
