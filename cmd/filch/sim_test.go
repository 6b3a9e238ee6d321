package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// simulate runs filch sim and returns what it prints.
func simulate(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if status := run(append([]string{"sim"}, args...), &out, &errs); status != want {
		t.Fatalf("filch sim %s: status %d, not %d: %s", strings.Join(args, " "), status, want, errs.String())
	}
	return out.String(), errs.String()
}

// Other programs read these names.
func TestSimWritesResults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	simulate(t, 0, "--dag", "fib=10", "--dag", "loop=20", "--scheduler", "child,continuation", "--workers", "1..4", "--seeds", "2", "--json", file)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	var all struct{ Results []map[string]any }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal("json.Unmarshal(b, &all):", err)
	}
	if len(all.Results) != 2*2*3*2 {
		t.Fatalf("%d results, not 24", len(all.Results))
	}
	for _, r := range all.Results {
		for _, name := range []string{"dag", "scheduler", "workers", "seed", "t1", "tinf", "time", "idle", "steals", "attempts", "migrations", "max_deque", "max_live", "misses"} {
			if _, ok := r[name]; !ok {
				t.Errorf("a result has no %s: %v", name, r)
			}
		}
		if p := r["workers"].(float64); p*r["time"].(float64) != r["t1"].(float64)+r["idle"].(float64) {
			t.Errorf("steps are lost: %v", r)
		}
	}
}

// Of many runs there is a row for each DAG and scheduler, unless all are asked for.
func TestSimComparesSchedulersByWorkers(t *testing.T) {
	args := []string{"sim", "--dag", "fib=10", "--dag", "loop=100", "--scheduler", "child,pool,central", "--workers", "1..64"}
	_, short, _ := invoke(t, args...)
	if n := strings.Count(short, "loop=100"); n != 3 || !strings.Contains(short, "No scheduler gains more than T1/Tinf") {
		t.Errorf("%d rows of loop in\n%s", n, short)
	}
	_, all, _ := invoke(t, append(args, "-v")...)
	if n := strings.Count(all, "loop=100"); n != 3*7 || !strings.Contains(all, "idle") {
		t.Errorf("%d rows of loop in\n%s", n, all)
	}
}

func TestSimIsTheSameForTheSameSeed(t *testing.T) {
	first, _ := simulate(t, 0, "--dag", "uts=6", "--workers", "16", "--seed", "7", "--scheduler", "pool,child")
	second, _ := simulate(t, 0, "--dag", "uts=6", "--workers", "16", "--seed", "7", "--scheduler", "pool,child")
	if first != second {
		t.Errorf("%s\nis not\n%s", first, second)
	}
}

func TestSimDrawsMediansOfItsSeeds(t *testing.T) {
	dir := t.TempDir()
	simulate(t, 0, "--dag", "fib=10", "--scheduler", "child,pool", "--workers", "1..8", "--seeds", "3", "--svg", dir)
	for _, name := range []string{"speed-up.svg", "space.svg", "steals.svg"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error("os.ReadFile(filepath.Join(dir, name)):", err)
		} else if !strings.Contains(string(b), "medians of 3 seeds") || !strings.Contains(string(b), "fib=10") {
			t.Errorf("%s does not say what it is of", name)
		}
	}
}

// The line of 1 is drawn where 1 is between the ends of an axis, and not above the panel.
func TestSimDrawsTheLineOfOneInsideThePanel(t *testing.T) {
	for workers, want := range map[string]bool{"1..8": true, "64..512": false} {
		dir := t.TempDir()
		simulate(t, 0, "--dag", "fib=10", "--scheduler", "child", "--workers", workers, "--columns", "efficiency", "--svg", dir)
		b, err := os.ReadFile(filepath.Join(dir, "efficiency.svg"))
		if err != nil {
			t.Fatal("os.ReadFile(…):", err)
		}
		if got := strings.Contains(string(b), "stroke-faint\""); got != want {
			t.Errorf("on %s workers: there is a line of 1: %v, want %v", workers, got, want)
		}
	}
}

// A bag has a bound of its own.
func TestSimDrawsTheBoundOfABag(t *testing.T) {
	for name, want := range map[string]bool{"bag=50": true, "bag=50@2": false, "fib=8": false} {
		dir := t.TempDir()
		simulate(t, 0, "--dag", name, "--scheduler", "half", "--workers", "2..8", "--columns", "spans", "--svg", dir)
		b, err := os.ReadFile(filepath.Join(dir, "spans.svg"))
		if err != nil {
			t.Fatal("os.ReadFile(…):", err)
		}
		if got := strings.Contains(string(b), "3.65 log2 W"); got != want {
			t.Errorf("%s: the picture tells of the bound of a bag: %v, want %v", name, got, want)
		}
	}
}

