package main

import (
	"runtime"
	"time"

	"github.com/filch-go/filch"
)

// measuredRun is a way to run a job, and how long it took.
type measuredRun struct {
	run   func()
	times []time.Duration
}

// runTimes are medians.
type runTimes struct {
	serial time.Duration
	pool   map[int]time.Duration // by workers
}

// measureRecorded runs j in turns: serially, and on pools that have rested, of as many workers as there are processors
// at most.
func measureRecorded(j recordedJob, workers []int, runs int) runTimes {
	serial, pools := &measuredRun{run: func() { j.job.Serial() }}, map[int]*measuredRun{}
	all := []*measuredRun{serial}
	for _, n := range workers {
		if n > runtime.GOMAXPROCS(0) || pools[n] != nil {
			continue
		}
		p := filch.New(filch.WithWorkers(n))
		defer p.Close()
		pools[n] = &measuredRun{run: func() { j.run(p) }}
		all = append(all, pools[n])
	}
	for i := range runs + 1 {
		for _, r := range all {
			took := j.once(r.run)
			if i > 0 { // the first is to warm up
				r.times = append(r.times, took)
			}
		}
	}
	t := runTimes{serial: median(serial.times), pool: map[int]time.Duration{}}
	for n, p := range pools {
		t.pool[n] = median(p.times)
	}
	return t
}

// once measures one run, after a rest.
func (j recordedJob) once(run func()) time.Duration {
	j.reset()
	runtime.GC()
	time.Sleep(rested)
	begin := time.Now()
	run()
	return time.Since(begin)
}

func (j recordedJob) reset() {
	if j.job.Reset != nil {
		j.job.Reset()
	}
}
