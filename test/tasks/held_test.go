package tasks

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
)

var errDep = errors.New("no")

// saysNo is a task that fails.
func saysNo(context.Context) (int, error) { return 0, errDep }

func TestAfterBeginsWhenAllAreDone(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		ctx := context.Background()
		a, b := filch.NewPromise[string](p), filch.Submit(ctx, p, rig.Value(1))
		done := ""
		c := filch.Submit(ctx, p, func(context.Context) (string, error) { return done + "c", nil }, filch.After(a.Future()), filch.After(b, b))
		b.Wait(ctx)
		if s := p.Stats().Tasks; s.Held != 1 || s.Submitted != 2 {
			t.Fatalf("p.Stats().Tasks: %+v", s)
		}
		done = "b"
		a.Complete("", nil)
		if v, err := c.Wait(ctx); v != "bc" || err != nil {
			t.Fatal("c.Wait(ctx):", v, err)
		}
	})
}

// Each way to submit a task takes After, and gives the error of what failed.
func TestAfterByAllWays(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		for _, fail := range []bool{false, true} {
			promise := filch.NewPromise[int](p)
			var ran sync.Map
			mark := func(name string) func(context.Context) error {
				return func(context.Context) error { ran.Store(name, true); return nil }
			}
			after := filch.After(promise.Future())
			ctx := context.Background()
			if err := p.Go(ctx, func(ctx context.Context) { mark("Go")(ctx) }, after); err != nil {
				t.Fatal("p.Go(ctx, …, after):", err)
			}
			if err := p.TryGo(ctx, func(ctx context.Context) { mark("TryGo")(ctx) }, after, filch.Fair()); err != nil {
				t.Fatal("p.TryGo(ctx, …, after, filch.Fair()):", err)
			}
			g := p.Group(ctx, filch.CollectErrors(10))
			g.Go(mark("Group.Go"), after, filch.Named("x"))
			g.GoFrom(ctx, mark("Group.GoFrom"), after, filch.Within(time.Hour))
			r := filch.NewResultGroup[int](ctx, p, filch.CollectErrors(10))
			r.Go(func(ctx context.Context) (int, error) { return 7, mark("ResultGroup")(ctx) }, after, filch.LongRunning())
			f := filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return 8, mark("Submit")(ctx) }, after, filch.AtPriority(3))
			if n := p.Stats().Tasks.Held; n != 6 {
				t.Fatalf("%d tasks are held", n)
			}
			if fail {
				promise.Complete(0, errDep)
			} else {
				promise.Complete(0, nil)
			}
			_, err := f.Wait(ctx)
			gErr := g.Wait()
			_, rErr := r.Wait()
			for _, e := range []error{err, gErr, rErr} {
				if errors.Is(e, errDep) != fail {
					t.Error(e)
				}
			}
			for p.Stats().Tasks.Done+p.Stats().Tasks.Cancelled < 6 { // those of Go
				runtime.Gosched()
			}
			n := 0
			for range ran.Range {
				n++
			}
			if want := map[bool]int{false: 6, true: 0}[fail]; n != want {
				t.Errorf("%d tasks ran, not %d", n, want)
			}
		}
	}, filch.WithOrder(filch.ByPriority))
}

// The error tells the name of the task that failed, through any number of others, and a chain of them
// takes no stack.
func TestAfterAFailure(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
		ctx := context.Background()
		p.Pause()
		first := filch.Submit(ctx, p, saysNo, filch.Named("parse"))
		f := first
		n := 100_000
		if thorough.Sampled() {
			n = 5000
		}
		for range n {
			f = filch.Submit(ctx, p, rig.Value(1), filch.After(f))
		}
		p.Resume()
		const want = `filch: After: task "parse" failed: no`
		_, err := f.Wait(ctx)
		if !errors.Is(err, errDep) || err.Error() != want {
			t.Fatal("f.Wait(ctx):", err)
		}
		if _, err := filch.Submit(ctx, p, rig.Value(1), filch.After(f)).Wait(ctx); err == nil || err.Error() != want {
			t.Errorf("after one that was dropped: %v", err)
		}
		before := p.Stats().Tasks
		if err := p.Go(ctx, func(context.Context) { t.Error("it ran") }, filch.After(first)); !errors.Is(err, errDep) {
			t.Error("p.Go(ctx, …, filch.After(first)):", err)
		}
		if now := p.Stats().Tasks; now.Rejected != before.Rejected+1 || now.Submitted != before.Submitted {
			t.Errorf("%+v, then %+v", before, now)
		}
		slow := filch.NewPromise[int](p) // one that fails ends it at once
		fast := filch.NewPromise[int](p)
		f = filch.Submit(ctx, p, rig.Value(1), filch.After(slow.Future(), fast.Future()))
		fast.Complete(0, errDep)
		if _, err := f.Wait(ctx); err == nil || err.Error() != "filch: After: a task failed: no" {
			t.Error("f.Wait(ctx):", err)
		}
	})
}

