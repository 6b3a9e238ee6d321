// Package graph records the forks and joins of a program for filch sim, which runs them in simulated time on any
// number of workers.
//
//	file, err := os.Create("sort.json")
//	…
//	err = graph.Record(file, "sort", func(w *filch.Worker) { sort.Call(w, x) })
//
// Then filch sim --record sort.json says what to expect of 8, 64 and 256 workers, and what limits them. filch sim
// --dag sort.json --step 1ns runs the graph under any scheduler. docs/simulator.md has the form of the file.
package graph

import (
	"fmt"
	"io"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/sim/record"
)

// finest is what takes no longer and becomes one node.
const finest = 200 * time.Nanosecond

// Record runs f once, on one worker, as [filch.Measure] does, and writes its forks and joins to out, in JSON. A step of
// the graph is a nanosecond. name is for people; it may be empty.
//
// What Measure counts is in the graph, and what it does not count is a part of what calls it. Parts of the
// run that take no more than 200 ns together are one node: the work stays what it is, and the span becomes a
// little longer.
//
// Record blocks until f is done. It returns the error of out, and an error if nothing in f took time, or if the graph is
// larger than docs/simulator.md allows; then nothing is written but what out took before its error. It panics if
// out or f is nil, with a [*filch.PanicError] if f panics, and ends the caller if f calls runtime.Goexit.
//
//figure:set 200 ns
func Record(out io.Writer, name string, f func(w *filch.Worker)) error {
	if out == nil {
		panic("graph: Record: out is nil")
	}
	if f == nil {
		panic("graph: Record: f is nil")
	}
	r, err := record.Run(name, finest, f)
	if err != nil {
		return fmt.Errorf("graph: Record: %w", err)
	}
	return r.Graph.Write(out)
}
