package storms

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
)

// vertex is a task of a random graph, or a promise.
type vertex struct {
	future       *filch.Future[int]
	deps         []*vertex
	begun, ended atomic.Int32
}

// Random graphs of tasks, by After, with promises and subpools, with tasks that fail, panic, exit, wait for
// one another and submit others, and that are cancelled while all goes on: each task that was accepted
// ends once, and none begins before all that it comes after has ended well.
func TestStormOfDependencies(t *testing.T) {
	rounds := 150
	if thorough.Sampled() {
		rounds = 20
	}
	for _, workers := range []int{1, 2, 8} {
		for seed := range uint64(rounds) {
			if !t.Run(fmt.Sprintf("workers=%d,seed=%d", workers, seed), func(t *testing.T) { stormOfDependencies(t, workers, seed) }) {
				return
			}
		}
	}
}

var errOfStorm = errors.New("a task of the storm failed")

func stormOfDependencies(t *testing.T, workers int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, uint64(workers)))
	opts := []filch.Option{filch.WithWorkers(workers), filch.WithStallTimeout(0), filch.WithOrder(rig.Any(rng, rig.Orders))}
	s := &web{t: t, rng: rng}
	if rng.IntN(3) == 0 {
		limit, overflow := 1+rng.IntN(50), rig.Any(rng, rig.Overflows)
		opts = append(opts, filch.WithTaskLimit(limit, overflow))
		s.callerRuns = overflow == filch.CallerRuns
	}
	if rng.IntN(3) == 0 {
		opts = append(opts, filch.WithQueueLimit(1+rng.IntN(5), filch.Block))
	}
	s.p = filch.New(opts...)
	s.limit = 1 + rng.IntN(3)
	s.sub = s.p.Subpool(s.limit, filch.WithOrder(rig.Any(rng, rig.Orders)))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const n = 60
	promises := make([]*filch.Promise[int], 8)
	s.promised = make([]*vertex, 8)
	for i := range promises {
		promises[i] = filch.NewPromise[int](s.p)
		s.promised[i] = &vertex{future: promises[i].Future()}
	}
	ends, at, fails := rng.IntN(4), rng.IntN(len(promises)), rng.IntN(16)
	completed := make(chan struct{})
	go func() { // or else a submission that waits for a slot would wait for ever
		defer close(completed)
		for i, promise := range promises {
			for range 100 * (1 + i) {
				runtime.Gosched()
			}
			if i == at && ends == 0 {
				s.p.Close()
			}
			if i == at && ends == 1 {
				cancel()
			}
			s.promised[i].ended.Store(1)
			var err error
			if i == fails {
				err = errOfStorm
			}
			promise.Complete(1, err)
			if promise.Complete(2, nil) {
				t.Error("a promise was completed twice")
			}
		}
	}()
	for i := range n {
		s.add(ctx, i)
	}
	seen := make(chan struct{})
	victims := rng.Perm(n)[:rng.IntN(4)]
	go func() {
		defer close(seen)
		for _, i := range victims {
			s.all[i].future.Cancel()
		}
	}()
	<-completed
	<-seen
	s.check(ends == 0)
}

// A web is a storm of tasks that come after others.
type web struct {
	t          *testing.T
	p          *filch.Pool
	callerRuns bool
	sub        *filch.Subpool
	limit      int          // of sub
	inSub      atomic.Int32 // tasks that run
	rng        *rand.Rand
	all        []*vertex
	promised   []*vertex
}

// add adds a task, or a promise, at number i.
func (s *web) add(ctx context.Context, i int) {
	v, rng := &vertex{}, s.rng
	if rng.IntN(8) == 0 {
		s.all = append(s.all, s.promised[rng.IntN(len(s.promised))])
		return
	}
	var deps []filch.Waiter
	for range rng.IntN(4) {
		if len(s.all) > 0 {
			v.deps = append(v.deps, s.all[rng.IntN(len(s.all))])
			deps = append(deps, v.deps[len(v.deps)-1].future)
		}
	}
	opts := []filch.TaskOption{filch.After(deps...)}
	inside := rng.IntN(3) == 0
	if inside {
		opts = append(opts, s.sub)
	}
	switch rng.IntN(8) {
	case 0:
		opts = append(opts, filch.Named(fmt.Sprint(i)))
	case 1:
		opts = append(opts, filch.Fair())
	case 2:
		opts = append(opts, filch.LongRunning())
	}
	how := rng.IntN(30)
	if how == 2 && s.callerRuns { // runtime.Goexit would end the goroutine that submits, which may be this one
		how = 0
	}
	var awaited *filch.Future[int]
	if rng.IntN(6) == 0 && !inside && len(s.all) > 0 {
		awaited = s.all[rng.IntN(len(s.all))].future
	}
	f := s.task(v, i, how, inside, awaited)
	if rng.IntN(4) == 0 { // from a task of the pool
		made := make(chan *filch.Future[int], 1)
		submit := func(ctx context.Context) (int, error) { made <- filch.Submit(ctx, s.p, f, opts...); return 0, nil }
		if _, err := filch.Submit(ctx, s.p, submit).Wait(context.Background()); err != nil {
			made <- filch.Submit(ctx, s.p, f, opts...)
		}
		v.future = <-made
	} else {
		v.future = filch.Submit(ctx, s.p, f, opts...)
	}
	s.all = append(s.all, v)
}

// task returns what the task of v does, which ends by how.
func (s *web) task(v *vertex, i, how int, inside bool, awaited *filch.Future[int]) func(ctx context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		if v.begun.Add(1) != 1 {
			s.t.Error("a task began twice")
		}
		for _, d := range v.deps {
			if d.ended.Load() == 0 {
				s.t.Error("a task began before what it comes after has ended")
			}
		}
		if inside {
			if now := s.inSub.Add(1); int(now) > s.limit {
				s.t.Errorf("%d tasks of a subpool of %d run", now, s.limit)
			}
			defer s.inSub.Add(-1)
		}
		if awaited != nil {
			awaited.Wait(ctx)
		}
		switch how {
		case 0:
			return 0, errOfStorm
		case 1:
			panic(errOfStorm)
		case 2:
			runtime.Goexit()
		case 3:
			runtime.Gosched()
		}
		v.ended.Store(1)
		return i, nil
	}
}

// check waits for all, and for the pool, which may have been closed before.
func (s *web) check(closed bool) {
	for i, v := range s.all {
		_, err := v.future.Wait(context.Background())
		if err == nil && v.ended.Load() != 1 {
			s.t.Errorf("task %d has a result, and has not ended", i)
		}
		for _, d := range v.deps {
			if _, e := d.future.Wait(context.Background()); e != nil && v.begun.Load() != 0 {
				s.t.Errorf("task %d began, and what it comes after failed: %v", i, e)
			}
		}
	}
	if err := s.p.Shutdown(context.Background()); err != nil {
		s.t.Error("p.Shutdown(context.Background()):", err)
	}
	if n := s.p.Stats().Tasks; n.Held != 0 || n.Queued != 0 && !closed || n.Submitted != n.Done+n.Cancelled || n.Started != n.Done {
		s.t.Errorf("in the end: %+v", n)
	}
	if s.sub.Running() != 0 || s.inSub.Load() != 0 {
		s.t.Errorf("%d tasks of the subpool run in the end, %d in it", s.sub.Running(), s.inSub.Load())
	}
}
