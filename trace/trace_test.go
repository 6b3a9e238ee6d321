package trace_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/trace"
)

// text returns the text form.
func text(t *testing.T, tr *trace.Trace) string {
	t.Helper()
	var b strings.Builder
	if err := tr.WriteText(&b); err != nil {
		t.Fatal("tr.WriteText(&b):", err)
	}
	return b.String()
}

// task runs one task with a name.
func task(p *filch.Pool, name string) {
	filch.Submit(background, p, func(context.Context) (int, error) { return 0, nil }, filch.Named(name)).Wait(background)
}

// A Recorder records from Start to Stop, and what was recorded stays until the next Start.
func TestStartAndStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		r := trace.New(p)
		check := func(has ...string) {
			t.Helper()
			synctest.Wait()
			s := text(t, r.Snapshot())
			for _, name := range []string{"one", "two", "three", "four"} {
				want := false
				for _, h := range has {
					want = want || h == name
				}
				if strings.Contains(s, `"`+name+`"`) != want {
					t.Errorf("%s: %t; there is\n%s", name, !want, s)
				}
			}
			if len(has) == 0 && (s != "" || r.Snapshot().Len() != 0) {
				t.Errorf("there is\n%s", s)
			}
		}
		r.Stop() // does nothing
		check()
		r.Start()
		task(p, "one")
		check("one")
		r.Start() // does nothing
		task(p, "two")
		check("one", "two")
		r.Stop()
		r.Stop()
		task(p, "three")
		check("one", "two")
		r.Start()
		check()
		task(p, "four")
		check("four")
		r.Stop()
		check("four")
	})
}

// Several Recorders on one pool have the same events, each from its own Start on.
func TestSeveralRecordersHaveTheSameEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		a, b := trace.New(p), trace.New(p)
		a.Start()
		time.Sleep(time.Second)
		b.Start()
		task(p, "both")
		synctest.Wait()
		b.Stop()
		task(p, "first")
		synctest.Wait()
		ta, tb := text(t, a.Snapshot()), text(t, b.Snapshot())
		if !strings.HasPrefix(ta, strings.ReplaceAll(tb, "    0.000us", "1000000.000us")) || !strings.Contains(ta, "first") || strings.Contains(tb, "first") {
			t.Errorf("one has\n%s\nthe other\n%s", ta, tb)
		}
		if d := b.Snapshot().Begun.Sub(a.Snapshot().Begun); d != time.Second {
			t.Errorf("the second began %v later", d)
		}
	})
}

// Start, Stop and Snapshot are safe while a pool works and closes, and no task is lost by them.
func TestStopDuringLoad(t *testing.T) {
	n := 3000
	if thorough.Sampled() {
		n = 500
	}
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var over atomic.Bool
		var others sync.WaitGroup
		for range 3 {
			r := trace.New(p, trace.WithCapacity(64))
			others.Go(func() {
				for !over.Load() {
					r.Start()
					r.Snapshot()
					r.Stop()
					if err := r.WriteChrome(io.Discard); err != nil {
						t.Error("r.WriteChrome(io.Discard):", err)
					}
				}
			})
		}
		var ran atomic.Int64
		g := p.Group(background)
		for range n {
			g.Go(func(ctx context.Context) error {
				working.Call(p, work{forks: []work{{}, {}}})
				ran.Add(1)
				return nil
			})
		}
		if err := g.Wait(); err != nil || ran.Load() != int64(n) {
			t.Errorf("%d of %d ran; %v", ran.Load(), n, err)
		}
		p.Close()
		over.Store(true)
		others.Wait()
	}
}

