package filch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/task"
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
					queued.Wait(ctx) // nothing runs in place: its task has no worker
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

// A census tells workers that wait from those that run and from those that gave up
// their place.
func TestTheCensusCountsWhoWaitsAndWhoLends(t *testing.T) {
	p, other := New(WithWorkers(8), WithStallTimeout(0)), New(WithWorkers(8))
	leave := make(chan bool)
	inside := make(chan bool, 8)
	for i, f := range []func(){
		func() { <-leave },
		func() { <-leave },
		func() {
			for open := true; open; {
				select {
				case <-leave:
					open = false
				default:
				}
			}
		},
	} {
		p.Go(t.Context(), func(ctx context.Context) { inside <- true; f() }, Named(fmt.Sprint(i)))
	}
	p.Go(t.Context(), func(ctx context.Context) { Blocking(ctx, func() { inside <- true; <-leave }) })
	p.Go(t.Context(), func(ctx context.Context) {
		ScopeOf(ctx).Do(func(w *Worker) { w.Blocking(func() { inside <- true; <-leave }) })
	})
	p.Go(t.Context(), func(ctx context.Context) { inside <- true; <-leave }, LongRunning())
	other.Go(t.Context(), func(ctx context.Context) { inside <- true; <-leave })
	for range 7 {
		<-inside
	}
	for p.tasks.Engine.Census(task.Lends) != (engine.Census{Waiting: 2, Lending: 2}) { // the last ones are about to wait
		runtime.Gosched()
	}
	for p.tasks.Lost(p.tasks.Engine.Counts(p.tasks.Engine.Places.Load()).Active) != 2 { // a worker may be about to leave
		runtime.Gosched()
	}
	close(leave)
	p.Close()
	other.Close()
}

// A worker that waits at a join for a fork that was stolen has lent its place, and is not lost.
func TestAWaitAtAJoinIsNotOutOfSight(t *testing.T) {
	p := New(WithWorkers(2), WithStallTimeout(0))
	gate, stolen := make(chan bool), make(chan bool)
	p.Go(context.Background(), func(ctx context.Context) {
		ScopeOf(ctx).Do(func(w *Worker) {
			w.Join(func(w *Worker) {
				for open := true; open; {
					select {
					case <-stolen:
						open = false
					default:
						w.Poll()
						runtime.Gosched()
					}
				}
			}, func(*Worker) {
				close(stolen)
				<-gate
			})
		})
	})
	waits := func() bool { // the thief, and the one that joins, which is in the wait before its place is lent
		_, lent := p.tasks.Engine.Fill()
		return lent == 1 && p.tasks.Engine.Census(task.Lends) == engine.Census{Waiting: 1, Lending: 1}
	}
	for !waits() {
		runtime.Gosched()
	}
	if n := p.tasks.Lost(1); n != 1 {
		t.Errorf("%d places are lost, not that of the thief", n)
	}
	close(gate)
	p.Close()
}
