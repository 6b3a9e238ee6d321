package rig

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
)

// NoContext is nil.
var NoContext context.Context

// Ended returns a context that is cancelled.
func Ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Leaf is how long a leaf sleeps.
const Leaf = 10 * time.Millisecond

// TaskFib computes a Fibonacci number with a task for each of two calls.
func TaskFib(ctx context.Context, p *filch.Pool, n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	f := filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return TaskFib(ctx, p, n-1) })
	b, err := TaskFib(ctx, p, n-2)
	if err != nil {
		return 0, err
	}
	a, err := f.Wait(ctx)
	return a + b, err
}

// ErrBoom is what a task fails with.
var ErrBoom = errors.New("boom")

// One is a task that returns 1.
func One(context.Context) (int, error) { return 1, nil }

// Nothing is a task that does nothing.
func Nothing(context.Context) {}

// Nop is a fork that does nothing.
func Nop(*filch.Worker) {}

// Spin computes until the given time.
func Spin(until time.Time) {
	for time.Now().Before(until) {
		Compute()
	}
}

// Compute takes some microseconds, and lets another goroutine have the processor, for
// when goroutines are not preempted.
func Compute() {
	for range 10_000 {
		work.Add(1)
	}
	runtime.Gosched()
}

var work atomic.Int64

// Value is a task that returns v.
func Value(v int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return v, nil }
}

// Bad is a function that panics.
func Bad() { panic("bad") }
