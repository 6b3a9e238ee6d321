package main

import (
	"context"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// queue is a queue of tasks that runs.
type queue interface {
	// fill puts n empty tasks into the queue.
	fill(ctx context.Context, n int) error
	// drain runs n tasks, places at once, calls ran in each, and returns when all are done and the queue knows it.
	drain(ctx context.Context, places int, left *countdown) error
	close()
}

// system is a way to run a queue.
type system struct {
	name    string
	durable string // how it writes
	module  string
	start   func(ctx context.Context, dir string) (queue, error)
}

var systems = []system{
	{"River, Postgres", "fsync", "github.com/riverqueue/river", riverOnPostgres("on")},
	{"River, Postgres", "no fsync (synchronous_commit=off)", "github.com/riverqueue/river", riverOnPostgres("off")},
	{"River, SQLite", "fsync (WAL, synchronous=FULL)", "github.com/riverqueue/river", riverOnSQLite("FULL")},
	{"River, SQLite", "no fsync (WAL, synchronous=OFF)", "github.com/riverqueue/river", riverOnSQLite("OFF")},
	{"asynq, Redis", "fsync (appendfsync=always)", "github.com/hibiken/asynq", startAsynq("always")},
	{"asynq, Redis", "no fsync (appendfsync=no)", "github.com/hibiken/asynq", startAsynq("no")},
}

// figure is how long it took to run the tasks of a queue that was filled before.
type figure struct {
	System  string          `json:"system"`
	Durable string          `json:"durable"`
	Version string          `json:"version"`
	Places  int             `json:"places"`
	Tasks   int             `json:"tasks"`
	Times   []time.Duration `json:"times_ns,omitempty"`
	Note    string          `json:"note,omitempty"` // why there are no times
}

// runWait is how long a run may take.
const runWait = 2 * time.Minute

// measure runs the tasks so many times, and once to warm up, each time in a new queue in a new folder.
func (s system) measure(ctx context.Context, places, tasks, runs int) figure {
	f := figure{System: s.name, Durable: s.durable, Version: version(s.module), Places: places, Tasks: tasks}
	for i := range runs + 1 {
		took, err := s.once(ctx, places, tasks)
		if err != nil {
			f.Times, f.Note = nil, err.Error()
			return f
		}
		if i > 0 {
			f.Times = append(f.Times, took)
		}
	}
	return f
}

func (s system) once(ctx context.Context, places, tasks int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, runWait)
	defer cancel()
	dir, err := os.MkdirTemp("", "queues")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	q, err := s.start(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer q.close()
	if err := q.fill(ctx, tasks); err != nil {
		return 0, err
	}
	begin := time.Now()
	err = q.drain(ctx, places, newCountdown(tasks))
	return time.Since(begin), err
}

// countdown counts the tasks that have not run.
type countdown struct {
	left atomic.Int64
	none chan struct{}
}

func newCountdown(n int) *countdown {
	c := &countdown{none: make(chan struct{})}
	c.left.Store(int64(n))
	return c
}

// ran says that a task has run.
func (c *countdown) ran() {
	if c.left.Add(-1) == 0 {
		close(c.none)
	}
}

// wait waits until all have run.
func (c *countdown) wait(ctx context.Context) error {
	select {
	case <-c.none:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// version returns the version of a module that this program was built with.
func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == module {
				return d.Version
			}
		}
	}
	return ""
}
