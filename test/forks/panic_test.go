package forks

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race/racetest"
	"github.com/filch-go/filch/internal/rig"
)

// A placement says where the second of two forked arms runs.
type placement struct {
	name    string
	workers int
	// run calls both on p so that b runs there. In b, arrive must be called
	// first.
	run func(p *filch.Pool, both func(s filch.Scope, a, b func(w *filch.Worker)), a, b rig.Step)
}

var placements = []placement{
	{"private", 1, func(p *filch.Pool, both func(s filch.Scope, a, b func(w *filch.Worker)), a, b rig.Step) {
		both(p, a, b)
	}},
	{"stolen", 2, func(p *filch.Pool, both func(s filch.Scope, a, b func(w *filch.Worker)), a, b rig.Step) {
		started := make(chan bool)
		both(p,
			func(w *filch.Worker) { <-started; a(w) },
			func(w *filch.Worker) { close(started); b(w) })
	}},
	{"taken back", 2, func(p *filch.Pool, both func(s filch.Scope, a, b func(w *filch.Worker)), a, b rig.Step) {
		// The other place is taken, so the fork is published but not stolen.
		var in sync.WaitGroup
		out, left := make(chan bool), make(chan bool)
		in.Add(1)
		go p.Do(func(*filch.Worker) { in.Done(); <-out; close(left) })
		in.Wait()
		defer func() { close(out); <-left }()
		both(p, a, b)
	}},
}

func eachPlacement(t *testing.T, f func(t *testing.T, pl placement, both func(s filch.Scope, a, b func(w *filch.Worker)))) {
	for _, pl := range placements {
		t.Run(pl.name, func(t *testing.T) {
			rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
				// The bubble fails if a goroutine is left behind.
				synctest.Test(t, func(t *testing.T) { f(t, pl, both) })
			})
		})
	}
}

func mustBeWell(t *testing.T, p *filch.Pool) {
	t.Helper()
	for range 3 {
		if got := rig.FibFunc.Call(p, 15); got != 610 {
			t.Errorf("afterwards fib(15) = %d", got)
		}
		if got := rig.FibChain.Call(p, 15); got != 610 {
			t.Errorf("afterwards fib(15) = %d by a Chain", got)
		}
	}
	synctest.Wait()
	if s := p.Stats(); s.Active != 0 || s.Blocked != 0 {
		t.Errorf("afterwards %+v", s)
	}
}

func TestPlacementsAreWhatTheySay(t *testing.T) {
	racetest.Skip(t, "it counts forks that are published or stolen")
	eachPlacement(t, func(t *testing.T, pl placement, both func(s filch.Scope, a, b func(w *filch.Worker))) {
		p := filch.New(filch.WithWorkers(pl.workers))
		pl.run(p, both, rig.Nop, rig.Nop)
		synctest.Wait()
		s := p.Stats()
		ok := false
		switch pl.name {
		case "private":
			ok = s.Published == 0
		case "stolen":
			ok = s.Steals == 1
		case "taken back":
			ok = s.Published == 1 && s.TakenBack == 1 && s.Steals == 0
		}
		if !ok {
			t.Errorf("%+v", s)
		}
	})
}

func TestPanicArrivesOnce(t *testing.T) {
	boom := func(s string) rig.Step { return func(*filch.Worker) { panic(s) } }
	for _, c := range []struct {
		name string
		a, b rig.Step
		want string
	}{
		{"first arm", boom("a"), rig.Nop, "a"},
		{"second arm", rig.Nop, boom("b"), "b"},
		{"both arms", boom("a"), boom("b"), "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachPlacement(t, func(t *testing.T, pl placement, both func(s filch.Scope, a, b func(w *filch.Worker))) {
				p := filch.New(filch.WithWorkers(pl.workers))
				r := rig.Catch(func() { pl.run(p, both, c.a, c.b) })
				err, ok := r.(*filch.PanicError)
				if !ok {
					t.Fatalf("panicked with %T %v", r, r)
				}
				if err.Value != c.want {
					t.Errorf("the value is %v, not %v", err.Value, c.want)
				}
				if !strings.Contains(string(err.Stack), "TestPanicArrivesOnce") {
					t.Errorf("the stack does not name who panicked:\n%s", err.Stack)
				}
				mustBeWell(t, p)
			})
		})
	}
}

