package trace_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace"
)

var update = flag.Bool("update", false, "write the transcripts into testdata, instead of comparing them")

var background = context.Background()

const ms = time.Millisecond

// work forks others, takes a time of its own, and joins them.
type work struct {
	own   time.Duration
	forks []work
}

var working = filch.NewFunc(runWork)

func runWork(f *filch.Frame[work, int], w work) int {
	leaves := 1
	handles := make([]filch.Fork, len(w.forks))
	for i := range w.forks {
		handles[i] = f.Fork(w.forks[i])
	}
	time.Sleep(w.own)
	for i := len(w.forks) - 1; i >= 0; i-- {
		leaves += f.Join(handles[i])
	}
	return leaves
}

// napFor is a task that takes a time.
func napFor(d time.Duration) func(context.Context) { return func(context.Context) { time.Sleep(d) } }

// shutdown closes p when all is done, and tells so when no other has anything to tell.
func shutdown(p *filch.Pool) {
	time.Sleep(ms / 10)
	p.Shutdown(background)
}

// A play is a program without ties: no two goroutines have anything to tell at the same time, unless one
// of them waits for the other. So the pool does the same on each run.
type play struct {
	file    string
	about   string // comes first in the file
	options []filch.Option
	before  func(p *filch.Pool) // is not recorded; or nil
	run     func(p *filch.Pool)
	sorted  bool // two go on at once where one passes its slot on: the lines of a moment stand by worker
}

var plays = []play{
	{"stolen", `A fork is stolen.

The call forks work of 1 ms, and takes 3 ms itself. So the thief is done when the fork is joined.`,
		workers(2), nil, func(p *filch.Pool) { working.Call(p, work{3 * ms, []work{{own: 1 * ms}}}) }, false},

	{"taken-back", `A fork is published, and taken back.

A task has the other place when the call forks. After 1 ms it is done, and its worker steals the oldest fork, of
8 ms. The others are taken back, of 3 ms and 1 ms. The call waits for the thief at the end.`,
		workers(2),
		func(p *filch.Pool) {
			p.Go(background, napFor(2*ms), filch.Named("task"))
			time.Sleep(1 * ms)
		},
		func(p *filch.Pool) {
			working.Call(p, work{2 * ms, []work{{own: 8 * ms}, {own: 3 * ms}, {own: 1 * ms}}})
		}, true},

	{"helped", `A worker that waits for a fork helps its thief.

The fork forks again, so its owner finds work with the thief: that of 2 ms.`,
		workers(2), nil, func(p *filch.Pool) {
			working.Call(p, work{1 * ms, []work{{5 * ms, []work{{own: 2 * ms}}}}})
		}, true},

	{"blocking", `A task blocks, and lends its slot.

There is one place. While the task "reads" waits in Blocking, the task "counts" has it.`,
		workers(1), nil, func(p *filch.Pool) {
			p.Go(background, func(ctx context.Context) {
				time.Sleep(1 * ms)
				filch.Blocking(ctx, func() { time.Sleep(5 * ms) })
				time.Sleep(1 * ms)
			}, filch.Named("reads"))
			time.Sleep(ms / 2)
			p.Go(background, napFor(2*ms), filch.Named("counts"))
			shutdown(p)
		}, false},

	{"queue", `Tasks wait in the queue of a worker.

After 1 ms, the task of worker 0 submits four more. That of worker 1 is done after 5 ms, and takes half of what is left.`,
		workers(2),
		func(p *filch.Pool) {
			p.Go(background, func(ctx context.Context) {
				time.Sleep(2 * ms)
				for _, name := range []string{"a", "b", "c", "d"} {
					p.Go(ctx, napFor(7*ms), filch.Named(name))
				}
				time.Sleep(1 * ms)
			}, filch.Named("first"))
			time.Sleep(ms / 2)
			p.Go(background, napFor(11*ms/2), filch.Named("other"))
			time.Sleep(ms / 2)
		},
		shutdown, false},

	{"stall", `The watch for stalls adds a place.

There is one place, and the task in it waits on a channel, where the pool cannot see it. The task that would go on with it
is queued.`,
		workers(1), nil, func(p *filch.Pool) {
			met := make(chan bool)
			p.Go(background, func(context.Context) { <-met; time.Sleep(1 * ms) }, filch.Named("waits"))
			time.Sleep(1 * ms)
			p.Go(background, func(context.Context) { time.Sleep(1 * ms); close(met) }, filch.Named("meets"))
			shutdown(p)
		}, false},

	{"gives-way", `A task gives way to one that goes first.

There is one place. The task "low" asks each millisecond whether there is anything more urgent.`,
		[]filch.Option{filch.WithWorkers(1), filch.WithOrder(filch.ByPriority)}, nil, func(p *filch.Pool) {
			p.Go(background, func(ctx context.Context) {
				filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
					for range 4 {
						time.Sleep(1 * ms)
						w.Poll()
					}
				})
			}, filch.AtPriority(1), filch.Named("low"))
			time.Sleep(5 * ms / 2)
			p.Go(background, napFor(2*ms), filch.Named("high"))
			shutdown(p)
		}, true},

	{"after", `A task comes after two others.`,
		workers(1), nil, func(p *filch.Pool) {
			last := func(context.Context) (int, error) { time.Sleep(1 * ms); return 0, nil }
			a := filch.Submit(background, p, last, filch.Named("a"))
			time.Sleep(ms / 2)
			b := filch.Submit(background, p, last, filch.Named("b"))
			filch.Submit(background, p, last, filch.Named("c"), filch.After(a, b)).Wait(background)
		}, false},

	{"parks", `A worker without work keeps its goroutine for 5 ms.

The second task wakes the worker that the first has left. The third comes too late for it.`,
		[]filch.Option{filch.WithWorkers(1), filch.WithIdleTimeout(5 * ms)}, nil, func(p *filch.Pool) {
			for _, wait := range []time.Duration{3 * ms, 9 * ms, 0} {
				p.Go(background, napFor(1*ms), filch.Named("task"))
				time.Sleep(wait)
			}
			shutdown(p)
		}, false},

	{"crashes", `A task panics, one ends its goroutine, and one runs on no worker.`,
		[]filch.Option{filch.WithWorkers(1), filch.WithPanicHandler(func(*filch.PanicError) {})}, nil, func(p *filch.Pool) {
			p.Go(background, func(context.Context) { panic("a mistake") }, filch.Named("panics"))
			time.Sleep(1 * ms)
			p.Go(background, func(context.Context) { runtime.Goexit() }, filch.Named("exits"))
			time.Sleep(1 * ms)
			p.Go(background, napFor(1*ms), filch.LongRunning(), filch.Named("long"))
			shutdown(p)
		}, false},

	{"observed", `A pool with an observer counts tasks when they are submitted, and tells of those that never run.

The task "a" is done, "b" is cancelled in the queue, and "c" comes too late.`,
		[]filch.Option{filch.WithWorkers(1), filch.WithObserver(quiet{})}, nil, func(p *filch.Pool) {
			p.Go(background, napFor(2*ms), filch.Named("a"))
			time.Sleep(1 * ms)
			b := filch.Submit(background, p, func(context.Context) (int, error) { return 0, nil }, filch.Named("b"))
			time.Sleep(ms / 2)
			b.Cancel()
			shutdown(p)
			p.Go(background, napFor(1*ms), filch.Named("c"))
		}, false},
}

