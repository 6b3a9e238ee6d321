package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
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
		t.Fatal(err)
	}
	var all struct{ Results []map[string]any }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
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

func TestSimIsTheSameForTheSameSeed(t *testing.T) {
	first, _ := simulate(t, 0, "--dag", "uts=6", "--workers", "16", "--seed", "7", "--scheduler", "pool,child")
	second, _ := simulate(t, 0, "--dag", "uts=6", "--workers", "16", "--seed", "7", "--scheduler", "pool,child")
	if first != second {
		t.Errorf("%s\nis not\n%s", first, second)
	}
}

func TestSimDraws(t *testing.T) {
	dir := t.TempDir()
	simulate(t, 0, "--dag", "fib=10", "--scheduler", "child,pool", "--workers", "1..8", "--seeds", "3", "--svg", dir)
	for _, name := range []string{"speed-up.svg", "space.svg", "steals.svg"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(b), "medians of 3 seeds") || !strings.Contains(string(b), "fib=10") {
			t.Errorf("%s does not say what it is of", name)
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
			t.Fatal(err)
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

func TestSimLists(t *testing.T) {
	out, _ := simulate(t, 0, "--list")
	for _, name := range []string{"fib=20", "comb=", "FILE.json", "continuation", "pool", "adversary"} {
		if !strings.Contains(out, name) {
			t.Errorf("there is no %s in\n%s", name, out)
		}
	}
}

func TestSimRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--dag fob=3", "--dag fob=3"},
		{"--dag fib=x", "--dag fib=x"},
		{"--dag missing.json", "missing.json"},
		{"--scheduler childish", "--scheduler childish"},
		{"--workers 0", "--workers 0"},
		{"--workers 4..2", "--workers 4..2"},
		{"--workers few", "--workers few"},
		{"--workers 100000000", "--workers 100000000"},
		{"--seeds 0", "--seeds 0"},
		{"--seeds 9223372036854775807", "--seeds 9223372036854775807"},
		{"--workers 4 --dag fib=3 --scheduler child --seeds 100001", "--seeds 100001"},
		{"--scheduler=", "--scheduler is empty"},
		{"--workers=", "--workers is empty"},
		{"--steal-cost 0", "--steal-cost 0"},
		{"--step -1us", "--step -1"},
		{"--cache -1", "--cache -1"},
		{"--json /nowhere/at/all.json", "/nowhere/at/all.json"},
		{"--kernel none", "--kernel none"},
		{"--kernel missing.txt", "--kernel missing.txt"},
		{"--kernel benign --scheduler pool", "the scheduler pool"},
		{"--yield all", "--yield all"},
		{"--churn 1/2", "--churn 1/2"},
		{"--churn 1/2/3 --scheduler bws", "the scheduler bws"},
		{"--yield much --scheduler abp", "much"},
		{"fib", "fib"},
	} {
		_, stderr := simulate(t, 2, strings.Fields(c.args)...)
		if !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("filch sim %s says %q", c.args, stderr)
		}
	}
}
