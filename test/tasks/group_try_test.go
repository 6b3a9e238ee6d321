package tasks

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// TryGo says no where Go would wait or run the task itself, and the group knows nothing of it.
func TestTryGoNeverWaits(t *testing.T) {
	fails := func(context.Context) error { return rig.ErrBoom }
	for name, c := range map[string]struct {
		pool  []filch.Option
		group []filch.GroupOption
		fits  int // so many, while the worker is busy
	}{
		"GroupLimit":                 {nil, []filch.GroupOption{filch.GroupLimit(2)}, 2},
		"WithTaskLimit, Block":       {[]filch.Option{filch.WithTaskLimit(3, filch.Block)}, nil, 2}, // one is held's
		"WithTaskLimit, CallerRuns":  {[]filch.Option{filch.WithTaskLimit(3, filch.CallerRuns)}, nil, 2},
		"WithQueueLimit, Block":      {[]filch.Option{filch.WithQueueLimit(1, filch.Block)}, nil, 1},
		"WithQueueLimit, Reject":     {[]filch.Option{filch.WithQueueLimit(1, filch.Reject)}, nil, 1},
		"WithQueueLimit, CallerRuns": {[]filch.Option{filch.WithQueueLimit(1, filch.CallerRuns)}, nil, 1},
		"both, the pool's first":     {[]filch.Option{filch.WithQueueLimit(1, filch.Block)}, []filch.GroupOption{filch.GroupLimit(2)}, 1},
	} {
		for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}} {
			p, release := rig.Held(t, c.pool...)
			g := p.Group(context.Background(), c.group...)
			r := filch.NewResultGroup[int](context.Background(), p, c.group...)
			for i := range c.fits {
				if !g.TryGo(fails0, opts...) {
					t.Errorf("%s: task %d is refused", name, i)
				}
			}
			before := p.Stats().Tasks.Rejected
			for range 3 {
				if g.TryGo(fails, opts...) {
					t.Errorf("%s: there is no room", name)
				}
				if c.group == nil && r.TryGo(func(context.Context) (int, error) { return 1, rig.ErrBoom }, opts...) {
					t.Errorf("%s: there is no room for a result", name)
				}
			}
			if n := p.Stats().Tasks.Rejected - before; n < 3 {
				t.Errorf("%s: %d are counted as rejected", name, n)
			}
			release()
			if err := g.Wait(); err != nil {
				t.Errorf("g.Wait(): %s: %v", name, err)
			}
			if got, err := r.Wait(); err != nil || len(got) != 0 {
				t.Errorf("r.Wait(): %s: %v, %v", name, got, err)
			}
			p.Close()
			if k := p.Stats().Tasks; k.Running != 0 || k.Waiting != 0 || k.Done != int64(1+c.fits) {
				t.Errorf("p.Stats().Tasks: %s: %+v", name, k)
			}
		}
	}
}

func fails0(context.Context) error { return nil }

// What TryGo reports besides is an error of the group, as with Go, unless its context has ended.
func TestTryGoKeepsOtherErrors(t *testing.T) {
	for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}} {
		p := filch.New(filch.WithWorkers(1))
		g := p.Group(context.Background())
		if g.TryGo(fails0, append(opts, filch.Within(-1))...) {
			t.Error("Within(-1) is accepted")
		}
		if err := g.Wait(); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("Within(-1): %v", err)
		}
		g = p.Group(context.Background())
		g.Stop()
		if g.TryGo(fails0, opts...) {
			t.Error("a group that has ended takes a task")
		}
		p.Close()
		g = p.Group(context.Background())
		if g.TryGo(fails0, opts...) || !errors.Is(g.Wait(), filch.ErrClosed) {
			t.Error("a closed pool takes a task")
		}
	}
	if s := rig.Recovered(func() { filch.Default().Group(context.Background()).TryGo(nil) }); s != "filch: Group.TryGo: f is nil" {
		t.Error("recovered(…):", s)
	}
	if s := rig.Recovered(func() { filch.NewResultGroup[int](context.Background(), filch.Default()).TryGo(nil) }); s != "filch: ResultGroup.TryGo: f is nil" {
		t.Error("recovered(…):", s)
	}
}

// Of tasks that come from many goroutines at once, no more than the limit are unfinished, and each
// that TryGo accepts runs once; results are those of the accepted, in their order.
func TestTryGoInAStorm(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		r := filch.NewResultGroup[int](context.Background(), p, filch.GroupLimit(3))
		var running, accepted, ran atomic.Int64
		var wg sync.WaitGroup
		for k := range 4 {
			wg.Go(func() {
				for i := range 300 {
					ok := r.TryGo(func(context.Context) (int, error) {
						if running.Add(1) > 3 {
							t.Error("more than 3 run")
						}
						runtime.Gosched()
						running.Add(-1)
						ran.Add(1)
						return k*1000 + i, nil
					})
					if ok {
						accepted.Add(1)
					}
				}
			})
		}
		wg.Wait()
		got, err := r.Wait()
		if err != nil || int64(len(got)) != accepted.Load() || ran.Load() != accepted.Load() || len(got) == 0 {
			t.Errorf("%d workers: %d results, %d accepted, %d ran: %v", workers, len(got), accepted.Load(), ran.Load(), err)
		}
		last := [4]int{-1, -1, -1, -1}
		for _, v := range got {
			if v%1000 <= last[v/1000] {
				t.Errorf("%d workers: %d after %d", workers, v, last[v/1000])
			}
			last[v/1000] = v % 1000
		}
		p.Close()
	}
}

