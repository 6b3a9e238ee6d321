package main

import (
	"context"
	"math/bits"
	"sync"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// repeat runs a job now and at each tick. A job that takes longer than a period skips ticks, and never runs twice at once.
func repeat(ctx context.Context, p *filch.Pool, period time.Duration, times int, job func(w *filch.Worker)) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for range times {
		if err := p.DoContext(ctx, job); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// repeatGoroutine is repeat without a pool.
func repeatGoroutine(ctx context.Context, period time.Duration, times int, job func()) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for range times {
		job()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// A tally counts reports and the bits in all of them.
type tally struct{ reports, bits int }

// report is what a job does.
func (t *tally) report(size int) {
	t.bits += bitsIn(0, size)
	t.reports++
}

// reportOn does the same on a worker, with the help of others that are idle.
func (t *tally) reportOn(w *filch.Worker, size int) {
	t.bits += par.CountRange(w, size, bitsIn)
	t.reports++
}

func bitsIn(lo, hi int) (n int) {
	for i := lo; i < hi; i++ {
		n += bits.OnesCount64(uint64(i) * 0x9e3779b97f4a7c15)
	}
	return n
}

// each calls repeat for each of some jobs, all at once.
func each(jobs int, repeat func(t *tally) error) (sum tally, err error) {
	tallies, errs := make([]tally, jobs), make([]error, jobs)
	var wg sync.WaitGroup
	for i := range tallies {
		wg.Go(func() { errs[i] = repeat(&tallies[i]) })
	}
	wg.Wait()
	for i, t := range tallies {
		if errs[i] != nil {
			err = errs[i]
		}
		sum = tally{sum.reports + t.reports, sum.bits + t.bits}
	}
	return sum, err
}

func makeJobs(p *filch.Pool, small bool) forms {
	const jobs, times = 4, 8
	ctx, period, size := context.Background(), 2*time.Millisecond, 3_000_000
	if small {
		period, size = 10*time.Microsecond, 100
	}
	return forms{
		serial: func() (any, error) { // one loop for all jobs
			var t tally
			err := repeatGoroutine(ctx, period, times, func() {
				for range jobs {
					t.report(size)
				}
			})
			return t, err
		},
		goroutines: func() (any, error) {
			return each(jobs, func(t *tally) error {
				return repeatGoroutine(ctx, period, times, func() { t.report(size) })
			})
		},
		filch: func() (any, error) {
			return each(jobs, func(t *tally) error {
				return repeat(ctx, p, period, times, func(w *filch.Worker) { t.reportOn(w, size) })
			})
		},
	}
}