// The error of a panic has the frames of the user's code first, the newest first, and then the whole stack.
func TestAPanicTellsTheUsersFramesFirst(t *testing.T) {
	eachPlacement(t, func(t *testing.T, pl placement, both func(s filch.Scope, a, b func(w *filch.Worker))) {
		p := filch.New(filch.WithWorkers(pl.workers))
		err, _ := rig.Catch(func() { pl.run(p, both, rig.Nop, func(*filch.Worker) { burst() }) }).(*filch.PanicError)
		if err == nil {
			t.Fatal("the panic of a fork did not arrive as a PanicError")
		}
		lines := strings.Split(err.Error(), "\n")
		for i, want := range map[int]string{
			0: "panic in a function called by filch: burst",
			1: "",
			2: "\tgithub.com/filch-go/filch/test/forks.burst ",
			3: "\tgithub.com/filch-go/filch/test/forks.TestAPanicTellsTheUsersFramesFirst.func1.",
		} {
			if i >= len(lines) || !strings.HasPrefix(lines[i], want) || want == "" && lines[i] != "" {
				t.Errorf("line %d of the error is not %q, but the error is\n%v", i, want, err)
			}
		}
		theirs, stack, _ := strings.Cut(strings.Join(lines[2:], "\n"), "\n\n")
		if strings.Contains(theirs, "filch-go/filch.") || strings.Contains(theirs, "internal/") || stack != string(err.Stack) {
			t.Errorf("the frames of the user's code are not followed by the whole stack: %v", err)
		}
	})
	if s := (&filch.PanicError{Value: 1, Stack: []byte("none")}).Error(); s != "panic in a function called by filch: 1\n\nnone" {
		t.Errorf("the error without frames is %q", s)
	}
}

//go:noinline
func burst() { panic("burst") }

// Nothing that was forked runs on after the panic has arrived.
func TestPanicWaitsForStolenForks(t *testing.T) {
	rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
		p := filch.New(filch.WithWorkers(2))
		for range 100 {
			started := make(chan bool)
			running := true
			rig.Catch(func() {
				both(p,
					func(*filch.Worker) { <-started; panic("a") },
					func(*filch.Worker) { close(started); runtime.Gosched(); running = false })
			})
			if running {
				t.Fatal("the stolen arm was still running")
			}
		}
	})
}

func TestPanicWithAnErrorUnwraps(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	r := rig.Catch(func() { p.Do(func(*filch.Worker) { panic(errTest) }) })
	if err, ok := r.(error); !ok || !errors.Is(err, errTest) {
		t.Errorf("panicked with %v", r)
	}
	r = rig.Catch(func() { p.Do(func(*filch.Worker) { panic(nil) }) })
	var nilErr *runtime.PanicNilError
	if err, ok := r.(error); !ok || !errors.As(err, &nilErr) {
		t.Errorf("panicked with %v", r)
	}
	if errors.Unwrap(&filch.PanicError{Value: "no error"}) != nil {
		t.Error("a value that is no error unwraps")
	}
}

// A panic that passes through many joins, some of them stolen, is wrapped once.
func TestPanicFromTheDepths(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
			var work func(level, n int) rig.Step
			work = func(level, n int) rig.Step {
				return func(w *filch.Worker) {
					if level == 0 {
						if n == 1234 {
							panic(n)
						}
						return
					}
					both(w, work(level-1, 2*n), work(level-1, 2*n+1))
				}
			}
			for range 10 {
				r := rig.Catch(func() { p.Do(work(11, 0)) })
				if err, ok := r.(*filch.PanicError); !ok || err.Value != 1234 {
					t.Fatalf("panicked with %v", r)
				}
			}
		})
	}
}