// The forks of package par are named for what they are part of.
func TestNamesOfPar(t *testing.T) {
	nap := func(lo, hi int) { time.Sleep(time.Duration(hi-lo) * ms) }
	for want, run := range map[string]func(s filch.Scope){
		`"par.partOfLoop"`: func(s filch.Scope) { par.ForRange(s, 100, nap) },
		`"par.mergeSort[...].func`: func(s filch.Scope) {
			par.SortStableFunc(s, rand.New(rand.NewPCG(1, 2)).Perm(5000), func(a, b int) int { time.Sleep(ms); return cmp.Compare(a, b) })
		},
		`"par.partOfWalk"`: func(s filch.Scope) {
			files := fstest.MapFS{"a/1": {}, "b/2": {}, "c/3": {}}
			par.WalkDir(s, files, ".", func(string, fs.DirEntry, error) error { time.Sleep(ms); return nil })
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(workers(2)...)
			defer p.Close()
			r := trace.New(p)
			r.Start()
			run(p)
			if got := text(t, r.Snapshot()); !strings.Contains(got, "publishes fork") || !strings.Contains(got, want) {
				t.Errorf("no %s in\n%.2000s", want, got)
			}
		})
	}
}

// A pool that is closed is recorded: nothing happens in it.
func TestAClosedPoolIsRecorded(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	p.Close()
	r := trace.New(p)
	r.Start()
	p.Go(background, func(context.Context) {})
	r.Stop()
	if s := text(t, r.Snapshot()); s != "" {
		t.Errorf("there is\n%s", s)
	}
}

// Lost counts what was overwritten, and the text form says so first.
func TestLostCountsWhatWasOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		all, few := trace.New(p), trace.New(p, trace.WithCapacity(3))
		all.Start()
		few.Start()
		for range 5 {
			task(p, "x")
		}
		synctest.Wait()
		a, b := all.Snapshot(), few.Snapshot()
		if a.Lost != 0 || b.Len() != 4 || int(b.Lost) != a.Len()-4 {
			t.Errorf("of %d events, %d are there and %d lost", a.Len(), b.Len(), b.Lost)
		}
		lines := strings.SplitAfter(text(t, a), "\n")
		if want := fmt.Sprintf("# %d earlier events are lost\n", b.Lost) + strings.Join(lines[len(lines)-5:], ""); text(t, b) != want {
			t.Errorf("there is\n%s\nand not\n%s", text(t, b), want)
		}
	})
}

// Last has what is no older, and spans that began before from there on.
func TestLastHasWhatIsNoOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		r := trace.New(p)
		r.Start()
		over, cancel := context.WithCancel(background)
		cancel()
		p.Go(background, napFor(1*ms), filch.Named("early"))
		filch.Submit(over, p, func(context.Context) (int, error) { return 0, nil }) // leaves a mark
		p.Go(background, napFor(10*ms), filch.Named("long"))
		time.Sleep(9 * ms)
		all := r.Snapshot()
		last := all.Last(3 * ms)
		if s := text(t, last); s != "" {
			t.Errorf("there is\n%s", s)
		}
		if last.Len() != 0 || last.Begun.Sub(all.Begun) != 6*ms || last.Pool != all.Pool {
			t.Errorf("all.Last(3 * ms): %+v", last)
		}
		file := chromeFile(t, last)
		if long := file.span(t, "long"); long.At != 6000 || long.Took != 3000 || long.Args["open"] != "yes" {
			t.Errorf(`file.span(t, "long"): %+v`, long)
		}
		for _, e := range file.Events {
			if e.Name == "early" || e.Ph != "M" && e.At < 6000 {
				t.Errorf("the last 3 ms of 9 have %+v", e)
			}
		}
		if s := text(t, all.Last(time.Hour)); s != text(t, all) || all.Last(time.Hour).Begun != all.Begun {
			t.Errorf("the last hour has\n%s", s)
		}
		if s := text(t, all.Last(8500*time.Microsecond)); strings.Contains(s, "early") || !strings.HasSuffix(s, "1000.000us  worker 0   goes on to task 0.2 \"long\"\n") {
			t.Errorf("the last 8.5 ms have\n%s", s)
		}
		if s := text(t, all.Last(0)); s != "" || !last.Last(time.Hour).Begun.Equal(last.Begun) {
			t.Errorf("the last moment has\n%s", s)
		}
	})
}

