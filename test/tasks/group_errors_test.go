package tasks

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// Inside the task that made the group, Wait runs what has not started itself, the newest first,
// and nobody else's tasks.
func TestGroupWaitRunsItsOwn(t *testing.T) {
	racetest.Skip(t, "it checks the order in which one worker runs things")
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
		var order []int
		_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			stranger := p.Group(ctx)
			waited := false
			stranger.Go(func(context.Context) error {
				if !waited {
					t.Error("a stranger runs while the group is waited for")
				}
				return nil
			})
			g := p.Group(ctx)
			for i := range 5 {
				g.Go(func(context.Context) error { order = append(order, i); return nil })
			}
			err := g.Wait()
			waited = true
			if n := p.Stats().Tasks.InPlace; n != 5 {
				t.Errorf("%d of 5 tasks ran in place", n)
			}
			return 0, errors.Join(err, stranger.Wait())
		}).Wait(context.Background())
		if err != nil || !slices.Equal(order, []int{4, 3, 2, 1, 0}) {
			t.Errorf("filch.Submit(background, p, …).Wait(background): %v, %v", order, err)
		}
		p.Close()
	})
}

// A group of another pool has its tasks run there.
func TestGroupOfAnotherPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := filch.New(filch.WithWorkers(1)), filch.New(filch.WithWorkers(1))
		_, err := filch.Submit(context.Background(), a, func(ctx context.Context) (int, error) {
			g := b.Group(ctx)
			for range 3 {
				g.Go(func(ctx context.Context) error {
					filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
						if w.Pool() != b {
							t.Error("a task runs in another pool")
						}
					})
					return nil
				})
			}
			return 0, g.Wait()
		}).Wait(context.Background())
		if err != nil {
			t.Error("filch.Submit(background, a, …).Wait(background):", err)
		}
		a.Close()
		b.Close()
		if n, m := a.Stats().Tasks, b.Stats().Tasks; n.Submitted != 1 || n.InPlace != 0 || m.Submitted != 3 || m.InPlace != 0 {
			t.Errorf("a.Stats().Tasks: %+v\n%+v", n, m)
		}
	})
}

// What Wait returns: the first error, or the first max and how many more.
func TestErrorsOfAGroup(t *testing.T) {
	for _, c := range []struct {
		collect, fail int
		want          string
	}{
		{0, 0, "<nil>"}, {0, 1, "bad 0"}, {0, 5, "bad 0"},
		{1, 1, "bad 0"}, {1, 2, "bad 0"}, {3, 2, "bad 0\nbad 1"}, {3, 3, "bad 0\nbad 1\nbad 2"},
		{3, 7, "bad 0\nbad 1\nbad 2\nand 4 more errors"},
	} {
		for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.FIFO))
				defer p.Close()
				var how []filch.GroupOption
				if c.collect > 0 {
					how = append(how, filch.CollectErrors(c.collect))
				}
				g := p.Group(context.Background(), how...)
				p.Pause()
				for i := range c.fail {
					g.Go(func(context.Context) error { return fmt.Errorf("bad %d", i) }, opts...)
				}
				g.Go(func(context.Context) error { return nil }, opts...)
				p.Resume()
				if got := fmt.Sprint(g.Wait()); got != c.want {
					t.Errorf("%d fail, %d are kept: %q, not %q", c.fail, c.collect, got, c.want)
				}
				if cause := context.Cause(g.Context()); cause == nil {
					t.Error("the group's context has not ended")
				}
				if k := p.Stats().Tasks; c.collect > 0 && (k.Failed != int64(c.fail) || k.Cancelled != 0) {
					t.Errorf("p.Stats().Tasks: %+v", k)
				}
			})
		}
	}
}

// A task that fails ends the context of the others, with its error as the cause; errors that only
// say so are not kept.
func TestFirstErrorEndsTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(4))
		defer p.Close()
		g := p.Group(context.Background())
		for range 3 {
			g.Go(func(ctx context.Context) error {
				<-ctx.Done()
				if cause := context.Cause(ctx); cause != rig.ErrBoom {
					t.Errorf("it ended because of %v", cause)
				}
				return ctx.Err()
			})
		}
		g.Go(func(context.Context) error { time.Sleep(time.Second); return rig.ErrBoom })
		if err := g.Wait(); err != rig.ErrBoom {
			t.Error("g.Wait():", err)
		}
		all := p.Group(context.Background(), filch.CollectErrors(10))
		for i := range 3 {
			all.Go(func(ctx context.Context) error {
				time.Sleep(time.Duration(i) * time.Second)
				return errors.Join(rig.ErrBoom, ctx.Err())
			})
		}
		if err := all.Wait(); fmt.Sprint(err) != "boom\nboom\nboom" {
			t.Errorf("all.Wait(): %q", err)
		}
	})
}

// Results are in the order of the calls, also of tasks that fail or never start.
func TestResultsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(3))
		defer p.Close()
		r := filch.NewResultGroup[int](context.Background(), p, filch.CollectErrors(9))
		for i := range 10 {
			r.Go(func(context.Context) (int, error) {
				time.Sleep(time.Duration(10-i) * time.Second)
				if i == 4 {
					return -1, rig.ErrBoom
				}
				return i, nil
			})
		}
		if r.Context().Err() != nil {
			t.Error("the context has ended")
		}
		got, err := r.Wait()
		if !slices.Equal(got, []int{0, 1, 2, 3, -1, 5, 6, 7, 8, 9}) || fmt.Sprint(err) != "boom" {
			t.Errorf("r.Wait(): %v, %v", got, err)
		}
		r = filch.NewResultGroup[int](context.Background(), p)
		p.Pause()
		r.Go(rig.One)
		if got, err := r.Stop(); !slices.Equal(got, []int{0}) || err != nil {
			t.Errorf("stopped: %v, %v", got, err)
		}
		p.Resume()
	})
}

// If a task of a group ends its goroutine, on which somebody waits for the group,
// that one does not end before all others have.
func TestGoexitInAGroupWaitsForTheRest(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	for range 20 {
		var left atomic.Int32
		_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			g := p.Group(ctx, filch.CollectErrors(100))
			for i := range 20 {
				left.Add(1)
				g.Go(func(context.Context) error {
					defer left.Add(-1)
					if i == 15 {
						runtime.Goexit()
					}
					for range 100 {
						runtime.Gosched()
					}
					return nil
				})
			}
			if err := g.Wait(); !errors.Is(err, filch.ErrGoexit) {
				t.Errorf("Wait of a group, one of whose tasks calls Goexit, returns %v", err)
			}
			return 0, nil
		}).Wait(context.Background())
		if err != nil && err != filch.ErrGoexit {
			t.Error("filch.Submit(background, p, …).Wait(background):", err)
		}
		if n := left.Load(); n != 0 {
			t.Fatalf("%d tasks are not done", n)
		}
	}
}
