package sight

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// What workers have counted stays when a crowd of them is let go.
func TestCountsOutliveTheirWorkers(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	const crowd = 200
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithStallTimeout(0))
		var in, all sync.WaitGroup
		in.Add(crowd)
		all.Add(crowd)
		for range crowd {
			p.Go(context.Background(), func(ctx context.Context) {
				in.Done()
				filch.Blocking(ctx, in.Wait) // all at once, each on a worker of its own
				p.Go(ctx, func(context.Context) { all.Done() })
			})
		}
		all.Wait()
		synctest.Wait()
		if k := p.Stats().Tasks; k.Submitted != 2*crowd || k.Started != 2*crowd || k.Done != 2*crowd || k.Queued != 0 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
		before := p.Stats()
		var wg sync.WaitGroup
		gate := make(chan bool)
		for range crowd { // guests, each of which publishes a fork and takes it back or has it stolen
			wg.Go(func() {
				p.Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) { <-gate }, rig.Nop) })
			})
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		synctest.Wait()
		s := p.Stats()
		if n := s.Published - before.Published; n != crowd {
			t.Errorf("%d of %d forks were published: %+v", n, crowd, s)
		}
		if n := s.TakenBack + s.Steals - before.TakenBack - before.Steals; n < crowd {
			t.Errorf("%d of %d forks were taken: %+v", n, crowd, s)
		}
		p.Close()
	})
}

// A crowd of guests leaves no crowd of workers behind, which thieves would look at for ever.
func TestCrowdsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		gate := make(chan bool)
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() { p.Do(func(*filch.Worker) { <-gate }) })
		}
		synctest.Wait()
		close(gate)
		wg.Wait()
		synctest.Wait()
		before := p.Stats().Attempts
		p.Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) { time.Sleep(time.Second) }, rig.Nop) })
		synctest.Wait()
		if n := p.Stats().Attempts - before; n > 64*(1<<14) {
			t.Errorf("%d looks at deques for one fork", n)
		}
		p.Close()
	})
}

// What tasks are counted as, in every form, exactly.
func TestTasksAreCounted(t *testing.T) {
	failing := func(context.Context) (int, error) { return 0, rig.ErrBoom }
	for name, c := range map[string]struct {
		run  func(p *filch.Pool)
		want filch.TaskStats
	}{
		"Go":   {func(p *filch.Pool) { p.Go(context.Background(), rig.Nothing) }, filch.TaskStats{Submitted: 1, Started: 1, Done: 1}},
		"long": {func(p *filch.Pool) { p.Go(context.Background(), rig.Nothing, filch.LongRunning()) }, filch.TaskStats{Submitted: 1, Started: 1, Done: 1, InPlace: 1}},
		"an error": {func(p *filch.Pool) { filch.Submit(context.Background(), p, failing).Wait(context.Background()) },
			filch.TaskStats{Submitted: 1, Started: 1, Done: 1, Failed: 1}},
		"an error of a group": {func(p *filch.Pool) {
			g := p.Group(context.Background())
			g.Go(func(context.Context) error { return rig.ErrBoom })
			g.Wait()
		}, filch.TaskStats{Submitted: 1, Started: 1, Done: 1, Failed: 1}},
		"Goexit": {func(p *filch.Pool) { p.Go(context.Background(), func(context.Context) { runtime.Goexit() }) },
			filch.TaskStats{Submitted: 1, Started: 1, Done: 1, Failed: 1}},
		"a panic": {func(p *filch.Pool) {
			filch.Submit(context.Background(), p, func(context.Context) (int, error) { panic(1) }).Wait(context.Background())
		}, filch.TaskStats{Submitted: 1, Started: 1, Done: 1, Panicked: 1}},
		"cancelled": {func(p *filch.Pool) {
			p.Pause()
			filch.Submit(context.Background(), p, rig.One).Cancel()
			p.Resume()
		}, filch.TaskStats{Submitted: 1, Cancelled: 1}},
		"rejected": {func(p *filch.Pool) {
			p.Go(context.Background(), rig.Nothing, filch.Within(-1))
			p.Go(rig.Ended(), rig.Nothing)
		},
			filch.TaskStats{Rejected: 2}},
		"helped": {func(p *filch.Pool) {
			p.Go(context.Background(), func(ctx context.Context) { p.Go(ctx, rig.Nothing); p.Help(ctx) })
		}, filch.TaskStats{Submitted: 2, Started: 2, Done: 2, InPlace: 1, Helped: 1}},
		"in place": {func(p *filch.Pool) {
			filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return filch.Submit(ctx, p, rig.One).Wait(ctx) }).Wait(context.Background())
		}, filch.TaskStats{Submitted: 2, Started: 2, Done: 2, InPlace: 1}},
		"dropped in place": {func(p *filch.Pool) {
			filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				inner, cancel := context.WithCancel(ctx)
				f := filch.Submit(inner, p, rig.One)
				cancel()
				return f.Wait(ctx)
			}).Wait(context.Background())
		}, filch.TaskStats{Submitted: 2, Started: 1, Done: 1, Failed: 1, Cancelled: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(1))
				c.run(p)
				synctest.Wait()
				if got := p.Stats().Tasks; got != c.want {
					t.Errorf("%+v, not %+v", got, c.want)
				}
				p.Close()
			})
		})
	}
}

// Stats tells whether the pool is paused.
func TestStatsTellsOfAPause(t *testing.T) {
	p := filch.New()
	defer p.Close()
	for _, want := range []bool{false, true, false} {
		if want {
			p.Pause()
		} else {
			p.Resume()
		}
		if got := p.Stats().Paused; got != want {
			t.Errorf("Paused is %v, not %v", got, want)
		}
	}
}

// A pool has a name, also if it was given none.
func TestPoolsHaveNames(t *testing.T) {
	a, b := filch.New(), filch.New()
	if a.Name() == b.Name() || !strings.HasPrefix(a.Name(), "pool ") {
		t.Errorf("the names are %q and %q", a.Name(), b.Name())
	}
	for _, p := range []*filch.Pool{nil, new(filch.Pool)} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != "filch: Name: the Pool is nil or zero: make one with New" {
					t.Error("fmt.Sprint(recover()):", got)
				}
			}()
			p.Name()
		}()
	}
}
