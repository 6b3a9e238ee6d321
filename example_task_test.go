package filch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/bits"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
)

func ExamplePool_Go() {
	ctx := context.Background()
	p := filch.New()
	var mu sync.Mutex
	total := 0
	for i := range 10 {
		err := p.Go(ctx, func(ctx context.Context) {
			mu.Lock()
			defer mu.Unlock()
			total += i
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(p.Shutdown(ctx), total)
	// Output: <nil> 45
}

func ExamplePool_TryGo() {
	p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.Block))
	defer p.Close()
	p.Pause() // so that the first task stays in the queue
	nop := func(context.Context) {}
	fmt.Println(p.TryGo(context.Background(), nop))
	fmt.Println(p.TryGo(context.Background(), nop))
	// Output:
	// <nil>
	// filch: the queue is full
}

func ExamplePool_Help() {
	p := filch.New(filch.WithWorkers(1))
	ctx := context.Background()
	stop := make(chan bool)
	p.Go(ctx, func(ctx context.Context) { <-stop }) // the only worker is busy
	for p.Stats().Tasks.Queued > 0 {
	}
	p.Go(ctx, func(ctx context.Context) { fmt.Println("run by the caller") })
	fmt.Println(p.Help(ctx))
	fmt.Println(p.Help(ctx))
	close(stop)
	p.Shutdown(ctx)
	// Output:
	// run by the caller
	// true
	// false
}

// Tasks may submit tasks and wait for them, also on a single worker.
func ExampleSubmit() {
	ctx := context.Background()
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	var size func(ctx context.Context, depth int) (int, error)
	size = func(ctx context.Context, depth int) (int, error) {
		if depth == 0 {
			return 1, nil
		}
		left := filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return size(ctx, depth-1) })
		right, err := size(ctx, depth-1)
		if err != nil {
			return 0, err
		}
		n, err := left.Wait(ctx)
		return n + right, err
	}
	fmt.Println(filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return size(ctx, 10) }).Wait(ctx))
	// Output: 1024 <nil>
}

func ExampleFuture() { ExampleSubmit() /* Output: 1024 <nil> */ }

func ExampleFuture_Wait() {
	p := filch.New()
	defer p.Close()
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (string, error) {
		<-ctx.Done() // until it is cancelled
		return "", context.Cause(ctx)
	})
	soon, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := f.Wait(soon)
	fmt.Println("gave up waiting:", err)
	f.Cancel()
	_, err = f.Wait(context.Background())
	fmt.Println("the task:", err)
	// Output:
	// gave up waiting: context deadline exceeded
	// the task: context canceled
}

func ExampleFuture_Cancel() {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	p.Pause()
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		fmt.Println("never printed")
		return 1, nil
	})
	f.Cancel()
	p.Resume()
	fmt.Println(f.Wait(context.Background()))
	// Output: 0 context canceled
}

func ExampleFuture_Done() {
	p := filch.New()
	defer p.Close()
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return 42, nil })
	select {
	case <-f.Done():
		fmt.Println(f.Wait(context.Background()))
	case <-time.After(time.Minute):
		fmt.Println("it takes too long")
	}
	// Output: 42 <nil>
}

func ExamplePool_Group() {
	p := filch.New(filch.WithWorkers(4))
	defer p.Close()
	g := p.Group(context.Background())
	words := []string{"work", "stealing", "scheduler"}
	lengths := make([]int, len(words))
	for i, w := range words {
		g.Go(func(ctx context.Context) error {
			lengths[i] = len(w)
			return nil
		})
	}
	fmt.Println(g.Wait(), lengths)
	// Output: <nil> [4 8 9]
}

func ExampleGroup() { ExamplePool_Group() /* Output: <nil> [4 8 9] */ }

