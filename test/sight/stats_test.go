package sight

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/rig"
)

// The observer's events of a random load add up to what Stats says.
func TestObserverSeesEverything(t *testing.T) {
	var seen [5]atomic.Int64
	p := filch.New(filch.WithWorkers(4), filch.WithName("load"), filch.WithQueueLimit(50, filch.Reject),
		filch.WithObserver(rig.Observer(func(e filch.Event) {
			if e.Pool != "load" || e.Task != "" && e.Task != "late" || (e.Kind == filch.TaskCancelled || e.Kind == filch.TaskRejected) != (e.Err != nil) {
				t.Errorf("%+v", e)
			}
			seen[e.Kind].Add(1)
		})))
	ended, end := context.WithCancel(context.Background())
	defer end()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 1000 {
				ctx := context.Background()
				switch j % 4 {
				case 0:
					ctx = ended
				case 1:
					filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
						filch.Submit(ctx, p, func(context.Context) (int, error) { return 1, nil }).Wait(ctx)
						return 0, nil
					}, filch.Named("late"))
				case 2:
					g := p.Group(ctx)
					g.Go(func(context.Context) error { return nil })
					g.Stop()
				}
				p.Go(ctx, func(context.Context) { runtime.Gosched() })
				if i == 0 && j == 500 {
					end()
				}
			}
		})
	}
	wg.Wait()
	if err := p.Shutdown(context.Background()); err != nil {
		t.Fatal("p.Shutdown(background):", err)
	}
	s := p.Stats().Tasks
	submitted, rejected, started, done, cancelled := seen[filch.TaskSubmitted].Load(), seen[filch.TaskRejected].Load(),
		seen[filch.TaskStarted].Load(), seen[filch.TaskDone].Load(), seen[filch.TaskCancelled].Load()
	if submitted != s.Submitted || rejected != s.Rejected || cancelled != s.Cancelled || started != done || submitted != done+cancelled {
		t.Errorf("%d submitted, %d rejected, %d started, %d done, %d cancelled; %+v", submitted, rejected, started, done, cancelled, s)
	}
	if rejected == 0 || cancelled == 0 || started == 0 {
		t.Error("the load shows too little")
	}
}

// Tasks run with labels, and regions in a trace, however they are run.
func TestLabelsAndRegions(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithName("kitchen"), filch.WithLabels())
	defer p.Close()
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skip(err) // the tests themselves are traced
	}
	const cook, stir = `"filch_pool":"kitchen", "filch_task":"cook"`, `"filch_pool":"kitchen", "filch_task":"stir"`
	check := func(context.Context) (int, error) {
		if !strings.Contains(labels(), stir) {
			t.Error("no goroutine is labelled")
		}
		return 0, nil
	}
	_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		f := filch.Submit(ctx, p, check, filch.Named("stir")) // runs in place
		before := labels()
		n, err := f.Wait(ctx)
		after := labels()
		if !strings.Contains(before, cook) || strings.Contains(before, stir) || !strings.Contains(after, cook) || strings.Contains(after, stir) {
			t.Errorf("what runs in place changes the labels from\n%s\nto\n%s", before, after)
		}
		return n, err
	}, filch.Named("cook")).Wait(context.Background())
	g := p.Group(context.Background())
	g.Go(func(ctx context.Context) error { _, err := check(ctx); return err }, filch.Named("stir"))
	p.Go(context.Background(), func(ctx context.Context) { check(ctx) }, filch.Named("stir"))
	p.Go(context.Background(), func(ctx context.Context) { check(ctx) }, filch.Named("stir"), filch.LongRunning())
	if err := errors.Join(err, g.Wait(), p.Shutdown(context.Background())); err != nil {
		t.Error("errors.Join(err, g.Wait(), p.Shutdown(background)):", err)
	}
	trace.Stop()
	if !strings.Contains(out.String(), "filch stir") {
		t.Error("the trace has no region of the task")
	}
}

// labels returns the labels of all goroutines.
func labels() string {
	var profile bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&profile, 1)
	return profile.String()
}

