package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/filch-go/filch/internal/workload"
)

// plan is what to measure.
type plan struct {
	groups    []group
	executors []*workload.Executor
	workers   []int
	runs      int
}

// group is a workload in one size: what is compared with one another.
type group struct {
	workload *workload.Workload
	size     string
	heavy    bool // only for executors with cheap forks
	job      *workload.Job
}

// entry is one line of the comparison.
type entry struct {
	executor *workload.Executor
	workers  int
}

func (p *plan) entries(g group) (es []entry) {
	for _, e := range p.executors {
		if g.heavy && !e.Cheap {
			continue
		}
		if e.Name == "serial" {
			es = append(es, entry{e, 1})
			continue
		}
		for _, n := range p.workers {
			if e.Name == "at-once" && n == 1 {
				continue // that is serial
			}
			es = append(es, entry{e, n})
		}
	}
	return es
}

// steps is about how many runs there are: some executors may turn out not to
// be able to.
func (p *plan) steps() (n int) {
	for _, g := range p.groups {
		n += len(p.entries(g)) * (1 + p.runs)
	}
	return n
}

// measure measures all and calls step after each run, with what comes next.
func (p *plan) measure(step func(what string, n int)) (rows []*row) {
	for i, g := range p.groups {
		rows = append(rows, p.measureGroup(g, step)...)
		p.groups[i].job = nil // its input is garbage now
	}
	return rows
}

// candidate is an entry that is being measured.
type candidate struct {
	*row
	reps    int // how often once runs it
	run     *workload.Runner
	job     *workload.Job
	samples []sample
}

func (p *plan) measureGroup(g group, step func(what string, n int)) (rows []*row) {
	step(g.workload.Name+" "+g.size, 0)
	job := g.job
	if job.Load != nil {
		job.Load()
	}
	var all []*candidate
	for _, e := range p.entries(g) {
		r := &row{Workload: g.workload.Name, Size: g.size, Executor: e.executor.Name, Workers: e.workers, Forks: job.Forks}
		rows = append(rows, r)
		run, err := e.executor.Start(job, e.workers)
		if err != nil {
			r.Note = err.Error()
			step("", 1+p.runs)
			continue
		}
		defer run.Close()
		all = append(all, &candidate{row: r, run: run, job: job})
	}
	want := job.Want
	for _, c := range all { // a run to warm up; it also tells the peak memory
		debug.FreeOSMemory()
		resetPeakMemory()
		answer := c.once()
		c.MaxRSS = peakMemory()
		if want == "" {
			want = answer
		}
		c.check(answer, want)
		step("", 1)
	}
	for i := range p.runs {
		for k := range all {
			c := all[(k+i)%len(all)] // the order changes from run to run
			c.check(c.once(), want)
			step("", 1)
		}
	}
	for _, c := range all {
		c.summarize()
	}
	compare(rows)
	return rows
}

// check compares an answer and keeps the wrong one.
func (c *candidate) check(got, want string) {
	if c.Runs == 0 {
		c.OK = true
	}
	c.Runs++
	if c.OK {
		c.Answer = got
		c.OK = got == want
		if !c.OK {
			c.Answer = fmt.Sprintf("%s; want %s", got, want)
		}
	}
}

// enough is how long a measured run should take at least. Tests take less.
var enough = 10 * time.Millisecond

// once makes one run, of several repetitions, and returns the answer. The first
// is to warm up, and tells how often to repeat what takes little time; what must
// be reset between runs is not repeated.
func (c *candidate) once() (answer string) {
	if c.job.Reset != nil {
		c.job.Reset()
	}
	reps := max(1, c.reps)
	n := reps * max(1, c.job.Times) * max(1, c.run.Programs)
	runtime.GC()
	before := takeSample(c.run.Stats().Steals)
	start := time.Now()
	for range reps {
		if a := c.run.Run(); answer == "" || answer == a {
			answer = a
		} else {
			answer = "not always the same"
		}
	}
	took := time.Since(start)
	after := takeSample(c.run.Stats().Steals)
	if c.job.Answer != nil {
		answer = c.job.Answer()
	}
	if c.job.Open != nil {
		c.Open = max(c.Open, c.job.Open())
	}
	if c.Runs > 0 {
		c.Times = append(c.Times, took/time.Duration(n))
		c.samples = append(c.samples, after.minus(before).over(n))
	} else if c.job.Reset == nil {
		c.reps = int(min(enough/max(took, 1), 1000))
	}
	return answer
}

// summarize fills in the row.
func (c *candidate) summarize() {
	c.Runs--
	c.medians()
	if c.job.Note != nil {
		c.Note = c.job.Note(c.Workers, c.Median)
	}
}

// medians fills in what the row says of all runs.
func (c *candidate) medians() {
	c.Median, c.Min, c.Max = median(c.Times), slices.Min(c.Times), slices.Max(c.Times)
	c.CPU = median(each(c.samples, func(s sample) time.Duration { return s.cpu }))
	c.Allocs = median(each(c.samples, func(s sample) int64 { return s.allocs }))
	c.Bytes = median(each(c.samples, func(s sample) int64 { return s.bytes }))
	c.Steals = median(each(c.samples, func(s sample) int64 { return s.steals }))
	if c.Forks > 0 {
		c.NsPerFork = float64(c.Median) / float64(c.Forks)
	}
}

// compare fills in what a row says in terms of others of its group.
func compare(rows []*row) {
	one := map[string]time.Duration{}
	for _, r := range rows {
		if r.Workers == 1 && r.Runs > 0 {
			one[r.Executor] = r.Median
		}
	}
	serial := one["serial"]
	for _, r := range rows {
		r.Serial = serial
		if r.Runs == 0 || serial == 0 {
			continue
		}
		r.Speedup = float64(serial) / float64(r.Median)
		r.Overhead = float64(one[r.Executor]) / float64(serial)
	}
}

// sample is what a run used up.
type sample struct {
	cpu                   time.Duration
	allocs, bytes, steals int64
}

func takeSample(steals int64) sample {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return sample{cpuTime(), int64(m.Mallocs), int64(m.TotalAlloc), steals}
}

func (s sample) minus(t sample) sample {
	return sample{s.cpu - t.cpu, s.allocs - t.allocs, s.bytes - t.bytes, s.steals - t.steals}
}

func (s sample) over(n int) sample {
	return sample{s.cpu / time.Duration(n), s.allocs / int64(n), s.bytes / int64(n), s.steals / int64(n)}
}

func each[T, U any](xs []T, f func(T) U) []U {
	us := make([]U, len(xs))
	for i, x := range xs {
		us[i] = f(x)
	}
	return us
}

func median[T ~int64 | ~float64](xs []T) T {
	xs = slices.Sorted(slices.Values(xs))
	n := len(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}
