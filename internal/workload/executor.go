package workload

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/basic"
)

// Executor is a way to run a job on a number of workers.
type Executor struct {
	Name  string
	About string
	// Cheap says that a fork costs nanoseconds, so that heavy sizes can be run.
	Cheap bool
	// Apart says that it is measured only if it is asked for.
	Apart bool
	// start returns what runs j once; or an error that says why it cannot.
	start func(j *Job, workers int) (*Runner, error)
	// program returns what is run, on a pool or inside one, if e is one of filch's.
	program func(j *Job) (func(s filch.Scope) string, error)
}

// Runner runs a job on an executor.
type Runner struct {
	Run      func() string
	Programs int // how many programs a run is, if more than 1
	Close    func()
	Stats    func() filch.Stats // zero where there is no filch pool
	Pool     *filch.Pool        // nil where there is none
}

// Executors are all of them, the serial one first.
var Executors = []*Executor{
	{Name: "serial", About: "plain recursion, no forks", Cheap: true, start: startSerial},
	{Name: "at-once", About: "as many serial programs at once as there are workers: what processors are worth here", Cheap: true, start: startAtOnce},
	{Name: "goroutine", About: "a goroutine and a WaitGroup for each fork; in the suite, as many as one writes by hand", start: startGoroutine},
	{Name: "semaphore", About: "a goroutine for a fork while fewer run than there are workers, else a call", start: startSemaphore},
	{Name: "basic", About: "fixed workers on one locked queue", start: startBasic},
	{Name: "filch", About: "filch.Func: Frame.Fork and Frame.Join; in the suite, what fits: par or asyncs as well", Cheap: true, start: onPool(inFunc), program: inFunc},
	{Name: "filch-call", About: "the same, with Frame.Call where the others call by name", Cheap: true, Apart: true, start: onPool(inCall), program: inCall},
	{Name: "filch-chain", About: "filch.Chain: Link.Fork and Link.TakeBack", Cheap: true, start: onPool(inChain), program: inChain},
	{Name: "filch-join", About: "Worker.Join of two closures", start: onPool(inJoin), program: inJoin},
	{Name: "strand", About: "package strand: strand.SpawnCall, without closures", Cheap: true, Apart: true, start: onPool(inStrand), program: inStrand},
	{Name: "strand-closure", About: "the same: Strand.Spawn of closures", Apart: true, start: onPool(inStrandClosure), program: inStrandClosure},
	{Name: "strand-eager", About: "strand.SpawnCall with the option Eager: no spawn is a plain call", Apart: true, start: onPool(inStrandEager), program: inStrandEager},
}

// FindExecutor returns the executor of that name.
func FindExecutor(name string) (*Executor, error) {
	var names []string
	for _, e := range Executors {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return nil, fmt.Errorf("unknown executor %q; there are %s", name, strings.Join(names, ", "))
}

// Start makes e ready to run j. The error says why e cannot run it.
func (e *Executor) Start(j *Job, workers int) (*Runner, error) {
	r, err := e.start(j, workers)
	if err != nil {
		return nil, err
	}
	if r.Close == nil {
		r.Close = func() {}
	}
	if r.Stats == nil {
		r.Stats = func() filch.Stats { return filch.Stats{} }
	}
	return r, nil
}

func startSerial(j *Job, workers int) (*Runner, error) {
	return &Runner{Run: j.Serial}, nil
}

// startAtOnce runs serial programs that have nothing to do with one another. On a machine
// that is shared, or has little memory bandwidth, two take longer than one.
func startAtOnce(j *Job, workers int) (*Runner, error) {
	if j.Reset != nil || j.Tasks != nil {
		return nil, errors.New("not run: its serial program writes where a second one would")
	}
	return &Runner{Programs: workers, Run: func() string {
		answers := make([]string, workers)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i] = j.Serial() })
		}
		wg.Wait()
		for _, a := range answers {
			if a != answers[0] {
				return a + " and " + answers[0]
			}
		}
		return answers[0]
	}}, nil
}

func startGoroutine(j *Job, workers int) (*Runner, error) {
	run := func() string {
		switch {
		case j.Goroutines != nil:
			return j.Goroutines(workers)
		case j.Loops != nil:
			return j.Loops(byGoroutines(workers))
		case j.Closures == nil:
			var wg sync.WaitGroup
			for _, f := range j.Tasks {
				wg.Go(f)
			}
			wg.Wait()
			return ""
		}
		return j.Closures(nil, func(_ *filch.Worker, a, b func(w *filch.Worker)) {
			var wg sync.WaitGroup
			wg.Go(func() { b(nil) })
			a(nil)
			wg.Wait()
		})
	}
	// What limits goroutines to so many at a time is GOMAXPROCS.
	return &Runner{Run: func() string {
		if procs := runtime.GOMAXPROCS(0); procs != workers {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		}
		return run()
	}}, nil
}

// errShape is why an executor cannot run a job of the suite that is neither divided into two nor
// a loop, nor made of tasks from the beginning.
var errShape = errors.New("not run: its tasks come up as others end")

