package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// printClosing says in a few lines what filch did on the most workers: against each executor, and where something else is faster. each
// says that all rows have been printed.
func printClosing(out io.Writer, r report, each bool) {
	if ours := foremost(r.Rows); ours != nil {
		fmt.Fprintln(out)
		say(out, "%s%s on %s, in the median program:", machineGives(r.Rows, ours[0].Workers), ours[0].Executor, workersText(ours[0].Workers))
		for _, name := range executorsIn(r.Rows) {
			if !strings.HasPrefix(name, "filch") && name != "at-once" {
				say(out, "- %s", against(ours, r.Rows, name))
			}
		}
		say(out, "%s", worst(r.Rows, ours[0]))
	}
	fmt.Fprintln(out)
	say(out, "%s", r.footer())
	more := "What the columns are: --list. Charts: --html FILE."
	if !each {
		more += " Each row, and why some did not run: -v. Empty: it would take too long."
	}
	say(out, "%s", more)
}

// say writes a paragraph, in lines that fit the screen.
func say(out io.Writer, format string, args ...any) {
	paragraph := fmt.Sprintf(format, args...)
	if most := widthOf(out); most > 0 {
		paragraph = wrapped(paragraph, most)
	}
	fmt.Fprintln(out, paragraph)
}

// foremost returns the rows on the most workers of the first executor of filch's.
func foremost(rows []*row) (all []*row) {
	for _, r := range rows {
		switch {
		case !onPool(r) || r.Runs == 0:
		case len(all) == 0 || r.Executor == all[0].Executor && r.Workers > all[0].Workers:
			all = []*row{r}
		case r.Executor == all[0].Executor && r.Workers == all[0].Workers:
			all = append(all, r)
		}
	}
	return all
}

// executorsIn returns the names of the executors of the rows, once each.
func executorsIn(rows []*row) (names []string) {
	for _, r := range rows {
		if !slices.Contains(names, r.Executor) {
			names = append(names, r.Executor)
		}
	}
	return names
}

// against says how many times as fast ours are as the named executor, with as many workers or one.
func against(ours, rows []*row, name string) string {
	var times []float64
	faster, deadlocks := 0, 0
	for _, r := range ours {
		i := slices.IndexFunc(rows, func(x *row) bool {
			return x.Workload == r.Workload && x.Size == r.Size && x.Executor == name && (x.Workers == r.Workers || isSerial(x))
		})
		switch {
		case i >= 0 && rows[i].Runs > 0:
			times = append(times, over(rows[i], r))
			if r.Median < rows[i].Median {
				faster++
			}
		case i >= 0 && rows[i].reason() == "deadlocks":
			deadlocks++
		}
	}
	text := name + ": no figure"
	if len(times) > 0 {
		text = fmt.Sprintf("%s times as fast as %s (%s to %s), faster in %d of %d",
			digits(median(times)), name, digits(slices.Min(times)), digits(slices.Max(times)), faster, len(times))
	}
	if deadlocks > 0 {
		text += fmt.Sprintf("; it deadlocks in %d", deadlocks)
	}
	return text
}

// machineGives says what so many serial programs gain that run at once, if that was measured.
func machineGives(rows []*row, workers int) string {
	var gains []float64
	for _, r := range rows {
		if r.Executor == "at-once" && r.Runs > 0 && r.Workers == workers {
			gains = append(gains, r.Speedup)
		}
	}
	if gains == nil {
		return ""
	}
	return fmt.Sprintf("This machine gave %s times one processor to %d copies of a serial program at once, in the median. ", digits(median(gains)), workers)
}

// worst names the programs in which something is faster than the executor of like on as many workers, the worst first.
func worst(rows []*row, like *row) string {
	var all []loss
	for _, l := range losses(rows) {
		if l.row.Executor == like.Executor && l.row.Workers == like.Workers {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b loss) int { return cmp.Compare(b.times, a.times) })
	if len(all) == 0 {
		return "Nothing was faster."
	}
	var texts []string
	for _, l := range all[:min(len(all), 5)] {
		texts = append(texts, fmt.Sprintf("%s %s (%s where %s takes %s)", l.row.Workload, l.row.Size, duration(l.row.Median), l.to.Executor, duration(l.to.Median)))
	}
	if n := len(all) - len(texts); n > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", n))
	}
	return "Something else is faster in " + strings.Join(texts, ", ") + "."
}
