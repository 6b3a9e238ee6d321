package sight

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
)

// lives is an Observer that keeps what it is told of each task, and checks that each
// event follows from the ones before.
type lives struct {
	mu   sync.Mutex
	of   map[uint64]filch.Event // the last
	errs []error
}

func (l *lives) Observe(e filch.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[uint64]filch.Event{}
	}
	before, known := l.of[e.ID]
	l.of[e.ID] = e
	ok := e.ID != 0 && e.Context != nil && e.Worker >= -1
	switch e.Kind {
	case filch.TaskSubmitted:
		ok = ok && !known && !e.Submitted.IsZero() && e.Started.IsZero() && e.Ended.IsZero() && e.Err == nil && e.Worker == -1
	case filch.TaskRejected:
		ok = ok && !known && e.Submitted.IsZero() && e.Started.IsZero() && !e.Ended.IsZero() && e.Err != nil && e.Worker == -1
	case filch.TaskStarted:
		ok = ok && before.Kind == filch.TaskSubmitted && !e.Started.Before(e.Submitted) && e.Ended.IsZero() && e.Err == nil
	case filch.TaskDone:
		ok = ok && before.Kind == filch.TaskStarted && e.Started == before.Started && e.Submitted == before.Submitted &&
			!e.Ended.Before(e.Started) && e.Worker == before.Worker && e.Context == before.Context
	case filch.TaskCancelled:
		ok = ok && before.Kind == filch.TaskSubmitted && known && e.Started.IsZero() && !e.Ended.Before(e.Submitted) && e.Err != nil && e.Worker == -1
	}
	if known {
		ok = ok && e.Parent == before.Parent && e.Priority == before.Priority && e.Task == before.Task
	}
	if !ok {
		l.errs = append(l.errs, fmt.Errorf("after\n%+v\ncomes\n%+v", before, e))
	}
}

// check is called when all is over. ran is how many functions were called.
func (l *lives) check(t *testing.T, s filch.TaskStats, ran int64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, err := range l.errs[:min(3, len(l.errs))] {
		t.Error(err)
	}
	var n [5]int64
	for id, e := range l.of {
		n[e.Kind]++
		if e.Parent >= id {
			t.Errorf("task %d is submitted by %d", id, e.Parent)
		}
	}
	if n[filch.TaskSubmitted] > 0 || n[filch.TaskStarted] > 0 {
		t.Errorf("%d tasks are left submitted and %d started", n[filch.TaskSubmitted], n[filch.TaskStarted])
	}
	if s.Done != n[filch.TaskDone] || s.Cancelled != n[filch.TaskCancelled] || s.Rejected != n[filch.TaskRejected] ||
		s.Started != ran || s.Done != ran || s.Submitted != s.Done+s.Cancelled || int64(len(l.of)) != s.Submitted+s.Rejected {
		t.Errorf("%d tasks, of which %d ran: %d; %+v", len(l.of), ran, n, s)
	}
}

// Each task is submitted or rejected, once; each that was submitted is started and
// done, or cancelled; whatever tasks do, and however they are run.
func TestLifeOfEachTask(t *testing.T) {
	n := 150
	if thorough.Sampled() {
		n = 30
	}
	for seed := range uint64(n) {
		lifeOfTasks(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func lifeOfTasks(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	var l lives
	opts := []filch.Option{filch.WithWorkers(1 + r.IntN(3)), filch.WithObserver(&l), filch.WithOrder(rig.Any(r, rig.Orders)),
		filch.WithPanicHandler(func(*filch.PanicError) {}), filch.WithStallTimeout(time.Millisecond)}
	if r.IntN(2) == 0 {
		opts = append(opts, filch.WithQueueLimit(1+r.IntN(8), rig.Any(r, rig.Overflows)))
	}
	if r.IntN(3) == 0 {
		opts = append(opts, filch.WithTaskLimit(2+r.IntN(8), rig.Any(r, rig.Overflows)))
	}
	p := filch.New(opts...)
	one := &living{p: p}
	var wg sync.WaitGroup
	for i := range uint64(3) {
		for j := range uint64(4) { // where a panic or Goexit of a task that runs in place ends
			wg.Go(func() {
				done := make(chan bool)
				go func() {
					defer close(done)
					defer func() { recover() }()
					one.load(context.Background(), seed*1000+i*10+j, 2)
				}()
				<-done
			})
		}
	}
	switch r.IntN(3) {
	case 0:
		wg.Wait()
		p.Shutdown(context.Background())
	case 1:
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p.Shutdown(ctx) // drops what is queued
	}
	p.Close()
	wg.Wait()
	p.Close()
	l.check(t, p.Stats().Tasks, one.ran.Load())
}

// living is a random load of a pool.
type living struct {
	p   *filch.Pool
	ran atomic.Int64
}

// body does one of what tasks do.
func (l *living) body(seed uint64, depth int) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		l.ran.Add(1)
		switch r := rand.New(rand.NewPCG(seed, 2)); r.IntN(8) {
		case 0:
			panic("a task")
		case 1:
			runtime.Goexit()
		case 2:
			return errors.New("failed")
		case 3:
			filch.Blocking(ctx, runtime.Gosched)
		case 4:
			filch.ScopeOf(ctx).Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) {}, func(*filch.Worker) {}) })
		default:
			if depth > 0 {
				l.load(ctx, seed+1, depth-1)
			}
		}
		return nil
	}
}

