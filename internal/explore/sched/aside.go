package sched

import "unsafe"

// A Step is one that was taken.
type Step struct {
	Thread int
	Op     string
	Aside  bool // see Aside
}

// Aside makes the steps of the calling thread beside the program, until it is called with -1 as often as with 1. What they
// write lets no other thread go on that has yielded or awaits a write. So the steps that are left are those of
// an execution without them, if they decide nothing.
func Aside(n int) {
	if run != nil && run.current != nil {
		run.current.aside += n
	}
}

// Thread returns the number of the calling thread.
func Thread() int { return run.current.id }

// Steps returns the steps so far, if Notes says so: those that are beside the program, or the others.
func (r *Run) Steps(aside bool) (some []Step) {
	for _, s := range r.noted {
		if s.Aside == aside {
			some = append(some, s)
		}
	}
	return some
}

// Again runs a program once by the threads of steps, within the check of another, and returns the steps that it took, and
// why it failed. It takes others where it cannot take those.
func Again(p Program, steps []Step) (taken []Step, failure string) {
	within := run
	defer func() { run = within }()
	again := &Run{plain: map[unsafe.Pointer]access{}, objects: map[any]*object{}, options: Options{Preemptions: -1, Schedule: []int{}}, previous: -1}
	for _, s := range steps {
		again.options.Schedule = append(again.options.Schedule, s.Thread)
	}
	again.execute(func(r *Run) func() error {
		r.Notes = true
		return p(r)
	})
	return again.noted, again.failure
}
