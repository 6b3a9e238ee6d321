package forks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"runtime/trace"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

// Each race of logically parallel parts is reported in every run, whatever the schedule, and
// nothing else is.
func TestLogicalRacesAreReportedInEveryRun(t *testing.T) {
	if workers, err := strconv.Atoi(os.Getenv("FILCH_TEST_LOGICAL")); err == nil {
		runLogicalPrograms(workers)
		return
	}
	if !race.Enabled {
		t.Skip("needs the race detector")
	}
	rounds := 2
	if rig.LongForm() {
		rounds = 20
	}
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			reports := reportsOf(t, workers, rounds)
			for _, prog := range logicalPrograms {
				switch n := len(reports[prog.name]); {
				case n != rounds:
					t.Errorf("%s: ran %d times, not %d", prog.name, n, rounds)
				case prog.races:
					for i, text := range reports[prog.name] {
						if !strings.Contains(text, "DATA RACE") {
							t.Errorf("%s: not reported in round %d", prog.name, i)
						}
					}
				default:
					for _, text := range reports[prog.name] {
						if text != "" {
							t.Errorf("%s: reported:\n%s", prog.name, text)
							break
						}
					}
				}
			}
		})
	}
}

const logicalMarker = "== program: "

// farIndices is a program with many goroutines between the two parts of its race. The detector remembers so many that have ended: after all
// other programs it has missed this race in 1 of 20 processes, and in a process of its own in none of 600. So it has one.
const farIndices = "two far indices of a loop"

// reportsOf runs the programs in processes of their own, and returns what each round of each has
// reported.
func reportsOf(t *testing.T, workers, rounds int) map[string][]string {
	reports := map[string][]string{}
	for _, only := range []string{"", farIndices} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLogicalRacesAreReportedInEveryRun$", "-test.timeout=5m", fmt.Sprint("-test.count=", rounds))
		cmd.Env = append(os.Environ(), fmt.Sprint("FILCH_TEST_LOGICAL=", workers), "FILCH_TEST_PROGRAM="+only,
			"GORACE=halt_on_error=0 exitcode=0 atexit_sleep_ms=0 suppress_equal_stacks=0 suppress_equal_addresses=0")
		var out bytes.Buffer
		cmd.Stderr = &out
		if err := cmd.Run(); err != nil && !strings.Contains(out.String(), logicalMarker) {
			t.Fatalf("cmd.Run(): %v\n%s", err, out.String())
		}
		for _, part := range strings.Split(out.String(), logicalMarker)[1:] {
			name, text, _ := strings.Cut(part, "\n")
			reports[name] = append(reports[name], text)
		}
	}
	return reports
}

func runLogicalPrograms(workers int) {
	only := os.Getenv("FILCH_TEST_PROGRAM")
	for _, prog := range logicalPrograms {
		if only != prog.name && (only != "" || prog.name == farIndices) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s%s\n", logicalMarker, prog.name)
		prog.run(filch.New(filch.WithWorkers(workers), filch.WithLogicalRaces()))
	}
	fmt.Fprintf(os.Stderr, "%send\n", logicalMarker)
}

// A panic and runtime.Goexit of a child arrive at its join, and the children that are still open are
// dropped or awaited.
func TestLogicalChildrenEndInAnyWay(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers), filch.WithLogicalRaces())
		var dropped atomic.Int64
		tree := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
			switch {
			case n == 0:
				panic("leaf")
			case n > 100:
				dropped.Add(1)
				return 0
			}
			f.Fork(101)
			h := f.Fork(n - 1)
			return f.Join(h)
		})
		err := func() (err error) {
			defer func() { err, _ = recover().(error) }()
			tree.Call(p, 20)
			return nil
		}()
		var panicked *filch.PanicError
		if !errors.As(err, &panicked) || panicked.Value != "leaf" {
			t.Errorf("%d workers: %v", workers, err)
		}
		if workers == 1 && dropped.Load() != 0 {
			t.Errorf("%d forks have run that were dropped", dropped.Load())
		}
		after := true
		runAside(func() {
			p.Do(func(w *filch.Worker) {
				w.Join(func(*filch.Worker) {}, func(w *filch.Worker) {
					w.Finish(func(w *filch.Worker) { w.Async(func(*filch.Worker) { runtime.Goexit() }) })
				})
			})
			after = false
		})
		if !after {
			t.Error("Goexit of a child was lost")
		}
		runAside(func() {
			_, err = filch.Submit(ctx0, p, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }).Wait(ctx0)
		})
		if !errors.Is(err, filch.ErrGoexit) {
			t.Errorf("Goexit of a task: %v", err)
		}
		_, err = filch.Submit(ctx0, p, func(context.Context) (int, error) { panic("task") }).Wait(ctx0)
		if !errors.As(err, &panicked) || panicked.Value != "task" {
			t.Errorf("panic of a task: %v", err)
		}
		p.Close()
	}
}