// load submits tasks in all ways.
func (l *living) load(ctx context.Context, seed uint64, depth int) {
	r := rand.New(rand.NewPCG(seed, 3))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range 6 {
		f := l.body(seed*7+uint64(i), depth)
		var opts []filch.TaskOption
		for _, o := range []filch.TaskOption{filch.Named("x"), filch.Within(time.Hour), filch.LongRunning(), filch.Fair(), filch.AtPriority(1), filch.AtPriority(0)} {
			if r.IntN(6) == 0 {
				opts = append(opts, o) // a priority is refused by most pools
			}
		}
		switch r.IntN(8) {
		case 0, 1:
			l.p.Go(ctx, func(ctx context.Context) { f(ctx) }, opts...)
		case 2:
			l.p.TryGo(ctx, func(ctx context.Context) { f(ctx) }, opts...)
		case 3, 4:
			future := filch.Submit(ctx, l.p, func(ctx context.Context) (int, error) { return 0, f(ctx) }, opts...)
			switch r.IntN(3) {
			case 0:
				future.Wait(ctx)
			case 1:
				future.Cancel()
			}
		case 5:
			var limit []filch.GroupOption
			if r.IntN(3) == 0 {
				limit = append(limit, filch.GroupLimit(1+r.IntN(2)))
			}
			g := l.p.Group(ctx, limit...)
			for j := range 3 {
				g.GoFrom(ctx, l.body(seed*11+uint64(j), depth-1), opts...)
			}
			if r.IntN(2) == 0 {
				g.Stop()
			}
			g.Wait()
		case 6:
			l.p.Help(ctx)
		case 7:
			if r.IntN(4) == 0 {
				cancel()
			}
		}
	}
}

// The event of TaskDone tells how long a task waited and ran, what submitted it, and
// where it ran.
func TestEventTellsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lives
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.ByPriority), filch.WithStallTimeout(0), filch.WithObserver(&l))
		type key struct{}
		outside := context.WithValue(context.Background(), key{}, "outside")
		sleep := func(context.Context) { time.Sleep(3 * time.Second) }
		var inside context.Context
		p.Pause()
		p.Go(outside, func(ctx context.Context) { // 1
			inside = ctx
			p.Go(ctx, sleep, filch.AtPriority(7)) // 2
			p.Go(ctx, func(ctx context.Context) { // 3
				p.Go(ctx, sleep, filch.LongRunning()) // 7
			}, filch.AtPriority(5))
			time.Sleep(time.Second)
			filch.Submit(ctx, p, func(ctx context.Context) (int, error) { // 4, in place
				sleep(ctx)
				p.Go(ctx, sleep, filch.AtPriority(8)) // 5
				return 0, errUsual
			}).Wait(ctx)
			g := p.Group(ctx)
			g.Go(func(context.Context) error { return nil }) // 6, in place
			g.Wait()
		}, filch.Named("first"))
		begin := time.Now()
		time.Sleep(2 * time.Second)
		p.Resume()
		p.Shutdown(context.Background())
		for _, want := range []struct {
			id, parent        uint64
			name              string
			priority, worker  int
			submitted         time.Duration
			waited, run       time.Duration
			err               error
			value             string
			sameContextAsTask bool
		}{
			{1, 0, "first", 0, 0, 0, 2, 4, nil, "outside", true},
			{2, 1, "", 7, 0, 2, 4, 3, nil, "outside", false},
			{3, 1, "", 5, 0, 2, 4, 0, nil, "outside", false},
			{4, 1, "", 0, 0, 3, 0, 3, errUsual, "outside", false},
			{5, 4, "", 8, 0, 6, 3, 3, nil, "outside", false},
			{6, 1, "", 0, 0, 6, 0, 0, nil, "outside", false},
			{7, 3, "", 0, -1, 6, 0, 3, nil, "outside", false},
		} {
			e := l.of[want.id]
			if e.Parent != want.parent || e.Task != want.name || e.Priority != want.priority || e.Worker != want.worker ||
				e.Submitted.Sub(begin) != want.submitted*time.Second || e.Started.Sub(e.Submitted) != want.waited*time.Second ||
				e.Ended.Sub(e.Started) != want.run*time.Second || e.Err != want.err || e.Context.Value(key{}) != want.value || (e.Context == inside) != want.sameContextAsTask {
				t.Errorf("%+v\nbut %+v", want, e)
			}
		}
		l.check(t, p.Stats().Tasks, 7)
	})
}

