package rig

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/steal"
)

// Busy returns a pool of which all places but one are taken until release is called.
func Busy(workers int) (p *filch.Pool, release func()) {
	p = filch.New(filch.WithWorkers(workers), filch.WithStallTimeout(0))
	gate := make(chan bool)
	var in sync.WaitGroup
	in.Add(workers - 1)
	for range workers - 1 {
		p.Go(context.Background(), func(context.Context) { in.Done(); <-gate })
	}
	in.Wait()
	return p, func() { close(gate) }
}

// Checked returns a pool with checks, and what it logs.
func Checked(workers int, opts ...filch.Option) (*filch.Pool, *SyncBuffer) {
	var out SyncBuffer
	log := filch.WithLogger(slog.New(slog.NewTextHandler(&out, nil)))
	return filch.New(append(opts, filch.WithWorkers(workers), filch.WithChecks(), log)...), &out
}

// Stealings are the orders of stealing, and one that is wrong about most.
var Stealings = append(steal.Orders(), Contrary{})

// Contrary is an order that is wrong about most: it has its thieves look at themselves, at nobody, and often at the same one.
type Contrary struct{}

func (Contrary) String() string { return "Contrary" }

func (Contrary) Thief(uint64) steal.Thief { return Contrary{} }

func (Contrary) Missed(row int) int { return 1 << row }

func (Contrary) Look(l *steal.Look) {
	l.Start(-7)
	for i := range 3 * l.Len() {
		l.First(i%3 - 1)
	}
}

// StealOptions returns those that the bits of i stand for.
func StealOptions(i int) (opts []filch.StealOption) {
	if i&1 != 0 {
		opts = append(opts, filch.StealOne())
	}
	if i&2 != 0 {
		opts = append(opts, filch.YieldFirst())
	}
	return opts
}

// Orders are the orders in which a worker takes its tasks.
var Orders = []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority}

// Overflows are what a full pool may do with a task.
var Overflows = []filch.Overflow{filch.Block, filch.Reject, filch.CallerRuns}

// Any returns one of all.
func Any[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// Held returns a pool with one worker, which is busy until release is called.
func Held(t *testing.T, opts ...filch.Option) (p *filch.Pool, release func()) {
	p = filch.New(append(opts, filch.WithWorkers(1), filch.WithStallTimeout(0))...)
	busy, gate := make(chan bool), make(chan bool)
	p.Go(context.Background(), func(context.Context) { close(busy); <-gate })
	<-busy
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return p, release
}

// AtRest fails if somebody has a place of p or waits for one, once all have left.
func AtRest(t *testing.T, p *filch.Pool) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error("p.Close():", err)
	}
	if s := p.Stats(); s.Active != 0 || s.Blocked != 0 {
		t.Errorf("%d places are taken, %d goroutines blocked", s.Active, s.Blocked)
	}
}

// Shut closes p, or begins to, and returns what waits for the end.
var Shut = map[string]func(p *filch.Pool) error{
	"Close":    (*filch.Pool).Close,
	"Shutdown": func(p *filch.Pool) error { return p.Shutdown(context.Background()) },
}

// AtEach calls f with pools of several sizes that never add a place.
func AtEach(t *testing.T, f func(t *testing.T, p *filch.Pool), opts ...filch.Option) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(append(opts, filch.WithWorkers(workers), filch.WithStallTimeout(0))...)
		if f(t, p); t.Failed() {
			t.Fatalf("with %d workers", workers)
		}
		if err := p.Shutdown(context.Background()); err != nil {
			t.Fatal("p.Shutdown(context.Background()):", err)
		}
		if s := p.Stats().Tasks; s.Held != 0 || s.Submitted != s.Done+s.Cancelled {
			t.Fatalf("%d workers: in the end %+v", workers, s)
		}
	}
}