func TestSimReadsGraphsAndKernels(t *testing.T) {
	dir := t.TempDir()
	graph, kernel := filepath.Join(dir, "graph.json"), filepath.Join(dir, "kernel.txt")
	for file, text := range map[string]string{
		graph:  `{"name":"two","graph":{"series":[5,{"parallel":[300,400]},2]}}`,
		kernel: "0 2\n100 1\n200 2\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal("os.WriteFile(file, []byte(text), 0o666):", err)
		}
	}
	out, _ := simulate(t, 0, "--dag", graph, "--workers", "2", "--scheduler", "abp,bws", "--kernel", kernel, "--yield", "all")
	if strings.Count(out, " 707 ") != 2 {
		t.Errorf("the work of the graph is not 707:\n%s", out)
	}
}

func TestSimShowsWhatAKernelOrChurnCosts(t *testing.T) {
	out, _ := simulate(t, 0, "--dag", "fib=12", "--workers", "16", "--scheduler", "abp", "--kernel", "benign=4")
	if !strings.Contains(out, " PA ") || !strings.Contains(out, " 4.00") || strings.Contains(out, "wasted") {
		t.Errorf("there is no PA of 4, or something wasted, in\n%s", out)
	}
	out, _ = simulate(t, 0, "--dag", "fib=15", "--workers", "16", "--scheduler", "child", "--churn", "2/300/100")
	if !strings.Contains(out, " PA ") || !strings.Contains(out, "wasted") {
		t.Errorf("there is no PA, or nothing wasted, in\n%s", out)
	}
	out, _ = simulate(t, 0, "--dag", "fib=12", "--workers", "16", "--scheduler", "child")
	if strings.Contains(out, " PA ") || strings.Contains(out, "wasted") {
		t.Errorf("there is PA, or something wasted, without a kernel:\n%s", out)
	}
}

func TestSimListsProgramsAndSchedulers(t *testing.T) {
	out, _ := simulate(t, 0, "--list")
	for _, name := range []string{"fib=20", "comb=100 ", "tree=16 ", "FILE.json", "FILE.txt", "FILE  ", "continuation", "pool", "adversary"} {
		if !strings.Contains(out, name) {
			t.Errorf("there is no %s in\n%s", name, out)
		}
	}
}

func TestSimRefusesWhatCannotBe(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--dag fob=3", "--dag fob=3"},
		{"--kernel trace=2", "--kernel trace=2: its steps are in a file"},
		{"--dag fib=x", "--dag fib=x"},
		{"--dag missing.json", "missing.json"},
		{"--scheduler childish", "--scheduler childish"},
		{"--workers 0", "--workers 0"},
		{"--workers 4..2", "--workers 4..2: the second number is less than the first"},
		{"mergesort=100", `"mergesort=100" follows no flag; --dag mergesort=100`},
		{"--workers few", "--workers few"},
		{"--workers 100000000", "--workers 100000000"},
		{"--seeds 0", "--seeds 0"},
		{"--seeds 9223372036854775807", "9223372036854775807"},
		{"--workers 4 --dag fib=3 --scheduler child --seeds 100001", "--seeds 100001"},
		{"--scheduler=", "--scheduler is empty"},
		{"--workers=", "--workers is empty"},
		{"--steal-cost 0", "--steal-cost 0"},
		{"--step -1us", "--step -1"},
		{"--cache -1", "--cache -1"},
		{"--cache 33554433", "33554433 blocks"},
		{"--json /nowhere/at/all.json", "/nowhere/at/all.json"},
		{"--kernel none", "--kernel none"},
		{"--kernel missing.txt", "--kernel missing.txt"},
		{"--stealing adaptive", "--stealing adaptive"},
		{"--stealing far --scheduler pool", `Stealing is "far"`},
		{"--yield-first --kernel benign", "--yield-first"},
		{"--yield-first --scheduler pool", "YieldFirst"},
		{"--yield all", "--yield all"},
		{"--churn 1/2", "--churn 1/2"},
		{"--churn 1/2/3 --scheduler bws", "the scheduler bws"},
		{"--yield much --scheduler abp", "much"},
		{"--topology 8@x", "--topology 8@x"},
		{"--topology 2@1x2 --workers 8", "room for 4 workers"},
		{"--topology 2@1x2 --workers 4 --scheduler pdf", "not pdf"},
		{"--shared-cache -1", "--shared-cache -1"},
		{"--central-cost 3", "--central-cost 3"},
		{"--central-cost -3 --scheduler central", "-3 steps"},
		{"--priority depth", "--priority depth"},
		{"--priority size --scheduler ordered", "size"},
		{"--inside 4", "--inside 4"},
		{"--inside -4 --scheduler hierarchical", "-4 attempts"},
		{"--columns time,space", "--columns space"},
		{"--summary least", "--summary least"},
		{"--efficiency 100", "--efficiency 100"},
		{"--efficiency 90 --dag fib=3@4", "--dag fib=3@4"},
		{"--efficiency 90 --columns time", "--columns"},
		{"--efficiency 90 --churn 1/2/3 --scheduler child", "--churn"},
		{"fib", "fib"},
	} {
		_, stderr := simulate(t, 2, strings.Fields(c.args)...)
		if !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("filch sim %s says %q", c.args, stderr)
		}
	}
}