var errUsual = errors.New("the usual")

// An observer that panics or exits at any event loses no count, place, or room in a
// queue, and keeps nobody waiting.
func TestObserverThatDoesNotReturn(t *testing.T) {
	for kind := filch.TaskSubmitted; kind <= filch.TaskCancelled; kind++ {
		for _, panics := range []bool{false, true} {
			for _, overflow := range []filch.Overflow{filch.Block, filch.Reject, filch.CallerRuns} {
				synctest.Test(t, func(t *testing.T) { observerThatDoesNotReturn(t, kind, overflow, panics) })
			}
		}
	}
}

func observerThatDoesNotReturn(t *testing.T, kind filch.EventKind, overflow filch.Overflow, panics bool) {
	var failing atomic.Bool
	var l lives
	p := filch.New(filch.WithWorkers(2), filch.WithQueueLimit(3, overflow), filch.WithPanicHandler(func(*filch.PanicError) {}),
		filch.WithObserver(rig.Observer(func(e filch.Event) {
			l.Observe(e)
			if failing.Load() && e.Kind == kind {
				if panics {
					panic("the observer")
				}
				runtime.Goexit()
			}
		})))
	failing.Store(true)
	ends := panics && kind == filch.TaskCancelled // the program, if the end of a context drops a task
	ended, end := context.WithCancel(context.Background())
	end()
	for _, ctx := range []context.Context{context.Background(), ended} {
		p.Pause()
		later, stop := context.WithCancel(context.Background())
		for i := range 5 {
			attempt(func() { p.TryGo(ctx, func(context.Context) {}) })
			if i < 1 && rig.Inside(p).Room.Taken() < 3 && !ends {
				attempt(func() { p.Go(later, func(context.Context) {}) })
			}
		}
		stop() // so that what is queued with it is cancelled when it is to start
		p.Resume()
		synctest.Wait()
		attempt(func() {
			filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil }).Wait(context.Background())
		})
		attempt(func() {
			filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil }, filch.LongRunning()).Wait(context.Background())
		})
		attempt(func() { p.Go(ctx, func(context.Context) {}, filch.AtPriority(1)) })
		attempt(func() {
			filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				f := filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil })
				f.Cancel()
				return f.Wait(ctx)
			}).Wait(context.Background())
		})
		if !ends {
			waitForGroups(ctx, p)
		}
		attempt(func() {
			filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return 0, p.Group(ctx).Stop() }).Wait(context.Background())
		})
		for p.Help(context.Background()) {
		}
		synctest.Wait()
	}
	// What is queued at the end is dropped, all of it: by Close, or by a worker that comes first.
	p.Pause()
	for range 3 {
		if ends {
			break
		}
		attempt(func() { p.TryGo(context.Background(), func(context.Context) {}) })
	}
	attempt(func() { p.Close() })
	failing.Store(false)
	p.Close()
	s := p.Stats()
	if s.Tasks.Submitted != s.Tasks.Done+s.Tasks.Cancelled || s.Tasks.Started != s.Tasks.Done || s.Tasks.Queued != 0 || s.Active != 0 || s.Blocked != 0 {
		t.Errorf("p.Stats(): %v, %v: %+v", kind, overflow, s)
	}
	if n := rig.Inside(p).Room.Taken(); n != 0 {
		t.Errorf("%v, %v: %d tasks have room", kind, overflow, n)
	}
}

// attempt calls f on a goroutine of its own, which may end by a panic or Goexit.
func attempt(f func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		defer func() { recover() }()
		f()
	}()
	<-done
}

// waitForGroups waits for groups of one task in all ways, twice.
func waitForGroups(ctx context.Context, p *filch.Pool) {
	for _, wait := range []func(g *filch.Group) error{(*filch.Group).Wait, (*filch.Group).Stop} {
		for _, options := range [][]filch.TaskOption{nil, {filch.Named("x")}, {filch.AtPriority(1)}} {
			g := p.Group(ctx)
			attempt(func() { g.Go(func(context.Context) error { return nil }, options...) })
			attempt(func() { wait(g) })
			attempt(func() { wait(g) }) // comes back all the same
		}
	}
}

// failsAt is an Observer that panics at a kind of event.
type failsAt filch.EventKind

func (k failsAt) Observe(e filch.Event) {
	if e.Kind == filch.EventKind(k) {
		panic("observed")
	}
}

// A task whose end the observer does not take has its panic, and no result.
func TestATaskThatFailsAtItsEndHasNoResult(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithObserver(failsAt(filch.TaskDone)))
	defer p.Close()
	v, err := filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 42, nil }).Wait(context.Background())
	if v != 0 || !errors.As(err, new(*filch.PanicError)) {
		t.Errorf("%d, %v", v, err)
	}
}