// When a task fails, the others hear of it.
func ExampleGroup_Go() {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	g := p.Group(context.Background())
	g.Go(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	g.Go(func(ctx context.Context) error { return errors.New("no such page") })
	fmt.Println(g.Wait())
	// Output: no such page
}

func ExampleGroup_Wait() { ExampleGroup_Go() /* Output: no such page */ }

func ExampleGroup_Context() {
	p := filch.New()
	defer p.Close()
	g := p.Group(context.Background())
	g.Go(func(ctx context.Context) error { return errors.New("no such page") })
	<-g.Context().Done()
	fmt.Println(context.Cause(g.Context()))
	g.Wait()
	// Output: no such page
}

func ExampleGroup_Stop() {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	g := p.Group(context.Background())
	for range 100 {
		g.Go(func(ctx context.Context) error {
			<-ctx.Done() // a task that ends when it is told to
			return nil
		})
	}
	fmt.Println(g.Stop())
	// Output: <nil>
}

func ExampleCollectErrors() {
	p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.FIFO))
	defer p.Close()
	g := p.Group(context.Background(), filch.CollectErrors(2))
	for i := range 5 {
		g.Go(func(ctx context.Context) error { return fmt.Errorf("file %d is bad", i) })
	}
	fmt.Println(g.Wait())
	// Output:
	// file 0 is bad
	// file 1 is bad
	// and 3 more errors
}

func ExampleGroupOption() {
	ExampleCollectErrors()
	// Output:
	// file 0 is bad
	// file 1 is bad
	// and 3 more errors
}

// The tasks of a group may submit more: here, each folder those in it.
func ExampleGroup_GoFrom() {
	p := filch.New()
	defer p.Close()
	inside := map[string][]string{"/": {"/bin", "/etc"}, "/etc": {"/etc/ssl"}}
	g := p.Group(context.Background())
	var folders atomic.Int32
	var visit func(ctx context.Context, dir string) error
	visit = func(ctx context.Context, dir string) error {
		folders.Add(1)
		for _, d := range inside[dir] {
			g.GoFrom(ctx, func(ctx context.Context) error { return visit(ctx, d) })
		}
		return nil
	}
	g.Go(func(ctx context.Context) error { return visit(ctx, "/") })
	fmt.Println(g.Wait(), folders.Load())
	// Output: <nil> 4
}

func ExampleResultGroup_GoFrom() {
	p := filch.New()
	defer p.Close()
	g := filch.NewResultGroup[int](context.Background(), p)
	g.Go(func(ctx context.Context) (int, error) {
		g.GoFrom(ctx, func(context.Context) (int, error) { return 2, nil })
		return 1, nil
	})
	fmt.Println(g.Wait())
	// Output: [1 2] <nil>
}

func ExampleNewResultGroup() {
	p := filch.New()
	defer p.Close()
	g := filch.NewResultGroup[string](context.Background(), p)
	for _, w := range []string{"in", "order"} {
		g.Go(func(ctx context.Context) (string, error) { return strings.ToUpper(w), nil })
	}
	fmt.Println(g.Wait())
	// Output: [IN ORDER] <nil>
}

func ExampleResultGroup()      { ExampleNewResultGroup() /* Output: [IN ORDER] <nil> */ }
func ExampleResultGroup_Go()   { ExampleNewResultGroup() /* Output: [IN ORDER] <nil> */ }
func ExampleResultGroup_Wait() { ExampleNewResultGroup() /* Output: [IN ORDER] <nil> */ }

func ExampleResultGroup_Stop() {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	p.Pause()
	g := filch.NewResultGroup[int](context.Background(), p)
	g.Go(func(ctx context.Context) (int, error) { return 1, nil })
	fmt.Println(g.Stop())
	// Output: [0] <nil>
}

func ExampleResultGroup_Context() {
	p := filch.New()
	defer p.Close()
	g := filch.NewResultGroup[int](context.Background(), p)
	fmt.Println(g.Context().Err())
	g.Stop()
	fmt.Println(g.Context().Err())
	// Output:
	// <nil>
	// context canceled
}

// Inside a task, fork-join work runs on the task's worker, and others help.
func ExampleScopeOf() {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (sum int, err error) {
		filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
			a, b := filch.Join(w,
				func(*filch.Worker) int { return 40 },
				func(*filch.Worker) int { return 2 })
			sum = a + b
		})
		return sum, nil
	})
	fmt.Println(f.Wait(context.Background()))
	// Output: 42 <nil>
}

