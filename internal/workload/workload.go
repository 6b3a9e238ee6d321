// Package workload holds the programs that executors are measured on, each
// with an answer that is known, or that a plain serial program gives.
package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

// Workload is a program in sizes.
type Workload struct {
	Name  string
	About string
	// Sizes are those to offer. Others that Prepare takes work as well.
	Sizes []string
	// Default holds the sizes to measure if none is asked for. The heavy ones
	// are for executors with cheap forks only.
	Default []Default
	// Strand is the size to measure if it is one of Strands.
	Strand string
	// Sleeps says that it takes time, but hardly any of a processor.
	Sleeps bool
	// Prepare returns the job of that size, or says what is wrong with it. It
	// is quick: the input is made by Load.
	Prepare func(size string, env Env) (*Job, error)
}

// Default is a size to measure.
type Default struct {
	Size  string
	Heavy bool
}

// Env is what a workload may depend on.
type Env struct {
	Input string // the folder that goparse reads
}

// Job is a workload in one size, in as many forms as make sense for it. A form
// that is missing is nil. Each returns the answer, or "" if Answer tells it.
type Job struct {
	Want   string        // the known answer; "" if the serial form gives it
	Answer func() string // after a run, untimed
	Load   func()        // makes the input; before all else, if not nil
	Reset  func()        // before a run, untimed
	Times  int           // calls that a form makes of the program, if more than 1
	Forks  int64         // forks of one call without a cutoff; 0 if not counted

	Serial   func() string
	Func     func(p filch.Scope) string // by Frame.Fork and Frame.Join, or what fits better
	Call     func(p filch.Scope) string // as Func, with Frame.Call for the body's own call
	Chain    func(p filch.Scope) string // by Link.Fork and Link.TakeBack
	Closures func(w *filch.Worker, both Both) string
	Tasks    []func() // independent of one another

	// Of the suite: what does not divide into two, or is written by hand with a cutoff.
	Loops      func(each Each) string   // in phases, each of which is a loop
	Goroutines func(workers int) string // instead of Closures and Loops on goroutines

	Strand        func(s *strand.Strand) string // by strand.SpawnCall
	StrandClosure func(s *strand.Strand) string // by Strand.Spawn, with closures
	Open          func() int64                  // after a run: the most children that were open at a time; 0 if not counted

	// Note is a remark on a call with so many workers that took so long.
	Note func(workers int, took time.Duration) string
}

// runTasks is the serial form of a job that is made of tasks.
func (j *Job) runTasks() string {
	for _, task := range j.Tasks {
		task()
	}
	return ""
}

// Both runs a and b, perhaps at the same time, and returns when both have. The
// worker is nil if the executor has none.
type Both func(w *filch.Worker, a, b func(w *filch.Worker))

// All are the workloads, in the order to show them.
var All = []*Workload{fib, wide, nqueens, skynet, treesum, integrate, quicksort, mergesort, matmul, uts, goparse, pizza}

// Every returns all workloads that can be asked for.
func Every() []*Workload {
	return slices.Concat(All, Suite, []*Workload{spawns})
}

// Find returns the workload of that name.
func Find(name string) (*Workload, error) {
	var names []string
	for _, w := range Every() {
		if w.Name == name {
			return w, nil
		}
		names = append(names, w.Name)
	}
	return nil, fmt.Errorf("unknown workload %q; there are %s", name, strings.Join(names, ", "))
}

// number reads a size that is a number from lo to hi.
func number(workload, size string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(size)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("%s: size %q is not a number from %d to %d", workload, size, lo, hi)
	}
	return n, nil
}

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// split calls f for 0 to n-1 through both, without a cutoff.
func split(w *filch.Worker, both Both, lo, hi int, f func(w *filch.Worker, i int)) {
	if hi-lo == 1 {
		f(w, lo)
		return
	}
	mid := int(uint(lo+hi) / 2)
	both(w,
		func(w *filch.Worker) { split(w, both, lo, mid, f) },
		func(w *filch.Worker) { split(w, both, mid, hi, f) })
}
