package main

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/workload"
)

// measuredRun is a way to run a job, and how long it took.
type measuredRun struct {
	workers int
	reset   func()
	run     func()
	close   func()
	times   []time.Duration
}

// runTimes are medians.
type runTimes struct {
	serial time.Duration
	pool   map[int]time.Duration // by workers
	// worth is what so many processors are worth: how many times as much as one serial program that many do at once,
	// each with an input of its own.
	worth map[int]float64
}

// measureRecorded runs j in turns: serially, as several serial programs at once, and on pools that have rested.
// There are numbers for as many workers as there are processors at most.
func measureRecorded(j recordedJob, workers []int, runs int) (t runTimes, err error) {
	t = runTimes{pool: map[int]time.Duration{}, worth: map[int]float64{}}
	workers = slices.DeleteFunc(slices.Clone(workers), func(n int) bool { return n > runtime.GOMAXPROCS(0) })
	serial, err := serialRuns(j, 1)
	if err != nil {
		return t, err
	}
	all, atOnce, pools := []*measuredRun{serial}, map[int]*measuredRun{}, map[int]*measuredRun{}
	for _, n := range workers {
		if atOnce[n], err = serialRuns(j, n); err != nil {
			return t, err
		}
		pools[n] = poolRun(j, n)
		defer pools[n].close()
		all = append(all, atOnce[n], pools[n])
	}
	for i := range runs + 1 {
		for _, r := range all {
			r.once(i > 0) // the first is to warm up
		}
	}
	t.serial = median(serial.times)
	for _, n := range workers {
		t.pool[n] = median(pools[n].times)
		t.worth[n] = float64(n) * float64(t.serial) / float64(median(atOnce[n].times))
	}
	return t, nil
}

// once measures one run, after a rest.
func (r *measuredRun) once(counts bool) {
	r.reset()
	runtime.GC()
	time.Sleep(rested)
	begin := time.Now()
	r.run()
	if took := time.Since(begin); counts {
		r.times = append(r.times, took)
	}
}

// poolRun runs j on a pool of its own.
func poolRun(j recordedJob, workers int) *measuredRun {
	p := filch.New(filch.WithWorkers(workers))
	return &measuredRun{
		workers: workers,
		reset:   j.reset,
		run:     func() { j.run(p) },
		close:   func() { p.Close() },
	}
}

// serialRuns runs so many serial programs at once.
func serialRuns(j recordedJob, n int) (*measuredRun, error) {
	jobs := make([]recordedJob, n)
	for i := range jobs {
		jobs[i] = j
		var err error
		if jobs[i].job, err = j.workload.Prepare(j.size, workload.Env{}); err != nil {
			return nil, err
		}
		if jobs[i].job.Serial == nil {
			return nil, fmt.Errorf("%s has no serial program to compare with", j.workload.Name)
		}
		if load := jobs[i].job.Load; load != nil {
			load()
		}
	}
	return &measuredRun{
		workers: n,
		reset: func() {
			for _, one := range jobs {
				one.reset()
			}
		},
		run: func() {
			var wg sync.WaitGroup
			for _, one := range jobs[1:] {
				wg.Go(func() { one.job.Serial() })
			}
			jobs[0].job.Serial()
			wg.Wait()
		},
	}, nil
}

func (j recordedJob) reset() {
	if j.job.Reset != nil {
		j.job.Reset()
	}
}
