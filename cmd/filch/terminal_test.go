package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
)

// What is printed of a whole run fits a screen of any usual width, and keeps the columns that matter.
func TestTablesFitTheScreen(t *testing.T) {
	all, ok := keptReports(t)["all"]
	if !ok {
		t.Fatal("no report of all workloads is kept")
	}
	for _, columns := range []int{80, 120, 200} {
		t.Setenv("COLUMNS", fmt.Sprint(columns))
		var short, each, goals strings.Builder
		printSummary(&short, all, false)
		printClosing(&short, all, false)
		printRows(&each, all.Rows)
		printBars(&goals, all.Bars)
		for name, s := range map[string]string{"summary": short.String(), "rows": each.String()} {
			if n := text.LongestLineLen(s); n > columns {
				t.Errorf("%s: %d columns on a screen of %d:\n%s", name, n, columns, s)
			}
			if !strings.Contains(s, "filch-chain") || strings.Contains(s, "<nil>") {
				t.Errorf("%s in %d columns:\n%s", name, columns, s)
			}
		}
		if n := strings.Count(short.String(), "\n"); n > 60 {
			t.Errorf("%d lines in %d columns:\n%s", n, columns, short.String())
		}
		if head, _, _ := strings.Cut(each.String(), "\n"); !strings.Contains(head, "time") || !strings.Contains(head, "speed-up") {
			t.Error("rows begin with", head)
		}
		if left := strings.Contains(each.String(), "No room for"); left != (columns < 200) {
			t.Errorf("%d columns: some left out: %v", columns, left)
		}
	}
}

// The closing lines count the programs in which filch was faster, and name the worst.
func TestClosingSaysWhereFilchIsSlower(t *testing.T) {
	var out strings.Builder
	var rows []*row
	add := func(workload, executor string, workers int, took time.Duration) {
		rows = append(rows, &row{Workload: workload, Size: "1", Executor: executor, Workers: workers, Runs: 1, OK: true, Median: took, Times: []time.Duration{took}})
	}
	add("fib", "serial", 1, 100)
	add("fib", "at-once", 2, 50)
	add("fib", "goroutine", 2, 300)
	add("fib", "filch", 2, 60)
	compare(rows)
	add("uts", "serial", 1, 100)
	rows = append(rows, &row{Workload: "uts", Size: "1", Executor: "goroutine", Workers: 2, Note: "deadlocks"})
	add("uts", "filch", 2, 120)
	compare(rows[4:])
	printClosing(&out, report{Rows: rows}, true)
	for _, want := range []string{
		"filch on 2 workers, in the median program:\n",
		"- 1.25 times as fast as serial (0.83 to 1.67), faster in 1 of 2\n",
		"- 5.00 times as fast as goroutine (5.00 to 5.00), faster in 1 of 1; it deadlocks in 1\n",
		"Something else is faster in uts 1 (120 ns where serial takes 100 ns).",
		"This machine gave 2.00 times one processor to 2 copies of a serial program at once",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// On a terminal there are colours, unless NO_COLOR is set, and lines fit it.
func TestColoursAreForTerminals(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("no script of Linux, which gives a program a terminal")
	}
	kept := filepath.Join("..", "..", "docs", "bench", "pgo.json")
	if _, err := os.Stat(kept); err != nil {
		t.Skip("docs/bench is not here: this is the module alone")
	}
	for _, c := range []struct {
		env    string
		colour bool
	}{{"NO_COLOR=", true}, {"NO_COLOR=1", false}} {
		cmd := exec.Command(script, "-qec", fmt.Sprintf("stty cols 90; %s bench --compare %s %s", os.Args[0], kept, kept), os.DevNull)
		cmd.Env = append(os.Environ(), asProgram+"=filch", "TERM=xterm", c.env)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := strings.Contains(string(out), "\x1b["); got != c.colour {
			t.Errorf("%s: colours: %v", c.env, got)
		}
		if n := text.LongestLineLen(strings.ReplaceAll(string(out), "\r", "")); n > 90 {
			t.Errorf("%d columns on a terminal of 90:\n%s", n, out)
		}
	}
}
