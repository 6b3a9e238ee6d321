package filch

import (
	"fmt"
	"io"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/span"
)

// init gives package span what it needs of a Worker.
func init() {
	span.Known(func(worker any) *span.Recorder {
		if w, ok := worker.(*Worker); ok && w != nil {
			return w.tasks.Engine.Spans
		}
		return nil
	}, func(spans *span.Recorder, calibrates bool, f func(worker any)) span.Profile {
		return measure(spans, calibrates, func(w *Worker) { f(w) })
	})
}

// Measure runs f once, on one worker of its own pool, and returns how parallel it is: the work, the longest path through it,
// and so the speed-up to expect of more workers. f and all that it calls with its worker run in one worker's order, whatever
// GOMAXPROCS is.
//
//	p := filch.Measure(func(w *filch.Worker) { fib.Call(w, 30) })
//	fmt.Println(p) // work 4.2ms, span …
//	least, most := p.SpeedUp(8)
//
// It measures all forks on w: of [Func] (also its On and CallUntil), [Chain], [Join], [Worker.Join], [Worker.Async],
// [Worker.Finish], [Worker.Do], and packages par and strand. A par loop counts as if some worker always asked for work: its
// pieces are the chunks of the caller's grain, or single elements, or as many as take about 4 us together, because less is
// not divided. A call dropped by a stop counts as a fork that took no time. Anything else counts as serial, however many
// workers it uses: a [Pool] that f calls, a goroutine, a task of [Submit] or a [Group] that f waits for, par's pipelines and
// lines of a file, a graph of package flow. Pass w on as the [Scope].
//
// Forks are counted exactly. Times are clock times minus the cost of measuring; see [Profile] and docs/parallelism.md. On
// Linux, interruptions and waits of 20 us and more do not count if the program ran nowhere meanwhile. A measured fork takes
// some 100 ns longer; unmeasured code pays nothing.
//
// Measure panics with a [*PanicError] if f panics, ends the caller if f calls runtime.Goexit, and panics if f is nil. It may
// be called from any goroutine; inside other work, it is an undivided part of it.
//
//figure:set 4 us
//figure:set 20 us
//figure:set 100 ns
func Measure(f func(w *Worker)) *Profile {
	needs(f != nil, "Measure", "f")
	p := measure(span.NewRecorder(clock.Now, span.Burden), true, f)
	return (*Profile)(&p)
}

// measure is Measure with the caller's Recorder. Without calibrates, the clock must already exclude the cost of measuring and
// interruptions.
func measure(spans *span.Recorder, calibrates bool, f func(w *Worker)) (p span.Profile) {
	New(WithWorkers(1), WithName("measured"), inOneOrder()).Do(func(w *Worker) {
		if calibrates {
			calibrate(w, spans)
		}
		if calibrates && !clock.InBubble() {
			spans.Lost(span.Idle())
		}
		w.tasks.Engine.Spans = spans
		span.Run(func() {
			spans.Start()
			w.Finish(f)
			p = spans.Stop()
		})
	})
	return p
}

// calibrated is the number of forks that the cost of one is measured with.
const calibrated = 256

// calibrate measures the overhead of measuring on w, by empty forks and joins.
func calibrate(w *Worker, spans *span.Recorder) {
	measured := func(run func()) func() {
		return func() {
			w.tasks.Engine.Spans = spans
			run()
			w.tasks.Engine.Spans = nil
		}
	}
	emptyForks := NewFunc(emptyForksBody)
	forks := func() { emptyForks.Call(w, calibrated) }
	spans.Calibrate(span.Frame, calibrated, forks, measured(forks))
	// The links of a Chain keep whether their last worker was measured, so each side has its own.
	bare, other := NewChain(forkLinks), NewChain(forkLinks)
	spans.Calibrate(span.Link, calibrated,
		func() { bare.Call(w, calibrated) },
		measured(func() { other.Call(w, calibrated) }))
}

// emptyForksBody makes n forks recursively: in a loop, processors would predict the measuring code.
func emptyForksBody(f *Frame[int, int], n int) int {
	if n == 0 {
		return 0
	}
	h := f.Fork(n / 2)
	emptyForksBody(f, n-1-n/2)
	return f.Join(h)
}

func forkLinks(l *Link[int, int], n int) int {
	for range n {
		l.Fork(0)
		if !l.TakeBack() {
			l.Join()
		}
	}
	return 0
}

// Profile says how parallel a run was. [Measure] makes one; its methods use only the fields, so it may also be made by hand.
//
// Work and span are those of the directed graph of the run's forks and joins. A fork that runs at its join belongs to the
// path up to the fork. The times are as exact as the clock: if forks or joins are less than some hundred nanoseconds apart,
// the work may come out several times too large, and the span is no shorter than the longest interruption. See
// docs/parallelism.md.
type Profile struct {
	// Work is the time of all parts together, T1: the time on one worker.
	Work time.Duration
	// Span is the time of the longest path, Tinf: the time on any number of workers. It is at most Work, and not 0 unless
	// Work is.
	Span time.Duration
	// BurdenedSpan is the time of the longest path if another worker steals each fork on it, at 4 us each. It may exceed
	// Work: the forks are then too small to be worth stealing.
	//
	//figure:set 4 us
	BurdenedSpan time.Duration
	// Forks is the number of forks, including asyncs and spawns. A loop of n pieces makes n-1.
	Forks int64
}

// Parallelism returns Work / Span: how many workers the run could keep busy on average. It is 1 if the run took no time.
func (p *Profile) Parallelism() float64 { return (*span.Profile)(p).Parallelism() }

// SpeedUp returns the range of speed-ups to expect of so many workers, over one worker.
//
// most is the smaller of workers and [Profile.Parallelism]: no schedule is faster. least is
//
//	Work / (Work/workers + (1-1/workers)*BurdenedSpan)
//
// as if no worker were idle while there is work (Graham 1969, Brent 1974), and each steal on the longest path cost the burden
// (He, Leiserson and Leiserson, "The Cilkview Scalability Analyzer", SPAA 2010). It is an estimate: shared memory and
// wake-ups of workers can make the speed-up smaller. Both are 1 for one worker. least is below 1 if steals would cost more
// than they gain; a pool then steals little.
//
// SpeedUp panics if workers is less than 1.
func (p *Profile) SpeedUp(workers int) (least, most float64) {
	if workers < 1 {
		panic(fmt.Sprintf("filch: Profile.SpeedUp(%d): there must be a worker", workers))
	}
	return (*span.Profile)(p).SpeedUp(workers)
}

// String returns the profile in one line.
func (p *Profile) String() string { return (*span.Profile)(p).String() }

// WriteText writes the profile and the range of the speed-up for 1, 2, 4 and so on to 256 workers, as text. It returns the
// error of w. It panics if w is nil.
func (p *Profile) WriteText(w io.Writer) error {
	needs(w != nil, "Profile.WriteText", "w")
	return (*span.Profile)(p).WriteText(w)
}

// WriteSVG draws the speed-up curve for 1 to 256 workers: its least and most, with lines for no speed-up and for a perfect
// one. Both axes are logarithmic. Colours are dark on light, or light on dark if the viewer prefers that. The picture has a
// title and a description that say the same in words. It returns the error of w. It panics if w is nil.
func (p *Profile) WriteSVG(w io.Writer) error {
	needs(w != nil, "Profile.WriteSVG", "w")
	return (*span.Profile)(p).WriteSVG(w)
}