// On a single worker, a task waits for a channel that another task closes.
func ExampleBlocking() {
	p := filch.New(filch.WithWorkers(1))
	ctx := context.Background()
	ready := make(chan bool)
	p.Go(ctx, func(ctx context.Context) {
		filch.Blocking(ctx, func() { <-ready })
		fmt.Println("ready")
	})
	p.Go(ctx, func(ctx context.Context) { close(ready) })
	p.Shutdown(ctx)
	// Output: ready
}

func ExamplePool_Shutdown() {
	p := filch.New(filch.WithWorkers(1))
	p.Go(context.Background(), func(ctx context.Context) { <-ctx.Done() })
	for range 3 {
		p.Go(context.Background(), func(ctx context.Context) {})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	err := p.Shutdown(ctx)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), p.Go(context.Background(), func(context.Context) {}))
	// Output: true filch: the pool is closed
}

func ExamplePool_Pause() {
	p := filch.New(filch.WithWorkers(1))
	p.Pause()
	p.Go(context.Background(), func(context.Context) { fmt.Println("runs") })
	fmt.Println("queued:", p.Stats().Tasks.Queued)
	p.Resume()
	p.Shutdown(context.Background())
	// Output:
	// queued: 1
	// runs
}

func ExamplePool_Resume() {
	ExamplePool_Pause()
	// Output:
	// queued: 1
	// runs
}

func ExamplePool_Resize() {
	p := filch.New(filch.WithWorkers(2))
	p.Resize(8)
	fmt.Println(p.Stats().Workers)
	// Output: 8
}

func ExamplePool_Dump() {
	p := filch.New(filch.WithWorkers(1), filch.WithName("crawler"))
	started, stop := make(chan bool), make(chan bool)
	p.Go(context.Background(), func(context.Context) { started <- true; <-stop }, filch.Named("fetch"))
	<-started
	for range 3 {
		p.Go(context.Background(), func(context.Context) {}, filch.Named("parse"))
	}
	p.Pause()
	var b strings.Builder                               // or os.Stderr
	for !strings.Contains(b.String(), "chan receive") { // until the task has come so far
		b.Reset()
		if err := p.Dump(&b); err != nil {
			fmt.Println(err)
		}
	}
	another := regexp.MustCompile(", (the oldest )?for [^,;)\n]*| [^ ]*example_task_test.go:[0-9]*") // at each run, or in each version
	fmt.Print(another.ReplaceAllString(b.String(), ""))
	close(stop)
	p.Close()
	// Output:
	// crawler: 1 worker, 0 extra; 1 slot taken, 0 searching, 0 goroutines blocked
	// tasks: 4 submitted, 0 done (0 failed, 0 panicked), 0 cancelled, 0 rejected, 3 queued (3 globally), paused
	// worker 0    task fetch; chan receive at github.com/filch-go/filch_test.ExamplePool_Dump.func1
}

func ExamplePool_Queued() {
	p := filch.New(filch.WithOrder(filch.ByPriority))
	p.Pause()
	for i := range 6 {
		p.Go(context.Background(), func(context.Context) {}, filch.Named("resize"), filch.AtPriority(i%2))
	}
	p.Go(context.Background(), func(context.Context) {}, filch.Named("mail"), filch.AtPriority(1))
	for _, q := range p.Queued() {
		fmt.Println(q.Priority, q.Name, q.Count, q.Oldest < time.Minute)
	}
	p.Close()
	// Output:
	// 0 resize 3 true
	// 1 mail 1 true
	// 1 resize 3 true
}

func ExampleQueuedTasks() {
	ExamplePool_Queued()
	// Output:
	// 0 resize 3 true
	// 1 mail 1 true
	// 1 resize 3 true
}

