package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite" // the driver
)

// onRiver is River on a database.
type onRiver[Tx any] struct {
	driver riverdriver.Driver[Tx]
	stop   func()
}

// newRiver makes River's tables.
func newRiver[Tx any](ctx context.Context, driver riverdriver.Driver[Tx], stop func()) (queue, error) {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: silent})
	if err == nil {
		_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		stop()
		return nil, err
	}
	return &onRiver[Tx]{driver, stop}, nil
}

// riverOnPostgres starts a Postgres for it.
func riverOnPostgres(commit string) func(ctx context.Context, dir string) (queue, error) {
	return func(ctx context.Context, dir string) (queue, error) {
		url, stop, err := startPostgres(ctx, dir, commit)
		if err != nil {
			return nil, err
		}
		pool, err := pgxpool.New(ctx, url)
		if err != nil {
			stop()
			return nil, err
		}
		return newRiver(ctx, riverpgxv5.New(pool), func() { pool.Close(); stop() })
	}
}

// riverOnSQLite has a database in a file. SQLite has one writer, and so River wants one connection.
func riverOnSQLite(synchronous string) func(ctx context.Context, dir string) (queue, error) {
	return func(ctx context.Context, dir string) (queue, error) {
		db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=journal_mode(WAL)&_pragma=synchronous(%s)&_txlock=immediate", filepath.Join(dir, "river.db"), synchronous))
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		return newRiver(ctx, riversqlite.New(db), func() { db.Close() })
	}
}

// emptyArgs is the argument of the tasks.
type emptyArgs struct{}

func (emptyArgs) Kind() string { return "empty" }

type emptyWorker struct {
	river.WorkerDefaults[emptyArgs]
	left *countdown
}

func (w *emptyWorker) Work(context.Context, *river.Job[emptyArgs]) error {
	w.left.ran()
	return nil
}

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

func (q *onRiver[Tx]) client(places int, left *countdown) (*river.Client[Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &emptyWorker{left: left})
	c := &river.Config{Workers: workers, Logger: silent}
	if places > 0 {
		c.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: places}}
		c.FetchCooldown, c.FetchPollInterval = time.Millisecond, time.Millisecond // the least that it takes
	}
	return river.NewClient(q.driver, c)
}

// insertAtOnce is how many tasks are put into the queue by one statement.
const insertAtOnce = 500

func (q *onRiver[Tx]) fill(ctx context.Context, n int) error {
	c, err := q.client(0, nil)
	if err != nil {
		return err
	}
	for left := n; left > 0; left -= insertAtOnce {
		some := make([]river.InsertManyParams, min(left, insertAtOnce))
		for i := range some {
			some[i].Args = emptyArgs{}
		}
		if _, err := c.InsertManyFast(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

func (q *onRiver[Tx]) drain(ctx context.Context, places int, left *countdown) error {
	c, err := q.client(places, left)
	if err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	if err := left.wait(ctx); err != nil {
		return err
	}
	return c.Stop(ctx) // when all that has run is written
}

func (q *onRiver[Tx]) close() { q.stop() }
