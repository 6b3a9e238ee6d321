package trace_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/trace"
)

// chrome is a file of the Trace Event Format, as its readers see it.
type chrome struct {
	Unit   string            `json:"displayTimeUnit"`
	Other  map[string]string `json:"otherData"`
	Events []chromeEvent     `json:"traceEvents"`
}

type chromeEvent struct {
	Name, Cat, Ph, Bp, S string
	At                   float64 `json:"ts"`
	Took                 float64 `json:"dur"`
	Process              int     `json:"pid"`
	Thread               int     `json:"tid"`
	ID                   int     `json:"id"`
	Args                 map[string]any
}

func chromeFile(t *testing.T, tr *trace.Trace) (c chrome) {
	t.Helper()
	var b bytes.Buffer
	if err := tr.WriteChrome(&b); err != nil {
		t.Fatal("tr.WriteChrome(&b):", err)
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		t.Fatalf("%v in\n%s", err, b.Bytes())
	}
	return c
}

// of returns the events of a phase.
func (c chrome) of(phase string) (some []chromeEvent) {
	for _, e := range c.Events {
		if e.Ph == phase {
			some = append(some, e)
		}
	}
	return some
}

// span returns the only span with a name.
func (c chrome) span(t *testing.T, name string) chromeEvent {
	t.Helper()
	spans := slices.DeleteFunc(c.of("X"), func(e chromeEvent) bool { return e.Name != name })
	if len(spans) != 1 {
		t.Fatalf("there are %d spans %q: %v", len(spans), name, spans)
	}
	return spans[0]
}

// threads returns the names of the threads.
func (c chrome) threads() map[int]string {
	names := map[int]string{}
	for _, e := range c.of("M") {
		if e.Name == "thread_name" {
			names[e.Thread] = e.Args["name"].(string)
		}
	}
	return names
}

// check checks what holds of each file.
func (c chrome) check(t *testing.T) {
	t.Helper()
	threads := c.threads()
	names := map[string]bool{}
	for _, name := range threads {
		if names[name] {
			t.Errorf("two threads are %s", name)
		}
		names[name] = true
	}
	tracks := map[int][]chromeEvent{}
	for _, e := range c.Events {
		if _, ok := threads[e.Thread]; !ok || e.Thread < 0 || e.Name == "" || e.At < 0 || e.Took < 0 {
			t.Errorf("there is %+v", e)
		}
		if e.Ph == "X" {
			tracks[e.Thread] = append(tracks[e.Thread], e)
		}
	}
	for _, spans := range tracks {
		checkNesting(t, spans)
	}
	c.checkArrows(t, tracks)
}

// checkNesting checks that of two spans of a thread one is in the other, or before it. Those that begin
// together stand with the outer one first.
func checkNesting(t *testing.T, spans []chromeEvent) {
	t.Helper()
	slices.SortStableFunc(spans, func(a, b chromeEvent) int { return cmp.Compare(a.At, b.At) })
	const rounding = 0.0005
	var open []float64 // ends
	for _, s := range spans {
		for len(open) > 0 && open[len(open)-1] <= s.At+rounding && s.At+s.Took > open[len(open)-1]+rounding {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && s.At+s.Took > open[len(open)-1]+rounding {
			t.Errorf("%+v is not in what lasts until %v", s, open[len(open)-1])
		}
		open = append(open, s.At+s.Took)
	}
}

// checkArrows checks that an arrow comes in no earlier than it goes out, and at a fork that begins.
func (c chrome) checkArrows(t *testing.T, tracks map[int][]chromeEvent) {
	t.Helper()
	in := map[int]chromeEvent{}
	for _, e := range c.of("f") {
		in[e.ID] = e
	}
	out := c.of("s")
	if len(in) != len(out) {
		t.Errorf("%d arrows go out, and %d come in", len(out), len(in))
	}
	for _, e := range out {
		to := in[e.ID]
		i := slices.IndexFunc(tracks[to.Thread], func(s chromeEvent) bool {
			return s.At == to.At && (s.Cat == "fork" || s.Cat == "help") && s.Args["fork"] == e.Args["fork"] && s.Args["other"] == c.threads()[e.Thread]
		})
		if to.At < e.At || to.Thread == e.Thread || to.Bp != "e" || i < 0 {
			t.Errorf("an arrow from %+v to %+v", e, to)
		}
	}
}

// What the spans of the plays are, by hand.
func TestSpansOfThePlaysAreThoseByHand(t *testing.T) {
	type line struct {
		name, sort string
		thread     int
		at, took   float64
	}
	for file, want := range map[string][]line{
		"stolen": {
			{"place", "place", 1, 0, 3000}, {"trace_test.runWork", "call", 1, 0, 3000}, {"place", "place", 2, 0, 1000},
			{"search", "search", 2, 0, 0}, {"trace_test.runWork", "fork", 2, 0, 1000}, {"search", "search", 2, 1000, 0},
		},
		"blocking": {
			{"place", "place", 1, 0, 7000}, {"search", "search", 1, 0, 0}, {"reads", "task", 1, 0, 7000}, {"wait", "wait", 1, 1000, 5000},
			{"place", "place", 2, 1000, 2000}, {"search", "search", 2, 1000, 0}, {"counts", "task", 2, 1000, 2000}, {"search", "search", 2, 3000, 0},
			{"search", "search", 1, 7000, 0},
		},
		"helped": {
			{"place", "place", 1, 0, 5000}, {"trace_test.runWork", "call", 1, 0, 5000},
			{"place", "place", 2, 0, 5000}, {"search", "search", 2, 0, 0}, {"trace_test.runWork", "fork", 2, 0, 5000},
			{"trace_test.runWork", "join", 1, 1000, 2000}, {"trace_test.runWork", "help", 1, 1000, 2000}, {"trace_test.runWork", "wait", 1, 3000, 2000},
		},
	} {
		i := slices.IndexFunc(plays, func(c play) bool { return c.file == file })
		c := chromeFile(t, plays[i].record(t))
		c.check(t)
		var got []line
		for _, e := range c.of("X") {
			if file != "helped" || e.At < 5000 {
				got = append(got, line{e.Name, e.Cat, e.Thread, e.At, e.Took})
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: there is\n%v\nand not\n%v", file, got, want)
		}
	}
}

// Names are escaped, whatever is in them.
func TestNamesAreEscapedWhateverIsInThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := []string{`"quoted"`, `back\slash`, "line\nbreak", "nul\x00", "\u2028", "</script>", "日本", "bad \xff", strings.Repeat("long", 1<<18)}
		p := filch.New(filch.WithWorkers(1), filch.WithName(`the "pool"`))
		defer p.Close()
		r := trace.New(p)
		r.Start()
		for _, name := range names {
			task(p, name)
		}
		synctest.Wait()
		c := chromeFile(t, r.Snapshot())
		c.check(t)
		for _, name := range names {
			c.span(t, strings.ToValidUTF8(name[:min(len(name), 256)], "\ufffd"))
		}
		if e := c.Events[0]; e.Name != "process_name" || !strings.Contains(e.Args["name"].(string), `the "pool"`) {
			t.Errorf("the pool is %+v", e)
		}
	})
}