func ExamplePool_Running() {
	p := filch.New(filch.WithWorkers(2))
	var started sync.WaitGroup
	started.Add(3)
	stop := make(chan bool)
	wait := func(context.Context) { started.Done(); <-stop }
	p.Go(context.Background(), wait, filch.Named("fetch"))
	p.Go(context.Background(), wait, filch.Named("fetch"))
	p.Go(context.Background(), wait, filch.Named("watch"), filch.LongRunning())
	started.Wait()
	fmt.Println(p.Running())
	close(stop)
	p.Close()
	// Output: [{fetch 2} {watch 1}]
}

func ExampleRunningTasks() {
	ExamplePool_Running()
	// Output: [{fetch 2} {watch 1}]
}

func ExampleWorker_Show() {
	p := filch.New()
	search := &filch.Progress{Name: "search", Total: 1000}
	p.Do(func(w *filch.Worker) {
		defer w.Show(w.Show(search)) // again what was shown before
		for range 10 {
			// 100 steps, and then
			search.Done.Add(100)
		}
		fmt.Println(search) // as Pool.Dump does
	})
	// Output: search, 1000 of 1000 done
}

func ExampleProgress() {
	ExampleWorker_Show()
	// Output: search, 1000 of 1000 done
}

func ExampleProgress_String() {
	ExampleWorker_Show()
	// Output: search, 1000 of 1000 done
}

func ExampleWithOrder() {
	for _, order := range []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority} {
		p := filch.New(filch.WithWorkers(1), filch.WithOrder(order))
		p.Go(context.Background(), func(ctx context.Context) {
			for i := range 3 {
				var opts []filch.TaskOption
				if order == filch.ByPriority {
					opts = append(opts, filch.AtPriority(-i))
				}
				p.Go(ctx, func(context.Context) { fmt.Print(i, " ") }, opts...)
			}
		})
		p.Shutdown(context.Background())
		fmt.Println(order)
	}
	// Output:
	// 2 1 0 LIFO
	// 0 1 2 FIFO
	// 2 1 0 ByPriority
}

func ExampleOrder() {
	ExampleWithOrder()
	// Output:
	// 2 1 0 LIFO
	// 0 1 2 FIFO
	// 2 1 0 ByPriority
}

func ExampleOrder_String() {
	fmt.Println(filch.LIFO, filch.FIFO, filch.ByPriority)
	// Output: LIFO FIFO ByPriority
}

// Each second that a task waits makes up for one level.
func ExampleWithAgeing() {
	p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.ByPriority), filch.WithAgeing(time.Second))
	defer p.Close()
	p.Pause()
	g := p.Group(context.Background())
	task := func(name string) func(context.Context) error {
		return func(context.Context) error { fmt.Println(name); return nil }
	}
	g.Go(task("report"), filch.AtPriority(10))
	g.Go(task("request"), filch.AtPriority(1)) // within 9 seconds after it
	p.Resume()
	if err := g.Wait(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// request
	// report
}

func ExampleWithQueueLimit() {
	p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(2, filch.Reject))
	p.Pause() // so that nothing leaves the queue
	for range 3 {
		fmt.Println(p.Go(context.Background(), func(context.Context) {}))
	}
	p.Close()
	// Output:
	// <nil>
	// <nil>
	// filch: the queue is full
}

// No more than two tasks are unfinished at a time; a third is refused.
func ExampleWithTaskLimit() {
	p := filch.New(filch.WithTaskLimit(2, filch.Reject))
	defer p.Close()
	done := make(chan bool)
	for range 3 {
		fmt.Println(p.Go(context.Background(), func(context.Context) { <-done }))
	}
	close(done)
	// Output:
	// <nil>
	// <nil>
	// filch: the queue is full
}

// Three files are open at a time, whatever the number of workers.
func ExampleGroupLimit() {
	p := filch.New()
	defer p.Close()
	g := p.Group(context.Background(), filch.GroupLimit(3))
	var open, most atomic.Int32
	for range 100 {
		g.Go(func(context.Context) error { // waits for a slot
			defer open.Add(-1)
			if n := open.Add(1); n > 3 {
				most.Store(n)
			}
			return nil
		})
	}
	fmt.Println(g.Wait(), most.Load())
	// Output: <nil> 0
}

