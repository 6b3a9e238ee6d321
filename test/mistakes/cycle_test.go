package mistakes

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
)

// circle submits n tasks each of which waits for the next, when all have started,
// and the last for the first. It returns their errors.
func circle(p *filch.Pool, n int, named bool, wait func(f *filch.Future[int], ctx context.Context) error) []error {
	futures, errs := make([]*filch.Future[int], n), make([]error, n)
	var started, submitted sync.WaitGroup
	started.Add(n)
	submitted.Add(1)
	for i := range n {
		var opts []filch.TaskOption
		if named {
			opts = append(opts, filch.Named(string(rune('a'+i))))
		}
		futures[i] = filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
			submitted.Wait()
			started.Done()
			started.Wait()
			errs[i] = wait(futures[(i+1)%n], ctx)
			return 0, nil
		}, opts...)
	}
	submitted.Done()
	for _, f := range futures {
		f.Wait(context.Background())
	}
	return errs
}

func plainWait(f *filch.Future[int], ctx context.Context) error {
	_, err := f.Wait(ctx)
	return err
}

// Tasks that wait for one another, each on a worker of its own, are told.
func TestCirclesOfWaits(t *testing.T) {
	for n := 2; n <= 4; n++ {
		for _, named := range []bool{false, true} {
			p := filch.New(filch.WithWorkers(n))
			told := 0
			for i, err := range circle(p, n, named, plainWait) {
				if err == nil {
					continue
				}
				told++
				name := "TestCirclesOfWaits"
				if named {
					name = "task " + string(rune('a'+i)) + " waits for task "
				} else {
					name = "mistakes.circle.func"
				}
				if !errors.Is(err, filch.ErrInside) || strings.Count(err.Error(), " waits for task ") != n || !strings.Contains(err.Error(), name) {
					t.Errorf("%d tasks: %v", n, err)
				}
			}
			if told == 0 {
				t.Errorf("%d tasks: none was told", n)
			}
			p.Close()
		}
	}
}

// Tasks with goroutines of their own are told as well.
func TestCirclesOfLongRunningTasks(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	var a, b *filch.Future[int]
	ready := make(chan bool)
	run := func(f **filch.Future[int]) func(ctx context.Context) (int, error) {
		return func(ctx context.Context) (int, error) { <-ready; return (*f).Wait(ctx) }
	}
	a = filch.Submit(context.Background(), p, run(&b), filch.LongRunning(), filch.Named("a"))
	b = filch.Submit(context.Background(), p, run(&a), filch.LongRunning(), filch.Named("b"))
	close(ready)
	if _, err := a.Wait(context.Background()); !errors.Is(err, filch.ErrInside) {
		t.Error("a.Wait(background):", err)
	}
}

// Tasks that run in place, on top of what they wait for, are told.
func TestCirclesOnOneStack(t *testing.T) {
	racetest.Skip(t, "it finds what is on one stack")
	for n := 2; n <= 4; n++ {
		p := filch.New(filch.WithWorkers(1))
		futures := make([]*filch.Future[int], n)
		var last error
		p.Pause()
		for i := range n {
			futures[i] = filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				_, err := futures[(i+1)%n].Wait(ctx)
				if i == n-1 {
					last = err
				}
				return 0, nil
			}, filch.Named(string(rune('a'+i))))
		}
		p.Resume()
		if _, err := futures[0].Wait(context.Background()); err != nil {
			t.Error("futures[0].Wait(background):", err)
		}
		if !errors.Is(last, filch.ErrInside) || !strings.Contains(last.Error(), "waits for task a") {
			t.Errorf("%d tasks: %v", n, last)
		}
		p.Close()
	}
}

// A circle may go through tasks that run in place and tasks on other workers.
func TestCirclesOfBothKinds(t *testing.T) {
	racetest.Skip(t, "it finds what is on one stack")
	for _, last := range []string{"b", "c"} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			var a, b, c *filch.Future[int]
			cRuns := make(chan bool)
			var errB, errC error
			wait := func(name string) {
				if name == last {
					synctest.Wait() // the other waits
				}
			}
			ready := make(chan bool)
			a = filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				<-ready
				b = filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
					wait("b")
					_, errB = c.Wait(ctx)
					return 0, nil
				}, filch.Named("b"))
				b.Wait(ctx)
				return 0, nil
			}, filch.Named("a"))
			c = filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				close(cRuns)
				<-ready
				wait("c")
				_, errC = a.Wait(ctx)
				return 0, nil
			}, filch.Named("c"))
			<-cRuns
			synctest.Wait() // a has started, too
			close(ready)
			c.Wait(context.Background())
			a.Wait(context.Background())
			if err := errors.Join(errB, errC); !errors.Is(err, filch.ErrInside) || !strings.Contains(err.Error(), "waits for task a") {
				t.Errorf("%s waits last: %v", last, err)
			}
			p.Close()
		})
	}
}