// An empty file is a file.
func TestChromeOfNothing(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	c := chromeFile(t, trace.New(p).Snapshot())
	c.check(t)
	if c.Unit != "ns" || c.Other["lost"] != "0" || len(c.of("M")) != len(c.Events) || c.threads()[0] != "no worker" {
		t.Errorf("there is %+v", c)
	}
}

// Tasks that run at once on no worker have a track each, and so a span from begin to end.
func TestTasksBesideWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		defer p.Close()
		r := trace.New(p)
		r.Start()
		for i, name := range []string{"a", "b", "c", "d"} {
			p.Go(background, napFor(time.Duration(5-i)*ms/2), filch.LongRunning(), filch.Named(name)) // each ends before those that began before
			time.Sleep(ms / 4)
		}
		time.Sleep(10 * ms)
		p.Go(background, napFor(10*ms), filch.LongRunning(), filch.Named("later"))
		time.Sleep(1 * ms)
		c := chromeFile(t, r.Snapshot())
		c.check(t)
		for name, want := range map[string]struct {
			thread   string
			at, took float64
			open     any
		}{
			"a": {"no worker", 0, 2500, nil}, "b": {"no worker 2", 250, 2000, nil}, "c": {"no worker 3", 500, 1500, nil}, "d": {"no worker 4", 750, 1000, nil},
			"later": {"no worker", 11000, 1000, "yes"},
		} {
			if s := c.span(t, name); c.threads()[s.Thread] != want.thread || s.At != want.at || s.Took != want.took || s.Args["open"] != want.open {
				t.Errorf("%s is %+v on %s", name, s, c.threads()[s.Thread])
			}
		}
	})
}

// Whatever programs do, and whatever is overwritten, spans nest and arrows go forward.
func TestFilesOfAnything(t *testing.T) {
	n := 20
	if thorough.Sampled() {
		n = 4
	}
	for seed := range uint64(n) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		p := filch.New(filch.WithWorkers(1+rnd.IntN(8)), filch.WithPanicHandler(func(*filch.PanicError) {}))
		r := trace.New(p, trace.WithCapacity(1<<(3+rnd.IntN(8))))
		r.Start()
		var wg sync.WaitGroup
		for range 3 {
			kinds := rnd.Perm(6)
			wg.Go(func() {
				for _, kind := range kinds {
					switch kind {
					case 0:
						working.Call(p, work{0, []work{{0, []work{{}, {}, {}}}, {0, []work{{}, {}}}}})
					case 1:
						p.Go(background, func(context.Context) { panic("x") })
					case 2:
						p.Go(background, func(ctx context.Context) { filch.Blocking(ctx, func() {}) }, filch.LongRunning())
					case 3:
						g := p.Group(background)
						for range 20 {
							g.Go(func(ctx context.Context) error { filch.Blocking(ctx, func() {}); return nil })
						}
						g.Wait()
					case 4:
						p.Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) {}, func(*filch.Worker) {}) })
					case 5:
						chromeFile(t, r.Snapshot()).check(t)
					}
				}
			})
		}
		wg.Wait()
		p.Close()
		tr := r.Snapshot()
		chromeFile(t, tr).check(t)
		chromeFile(t, tr.Last(20*time.Microsecond)).check(t)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, text(t, tr))
		}
	}
}

// In a pool with an observer, a task says how long it waited; in another, its submission is not recorded.
func TestTasksSayHowLongTheyWaited(t *testing.T) {
	for _, observed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			options := []filch.Option{filch.WithWorkers(1)}
			if observed {
				options = append(options, filch.WithObserver(quiet{}))
			}
			p := filch.New(options...)
			r := trace.New(p)
			r.Start()
			nap := func(context.Context) { time.Sleep(3 * time.Millisecond) }
			p.Go(background, nap, filch.Named("first"))
			synctest.Wait()
			p.Go(background, nap, filch.Named("second"))
			time.Sleep(time.Second)
			r.Stop()
			p.Close()
			c := chromeFile(t, r.Snapshot())
			for name, want := range map[string]any{"first": "0s", "second": "3ms"} {
				if !observed {
					want = nil
				}
				if got := c.span(t, name).Args["waited"]; got != want {
					t.Errorf("observed %t: %s waited %v, not %v", observed, name, got, want)
				}
			}
		})
	}
}
