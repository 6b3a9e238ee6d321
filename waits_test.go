package filch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch/internal/line"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/task"
	"github.com/filch-go/filch/internal/tell"
)

// A wait with a context that lasts as long as the task's closes a circle, even if it is not the
// task's own; one of a goroutine beside the task does not, even if it is the last.
func TestWhichWaitsCloseACircle(t *testing.T) {
	type key struct{}
	for name, c := range map[string]struct {
		wait   func(f *Future[int], ctx context.Context) error
		closes bool
	}{
		"own": {func(f *Future[int], ctx context.Context) error { _, err := f.Wait(ctx); return err }, true},
		"a value": {func(f *Future[int], ctx context.Context) error {
			_, err := f.Wait(context.WithValue(ctx, key{}, 1))
			return err
		}, true},
		"no end": {func(f *Future[int], ctx context.Context) error {
			_, err := f.Wait(context.WithoutCancel(ctx))
			return err
		}, true},
		"an end": {func(f *Future[int], ctx context.Context) error {
			own, cancel := context.WithCancel(ctx)
			go func() { synctest.Wait(); cancel() }()
			_, err := f.Wait(own)
			return err
		}, false},
		"aside": {func(f *Future[int], ctx context.Context) error {
			told, blocks := make(chan error, 1), make(chan bool)
			go func() { _, err := f.Wait(ctx); told <- err }()
			go func() { synctest.Wait(); close(blocks) }()
			<-blocks
			select {
			case err := <-told:
				return err
			default:
				return nil
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(WithWorkers(2), WithStallTimeout(0))
				var a, b *Future[int]
				var errB error
				ready, waits := make(chan bool), make(chan bool)
				a = Submit(context.Background(), p, func(ctx context.Context) (int, error) {
					<-ready
					_, err := b.Wait(ctx)
					return 0, err
				}, Named("a"))
				b = Submit(context.Background(), p, func(ctx context.Context) (int, error) {
					<-waits
					errB = c.wait(a, ctx)
					return 0, nil
				}, Named("b"))
				synctest.Wait()
				close(ready)
				synctest.Wait() // a waits for b
				close(waits)
				_, err := a.Wait(context.Background())
				b.Wait(context.Background())
				p.Close()
				if err != nil || errors.Is(errB, ErrInside) != c.closes || c.closes && !strings.Contains(errB.Error(), "task b waits for task a waits for task b") {
					t.Errorf("a.Wait(context.Background()): a: %v; b: %v", err, errB)
				}
			})
		})
	}
}