// column returns what stands in a column of a table that filch sim has printed, row by row.
func column(t *testing.T, out, name string) (cells []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	at := slices.Index(strings.Fields(lines[0]), name)
	if at < 0 {
		t.Fatalf("there is no %s in\n%s", name, out)
	}
	for _, l := range lines[1:] {
		if !strings.Contains(l, "───") {
			cells = append(cells, strings.Fields(l)[at])
		}
	}
	return cells
}

// What one scheduler has makes a difference to that one, and to no other.
func TestSimHasWhatOneSchedulerHas(t *testing.T) {
	for flags, scheduler := range map[string]string{"--central-cost 5": "central", "--priority depth": "ordered", "--inside 1": "hierarchical", "--stealing localized": "pool"} {
		args := strings.Fields("--dag fib=16 --workers 64 --columns time,steals,inversions --scheduler child," + scheduler)
		before, _ := simulate(t, 0, args...)
		after, _ := simulate(t, 0, append(args, strings.Fields(flags)...)...)
		a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
		if !slices.Equal(strings.Fields(a[2]), strings.Fields(b[2])) || slices.Equal(strings.Fields(a[3]), strings.Fields(b[3])) {
			t.Errorf("%s: from\n%s\nto\n%s", flags, before, after)
		}
	}
}

func TestSimHasTopologies(t *testing.T) {
	dir := t.TempDir()
	out, _ := simulate(t, 0, "--dag", "fib=14", "--workers", "32", "--scheduler", "child,hierarchical", "--topology", "4@100x8", "--topology", "2x16", "--columns", "time", "--svg", dir)
	if got := column(t, out, "topology"); !slices.Equal(got, []string{"4@100x8", "2x16", "4@100x8", "2x16"}) {
		t.Errorf("%v in\n%s", got, out)
	}
	if got := column(t, out, "time"); len(got[0]) <= len(got[1]) {
		t.Errorf("latencies do not take time:\n%s", out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "time.svg"))
	if err != nil || !strings.Contains(string(b), "fib=14 on 2x16") {
		t.Errorf("the picture has no panel for a topology: %v", err)
	}
}

func TestSimHasASharedCache(t *testing.T) {
	out, _ := simulate(t, 0, "--dag", "iterative=3x16", "--workers", "1", "--scheduler", "child", "--shared-cache", "16", "--columns", "shared misses")
	if !strings.Contains(out, "shared misses") || !strings.HasSuffix(strings.TrimSpace(out), " 16") {
		t.Errorf("16 blocks miss 16 times, not\n%s", out)
	}
}

func TestSimSummarizes(t *testing.T) {
	args := []string{"--dag", "fib=12", "--workers", "8", "--scheduler", "child", "--seeds", "5", "--columns", "time"}
	each, _ := simulate(t, 0, args...)
	var times []float64
	for _, cell := range column(t, each, "time") {
		n, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			t.Fatal("strconv.ParseFloat(cell, 64):", err)
		}
		times = append(times, n)
	}
	slices.Sort(times)
	if len(times) != 5 || times[0] == times[4] {
		t.Fatalf("the runs are %v", times)
	}
	var sum float64
	for _, n := range times {
		sum += n
	}
	for by, want := range map[string]float64{"mean": sum / 5, "median": times[2], "most": times[4]} {
		out, _ := simulate(t, 0, append(args, "--summary", by)...)
		if got := column(t, out, "time"); len(got) != 1 || got[0] != strconv.FormatFloat(want, 'f', 0, 64) {
			t.Errorf("the %s of %v is %v", by, times, got)
		}
	}
}

// The weight that is found is the least power of 2 that is efficient enough.
func TestSimFindsHowHeavyLeavesMustBe(t *testing.T) {
	args := []string{"--dag", "tree=8", "--workers", "16", "--scheduler", "child", "--topology", "4@50x4"}
	out, _ := simulate(t, 0, append(args, "--efficiency", "90", "--step", "10us")...)
	weight, err := strconv.Atoi(strings.Fields(strings.Split(out, "\n")[2])[4])
	if err != nil {
		t.Fatal("strconv.Atoi(…):", err)
	}
	for _, c := range []struct {
		weight int
		enough bool
	}{{weight / 2, false}, {weight, true}} {
		args[1] = "tree=8@" + strconv.Itoa(c.weight)
		one, _ := simulate(t, 0, append(args, "--columns", "T1,time")...)
		work, err := strconv.ParseFloat(column(t, one, "T1")[0], 64)
		steps, err2 := strconv.ParseFloat(column(t, one, "time")[0], 64)
		if err != nil || err2 != nil || (work/(16*steps) >= 0.9) != c.enough {
			t.Errorf("with leaves of %d steps:\n%s\nand what was found is\n%s", c.weight, one, out)
		}
	}
	out, _ = simulate(t, 0, "--dag", "tree=1", "--workers", "4", "--scheduler", "child", "--efficiency", "90")
	if !strings.Contains(out, "more than 1048576") {
		t.Errorf("two leaves cannot keep 4 workers busy:\n%s", out)
	}
}