// A task may wait for one whose dependencies have not begun, and runs them in place.
func TestWaitForWhatIsHeld(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			var order []int
			var mu sync.Mutex
			note := func(i int) func(context.Context) (int, error) {
				return func(context.Context) (int, error) {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, i)
					return i, nil
				}
			}
			f := filch.Submit(ctx, p, note(0))
			for i := range 1000 { // each after the last, and after an older one again
				f = filch.Submit(ctx, p, note(i+1), filch.After(f, f))
			}
			before := p.Stats().Tasks.InPlace
			if _, err := f.Wait(ctx); err != nil {
				return 0, err
			}
			if n := p.Stats().Tasks.InPlace - before; p.Workers() == 1 && n != 1001 {
				t.Errorf("%d of 1001 tasks ran in place", n)
			}
			if !slices.IsSorted(order) || len(order) != 1001 {
				t.Error("not in order:", order)
			}
			return 0, nil
		}).Wait(context.Background())
		if err != nil {
			t.Error("filch.Submit(context.Background(), p, …).Wait(…):", err)
		}
	})
}

// A task that waits for one that comes after itself gets an error.
func TestWaitForWhatComesAfterTheCaller(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		self := make(chan *filch.Future[int], 1)
		f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			me := <-self
			f := filch.Submit(ctx, p, rig.Value(1), filch.After(filch.Submit(ctx, p, rig.Value(1), filch.After(me), filch.Named("next"))), filch.Named("last"))
			return f.Wait(ctx)
		}, filch.Named("me"))
		self <- f
		_, err := f.Wait(context.Background())
		if !errors.Is(err, filch.ErrInside) || !strings.HasSuffix(err.Error(), ": task me waits for task last waits for task next waits for task me") {
			t.Error("f.Wait(context.Background()):", err)
		}
	})
}

// A Future does not keep those that its task came after.
func TestAChainIsNotKept(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	ctx := context.Background()
	first := filch.NewPromise[int](p)
	f := filch.Submit(ctx, p, rig.Value(0), filch.After(first.Future()))
	kept := weak.Make(f)
	for range 10 {
		f = filch.Submit(ctx, p, rig.Value(1), filch.After(f))
	}
	first.Complete(1, nil)
	if _, err := f.Wait(ctx); err != nil {
		t.Fatal("f.Wait(ctx):", err)
	}
	p.Close()
	for range 1000 {
		if runtime.GC(); kept.Value() == nil {
			runtime.KeepAlive(f)
			return
		}
	}
	t.Error("the first task of a chain is kept by the last")
}