// runAside calls f on a goroutine that may exit.
func runAside(f func()) {
	var all sync.WaitGroup
	all.Go(f)
	all.Wait()
}

// Forks beyond the bound run in place, and that is logged once.
func TestLogicalForksBeyondTheBoundRunInPlace(t *testing.T) {
	var out bytes.Buffer
	p := filch.New(filch.WithWorkers(1), filch.WithLogicalRaces(), filch.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
	defer p.Close() // loops of other tests are cut as long as a pool has logical races
	down := filch.NewFunc(func(f *filch.Frame[int, int], n int) int {
		if n == 0 {
			return 0
		}
		h := f.Fork(n - 1)
		return f.Join(h) + 1
	})
	for range 2 {
		if n := down.Call(p, 5000); n != 5000 {
			t.Errorf("%d of 5000", n)
		}
	}
	if n := strings.Count(out.String(), "too many forks and tasks"); race.Enabled && n != 1 || !race.Enabled && n != 0 {
		t.Errorf("logged %d times", n)
	}
}

// Children of tasks and asyncs that are dropped end as well: a bubble waits for them.
func TestLogicalChildrenAreNotAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithLogicalRaces())
		ctx, cancel := context.WithCancel(ctx0)
		p.Pause()
		_ = p.Go(ctx, func(context.Context) { t.Error("a task of an ended context has run") })
		f := filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil })
		g := p.Group(ctx)
		g.Go(func(context.Context) error { return nil })
		cancel()
		p.Resume()
		_, _ = f.Wait(ctx0)
		_ = g.Wait()
		p.Do(func(w *filch.Worker) {
			defer func() { _ = recover() }()
			w.Finish(func(w *filch.Worker) {
				w.Async(func(*filch.Worker) {})
				panic("here")
			})
		})
		p.Close()
		if err := p.Go(ctx0, func(context.Context) {}); !errors.Is(err, filch.ErrClosed) {
			t.Error("p.Go(ctx0, …):", err)
		}
	})
}

// Without the detector the option changes nothing: forks cost no allocation.
func TestLogicalRacesCostNothingWithoutTheDetector(t *testing.T) {
	if race.Enabled {
		t.Skip("with the detector they cost")
	}
	p := filch.New(filch.WithWorkers(1), filch.WithLogicalRaces())
	fib := rig.FibFunc
	if n := testing.AllocsPerRun(20, func() { fib.Call(p, 12) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if s := p.Stats(); s.Published != 0 {
		t.Errorf("%d forks were published", s.Published)
	}
}

// The child that runs a fork has a Worker of its own, and checks look at its uses as at those of any other.
func TestWorkersOfChildrenAreChecked(t *testing.T) {
	if !race.Enabled {
		t.Skip("there are children under the race detector only")
	}
	p := filch.New(filch.WithWorkers(2), filch.WithChecks(), filch.WithLogicalRaces())
	defer p.Close()
	var kept *filch.Worker
	p.Do(func(w *filch.Worker) {
		w.Join(rig.Nop, func(child *filch.Worker) {
			if kept = child; child == w {
				t.Error("the forked function has the Worker of the function around it")
			}
		})
	})
	const want = "filch: Worker.Join: a Worker is used after the call that it was handed to has returned"
	if s := rig.Recovered(func() { kept.Join(rig.Nop, rig.Nop) }); !strings.HasPrefix(s, want) {
		t.Errorf("the Worker of a child, used when that has ended: %q, not %q", s, want)
	}
}

// What the runtime's trace is told of a task is no race with the task.
func TestLogicalRacesWhileTheRuntimeTraces(t *testing.T) {
	if err := trace.Start(io.Discard); err != nil {
		t.Skip("trace.Start(io.Discard):", err)
	}
	defer trace.Stop()
	p := filch.New(filch.WithWorkers(2), filch.WithLogicalRaces())
	defer p.Close()
	for range 5 {
		if v, err := filch.Submit(t.Context(), p, func(context.Context) (int, error) { return 42, nil }).Wait(t.Context()); v != 42 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
		if err := p.Go(t.Context(), func(context.Context) {}, filch.Named("go")); err != nil {
			t.Error("p.Go(…):", err)
		}
	}
}

// Dump knows the goroutine that runs a child for a worker.
func TestDumpKnowsWorkersWithLogicalRaces(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithLogicalRaces())
	defer p.Close()
	in, out := make(chan bool), make(chan bool)
	f := filch.Submit(t.Context(), p, func(context.Context) (int, error) { in <- true; <-out; return 1, nil })
	<-in
	var b strings.Builder
	poll.Patiently(t, "the task waits", func() (bool, any) {
		b.Reset()
		p.Dump(&b)
		return strings.Contains(b.String(), "TestDumpKnowsWorkersWithLogicalRaces.func") && !strings.Contains(b.String(), "in place "), &b
	})
	close(out)
	f.Wait(t.Context())
}
