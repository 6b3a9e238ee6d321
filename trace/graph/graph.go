// Package graph records the forks and joins of a program for filch sim, which runs them in simulated time on any number
// of workers.
//
//	file, err := os.Create("sort.json")
//	…
//	err = graph.Record(file, "sort", func(w *filch.Worker) { sort.Call(w, x) })
//
// After that, filch sim --record sort.json predicts the speed on 8, 64 and 256 workers, and says what limits it. filch
// sim --dag sort.json --step 1ns runs the graph under any scheduler. docs/simulator.md describes the file format.
package graph

import (
	"fmt"
	"io"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/sim/record"
)

// finest is the longest time that becomes one node.
const finest = 200 * time.Nanosecond

// Record runs f once, on one worker, as [filch.Measure] does, and writes its forks and joins to out as JSON. A step of
// the graph is a nanosecond. name is for people, and may be empty.
//
// The graph has what Measure counts; the rest is part of its caller. Parts of the run that together take no more than
// 200 ns become one node: the work stays the same, and the span grows a little.
//
// Record blocks until f is done. It returns the error of out, and an error if nothing in f took time, or if the graph
// is larger than docs/simulator.md allows; it writes nothing in the last two cases. It panics if out or f is nil, and with
// a [*filch.PanicError] if f panics. It ends the caller if f calls runtime.Goexit.
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