// A held task is dropped when its context ends, by a deadline, by a cancel of it or of its submitter,
// and at the end of the pool, though what it comes after never ends.
func TestHeldTasksEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		never := filch.After(filch.NewPromise[int](p).Future())
		ctx, cancel := context.WithCancelCause(context.Background())
		background := context.Background()
		byContext := filch.Submit(ctx, p, rig.Value(1), never)
		byDeadline := filch.Submit(background, p, rig.Value(1), never, filch.Within(time.Minute))
		byCancel := filch.Submit(background, p, rig.Value(1), never)
		var ofTask *filch.Future[int]
		made, end := make(chan bool), make(chan bool)
		submitter := filch.Submit(background, p, func(ctx context.Context) (int, error) {
			ofTask = filch.Submit(ctx, p, rig.Value(1), never)
			close(made)
			filch.Blocking(ctx, func() { <-end })
			return 0, nil
		})
		<-made
		g := p.Group(background)
		g.Go(func(context.Context) error { return nil }, never)
		byClose := filch.Submit(background, p, rig.Value(1), never)
		held := func(want int) {
			t.Helper()
			synctest.Wait()
			if n := p.Stats().Tasks.Held; n != want {
				t.Errorf("%d tasks are held, not %d", n, want)
			}
		}
		held(6)
		cancel(errDep)
		held(5)
		byCancel.Cancel()
		held(4)
		submitter.Cancel()
		held(3)
		time.Sleep(2 * time.Minute)
		held(2)
		if err := g.Stop(); err != nil {
			t.Error("g.Stop():", err)
		}
		held(1)
		close(end)
		late, stop := context.WithTimeout(background, time.Second)
		defer stop()
		if err := p.Shutdown(late); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "with 1 tasks queued") {
			t.Error("p.Shutdown(late):", err)
		}
		for f, want := range map[*filch.Future[int]]error{byContext: errDep, byDeadline: context.DeadlineExceeded,
			byCancel: context.Canceled, ofTask: context.Canceled, byClose: filch.ErrClosed} {
			if _, err := f.Wait(background); err != want {
				t.Error(err, "not", want)
			}
		}
		p.Close()
		if _, err := filch.Submit(background, p, rig.Value(1), never).Wait(background); err != filch.ErrClosed {
			t.Error("filch.Submit(background, p, value(1), never).Wait(…):", err)
		}
		if s := p.Stats().Tasks; s.Submitted != 7 || s.Done != 1 || s.Cancelled != 6 || s.Held != 0 {
			t.Errorf("p.Stats().Tasks: %+v", s)
		}
	})
}

// Shutdown waits for held tasks, and for what they come after, of another pool as well.
func TestShutdownWaitsForWhatIsHeld(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		other := filch.New(filch.WithWorkers(1))
		ctx := context.Background()
		end := make(chan bool)
		dep := filch.Submit(ctx, other, func(context.Context) (int, error) { <-end; return 1, nil })
		f := filch.Submit(ctx, p, rig.Value(2), filch.After(dep))
		long := filch.Submit(ctx, p, rig.Value(3), filch.After(dep), filch.LongRunning())
		over := make(chan error)
		go func() { over <- p.Shutdown(ctx) }()
		for !p.Closed() {
			runtime.Gosched()
		}
		close(end)
		if err := <-over; err != nil {
			t.Error("<-over:", err)
		}
		v, _ := f.Wait(ctx)
		w, _ := long.Wait(ctx)
		if v != 2 || w != 3 {
			t.Error("f.Wait(ctx):", v, w)
		}
		other.Close()
	})
}

// Where a limit makes the submitter run a task, it waits for what holds the task.
func TestHeldTasksAtALimit(t *testing.T) {
	for _, o := range []filch.Overflow{filch.Block, filch.CallerRuns} {
		rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
			promise := filch.NewPromise[int](p)
			_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				go promise.Complete(1, nil)
				f := filch.Submit(ctx, p, rig.Value(1), filch.After(promise.Future())) // there is no slot
				if s := p.Stats().Tasks; s.Held != 0 {
					t.Errorf("p.Stats().Tasks: %+v", s)
				}
				failed := filch.NewPromise[int](p)
				go failed.Complete(1, errDep)
				if _, err := filch.Submit(ctx, p, rig.Value(1), filch.After(failed.Future())).Wait(ctx); !errors.Is(err, errDep) {
					t.Error("filch.Submit(…).Wait(ctx):", err)
				}
				return f.Wait(ctx)
			}).Wait(context.Background())
			if err != nil {
				t.Error("filch.Submit(context.Background(), p, …).Wait(…):", err)
			}
		}, filch.WithTaskLimit(1, o))
	}
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) { // the limit of a group
		_, err := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			promise := filch.NewPromise[int](p)
			g := p.Group(ctx, filch.GroupLimit(1))
			g.Go(func(ctx context.Context) error {
				var completed atomic.Bool
				go func() {
					runtime.Gosched()
					completed.Store(true)
					promise.Complete(1, nil)
				}()
				g.GoFrom(ctx, func(context.Context) error {
					if !completed.Load() {
						t.Error("it did not wait for what it comes after")
					}
					return nil
				}, filch.After(promise.Future()))
				return nil
			})
			return 0, g.Wait()
		}).Wait(context.Background())
		if err != nil {
			t.Error("filch.Submit(context.Background(), p, …).Wait(…):", err)
		}
	})
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) { // a full queue keeps out no task that was held
		ctx := context.Background()
		promise := filch.NewPromise[int](p)
		f := filch.Submit(ctx, p, rig.Value(1), filch.After(promise.Future()))
		p.Pause()
		filch.Submit(ctx, p, rig.Value(2))
		if err := p.TryGo(ctx, func(context.Context) {}); err != filch.ErrQueueFull {
			t.Error("p.TryGo(ctx, …):", err)
		}
		promise.Complete(1, nil)
		if s := p.Stats().Tasks; s.Queued != 2 {
			t.Errorf("p.Stats().Tasks: %+v", s)
		}
		p.Resume()
		f.Wait(ctx)
	}, filch.WithQueueLimit(1, filch.Reject))
}