// What a function recovers from inside its own Do, Call or Join leaves the
// forks around it alone.
func TestRecoveringInsideLeavesTheForksAroundAlone(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
			var work func(level int) func(w *filch.Worker) int
			work = func(level int) func(w *filch.Worker) int {
				return func(w *filch.Worker) (n int) {
					if level == 0 {
						return 1
					}
					r := rig.Catch(func() {
						both(w, func(w *filch.Worker) { w.Join(func(*filch.Worker) { panic("a") }, rig.Nop) }, rig.Nop)
					})
					if r == nil {
						t.Error("no panic to recover from")
					}
					var x, y int
					both(w,
						func(w *filch.Worker) { x = work(level - 1)(w) },
						func(w *filch.Worker) { y = work(level - 1)(w) })
					return x + y
				}
			}
			p.Do(func(w *filch.Worker) {
				if n := work(7)(w); n != 1<<7 {
					t.Errorf("%d workers: %d leaves", workers, n)
				}
			})
		})
	}
}

func TestGoexitArrivesAtTheCaller(t *testing.T) {
	exit := func(*filch.Worker) { runtime.Goexit() }
	for _, c := range []struct {
		name string
		a, b rig.Step
	}{
		{"first arm", exit, rig.Nop},
		{"second arm", rig.Nop, exit},
		{"both arms", exit, exit},
		{"panic in the other", exit, func(*filch.Worker) { panic("b") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachPlacement(t, func(t *testing.T, pl placement, both func(s filch.Scope, a, b func(w *filch.Worker))) {
				p := filch.New(filch.WithWorkers(pl.workers))
				returned, recovered := false, any(nil)
				done := make(chan bool)
				go func() {
					defer close(done)
					defer func() { recovered = recover() }()
					pl.run(p, both, c.a, c.b)
					returned = true
				}()
				<-done
				if returned || recovered != nil {
					t.Errorf("returned: %v, recovered: %v", returned, recovered)
				}
				mustBeWell(t, p)
			})
		})
	}
}

// runtime.Goexit deep in a computation ends the goroutines of all that wait for
// it, however many workers took part.
func TestGoexitFromTheDepths(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		rig.EachForm(t, func(t *testing.T, both func(s filch.Scope, a, b func(w *filch.Worker))) {
			p := filch.New(filch.WithWorkers(workers))
			var work func(level, n int) rig.Step
			work = func(level, n int) rig.Step {
				return func(w *filch.Worker) {
					if level == 0 {
						if n == 1234 {
							runtime.Goexit()
						}
						return
					}
					both(w, work(level-1, 2*n), work(level-1, 2*n+1))
				}
			}
			for range racetest.Fewer(2, 10) {
				returned := false
				var wg sync.WaitGroup
				wg.Go(func() {
					p.Do(work(11, 0))
					returned = true
				})
				wg.Wait()
				if returned {
					t.Fatal("Do returned")
				}
			}
			if got := rig.FibFunc.Call(p, 20); got != 6765 {
				t.Errorf("afterwards fib(20) = %d", got)
			}
		})
	}
}

// FailNow is Goexit with a test to fail: the test must end as failed, in a
// process of its own so that this one need not.
func TestFailNowEndsATestAsFailed(t *testing.T) {
	const env = "FILCH_TEST_FAILNOW"
	if where := os.Getenv(env); where != "" {
		for _, pl := range placements {
			for _, form := range rig.Forms {
				t.Run(pl.name+" "+form.Name, func(t *testing.T) {
					fail := func(*filch.Worker) { t.FailNow() }
					p := filch.New(filch.WithWorkers(pl.workers))
					if where == "first" {
						pl.run(p, form.Both, fail, rig.Nop)
					} else {
						pl.run(p, form.Both, rig.Nop, fail)
					}
					t.Log("went on")
				})
			}
		}
		return
	}
	for _, where := range []string{"first", "second"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFailNowEndsATestAsFailed$", "-test.v", "-test.timeout=1m")
		cmd.Env = append(os.Environ(), env+"="+where)
		b, err := cmd.CombinedOutput()
		out := string(b)
		if err == nil || strings.Count(out, "    --- FAIL: TestFailNowEndsATestAsFailed/") != len(placements)*len(rig.Forms) ||
			strings.Contains(out, "went on") || strings.Contains(out, "panic") {
			t.Errorf("%s arm: %v\n%s", where, err, out)
		}
	}
}
