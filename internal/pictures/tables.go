package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// filled are the documents with blocks that are filled in:
//
//	<!-- filled: name -->
//	| … |
//	<!-- end -->
var filled = []string{"README.md", "docs/compared.md", "docs/choosing.md", "docs/programs.md"}

var block = regexp.MustCompile(`(?s)<!-- filled: (\w+) -->\n(.*?)<!-- end -->`)

// tables returns what fills a block, from what is in it, by the block's name.
var tables = map[string]func(k *kept, old string) string{
	"fib":       fibTable,
	"tasks":     tasksTable,
	"forks":     forksTable,
	"rest":      restTable,
	"functions": functionsTable,
	"programs":  programsTable,
}

// fill returns text with its blocks filled in.
func fill(text string, k *kept) (string, error) {
	var unknown []string
	text = block.ReplaceAllStringFunc(text, func(s string) string {
		m := block.FindStringSubmatch(s)
		table := tables[m[1]]
		if table == nil {
			unknown = append(unknown, m[1])
			return s
		}
		return "<!-- filled: " + m[1] + " -->\n" + table(k, m[2]) + "<!-- end -->"
	})
	if len(unknown) > 0 {
		return "", fmt.Errorf("there are no tables %q", unknown)
	}
	return text, nil
}

// tabled writes a table, numbers to the right.
func tabled(rows [][]string) string {
	var b strings.Builder
	for i, r := range rows {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
		if i == 0 {
			b.WriteString("| ---" + strings.Repeat(" | ---:", len(r)-1) + " |\n")
		}
	}
	return b.String()
}

// fibTable says what the three forms of fib take with which README.md begins.
func fibTable(k *kept, _ string) string {
	r := k.report("summary")
	rows := [][]string{{"fib 27, two CPUs", "time", "against serial"}}
	for _, w := range []struct {
		name, executor string
		workers        int
	}{{"serial", "serial", 1}, {"goroutines", "goroutine", 2}, {"filch", "filch", 2}} {
		x := r.find("fib", "27", w.executor, w.workers)
		against := "1"
		if x.Speedup != 1 {
			against = digits(x.Speedup) + " x as fast"
		}
		if x.Speedup < 0.5 {
			against = digits(1/x.Speedup) + " x slower"
		}
		rows = append(rows, []string{w.name, nanos(x.Median), against})
	}
	return tabled(rows) + "\n" + fmt.Sprintf("Medians of %d runs. ", r.Rows[0].Runs) + r.source() + "\n"
}

var pools = []string{"filch", "basic", "goroutine", "channel", "errgroup", "ants", "pond", "conc", "workerpool"}

// tasksTable compares pools of tasks.
func tasksTable(k *kept, _ string) string {
	r := k.report("tasks")
	var own ran
	k.decode(runsFile, &own)
	rows := [][]string{append([]string{"2 workers"}, pools...)}
	add := func(name string, cell func(pool string) string) {
		row := []string{name}
		for _, p := range pools {
			row = append(row, cell(p))
		}
		rows = append(rows, row)
	}
	took := func(size string) func(pool string) string {
		return func(pool string) string {
			x := r.find("tasks", size, pool, 2)
			if x.Runs == 0 {
				return x.short()
			}
			return nanos(x.NsPerFork)
		}
	}
	add("a task that does nothing", took("empty"))
	add("the same, submitted by tasks", took("100 submit 10,000"))
	add("tasks that wait for tasks", took("submit and wait, nested"))
	add("a task of 100 cycles", took("100 cycles"))
	add("a task of 10,000 cycles", took("10,000 cycles"))
	add("allocations a task", func(pool string) string {
		x := r.find("tasks", "empty", pool, 2)
		return fmt.Sprintf("%.2f", x.Allocs/x.Forks)
	})
	add("bytes a queued task", func(pool string) string {
		x := r.find("tasks", "empty, submit then drain", pool, 2)
		if x.Runs == 0 {
			return x.short()
		}
		return fmt.Sprintf("%.0f", x.Bytes/x.Forks)
	})
	add("with 8 workers, against 2: 100 cycles", func(pool string) string {
		if pool != "filch" && pool != "basic" {
			return "-"
		}
		return fmt.Sprintf("%.1f x", r.find("sweep", "100 cycles", pool, 8).NsPerFork/r.find("sweep", "100 cycles", pool, 2).NsPerFork)
	})
	add("children that their parent's worker runs", func(pool string) string {
		for _, f := range own.Families {
			if f.Executor == pool {
				return fmt.Sprintf("%.0f%%", 100*f.Share)
			}
		}
		return "-"
	})
	add("lines of code", func(pool string) string {
		for _, s := range own.Sources {
			if s.Executor == pool {
				return grouped(s.Lines)
			}
		}
		return "-"
	})
	return tabled(rows) + "\n" + r.source() + " Medians of 5 runs, pools in turn. -: not measured. The share of children and the lines of code: " + own.Machine.day() + ".\n"
}