func TestHeldTasksAreSeen(t *testing.T) {
	p := filch.New(filch.WithName("kitchen"), filch.WithOrder(filch.ByPriority))
	ctx := context.Background()
	promise := filch.NewPromise[int](p)
	stew := filch.Submit(ctx, p, rig.Value(1), filch.After(promise.Future()), filch.Named("stew"), filch.AtPriority(2))
	filch.Submit(ctx, p, rig.Value(1), filch.After(stew, promise.Future(), stew, stew), filch.Named("serve"))
	cook := p.Subpool(1, filch.WithName("cook"))
	one := filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return promise.Future().Wait(ctx) }, filch.Named("waiter"), filch.LongRunning())
	p.Pause()
	filch.Submit(ctx, p, rig.Value(1), cook, filch.Named("fry"))
	filch.Submit(ctx, p, rig.Value(1), cook, filch.Named("bake"))
	want := []filch.QueuedTasks{{Name: "bake", Held: 1}, {Name: "fry", Count: 1}, {Name: "serve", Held: 1}, {Name: "stew", Priority: 2, Held: 1}}
	got := p.Queued()
	for i := range got {
		got[i].Oldest = 0
	}
	if !slices.Equal(got, want) {
		t.Errorf("p.Queued(): %+v", got)
	}
	var b bytes.Buffer
	for !strings.Contains(b.String(), "waits for a promise") { // once it has begun
		b.Reset()
		p.Dump(&b)
	}
	for _, line := range []string{"1 queued (1 globally, the oldest for", "3 held, paused", "task waiter waits for a promise",
		"task stew comes after a promise", "task serve comes after task stew, a promise, task stew and 1 more",
		"task bake waits for a slot of the Subpool cook, which has 1"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no %q in\n%s", line, &b)
		}
	}
	promise.Complete(1, nil)
	one.Wait(ctx)
	p.Shutdown(ctx)
}

// asked is a context without an end that counts how often it is asked for one.
type asked struct {
	context.Context
	n *atomic.Int64
}

func (a asked) Err() error { a.n.Add(1); return nil }

func (a asked) Value(key any) any { a.n.Add(1); return a.Context.Value(key) }

// Cancel of a task that runs looks at no held tasks but its own: of 1,000 that others hold, at none.
func TestCancelLeavesTheHeldTasksOfOthersAlone(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	promise := filch.NewPromise[int](p)
	var n atomic.Int64
	ctx := asked{context.Background(), &n}
	for range 1000 {
		p.Go(ctx, func(context.Context) {}, filch.After(promise.Future()))
	}
	runs := make(chan *filch.Future[int])
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		runs <- filch.Submit(ctx, p, rig.Value(1), filch.After(promise.Future()))
		<-ctx.Done()
		return 0, nil
	})
	own := <-runs
	n.Store(0)
	f.Cancel()
	if got := n.Load(); got > 0 {
		t.Errorf("they were asked %d times", got)
	}
	if _, err := own.Wait(context.Background()); err != context.Canceled {
		t.Errorf("the task's own: %v", err)
	}
}

// A task that was dropped is not kept by what it came after, which is not done for long.
func TestADroppedTaskIsNotKept(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	promise := filch.NewPromise[int](p)
	ctx, cancel := context.WithCancel(context.Background())
	dropped := func() weak.Pointer[filch.Future[int]] {
		f := filch.Submit(ctx, p, rig.Value(1), filch.After(promise.Future()))
		cancel()
		if _, err := f.Wait(context.Background()); err != context.Canceled {
			t.Error("f.Wait(context.Background()):", err)
		}
		return weak.Make(f)
	}()
	for i := 0; dropped.Value() != nil; i++ {
		if runtime.GC(); i > 100 {
			t.Fatal("it is kept")
		}
		runtime.Gosched()
	}
	runtime.KeepAlive(promise)
}