func ExampleOverflow() {
	p := filch.New(filch.WithWorkers(1), filch.WithQueueLimit(1, filch.CallerRuns))
	p.Pause()
	p.Go(context.Background(), func(context.Context) { fmt.Println("on a worker") })
	p.Go(context.Background(), func(context.Context) { fmt.Println("on the caller's goroutine") })
	p.Shutdown(context.Background())
	// Output:
	// on the caller's goroutine
	// on a worker
}

func ExampleOverflow_String() {
	fmt.Println(filch.Block, filch.Reject, filch.CallerRuns)
	// Output: Block Reject CallerRuns
}

func ExampleWithPanicHandler() {
	p := filch.New(filch.WithPanicHandler(func(err *filch.PanicError) { fmt.Println("handled:", err.Value) }))
	p.Go(context.Background(), func(context.Context) { panic("boom") })
	p.Shutdown(context.Background())
	// Output: handled: boom
}

func ExampleWithLogger() {
	p := filch.New(filch.WithWorkers(1), filch.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	ready := make(chan bool)
	p.Go(context.Background(), func(context.Context) { <-ready }) // the pool does not see that it blocks
	p.Go(context.Background(), func(context.Context) { close(ready) })
	fmt.Println(p.Shutdown(context.Background()), p.Stats().Tasks.Stalls > 0)
	// Output: <nil> true
}

func ExampleWithStallTimeout() {
	// At most four connections at once, however slow they are.
	p := filch.New(filch.WithWorkers(4), filch.WithStallTimeout(0))
	fmt.Println(p.Stats().Workers)
	// Output: 4
}

func ExampleWithName() {
	p := filch.New(filch.WithWorkers(1), filch.WithName("thumbnails"))
	p.Dump(os.Stdout)
	// Output:
	// thumbnails: 1 worker, 0 extra; 0 slots taken, 0 searching, 0 goroutines blocked
	// tasks: 0 submitted, 0 done (0 failed, 0 panicked), 0 cancelled, 0 rejected, 0 queued
}

func ExampleWithBusyPoll() {
	p := filch.New(filch.WithWorkers(2), filch.WithBusyPoll())
	f := filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil })
	fmt.Println(f.Wait(context.Background()))
	p.Close() // ends the polling
	// Output: 1 <nil>
}

func ExampleWithIdleTimeout() {
	p := filch.New(filch.WithWorkers(2), filch.WithIdleTimeout(time.Second))
	f := filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil })
	fmt.Println(f.Wait(context.Background()))
	p.Close()
	// Output: 1 <nil>
}

func ExampleWithLabels() {
	p := filch.New(filch.WithName("thumbnails"), filch.WithLabels())
	f := filch.Submit(context.Background(), p, func(context.Context) (int, error) { return 1, nil }, filch.Named("resize"))
	fmt.Println(f.Wait(context.Background()))
	p.Close()
	// Output: 1 <nil>
}

// printer is an Observer.
type printer struct{}

func (printer) Observe(e filch.Event) { fmt.Println(e.Kind, e.Task, e.Err) }

func ExampleWithObserver() {
	p := filch.New(filch.WithWorkers(1), filch.WithObserver(printer{}))
	f := filch.Submit(context.Background(), p,
		func(context.Context) (int, error) { return 0, errors.New("no such page") }, filch.Named("fetch"), filch.LongRunning())
	f.Wait(context.Background())
	p.Close()
	// Output:
	// TaskSubmitted fetch <nil>
	// TaskStarted fetch <nil>
	// TaskDone fetch no such page
}

func ExampleObserver() {
	ExampleWithObserver()
	// Output:
	// TaskSubmitted fetch <nil>
	// TaskStarted fetch <nil>
	// TaskDone fetch no such page
}

// histogram is an Observer: it counts tasks by how long they waited and ran, in powers
// of two of a millisecond. TaskDone has all that it takes.
type histogram struct {
	mu          sync.Mutex
	waited, ran [16]int
}

