package order

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// What a worker has taken over from outside is not buried under its own tasks.
func TestMovedTasksAreNotBuried(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	for _, order := range rig.Orders {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(order))
		p.Pause()
		var stop atomic.Bool
		var own atomic.Int64
		var again func(ctx context.Context)
		again = func(ctx context.Context) {
			own.Add(1)
			if !stop.Load() {
				p.Go(ctx, again)
			}
		}
		p.Go(context.Background(), again)
		var at []int64
		for range 4 {
			p.Go(context.Background(), func(context.Context) {
				if at = append(at, own.Load()); len(at) == 4 {
					stop.Store(true)
				}
			})
		}
		p.Resume()
		p.Shutdown(context.Background())
		for i, n := range at { // with 60 own tasks between, at most
			if n > int64(61*(i+1)) {
				t.Errorf("%v: own tasks before those from outside: %d", order, at)
				break
			}
		}
	}
}

// A worker with no end of work of its own looks at the global queue now and
// then.
func TestOwnTasksDoNotStarveTheGlobalQueue(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	var own atomic.Int64
	var stop atomic.Bool
	var more func(ctx context.Context)
	more = func(ctx context.Context) {
		own.Add(1)
		if !stop.Load() {
			p.Go(ctx, more)
		}
	}
	p.Go(context.Background(), more)
	for own.Load() == 0 {
		runtime.Gosched()
	}
	done := make(chan bool)
	p.Go(context.Background(), func(context.Context) {
		stop.Store(true)
		close(done)
	})
	<-done
	p.Close()
	// Fair tasks do not overtake what is queued from outside.
	q := filch.New(filch.WithWorkers(1))
	q.Pause()
	var got []string
	q.Go(context.Background(), func(ctx context.Context) {
		q.Go(ctx, func(context.Context) { got = append(got, "fair") }, filch.Fair())
		q.Go(ctx, func(context.Context) { got = append(got, "own") })
	})
	for range 70 {
		q.Go(context.Background(), func(context.Context) {
			if !slices.Contains(got, "outside") {
				got = append(got, "outside")
			}
		})
	}
	q.Resume()
	q.Shutdown(context.Background())
	if s := strings.Join(got, " "); s != "own outside fair" {
		t.Errorf("tasks ran in the order %q, not own outside fair", s)
	}
}

// From outside, tasks start in the order they come in; what a task submits, a
// LIFO pool runs first, newest first.
func TestTasksFromOutsideStartInTheOrderTheyComeIn(t *testing.T) {
	for order, want := range map[filch.Order]string{
		filch.LIFO: "0 0c 0b 0a 1 1c 1b 1a 2 2c 2b 2a",
		filch.FIFO: "0 1 2 0a 0b 0c 1a 1b 1c 2a 2b 2c",
	} {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(order))
		p.Pause()
		var got []string
		for i := range 3 {
			p.Go(context.Background(), func(ctx context.Context) {
				got = append(got, fmt.Sprint(i))
				for _, c := range "abc" {
					p.Go(ctx, func(context.Context) { got = append(got, fmt.Sprint(i)+string(c)) })
				}
			})
		}
		p.Resume()
		if err := p.Shutdown(context.Background()); err != nil {
			t.Fatal("p.Shutdown(background):", err)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%v: %s, want %s", order, s, want)
		}
	}
}
