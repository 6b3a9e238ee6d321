package main

import (
	"slices"
	"strings"
	"time"
)

// A loss is a row of filch's that something else is faster than.
type loss struct {
	row, to *row
	times   float64 // as fast is what it lost to
	apart   bool    // the slowest run of that was faster than the fastest of the row
}

// losses are all rows of filch's that a rival with as many workers is faster than or, at the most workers
// that the program was measured with, the serial program. By the medians, whether they are apart or not. A
// row with several rivals loses to the fastest.
//
// On one worker the serial program has no forks to pay for: what they cost is a chart of its own.
func losses(rows []*row) (all []loss) {
	for _, r := range rows {
		if !ours(r) || r.Runs == 0 {
			continue
		}
		if best := fastest(rows, r); best.Median < r.Median {
			all = append(all, loss{r, best, float64(r.Median) / float64(max(best.Median, 1)), best.Max < r.Min})
		}
	}
	return all
}

// fastest returns what is compared with r and is the fastest, which may be r.
func fastest(rows []*row, r *row) *row {
	most := mostWorkers(rows, r.Workload, r.Size)
	best := r
	for _, x := range rows {
		if x.Workload != r.Workload || x.Size != r.Size || x.Runs == 0 || !x.OK || ours(x) {
			continue
		}
		against := x.Workers == r.Workers
		if isSerial(x) {
			against = r.Workers == most
		}
		if against && !strings.HasPrefix(x.Executor, "at-once") && sameBuild(x, r) && x.Median < best.Median {
			best = x
		}
	}
	return best
}

// sameBuild reports whether both were measured with the profile, or both without.
func sameBuild(a, b *row) bool {
	return strings.HasSuffix(a.Executor, withProfile) == strings.HasSuffix(b.Executor, withProfile)
}

// ours reports whether r is of filch, and not of something to compare it with.
func ours(r *row) bool {
	return onPool(r) || slices.Contains([]string{"ordered.Queue", "a pool by priority"}, r.Executor)
}

// isSerial reports whether r is a serial program.
func isSerial(r *row) bool {
	return r.Executor == "serial" || r.Executor == "serial"+withProfile || strings.HasPrefix(r.Executor, "Dijkstra")
}

// mostWorkers returns the greatest number of workers that the program was measured with.
func mostWorkers(rows []*row, workload, size string) (most int) {
	for _, r := range rows {
		if r.Workload == workload && r.Size == size && !isSerial(r) {
			most = max(most, r.Workers)
		}
	}
	return most
}

// lost returns whether each row is a loss in every run: charts mark those alone.
func lost(all []loss) map[*row]bool {
	rows := map[*row]bool{}
	for _, l := range all {
		rows[l.row] = l.apart
	}
	return rows
}

// reason says why a row has no figure, in a word or two.
func (r *row) reason() string {
	if s := strings.TrimSpace(shortReason(r.Note)); s != "" && len(s) <= 40 {
		return s
	}
	return "did not run"
}

// over returns how many times as long as the median a time of r is.
func (r *row) over(d time.Duration) float64 { return float64(d) / float64(max(r.Median, 1)) }