// OnPanic is called with what was recorded when a task crashes, again after 10 s at the earliest, and no more
// after Stop.
func TestOnPanicIsCalledOnceInTenSecondsAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var texts []string
		p := filch.New(filch.WithWorkers(1), filch.WithPanicHandler(func(*filch.PanicError) {}))
		defer p.Close()
		r := trace.New(p, trace.OnPanic(func(tr *trace.Trace) { texts = append(texts, text(t, tr)) }))
		crash := func(name string) {
			p.Go(background, func(context.Context) { panic(name) }, filch.Named(name))
			synctest.Wait()
		}
		crash("too early")
		r.Start()
		crash("first")
		time.Sleep(10*time.Second - 1)
		crash("too soon")
		time.Sleep(time.Nanosecond)
		crash("second")
		r.Stop()
		time.Sleep(time.Hour)
		crash("too late")
		if len(texts) != 2 || !strings.Contains(texts[0], `crashes in task 0.1 "first"`) || !strings.Contains(texts[1], `"second"`) {
			t.Errorf("there is\n%s", strings.Join(texts, "\n"))
		}
	})
}

// While the function of OnPanic runs it is not called again, and nothing piles up behind it.
func TestOnPanicThatBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, goOn := 0, make(chan bool)
		p := filch.New(filch.WithWorkers(1), filch.WithPanicHandler(func(*filch.PanicError) {}))
		defer p.Close()
		r := trace.New(p, trace.OnPanic(func(*trace.Trace) { calls++; <-goOn }))
		r.Start()
		for range 5 {
			p.Go(background, func(context.Context) { panic("x") })
			time.Sleep(time.Minute)
		}
		close(goOn)
		synctest.Wait()
		if calls != 1 {
			t.Errorf("it was called %d times", calls)
		}
		p.Go(background, func(context.Context) { panic("x") })
		synctest.Wait()
		if calls != 2 {
			t.Errorf("when it had returned, it was called %d times", calls-1)
		}
	})
}

// OnStall is called when the watch adds a place. Its function may take its time, and use the pool and the
// Recorder.
func TestOnStallIsCalledWhenAPlaceIsAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		var r *trace.Recorder
		var stalls []string
		r = trace.New(p, trace.OnStall(func(tr *trace.Trace) {
			p.Stats()
			r.Stop()
			r.Start()
			stalls = append(stalls, text(t, tr.Last(time.Second)))
		}))
		r.Start()
		over := make(chan bool)
		p.Go(background, func(context.Context) { <-over }, filch.Named("blocks"))
		synctest.Wait()
		p.Go(background, func(context.Context) {}, filch.Named("waits"))
		time.Sleep(time.Second)
		synctest.Wait()
		if len(stalls) != 1 || !strings.Contains(stalls[0], `starts task 0.1 "blocks"`) || !strings.Contains(stalls[0], "slots beyond its limit: 1") {
			t.Errorf("%d stalls\n%s", len(stalls), strings.Join(stalls, "\n"))
		}
		close(over)
	})
}

