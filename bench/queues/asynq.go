package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/hibiken/asynq"
)

// onAsynq is asynq on a Redis of its own, which writes each command to its log. Tasks that are done are kept, as the
// outcomes of filch are.
type onAsynq struct {
	redis  asynq.RedisClientOpt
	client *asynq.Client
	server *asynq.Server // nil before drain
	stop   func()
}

func startAsynq(fsync string) func(ctx context.Context, dir string) (queue, error) {
	return func(ctx context.Context, dir string) (queue, error) {
		path, err := find("redis-server")
		if err != nil {
			return nil, err
		}
		socket := filepath.Join(dir, "redis")
		cmd := exec.Command(path, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", fsync)
		q := &onAsynq{redis: asynq.RedisClientOpt{Network: "unix", Addr: socket}}
		q.client = asynq.NewClient(q.redis)
		if q.stop, err = untilReady(ctx, cmd, q.client.Ping); err != nil {
			q.client.Close()
			return nil, err
		}
		return q, nil
	}
}

// submitters are how many goroutines fill a queue.
const submitters = 64

func (q *onAsynq) fill(ctx context.Context, n int) error {
	var wg sync.WaitGroup
	errs := make(chan error, submitters)
	for i := range submitters {
		wg.Go(func() {
			for range n/submitters + min(1, max(0, n%submitters-i)) {
				if _, err := q.client.EnqueueContext(ctx, asynq.NewTask("empty", []byte("1")), asynq.Retention(time.Hour)); err != nil {
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

func (q *onAsynq) drain(ctx context.Context, places int, left *countdown) error {
	s := asynq.NewServer(q.redis, asynq.Config{Concurrency: places, LogLevel: asynq.FatalLevel, TaskCheckInterval: 200 * time.Millisecond})
	if err := s.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { left.ran(); return nil })); err != nil {
		return err
	}
	q.server = s
	if err := left.wait(ctx); err != nil {
		return err
	}
	return q.untilNoneActive(ctx)
}

// untilNoneActive waits until Redis knows of the end of all tasks. The server's Shutdown would wait for more.
func (q *onAsynq) untilNoneActive(ctx context.Context) error {
	inspector := asynq.NewInspector(q.redis)
	defer inspector.Close()
	for {
		info, err := inspector.GetQueueInfo("default")
		if err != nil {
			return err
		}
		if info.Active == 0 {
			return nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (q *onAsynq) close() {
	if q.server != nil {
		q.server.Shutdown()
	}
	q.client.Close()
	q.stop()
}