// shapeless reports whether the job has none of the forms that are written for any executor.
func (j *Job) shapeless() bool { return j.Closures == nil && j.Loops == nil && j.Tasks == nil }

func startSemaphore(j *Job, workers int) (*Runner, error) {
	if j.shapeless() {
		return nil, errShape
	}
	if j.Loops != nil {
		places := make(chan bool, workers)
		return &Runner{Run: func() string { return j.Loops(bySemaphore(places)) }}, nil
	}
	if j.Closures == nil {
		return &Runner{Run: func() string {
			places := make(chan bool, workers)
			var wg sync.WaitGroup
			for _, f := range j.Tasks {
				places <- true
				wg.Go(func() {
					f()
					<-places
				})
			}
			wg.Wait()
			return ""
		}}, nil
	}
	// The caller is one of the workers.
	places := make(chan bool, workers-1)
	return &Runner{Run: func() string {
		return j.Closures(nil, func(_ *filch.Worker, a, b func(w *filch.Worker)) {
			select {
			case places <- true:
			default:
				a(nil)
				b(nil)
				return
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				b(nil)
				<-places
			})
			a(nil)
			wg.Wait()
		})
	}}, nil
}

func startBasic(j *Job, workers int) (*Runner, error) {
	if j.shapeless() {
		return nil, errShape
	}
	if j.Loops != nil {
		p := basic.New(workers)
		return &Runner{
			Run:   func() string { return j.Loops(byBasic(p)) },
			Close: p.Close,
		}, nil
	}
	if j.Tasks == nil {
		return nil, errors.New("deadlocks: its functions wait for others, and hold their workers meanwhile")
	}
	p := basic.New(workers)
	return &Runner{
		Run:   func() string { p.Run(j.Tasks...); return "" },
		Close: p.Close,
	}, nil
}

// onPool returns what starts a program on a pool of its own.
func onPool(program func(j *Job) (func(s filch.Scope) string, error)) func(j *Job, workers int) (*Runner, error) {
	return func(j *Job, workers int) (*Runner, error) {
		run, err := program(j)
		if err != nil {
			return nil, err
		}
		p := filch.New(filch.WithWorkers(workers))
		return &Runner{
			Run:   func() string { return run(p) },
			Close: func() { p.Close() },
			Stats: p.Stats,
			Pool:  p,
		}, nil
	}
}

// Measure runs j once, and tells how parallel it is. The error says why e cannot: only those of filch fork
// where it sees it.
func (e *Executor) Measure(j *Job) (p *filch.Profile, answer string, err error) {
	run, err := e.Program(j)
	if err != nil {
		return nil, "", err
	}
	p = filch.Measure(func(w *filch.Worker) { answer = run(w) })
	return p, answer, nil
}

// Program returns what e runs, on a pool or inside one. The error says why it cannot.
func (e *Executor) Program(j *Job) (func(s filch.Scope) string, error) {
	if e.program == nil {
		return nil, fmt.Errorf("%s is none of filch's: its forks are not seen", e.Name)
	}
	return e.program(j)
}

func inFunc(j *Job) (func(s filch.Scope) string, error) {
	switch {
	case j.Func != nil:
		return j.Func, nil
	case j.Loops != nil:
		return j.runLoops, nil
	}
	return func(s filch.Scope) string { runTasks.Call(s, j.Tasks); return "" }, nil
}

// runTasks halves until there is one left.
var runTasks = filch.NewFunc(runTasksBody)

func runTasksBody(f *filch.Frame[[]func(), struct{}], tasks []func()) struct{} {
	if len(tasks) > 1 {
		n := len(tasks) / 2
		h := f.Fork(tasks[n:])
		runTasksBody(f, tasks[:n])
		return f.Join(h)
	}
	for _, task := range tasks {
		task()
	}
	return struct{}{}
}

func inCall(j *Job) (func(s filch.Scope) string, error) {
	if j.Call == nil {
		return nil, errors.New("not run: calls too coarse for a difference from filch to show")
	}
	return j.Call, nil
}

func inChain(j *Job) (func(s filch.Scope) string, error) {
	if j.Chain == nil {
		return nil, errors.New("not run: forks too coarse for a difference from filch to show")
	}
	return j.Chain, nil
}

func inJoin(j *Job) (func(s filch.Scope) string, error) {
	if j.shapeless() {
		return nil, errShape
	}
	both := func(w *filch.Worker, a, b func(w *filch.Worker)) { w.Join(a, b) }
	return func(s filch.Scope) (answer string) {
		s.Do(func(w *filch.Worker) {
			switch {
			case j.Closures != nil:
				answer = j.Closures(w, both)
				return
			case j.Loops != nil:
				answer = j.Loops(byBoth(w, both))
				return
			}
			split(w, both, 0, len(j.Tasks), func(_ *filch.Worker, i int) { j.Tasks[i]() })
		})
		return answer
	}, nil
}
