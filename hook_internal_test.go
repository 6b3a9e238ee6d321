package filch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/event"
)

// script is a hook that keeps the lines of what it is told, without the time.
type script struct {
	mu    sync.Mutex
	lines []string
}

func (s *script) Event(e event.Event) {
	e.At = 0
	s.say(e.String())
}

func (s *script) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

// expect compares the lines that have one of the words, and forgets all.
func (s *script) expect(t *testing.T, words []string, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var got []string
	for _, line := range s.lines {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
			got = append(got, line)
		}
	}
	s.lines = nil
	if !slices.Equal(got, want) {
		t.Errorf("told:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// hooked calls f in a bubble, with a pool that has a hook.
func hooked(t *testing.T, f func(t *testing.T, p *Pool, s *script), opts ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		p := New(append(opts, WithWorkers(1), withHook(s))...)
		defer p.Close()
		f(t, p, s)
	})
}

var background = context.Background()

// Each task is told of once, by the same ID, whatever becomes of it and whichever worker runs it.
func TestHookOfTasks(t *testing.T) {
	hooked(t, func(t *testing.T, p *Pool, s *script) {
		tasks := []string{" task "}
		p.Go(background, func(ctx context.Context) {}, Named("a"))
		synctest.Wait()
		s.expect(t, tasks, `pool       accepts task 1 "a"`, `worker 0   starts task 1 "a"`, `worker 0   completes task 1 "a"`)
		ended, end := context.WithCancel(background)
		end()
		p.Go(ended, func(context.Context) {})
		s.expect(t, tasks, "pool       rejects task 2")
		p.Pause()
		f := Submit(background, p, func(context.Context) (int, error) { return 0, errors.New("failed") })
		f.Cancel()
		p.Resume()
		synctest.Wait()
		s.expect(t, tasks, "pool       accepts task 3", "pool       cancels task 3")
		p.Go(background, func(context.Context) {}, LongRunning())
		synctest.Wait()
		s.expect(t, tasks, "pool       accepts task 4", "pool       starts task 4", "pool       completes task 4")
		p.Go(background, func(ctx context.Context) {
			Submit(ctx, p, func(context.Context) (int, error) { panic("oh") }).Wait(ctx)
		})
		synctest.Wait()
		s.expect(t, tasks, "pool       accepts task 5", "worker 0   starts task 5", "pool       accepts task 6", "worker 0   starts task 6",
			"worker 0   crashes in task 6", "worker 0   completes task 5")
	})
}

// The hook is told before the observer, of the same tasks by the same ID.
func TestHookAndObserverAreToldAtOnePlace(t *testing.T) {
	s := &script{}
	hooked(t, func(t *testing.T, p *Pool, _ *script) {
		p.tasks.Engine.AddHook(s)
		p.Go(background, func(context.Context) {})
		synctest.Wait()
		s.expect(t, []string{"task", "Task"}, "pool       accepts task 1", "TaskSubmitted 1", "worker 0   starts task 1", "TaskStarted 1",
			"worker 0   completes task 1", "TaskDone 1")
	}, WithObserver(says{s}))
}

// says is an observer that writes into a script.
type says struct{ *script }

func (o says) Observe(e Event) { o.say(e.Kind.String() + " " + string(rune('0'+e.ID))) }

// A worker tells what it does for tasks and calls: it enters and leaves, lends its slot and gives
// way.
func TestHookOfWorkersAtTasks(t *testing.T) {
	hooked(t, func(t *testing.T, p *Pool, s *script) {
		p.Do(func(*Worker) {})
		s.expect(t, []string{""}, "worker 0   enters",
			"worker 0   is called", "worker 0   leaves")
		p.Go(background, func(ctx context.Context) { Blocking(ctx, func() { time.Sleep(time.Nanosecond) }) })
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		s.expect(t, []string{"pool", "worker 0"}, "pool       accepts task 1", "worker 0   is woken", "worker 0   finds work", "worker 0   starts task 1",
			"worker 0   lends its slot", "worker 0   goes on", "worker 0   completes task 1", "worker 0   searches", "worker 0   leaves")
	})
}

// A Scope that outlives its task is told of: the goroutine goes on with another worker, and
// the one of the Scope leaves in the end.
func TestHookOfAScopeLeft(t *testing.T) {
	hooked(t, func(t *testing.T, p *Pool, s *script) {
		over := make(chan bool)
		p.Go(background, func(ctx context.Context) {
			begun := make(chan bool)
			go ScopeOf(ctx).Do(func(*Worker) { close(begun); <-over })
			<-begun
		})
		synctest.Wait()
		s.expect(t, []string{"enters", "leaves"}, "worker 1   enters", "worker 1   leaves")
		close(over)
		synctest.Wait()
		s.expect(t, []string{"worker"}, "worker 0   leaves")
	})
}

// A worker that gives way tells so, and the one that lets it go on passes its slot on.
func TestHookOfGivingWay(t *testing.T) {
	hooked(t, func(t *testing.T, p *Pool, s *script) {
		begun, over := make(chan bool), make(chan bool)
		p.Go(background, func(ctx context.Context) {
			ScopeOf(ctx).Do(func(w *Worker) {
				close(begun)
				<-over
				w.Poll()
			})
		}, AtPriority(1))
		<-begun
		p.Go(background, func(context.Context) {})
		close(over)
		synctest.Wait()
		s.expect(t, []string{"worker 0", "worker 1   passes", "worker 1   completes"}, "worker 0   is woken", "worker 0   finds work", "worker 0   starts task 1",
			"worker 0   gives way", "worker 1   completes task 2", "worker 1   passes its slot on to worker 0", "worker 0   goes on",
			"worker 0   completes task 1", "worker 0   searches", "worker 0   leaves")
	}, WithOrder(ByPriority))
}

// The end of a pool is told once, and places beyond its limit.
func TestHookOfThePool(t *testing.T) {
	hooked(t, func(t *testing.T, p *Pool, s *script) {
		met := make(chan bool)
		p.Go(background, func(context.Context) { <-met })
		p.Go(background, func(context.Context) { close(met) })
		<-met
		for range 2 {
			p.Close()
		}
		s.expect(t, []string{"pool       has", "pool       is"}, "pool       has slots beyond its limit: 1", "pool       is closed", "pool       has ended")
	})
}
