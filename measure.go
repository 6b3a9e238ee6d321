package filch

import (
	"fmt"
	"io"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/span"
)

// init tells package span what it needs to know of a Worker.
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

// Measure runs f once, on one worker of a pool of its own, and tells how parallel it is: how much work
// there is, how long the longest path through it is, and so what to expect of more workers. f and all that
// it calls with its worker run in the order of one worker, whatever GOMAXPROCS is.
//
//	p := filch.Measure(func(w *filch.Worker) { fib.Call(w, 30) })
//	fmt.Println(p) // work 4.2ms, span …
//	least, most := p.SpeedUp(8)
//
// What forks on w is measured: [Func], [Func.On], [Func.CallUntil], [Chain], [Join] and [Worker.Join],
// [Worker.Async] and [Worker.Finish], [Worker.Do], and packages par and strand. A loop of package par counts as if some
// worker always asked. Its pieces are the chunks of the caller's grain; or else single elements, or as
// many as take about 4 us together, since less is not divided. A forked call that a stop drops counts as a
// fork that took nothing.
//
// What does not fork on w counts as a part of what calls it, however many workers it would use: a [Pool]
// that f calls, a goroutine, a task of [Submit] or a [Group] that f waits for, a pipeline and the lines of a
// file in package par, a graph of package flow. So pass w on as the [Scope].
//
// Forks are counted exactly. Times are those of a clock, less what the measuring costs: see [Profile]
// and docs/parallelism.md. On Linux, neither interruptions nor waits of 20 us and more count in which
// the program ran nowhere. A fork takes some 100 ns more than else while it is measured. Code that is not
// measured pays nothing.
//
// Measure panics with a [*PanicError] if f panics, and ends the caller if f calls runtime.Goexit, as
// [Pool.Do] does. It panics if f is nil. It may be called from any goroutine. Inside other work, it is a
// part of it that is not divided.
//
//figure:set 4 us
//figure:set 20 us
//figure:set 100 ns
func Measure(f func(w *Worker)) *Profile {
	needs(f != nil, "Measure", "f")
	p := measure(span.NewRecorder(clock.Now, span.Burden), true, f)
	return (*Profile)(&p)
}

// measure is Measure with a Recorder of the caller's. Without calibrates, its clock counts neither what measuring
// costs nor interruptions.
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

// calibrated is how many forks the cost of one is found by.
const calibrated = 256

// calibrate finds what measuring costs on w, by forks and joins of nothing.
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
	// The links of a Chain keep whether their last worker was measured: each has its own.
	bare, other := NewChain(forkLinks), NewChain(forkLinks)
	spans.Calibrate(span.Link, calibrated,
		func() { bare.Call(w, calibrated) },
		measured(func() { other.Call(w, calibrated) }))
}

// emptyForksBody makes so many forks, as a recursion does: in a loop, processors foresee what measuring does.
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

// Profile tells how parallel a run was. [Measure] makes one. A Profile that is made by hand works as well:
// its methods look at the fields alone.
//
// Work and span are those of the directed graph that forks and joins make of the run. A fork that runs at its
// join belongs to the path up to the fork. The times are as exact as the clock: where there is less than some
// hundred nanoseconds between two forks or joins, the work comes out up to some times too large, and the span is
// no shorter than what the longest interruption took. docs/parallelism.md has more.
type Profile struct {
	// Work is the time of all parts together, T1: that of one worker.
	Work time.Duration
	// Span is the time of the longest path, Tinf: that of any number of workers. It is never more than Work,
	// nor 0 if Work is not.
	Span time.Duration
	// BurdenedSpan is the time of the longest path if each fork on it is taken by another worker, which
	// costs 4 us each time. It may be more than Work: then the forks are too small to be worth a steal.
	//
	//figure:set 4 us
	BurdenedSpan time.Duration
	// Forks is how many forks were made, asyncs and spawns included. A loop of so many pieces makes one less.
	Forks int64
}

// Parallelism returns Work / Span: how many workers the run could keep busy on average. It is 1 if the run
// took no time.
func (p *Profile) Parallelism() float64 { return (*span.Profile)(p).Parallelism() }

// SpeedUp returns between what the time on one worker should be, divided by that on so many workers.
//
// most is the smaller of workers and [Profile.Parallelism]. No schedule is faster. least is
//
//	Work / (Work/workers + (1-1/workers)*BurdenedSpan)
//
// as if each worker worked whenever there is work (Graham 1969, Brent 1974), and each steal on the longest
// path cost the burden (He, Leiserson and Leiserson, "The Cilkview Scalability Analyzer", SPAA 2010). It is
// an estimate: memory that the workers share, or workers that must be woken, can make it less. Both are 1 for
// one worker. least is below 1 if steals would cost more than they bring; a pool then steals little.
//
// SpeedUp panics if workers is less than 1.
func (p *Profile) SpeedUp(workers int) (least, most float64) {
	if workers < 1 {
		panic(fmt.Sprintf("filch: Profile.SpeedUp(%d): there must be a worker", workers))
	}
	return (*span.Profile)(p).SpeedUp(workers)
}

// String returns the profile in a line.
func (p *Profile) String() string { return (*span.Profile)(p).String() }

// WriteText writes the profile, and between what the speed-up lies for 1, 2, 4 and so on to 256 workers,
// in lines of text. It returns the error of w. It panics if w is nil.
func (p *Profile) WriteText(w io.Writer) error {
	needs(w != nil, "Profile.WriteText", "w")
	return (*span.Profile)(p).WriteText(w)
}

// WriteSVG draws the curve of the speed-up for 1 to 256 workers: what it is at least and at most, and the
// lines of no speed-up and of a perfect one. Both axes are by powers of two. Colours are dark on light, or light
// on dark if the viewer asks for it. The picture has a title and a description, which say the same in words. It
// returns the error of w. It panics if w is nil.
func (p *Profile) WriteSVG(w io.Writer) error {
	needs(w != nil, "Profile.WriteSVG", "w")
	return (*span.Profile)(p).WriteSVG(w)
}
