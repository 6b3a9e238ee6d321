package par

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/filch-go/filch"
)

// A pipeline may be run by a task of a pool that pins its workers: its source is pulled by goroutines that are
// locked to no thread. A panic and an exit of the source arrive as elsewhere.
func TestAPipelineRunsOnPinnedWorkers(t *testing.T) {
	p := filch.New(filch.WithWorkers(2), filch.WithAffinity(filch.Compact), filch.WithLogger(slog.New(slog.DiscardHandler)))
	defer p.Close()
	run := func(source func(yield func(int) bool)) (sum int, err error) {
		return filch.Submit(context.Background(), p, func(ctx context.Context) (sum int, err error) {
			second := make(chan bool) // the first value waits a little for it, so that most often two goroutines take some
			err = Stage(From(source), 0, func(i int) (int, error) {
				switch i {
				case 0:
					select {
					case <-second:
					case <-time.After(10 * time.Millisecond):
					}
				case 1:
					close(second)
				}
				return 2 * i, nil
			}).Run(filch.ScopeOf(ctx), func(i int) error { sum += i; return nil })
			return sum, err
		}).Wait(context.Background())
	}
	if sum, err := run(slices.Values(make([]int, 0))); sum != 0 || err != nil {
		t.Error("run(slices.Values(make([]int, 0))):", sum, err)
	}
	stopped := false
	sum, err := run(func(yield func(int) bool) {
		defer func() { stopped = true }()
		for i := range 1000 {
			if !yield(i) {
				return
			}
		}
	})
	if sum != 999_000 || err != nil || !stopped {
		t.Error("run(…):", sum, err, stopped)
	}
	var failed *filch.PanicError
	if _, err := run(func(func(int) bool) { panic("as planned") }); !errors.As(err, &failed) || failed.Value != "as planned" {
		t.Error("run(…):", err)
	}
	if _, err := run(func(func(int) bool) { runtime.Goexit() }); err != filch.ErrGoexit {
		t.Error("run(…):", err)
	}
}
