package trace

import (
	"bufio"
	"fmt"
	"io"
)

// WriteText writes the recorded events; see [Trace.WriteText].
func (r *Recorder) WriteText(w io.Writer) error { return r.Snapshot().WriteText(w) }

// WriteText writes t for people and for comparisons: one event a line, with the time since Start, what happened where,
// and the name of the function:
//
//	12.300us  worker 0   publishes fork 0.1 "main.fib"
//	13.050us  worker 1   steals fork 0.1 from worker 0 "main.fib"
//
// Fork 0.1 is the first that worker 0 published; task 1.7 is the seventh that worker 1 ran. A wait for fork 0.0 is a
// wait for all asyncs of a Finish or all strands of a run, not for a single fork. In a testing/synctest bubble the
// lines are the same each time, unless the program has a race. WriteText returns the first error of w.
func (t *Trace) WriteText(w io.Writer) error {
	if w == nil {
		panic("trace: WriteText: w is nil")
	}
	b := bufio.NewWriter(w)
	if t.Lost > 0 {
		fmt.Fprintf(b, "# %d earlier events are lost\n", t.Lost)
	}
	var line []byte
	for _, e := range t.events {
		if !t.has(e) {
			continue
		}
		e.Name = nameOf(e)
		line = append(e.AppendTimed(line[:0]), '\n')
		b.Write(line) // Flush returns its error
	}
	return b.Flush()
}