// quiet is an observer that does nothing.
type quiet struct{}

func (quiet) Observe(filch.Event) {}

func workers(n int) []filch.Option { return []filch.Option{filch.WithWorkers(n)} }

// sortMoments sorts the lines of each moment by whom they are about.
func sortMoments(b *bytes.Buffer) {
	lines := strings.Split(b.String(), "\n")
	for i, end := 0, 0; i < len(lines); i = end {
		at, _, isEvent := strings.Cut(lines[i], "us  ")
		for end = i + 1; isEvent && end < len(lines) && strings.HasPrefix(lines[end], at+"us  "); end++ {
		}
		slices.SortStableFunc(lines[i:end], func(a, b string) int { return strings.Compare(whose(a), whose(b)) })
	}
	b.Reset()
	b.WriteString(strings.Join(lines, "\n"))
}

// whose returns whom a line is about, the pool after all workers.
func whose(line string) string {
	_, line, _ = strings.Cut(line, "us  ")
	line = strings.Replace(line, "pool", "worker ~", 1)
	return line[:min(len(line), len("worker 0"))]
}

// record returns what a Recorder has of a play, in a bubble.
func (c *play) record(t *testing.T) (recorded *trace.Trace) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(c.options...)
		if c.before != nil {
			c.before(p)
		}
		r := trace.New(p)
		r.Start()
		c.run(p)
		synctest.Wait()
		time.Sleep(time.Second) // until the worker that kept its goroutine has left, and the watch
		p.Close()
		synctest.Wait()
		r.Stop()
		recorded = r.Snapshot()
	})
	return recorded
}

// The protocols of the pool, event by event, are what the files in testdata say, on each run.
func TestTranscripts(t *testing.T) {
	for _, c := range plays {
		t.Run(c.file, func(t *testing.T) {
			var b bytes.Buffer
			b.WriteString("# " + strings.ReplaceAll(strings.ReplaceAll(c.about, "\n", "\n# "), "# \n", "#\n") + "\n\n")
			if err := c.record(t).WriteText(&b); err != nil {
				t.Fatal("c.record(t).WriteText(&b):", err)
			}
			if c.sorted {
				sortMoments(&b)
			}
			file := filepath.Join("testdata", c.file+".txt")
			if *update {
				if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
					t.Fatal("os.WriteFile(file, b.Bytes(), 0o666):", err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%v; it is now\n%s\nand was\n%s\nIf that is meant, -update writes it.", err, b.Bytes(), want)
			}
		})
	}
}