// Done is closed when the last task is done, and not before; then Wait does not block, and has the
// error.
func TestDoneOfAGroupIsClosedWithTheLastTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		g := p.Group(context.Background())
		if !rig.IsClosed(g.Done()) {
			t.Error("without tasks it is open")
		}
		first, second := make(chan bool), make(chan bool)
		g.Go(func(context.Context) error { <-first; return nil })
		g.Go(func(ctx context.Context) error {
			<-second
			g.GoFrom(ctx, func(context.Context) error { return nil })
			return rig.ErrBoom
		}, filch.Named("x"))
		done := g.Done()
		if done != g.Done() {
			t.Error("two channels for one wait")
		}
		close(first)
		synctest.Wait()
		if rig.IsClosed(done) {
			t.Error("a task is not done")
		}
		waited := make(chan error)
		go func() { waited <- g.Wait() }()
		synctest.Wait()
		close(second)
		synctest.Wait()
		if !rig.IsClosed(done) || g.Context().Err() == nil {
			t.Error("the last task is done")
		}
		if err := <-waited; err != rig.ErrBoom {
			t.Error("<-waited:", err)
		}
	})
}

// When the context ends, a group that is only watched by Done drops what has not started.
func TestGroupDoneDropsWhatNeverStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, release := rig.Held(t)
		defer p.Close()
		defer release()
		for _, opts := range [][]filch.TaskOption{nil, {filch.Named("x")}} {
			ctx, cancel := context.WithCancelCause(context.Background())
			r := filch.NewResultGroup[int](ctx, p)
			for range 3 {
				r.Go(func(context.Context) (int, error) { t.Error("it runs"); return 0, nil }, opts...)
			}
			done := r.Done()
			synctest.Wait()
			if rig.IsClosed(done) {
				t.Error("nothing is done yet")
			}
			cancel(rig.ErrBoom)
			synctest.Wait()
			if !rig.IsClosed(done) {
				t.Error("the context has ended")
			}
			if _, err := r.Wait(); err != rig.ErrBoom {
				t.Error("r.Wait():", err)
			}
		}
	})
}

// Submitters that wait for a slot of a group count as waiting, for as long as they do.
func TestWaitingCountsThoseOfGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		ctx, cancel := context.WithCancel(context.Background())
		g := p.Group(ctx, filch.GroupLimit(1), filch.CollectErrors(1))
		g.Go(func(ctx context.Context) error { <-ctx.Done(); return nil })
		for range 3 {
			go g.Go(func(context.Context) error { return nil })
		}
		go func() { // a method of this context does not return
			defer func() { recover() }()
			g.GoFrom(panicsAtDone{context.Background()}, func(context.Context) error { return nil })
		}()
		synctest.Wait()
		if k := p.Stats().Tasks; k.Waiting != 3 || k.Running != 1 || k.Queued != 0 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
		cancel()
		g.Wait()
		synctest.Wait()
		if k := p.Stats().Tasks; k.Waiting != 0 || k.Running != 0 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
	})
}

// panicsAtDone is a context with a method that panics.
type panicsAtDone struct{ context.Context }

func (panicsAtDone) Done() <-chan struct{} { panic("no Done") }

// Running counts the tasks that have begun and are not done, wherever they run and also while they
// wait.
func TestRunningCountsAllThatRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0), filch.WithTaskLimit(6, filch.CallerRuns))
		defer p.Close()
		gate := make(chan bool)
		waits := func(context.Context) { <-gate }
		for range 4 { // two of them are queued
			p.Go(context.Background(), waits)
		}
		p.Go(context.Background(), waits, filch.LongRunning())
		p.Go(context.Background(), rig.Nothing)
		go p.Go(context.Background(), waits) // on this goroutine
		synctest.Wait()
		if k := p.Stats().Tasks; k.Running != 4 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
		close(gate)
		synctest.Wait()
		if k := p.Stats().Tasks; k.Running != 0 || k.Done != 7 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
		var inner int
		p.Resize(1)                                                                    // no other worker takes the inner one
		filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { // one that waits for another, in place
			return filch.Submit(ctx, p, func(context.Context) (int, error) {
				inner = p.Stats().Tasks.Running
				return 0, nil
			}).Wait(ctx)
		}).Wait(context.Background())
		if inner != 2 {
			t.Errorf("%d tasks run, not 2", inner)
		}
	})
}