// What is not right is told with the name of the function and the argument.
func TestMisuseIsToldByFunctionAndArgument(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	var none *trace.Recorder
	var zero trace.Recorder
	for want, f := range map[string]func(){
		"trace: New: p is nil":                                             func() { trace.New(nil) },
		"trace: New: p is a Pool that filch.New has not made":              func() { trace.New(new(filch.Pool)) },
		"trace: New: option 1 is nil":                                      func() { trace.New(p, trace.WithCapacity(1), nil) },
		"trace: WithCapacity(0): n must be from 1 to 16777216":             func() { trace.WithCapacity(0) },
		"trace: WithCapacity(-1): n must be from 1 to 16777216":            func() { trace.WithCapacity(-1) },
		"trace: WithCapacity(16777217): n must be from 1 to 16777216":      func() { trace.WithCapacity(1<<24 + 1) },
		"trace: OnStall: f is nil":                                         func() { trace.OnStall(nil) },
		"trace: OnPanic: f is nil":                                         func() { trace.OnPanic(nil) },
		"trace: Start: the Recorder is nil or zero: make one with New":     func() { none.Start() },
		"trace: Start: the Recorder is nil or zero: make one with New ":    func() { zero.Start() },
		"trace: Stop: the Recorder is nil or zero: make one with New":      func() { zero.Stop() },
		"trace: Snapshot: the Recorder is nil or zero: make one with New":  func() { zero.Snapshot() },
		"trace: Snapshot: the Recorder is nil or zero: make one with New ": func() { none.WriteText(io.Discard) },
		"trace: Last(-1ns): the time must not be negative":                 func() { new(trace.Trace).Last(-1) },
		"trace: WriteText: w is nil":                                       func() { trace.New(p).WriteText(nil) },
		"trace: WriteChrome: w is nil":                                     func() { trace.New(p).WriteChrome(nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != strings.TrimSpace(want) {
					t.Errorf("it is %v, not %s", got, want)
				}
			}()
			f()
		}()
	}
	var empty trace.Trace // of use all the same
	if s := text(t, empty.Last(time.Second)); s != "" || empty.Len() != 0 {
		t.Errorf("an empty Trace has %q", s)
	}
	if err := empty.WriteChrome(io.Discard); err != nil {
		t.Error("empty.WriteChrome(io.Discard):", err)
	}
}

// failing is a writer that fails when it has n bytes.
type failing struct{ n int }

var errFull = errors.New("full")

func (w *failing) Write(b []byte) (int, error) {
	if w.n -= len(b); w.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// The first error of a writer comes back, whenever it comes.
func TestErrorsOfWriters(t *testing.T) {
	c := plays[2]
	tr := c.record(t)
	for _, write := range []func(w io.Writer) error{tr.WriteText, tr.WriteChrome} {
		var b bytes.Buffer
		if err := write(&b); err != nil || b.Len() < 500 {
			t.Fatalf("%d bytes, %v", b.Len(), err)
		}
		for n := 0; n < b.Len(); n += 1 + b.Len()/500 {
			if err := write(&failing{n}); err != errFull {
				t.Fatalf("after %d of %d bytes it is %v", n, b.Len(), err)
			}
		}
	}
}

// A queue that was told to have tasks is told to be empty in the end, also if others took them.
func TestQueuesAreToldToBeEmpty(t *testing.T) {
	queued := regexp.MustCompile(`(pool|worker \d+) +has queued (\d+)`)
	for i := range 16 {
		workers, takes := 1+i%4, time.Duration(100+200*(i/4))*time.Microsecond
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(workers))
			r := trace.New(p)
			r.Start()
			g := p.Group(background)
			nap := func(context.Context) error { time.Sleep(takes); return nil }
			g.Go(func(ctx context.Context) error {
				for range 47 {
					g.GoFrom(ctx, nap)
				}
				return nil
			})
			for range 57 {
				g.Go(nap)
			}
			g.Wait()
			g = p.Group(background)
			for range workers {
				g.Go(func(ctx context.Context) error {
					g.GoFrom(ctx, nap) // for the own queue
					time.Sleep(5 * time.Millisecond)
					return nil
				})
			}
			time.Sleep(time.Millisecond) // they run
			g.Go(nap)
			g.Wait()
			p.Close()
			r.Stop()
			var b strings.Builder
			r.WriteText(&b)
			most, last := map[string]int{}, map[string]string{}
			for _, m := range queued.FindAllStringSubmatch(b.String(), -1) {
				last[m[1]] = m[2]
				if m[2] != "0" {
					most[m[1]]++
				}
			}
			if most["pool"] == 0 || most["worker 0"] == 0 {
				t.Errorf("%d workers, %v: no queue is told to have tasks", workers, takes)
			}
			for queue, n := range last {
				if n != "0" {
					t.Errorf("%d workers, %v: the last that is told of the queue of %s is %s", workers, takes, queue, n)
				}
			}
		})
	}
}