// A goroutine is kept for the idle timeout and no longer, and goes on with what
// comes in between.
func TestAGoroutineIsKeptForTheIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2), filch.WithIdleTimeout(time.Second))
		run := func() {
			filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 0, nil }).Wait(context.Background())
		}
		for range 20 {
			run()
			time.Sleep(time.Second / 2)
		}
		if s := p.Stats(); s.Wakes > 2 || s.Active != 0 {
			t.Errorf("new goroutines were started: %+v", s)
		}
		parked := func() int {
			synctest.Wait()
			var b bytes.Buffer
			pprof.Lookup("goroutine").WriteTo(&b, 2)
			return strings.Count(b.String(), "engine.(*Worker).park")
		}
		if n := parked(); n == 0 || n > 2 {
			t.Errorf("%d goroutines are kept", n)
		}
		time.Sleep(2 * time.Second)
		if n := parked(); n != 0 {
			t.Errorf("%d goroutines are kept after the time", n)
		}
		run()
		p.Close() // does not wait for the time to pass
		if n := parked(); n != 0 {
			t.Errorf("%d goroutines are kept after Close", n)
		}
	})
}

// A polling worker stays, one of two; Close ends it.
func TestOneOfTwoWorkersPollsUntilClose(t *testing.T) {
	p := filch.New(filch.WithWorkers(2), filch.WithBusyPoll())
	for range 3 {
		filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 0, nil }).Wait(context.Background())
		for start := time.Now(); time.Since(start) < 20*time.Millisecond; runtime.Gosched() {
		}
		poll.Patiently(t, "one of two workers polls", func() (bool, any) { s := p.Stats(); return s.Searching == 1, s })
	}
	p.Close()
	if s := p.Stats(); s.Active != 0 || s.Searching != 0 {
		t.Errorf("after Close: %+v", s)
	}
}

// The contexts of tasks in a bubble are collected when it is over.
func TestContextsOutliveTheirBubble(t *testing.T) {
	for _, opt := range []filch.TaskOption{filch.Named("x"), filch.Within(time.Hour)} {
		var held weak.Pointer[byte]
		synctest.Test(t, func(*testing.T) {
			time.Sleep(50 * 365 * 24 * time.Hour) // its clock, which begins in 2000, may show any year
			filch.Submit(context.Background(), filch.New(), func(ctx context.Context) (int, error) {
				ctx.Done()
				held = weak.Make((*byte)(reflect.ValueOf(ctx).UnsafePointer()))
				return 0, nil
			}, opt).Wait(context.Background())
		})
		poll.Patiently(t, "the context of a task in a bubble is collected", func() (bool, any) {
			runtime.GC()
			return held.Value() == nil, "it is held"
		})
	}
	// What is to be done when a context is collected is done now.
	done := make(chan bool)
	runtime.AddCleanup(new(*int), func(done chan bool) { close(done) }, done)
	for collected := false; !collected; {
		runtime.GC()
		select {
		case <-done:
			collected = true
		default:
		}
	}
}

// A pool whose tasks are done leaves nothing behind in a bubble, open or not,
// and its watch for stalls goes on outside of one that has ended.
func TestTasksInBubbles(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	run := func() {
		filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 0, nil }).Wait(context.Background())
		for p.Stats().Active > 0 {
			runtime.Gosched()
		}
	}
	hidden := func() {
		ch := make(chan bool)
		p.Go(context.Background(), func(context.Context) { <-ch })
		p.Go(context.Background(), func(context.Context) { ch <- true })
		for s := p.Stats(); s.Tasks.Done != s.Tasks.Submitted || s.Active > 0; s = p.Stats() {
			time.Sleep(time.Millisecond)
		}
	}
	synctest.Test(t, func(*testing.T) { run() })
	run()
	synctest.Test(t, func(*testing.T) { hidden() })
	synctest.Test(t, func(*testing.T) { run() })
	stop := time.AfterFunc(30*time.Second, func() { panic("no watch for stalls") })
	hidden()
	stop.Stop()
	if s := p.Stats().Tasks; s.Stalls < 2 {
		t.Errorf("p.Stats().Tasks: %+v", s)
	}
}
