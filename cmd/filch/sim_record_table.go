package main

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/filch-go/filch/internal/sim"
)

// printRecorded prints what was measured beside what was predicted, and then what is predicted beyond that.
func printRecorded(out io.Writer, r recordings, markdown bool) {
	measured, more := newTable(out), newTable(out)
	measured.AppendHeader(table.Row{"workload", "T1", "Tinf", "serial", "workers", "predicted", "measured", "error"})
	more.AppendHeader(table.Row{"workload", "workers", "predicted", "speed-up", "limit"})
	for _, w := range r.Recorded {
		name := label(w.Workload, w.Size)
		if w.Serial == 0 {
			fmt.Fprintf(out, "%s: T1 %s, Tinf %s, parallelism %s\n\n", name, duration(time.Duration(w.Work)), duration(time.Duration(w.Span)), digits(float64(w.Work)/float64(w.Span)))
		}
		for _, p := range w.Predicted {
			if p.Measured > 0 {
				measured.AppendRow(table.Row{name, duration(time.Duration(w.Work)), duration(time.Duration(w.Span)), duration(w.Serial), p.Workers,
					duration(time.Duration(p.Time)), duration(p.Measured), wrongBy(p.error())})
			}
			more.AppendRow(table.Row{name, p.Workers, duration(time.Duration(p.Time)), digits(float64(w.Work) / float64(p.Time)), p.Limit})
		}
	}
	measured.right(2, 8)
	more.right(2, 4)
	if measured.Length() > 0 {
		measured.print(markdown)
		fmt.Fprintln(out)
	}
	more.print(markdown)
	c := r.Costs
	fmt.Fprintf(out, "\n%s; medians of %d runs. An attempt %d ns, a steal %d ns, a publication %d ns, a wake-up %d ns, and %d ns for the one that wakes.\n",
		r.Machine.CPU, r.Runs, r.Attempt, c.Steal, c.Publish, c.Wake, c.Waking)
	if !isQuiet(c) {
		fmt.Fprintf(out, "\nA steal or a publication should cost less than %v: the machine runs other programs, and the predictions are too long.\n", tooDear)
	}
}

// tooDear is ten times what a steal or a publication costs on a quiet machine.
const tooDear = 3 * time.Microsecond

func isQuiet(c sim.Costs) bool { return max(c.Steal, c.Publish) < int64(tooDear) }

// wrongBy writes a part with its sign.
func wrongBy(part float64) string { return fmt.Sprintf("%+.0f%%", 100*part) }