// Nothing is said of a circle of which the stacks do not show all.
func TestCirclesAreSeenAsAWhole(t *testing.T) {
	task := func(address string) []tell.TaskCall {
		return []tell.TaskCall{{Address: address, Function: "f" + address}}
	}
	a := tell.TaskStack{WaitsFor: "2", By: "1", Lasts: true, Tasks: task("1")}
	b := tell.TaskStack{WaitsFor: "1", By: "2", Lasts: true, Tasks: task("2")}
	short := b
	short.Lasts = false
	other := b
	other.WaitsFor = "2"
	for name, c := range map[string]struct {
		all  tell.Stacks
		want string
	}{
		"all":             {tell.Stacks{a, b}, "task f1 waits for task f2 waits for task f1"},
		"nothing":         {nil, ""},
		"no task":         {tell.Stacks{{WaitsFor: "2", By: "1", Lasts: true}, b}, ""},
		"one has ended":   {tell.Stacks{a}, ""},
		"one does not":    {tell.Stacks{a, short}, ""},
		"another circle":  {tell.Stacks{a, other}, ""},
		"of itself":       {tell.Stacks{{WaitsFor: "1", By: "1", Lasts: true, Tasks: task("1")}}, "task f1 waits for task f1"},
		"on top of other": {tell.Stacks{a, {WaitsFor: "1", By: "3", Lasts: true, Tasks: append(task("3"), task("2")...)}}, "task f1 waits for task f2 waits for task f3 waits for task f1"},
	} {
		got := ""
		if err := circleOn(c.all, &wait{}, nil); err != nil {
			got = strings.TrimPrefix(err.Error(), strings.Replace(ErrInside.Error(), "filch: ", "filch: Wait: ", 1)+": ")
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// The notes of a worker that was let go are nobody's. Those of others are found, if it was.
func TestNotesAreFoundByNumber(t *testing.T) {
	p := New(WithWorkers(3))
	ws := []*Worker{newWorker(p, 0), newWorker(p, 5), newWorker(p, 2)}
	p.tasks.Engine.Workers.Store(engines(ws...))
	c := p.newContext(context.Background(), task.Seat{})
	for number, want := range map[uint32]*waits{0: nil, 1: &ws[0].waits, 2: nil, 3: &ws[2].waits, 4: nil, 6: &ws[1].waits} {
		if got := c.notes(number); got != want {
			t.Errorf("number %d: %p, not %p", number, got, want)
		}
		if want == nil && c.waitsFor(number) != nil {
			t.Errorf("number %d waits", number)
		}
	}
	if c.waitsFor(1) != nil {
		t.Error("worker 0 waits")
	}
	older, newer := &wait{by: c}, &wait{by: c}
	for _, w := range []*wait{older, newer} {
		ws[0].waits.line.Add(&line.Turn[*wait]{Of: w})
	}
	if c.waitsFor(1) != newer {
		t.Error("the newest wait is another")
	}
	c.needExtras().options.name = "c"
	if c.notes(0) != &c.needExtras().waits || c.name() != "c" {
		t.Error("a task without a seat has notes of its own")
	}
}

// Dump tells of tasks without a name by their functions, if they are on a stack, and of a
// hundred waits.
func TestDumpOfWaitsThatHaveNoNames(t *testing.T) {
	racetest.Skip(t, "Dump shows no forks")
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(1), WithStallTimeout(0))
		bg := context.Background()
		release := make(chan bool)
		last := Submit(bg, p, func(context.Context) (int, error) { <-release; return 0, nil }, LongRunning(), Named("last"))
		synctest.Wait() // it has begun, and does not run in place
		p.Go(bg, func(ctx context.Context) { last.Wait(ctx) })
		synctest.Wait()
		dump := func() string {
			synctest.Wait()
			var out strings.Builder
			p.Dump(&out)
			return out.String()
		}
		if s := dump(); strings.Count(s, "waiting ") != 1 || !strings.Contains(s, "task ") || !strings.Contains(s, " waits for task last\n") || strings.Contains(s, "without a name") {
			t.Errorf("a task of Go:\n%s", s)
		}
		p.Pause()
		queued := Submit(bg, p, func(context.Context) (int, error) { return 0, nil })
		wait := func() {
			Submit(bg, p, func(ctx context.Context) (int, error) {
				done := make(chan bool)
				go func() {
					queued.watchedLatch()
					blocked(waitMark{}, wait{by: taskOf(ctx), task: &queued.ctx}, queued.watchedLatch(), ctx, queued.isDone)
					close(done)
				}()
				<-done
				return 0, nil
			}, LongRunning(), Named("waits"))
		}
		wait()
		if s := dump(); strings.Count(s, "waiting ") != 2 || !strings.Contains(s, "task waits waits for a task without a name\n") {
			t.Errorf("a task that has not begun:\n%s", s)
		}
		for range 98 {
			wait()
		}
		if s := dump(); strings.Count(s, "waiting ") != 100 || strings.Contains(s, "more") {
			t.Errorf("100 waits:\n%s", s)
		}
		wait()
		wait()
		if s := dump(); strings.Count(s, "waiting ") != 101 || strings.Count(s, "and 2 more tasks\n") != 1 {
			t.Errorf("102 waits:\n%s", s)
		}
		close(release)
		p.Resume()
		p.Shutdown(bg)
	})
}
