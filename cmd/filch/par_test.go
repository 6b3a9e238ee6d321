package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/thorough"
)

// All programs of all algorithms come to the same.
func TestAllProgramsOfAnAlgorithmComeToTheSame(t *testing.T) {
	thorough.Only(t, "runs all algorithms of all libraries")
	defer func(d time.Duration) { enough = d }(enough)
	enough = time.Microsecond
	file := filepath.Join(t.TempDir(), "out.json")
	status, stdout, stderr := invoke(t, "bench", "par", "--size", "500,3", "--workers", "2,1", "--runs", "1", "--bars", "--json", file)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, a := range parAlgorithms {
		if !strings.Contains(stdout, a.name) {
			t.Errorf("no %s in\n%s", a.name, stdout)
		}
	}
	for _, want := range []string{"filch, 2", "filch, 1", "one run of each", "the worst of up to 1,000 elements", "GB/s"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	var got report
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal("json.Unmarshal(b, &got):", err)
	}
	rows := 0
	for _, a := range parAlgorithms {
		rows += 2 * (3 + len(a.rivals))
	}
	if len(got.Rows) != rows {
		t.Errorf("%d rows, want %d", len(got.Rows), rows)
	}
	for _, r := range got.Rows {
		if !r.OK || r.Runs != 1 || r.Median <= 0 || r.Speedup <= 0 {
			t.Errorf("%+v", r)
		}
	}
}

// What is too much for a rival is not run, and what is more than an algorithm is measured with
// is cut.
func TestWhatIsTooMuchForARivalIsNotRun(t *testing.T) {
	plan, err := newParPlan([]string{"Map-skewed", "Map"}, options{workers: []int{1}, runs: 1, sizes: []string{"1000", "100000000"}})
	if err != nil {
		t.Fatal("newParPlan(…):", err)
	}
	if n := plan.algorithms[0].most; n != 1_000_000 {
		t.Errorf("Map-skewed is measured with %d", n)
	}
	for i := range parAlgorithms {
		if a := parAlgorithms[i]; a.name == "Map" {
			a.rivals = map[string]func(*parData, int){"lo": a.rivals["lo"]}
			rows := plan.measureGroup(a, loMost+1, nil)
			if len(rows) != 2 || rows[0].Executor != "serial" || rows[1].Runs != 0 || rows[1].Note == "" {
				t.Errorf("plan.measureGroup(a, loMost+1, nil): %+v", rows)
			}
		}
	}
}

func TestMistakesInBenchParAreTold(t *testing.T) {
	for want, args := range map[string][]string{
		`unknown algorithm "Sort-of"; there are For, `:                        {"Sort-of"},
		`Sort is there twice`:                                                 {"Sort", "Sort"},
		"par knows no --executors and --input":                                {"--executors", "filch"},
		"--size fib=3: not a number of elements from 2 to 100000000":          {"--size", "fib=3"},
		"--size 1: not a number of elements from 2 to 100000000":              {"--size", "1"},
		"--size 10 is there twice":                                            {"--size", "10,10"},
		"--runs 0: there must be a run":                                       {"--runs", "0"},
		"par is measured apart from other workloads, and comes before the na": {"fib", "par"},
	} {
		args = append([]string{"bench", "par"}, args...)
		if args[2] == "fib" {
			args = append(args[:1], args[2:]...)
		}
		status, stdout, stderr := invoke(t, args...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, stdout %q, stderr %q; want %q", args, status, stdout, stderr, want)
		}
	}
}

// Wrong results are told.
func TestWrongResultsOfParAreTold(t *testing.T) {
	plan := &parPlan{workers: []int{1}, runs: 1}
	rows := plan.measureGroup(parAlgorithm{name: "Wrong", serial: func(d *parData) { d.v = 1 },
		rivals: map[string]func(*parData, int){"pargo": func(d *parData, _ int) { d.v = 2 }}}, 10, nil)
	var out, err strings.Builder
	printPar(&out, rows, []int{1}, false)
	if !strings.Contains(out.String(), "WRONG") || !printNotes(&out, &err, rows, true) || !strings.Contains(err.String(), "WRONG ANSWER: par/Wrong 10, pargo on 1 workers") {
		t.Errorf("%s%s", out.String(), err.String())
	}
}