// grouped writes a number with commas.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

func (m machine) day() string {
	day, _, _ := strings.Cut(m.Time, "T")
	return day
}

var columns = regexp.MustCompile(`  +`)

// forksTable compares forks with those of other languages, from the text that bench/run has written.
func forksTable(k *kept, _ string) string {
	rows := [][]string{}
	caption := ""
	for line := range strings.Lines(string(k.file("bench/rivals.txt"))) {
		line = strings.TrimSpace(line)
		cells := columns.Split(line, -1)
		switch {
		case len(cells) < 7:
			if line != "" {
				caption = line
			}
		case cells[0] == "program":
			rows = append(rows, slices.Concat([]string{"2 workers"}, cells[3:]))
		case cells[2] == "2":
			rows = append(rows, slices.Concat([]string{cells[0] + " " + cells[1]}, cells[3:]))
		}
	}
	if len(rows) < 2 || caption == "" {
		panic(missing("docs/bench/rivals.txt is not what bench/run writes"))
	}
	return tabled(rows) + "\n" + caption + "\n"
}

// restTable says what a pool at rest costs, from the text that filch bench tasks has written.
func restTable(k *kept, _ string) string {
	_, text, ok := strings.Cut(string(k.file("bench/tasks.txt")), "\n after a rest of 2 ms ")
	if !ok {
		panic(missing("docs/bench/tasks.txt says nothing of a rest"))
	}
	rows := [][]string{{"after a rest of 2 ms", "median until a task starts", "99 of 100 start within", "CPU of a second's rest"}}
	lines := strings.Split(text, "\n")[2:]
	for _, line := range lines {
		cells := columns.Split(strings.TrimSpace(line), -1)
		if len(cells) != 4 {
			break
		}
		rows = append(rows, cells)
	}
	return tabled(rows) + "\n" + k.report("tasks").source() + "\n"
}

var named = regexp.MustCompile("`(\\w+)`")

// functionsTable adds to the functions of par how much faster than serial they are. The words of the table
// stay as they are.
func functionsTable(k *kept, old string) string {
	r := k.report("par")
	var b strings.Builder
	for line := range strings.Lines(old) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		switch {
		case !strings.HasPrefix(line, "|"):
			continue
		case strings.HasPrefix(line, "|---"):
			b.WriteString("|---|---|---:|---:|\n")
			continue
		case strings.HasPrefix(line, "| I want to"):
			b.WriteString("| I want to | use | 1,000 | 100,000 |\n")
			continue
		case len(cells) < 2:
			panic(missing("docs/choosing.md: a row of fewer than two cells: " + line))
		}
		few, many := "-", "-"
		for _, m := range named.FindAllStringSubmatch(cells[1], -1) {
			if i := slices.IndexFunc(r.Rows, func(x row) bool { return x.Workload == "par/"+m[1] }); i >= 0 {
				few = fmt.Sprintf("%.2f", r.find("par/"+m[1], "1000", "filch", 2).Speedup)
				many = fmt.Sprintf("%.2f", r.find("par/"+m[1], "100000", "filch", 2).Speedup)
				break
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), few, many)
	}
	b.WriteString("\nOn the right: times faster than serial for so many elements, with 2 workers, of the first function of the row that is measured. " + r.source() + "\n")
	return b.String()
}