// Waits of goroutines that a task has started, and waits that end by themselves,
// are no circle.
func TestWaitsThatEndAreNoCircle(t *testing.T) {
	t.Run("another goroutine", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			var a, b *filch.Future[int]
			ready, end := make(chan bool), make(chan bool)
			var aside sync.WaitGroup
			a = filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				<-ready
				aside.Go(func() {
					if v, err := b.Wait(ctx); v != 2 || err != nil {
						t.Error("b.Wait(ctx):", v, err)
					}
				})
				<-end
				return 1, nil
			})
			b = filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
				<-ready
				v, err := a.Wait(ctx)
				return v + 1, err
			})
			synctest.Wait()
			close(ready)
			synctest.Wait() // both wait
			close(end)
			aside.Wait()
			p.Close()
		})
	})
	t.Run("a time limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(3))
			for _, err := range circle(p, 3, false, func(f *filch.Future[int], ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				return plainWait(f, ctx)
			}) {
				if err != nil && err != context.DeadlineExceeded {
					t.Error("circle:", err)
				}
			}
			p.Close()
		})
	})
}

// A circle is told whole where a wait runs what it waits for in place: the one below waits for what runs on top.
func TestDumpTellsOfCirclesInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1)) // or another worker could take b before a waits for it, and nothing ran in place
		ctx, cancel := context.WithCancel(context.Background())
		ready := make(chan bool)
		var a, b *filch.Future[int]
		a = filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
			b = filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
				g := p.Group(ctx)
				g.Go(func(ctx context.Context) error { <-ready; return plainWait(a, ctx) }, filch.Named("c"), filch.LongRunning())
				return 1, g.Wait()
			}, filch.Named("b"))
			return b.Wait(ctx)
		}, filch.Named("a"))
		close(ready)
		synctest.Wait()
		s := dumpOf(t, p)
		if one, other := "cycle: task b waits for a group waits for task c waits for task a waits for task b",
			"cycle: task c waits for task a waits for task b waits for a group waits for task c"; !strings.Contains(s, one) && !strings.Contains(s, other) {
			t.Errorf("no circle of three in %s", s)
		}
		cancel()
		p.Close()
	})
}

// Dump says that a task is in a wait that the pool does not see.
func TestDumpTellsOfWaitsWithTheContextOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(5), filch.WithStallTimeout(0))
		end := make(chan bool)
		f := filch.Submit(context.Background(), p, func(context.Context) (int, error) { <-end; return 0, nil })
		g := p.Group(context.Background())
		g.Go(func(context.Context) error { <-end; return nil })
		synctest.Wait()
		p.Go(context.Background(), func(ctx context.Context) { f.Wait(ctx) }, filch.Named("own"))
		p.Go(context.Background(), func(context.Context) { f.Wait(context.Background()) }, filch.Named("other"))
		p.Go(context.Background(), func(context.Context) { g.Wait() }, filch.Named("group"))
		synctest.Wait()
		s := dumpOf(t, p)
		for _, want := range []string{"task own; without a slot; Future.Wait at ", "task other; Future.Wait at ", "task group; Group.Wait at "} {
			if !strings.Contains(s, want) {
				t.Errorf("no %q in %s", want, s)
			}
		}
		close(end)
		p.Close()
	})
}

// dumpOf returns what Dump writes, with single spaces.
func dumpOf(t *testing.T, p *filch.Pool) string {
	t.Helper()
	var out strings.Builder
	if err := p.Dump(&out); err != nil {
		t.Error("p.Dump(&out):", err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// Dump says which task waits for which, and where that goes round in a circle, also
// through a group.
func TestDumpTellsOfWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(3))
		dump := func() string {
			synctest.Wait()
			var out strings.Builder
			if err := p.Dump(&out); err != nil {
				t.Error("p.Dump(&out):", err)
			}
			return strings.Join(strings.Fields(out.String()), " ")
		}
		if s := dump(); strings.Contains(s, "wait") {
			t.Errorf("at rest: %s", s)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ready, end := make(chan bool), make(chan bool)
		var a *filch.Future[int]
		a = filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
			<-ready
			g := p.Group(ctx)
			g.Go(func(ctx context.Context) error { return plainWait(a, ctx) }, filch.Named("b"), filch.LongRunning())
			g.Go(func(ctx context.Context) error { <-end; return plainWait(a, ctx) }, filch.LongRunning())
			return 1, g.Wait()
		}, filch.Named("a"))
		c := filch.Submit(ctx, p, func(ctx context.Context) (int, error) { <-end; return a.Wait(ctx) }, filch.Named("c"))
		synctest.Wait() // c runs
		filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return c.Wait(ctx) })
		close(ready)
		s := dump()
		for _, want := range []string{"waiting task a waits for a group", "waiting task b waits for task a",
			"task github.com/filch-go/filch/test/mistakes.TestDumpTellsOfWaits.func", "waits for task c",
			"cycle: task "} {
			if !strings.Contains(s, want) {
				t.Errorf("no %q in %s", want, s)
			}
		}
		if one, other := "cycle: task a waits for a group waits for task b waits for task a",
			"cycle: task b waits for task a waits for a group waits for task b"; strings.Count(s, "cycle:") != 1 || !strings.Contains(s, one) && !strings.Contains(s, other) {
			t.Errorf("cycles: %s", s)
		}
		cancel()
		close(end)
		p.Close()
		if s := dump(); strings.Contains(s, "wait") {
			t.Errorf("in the end: %s", s)
		}
	})
}
