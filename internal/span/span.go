// Package span is the algebra of parallelism: what a program takes in all, its work, and what it takes
// at least on any number of workers, its span. A [Recorder] finds both in one run, in serial order. From them
// [Profile] says what to expect of more workers.
//
// The terms and the idea are those of Cilkview (He, Leiserson and Leiserson, "The Cilkview Scalability
// Analyzer", SPAA 2010) and Cilkprof (Schardl et al., "The Cilkprof Scalability Profiler", SPAA 2015).
package span

import "time"

// Burden is what it costs to move work to another worker: what a fork that is stolen takes longer than one
// that is not, until its result is back. It is what a pool itself counts for a publication and for a steal,
// Price of package policy. On an Intel Xeon, a Join of two leaves that two workers shared took 1.4 us more
// than one of the leaves if the thief was searching, and 180 us if it had to be woken. What work costs more
// because its data is in the cache of another core comes on top.
const Burden = 4 * time.Microsecond

// Profile is what a run has come to.
type Profile struct {
	Work         time.Duration // of all strands: the time on one worker
	Span         time.Duration // of the longest path: the time on any number of workers
	BurdenedSpan time.Duration // the same, if each fork on a path is stolen and costs Burden
	Forks        int64
}

// Parallelism returns the work over the span: how many workers the program keeps busy on average if there are
// enough of them. It is 1 if nothing took any time.
func (p *Profile) Parallelism() float64 { return ratio(p.Work, p.Span) }

// BurdenedParallelism returns the work over the burdened span.
func (p *Profile) BurdenedParallelism() float64 { return ratio(p.Work, p.BurdenedSpan) }

func ratio(work, span time.Duration) float64 {
	if work <= 0 || span <= 0 {
		return 1
	}
	return float64(work) / float64(span)
}

// SpeedUp returns between what the time on one worker lies, divided by that on so many, which must be 1 or more.
//
// It is at most the number of workers, and the parallelism: T1/P and Tinf are lower bounds of the time
// (the work law and the span law).
//
// It is at least T1 / (T1/P + (1-1/P)*Tinf), with the burdened span for Tinf. That is the bound of any
// schedule in which no worker is idle while there is work (Graham, "Bounds on Multiprocessing Timing
// Anomalies", SIAM J. Appl. Math. 1969; Brent, J. ACM 1974). Cilkview has the same law with 1.7 times
// the burdened span. It is an estimate here, since the burden is: where workers must be woken for
// each fork it is too high, and where few forks are stolen too low.
func (p *Profile) SpeedUp(workers int) (least, most float64) { return p.speedUp(float64(workers)) }

func (p *Profile) speedUp(n float64) (least, most float64) {
	most = min(n, p.Parallelism())
	if p.Work <= 0 {
		return most, most
	}
	work := float64(p.Work)
	return work / (work/n + (1-1/n)*float64(max(p.BurdenedSpan, p.Span))), most
}