func (h *histogram) Observe(e filch.Event) {
	if e.Kind != filch.TaskDone {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waited[bits.Len64(uint64(e.Started.Sub(e.Submitted).Milliseconds()))]++
	h.ran[bits.Len64(uint64(e.Ended.Sub(e.Started).Milliseconds()))]++
}

func ExampleEvent() {
	var h histogram
	p := filch.New(filch.WithObserver(&h))
	for range 100 {
		p.Go(context.Background(), func(context.Context) {})
	}
	p.Shutdown(context.Background())
	for i := range h.ran {
		if h.waited[i] > 0 || h.ran[i] > 0 {
			fmt.Fprintf(io.Discard, "less than %d ms: %d waited, %d ran\n", 1<<i, h.waited[i], h.ran[i])
		}
	}
	n := 0
	for _, ran := range h.ran {
		n += ran
	}
	fmt.Println(n, "tasks")
	// Output: 100 tasks
}

func ExampleEventKind() {
	ExampleWithObserver()
	// Output:
	// TaskSubmitted fetch <nil>
	// TaskStarted fetch <nil>
	// TaskDone fetch no such page
}

func ExampleEventKind_String() {
	fmt.Println(filch.TaskStarted, filch.TaskCancelled)
	// Output: TaskStarted TaskCancelled
}

func ExampleTaskOption() {
	p := filch.New()
	err := p.Go(context.Background(), func(context.Context) {}, filch.Within(-time.Second))
	fmt.Println(err)
	// Output: filch: Within(-1s): the time must be positive
}

func ExampleWithin() {
	p := filch.New()
	defer p.Close()
	f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}, filch.Within(time.Millisecond))
	fmt.Println(f.Wait(context.Background()))
	// Output: 0 context deadline exceeded
}

func ExampleAtPriority() {
	p := filch.New(filch.WithWorkers(1), filch.WithOrder(filch.ByPriority))
	p.Pause()
	for _, job := range []struct {
		name     string
		priority int
	}{{"report", 10}, {"request", 0}, {"alarm", -5}} {
		p.Go(context.Background(), func(context.Context) { fmt.Println(job.name) }, filch.AtPriority(job.priority))
	}
	p.Resume()
	p.Shutdown(context.Background())

	other := filch.New() // has no priorities
	fmt.Println(other.Go(context.Background(), func(context.Context) {}, filch.AtPriority(3)))
	// Output:
	// alarm
	// request
	// report
	// filch: AtPriority(3): the order of the pool is LIFO
}

func ExampleNamed() {
	ExampleWithObserver()
	// Output:
	// TaskSubmitted fetch <nil>
	// TaskStarted fetch <nil>
	// TaskDone fetch no such page
}

func ExampleFair() {
	p := filch.New(filch.WithWorkers(1))
	p.Pause()
	p.Go(context.Background(), func(ctx context.Context) {
		p.Go(ctx, func(context.Context) { fmt.Println("behind what comes from outside") }, filch.Fair())
		p.Go(ctx, func(context.Context) { fmt.Println("the worker's own, so next") })
	})
	for range 2 {
		p.Go(context.Background(), func(context.Context) { fmt.Println("from outside") })
	}
	p.Resume()
	p.Shutdown(context.Background())
	// Output:
	// the worker's own, so next
	// from outside
	// from outside
	// behind what comes from outside
}

// What never ends has a goroutine of its own, and leaves the workers alone.
func ExampleLongRunning() {
	p := filch.New(filch.WithWorkers(1))
	ticks := make(chan int)
	p.Go(context.Background(), func(ctx context.Context) {
		for i := 0; ; i++ {
			select {
			case ticks <- i:
			case <-ctx.Done():
				return
			}
		}
	}, filch.LongRunning())
	fmt.Println(<-ticks, <-ticks)
	p.Close()
	// Output: 0 1
}

func ExampleTaskStats() {
	p := filch.New(filch.WithWorkers(1))
	for range 3 {
		p.Go(context.Background(), func(context.Context) {})
	}
	p.Shutdown(context.Background())
	s := p.Stats().Tasks
	fmt.Println(s.Submitted, s.Done, s.Queued)
	// Output: 3 3 0
}
