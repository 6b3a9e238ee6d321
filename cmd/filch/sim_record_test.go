package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/sim"
)

// A recording is measured and predicted on as many workers as there are processors, and predicted beyond that. One
// worker takes exactly the work of it.
func TestARecordingIsMeasuredAndPredicted(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("what a steal costs is measured on two processors")
	}
	file := filepath.Join(t.TempDir(), "out.json")
	out, _ := simulate(t, 0, "--record", "sssp=8", "--record", "mergesort=20000", "--workers", "1,2,1000", "--runs", "1", "--json", file)
	for _, text := range []string{"sssp=8", "mergesort=20000", "predicted", "measured", "limit", "a wake-up"} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in\n%s", text, out)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	var all recordings
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal("json.Unmarshal(b, &all):", err)
	}
	if len(all.Recorded) != 2 || len(all.Results) != 6 {
		t.Fatalf("%d recordings, %d results", len(all.Recorded), len(all.Results))
	}
	for _, r := range all.Recorded {
		if p := r.Predicted[0]; p.Workers != 1 || p.Time != r.Work || p.Measured == 0 || !strings.HasPrefix(p.Limit, "work") {
			t.Errorf("%s on one worker: %+v; its work is %d", r.Workload, p, r.Work)
		}
		if p := r.Predicted[2]; p.Workers != 1000 || p.Time < r.Span || p.Measured != 0 || len(p.Without) != 4 {
			t.Errorf("%s on 1000 workers: %+v", r.Workload, p)
		}
	}
}

// Graphs in files are predicted without being measured. The text of a trace is one.
func TestRecordReadsGraphs(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("what a steal costs is measured on two processors")
	}
	dir := t.TempDir()
	graph, text, file := filepath.Join(dir, "graph.json"), filepath.Join(dir, "trace.txt"), filepath.Join(dir, "out.json")
	for name, text := range map[string]string{
		graph: `{"graph":{"series":[1000,{"parallel":[3000,5000]}]}}`,
		text:  "0.000us worker 0   is called\n7.000us worker 0   leaves\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal("os.WriteFile(name, []byte(text), 0o666):", err)
		}
	}
	out, _ := simulate(t, 0, "--record", graph, "--record", text, "--workers", "1,4", "--runs", "1", "--json", file)
	if !strings.Contains(out, graph+": T1 9.00 us, Tinf 6.00 us, parallelism 1.50\n") || strings.Contains(out, "measured") {
		t.Errorf("graphs are shown so:\n%s", out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	var all recordings
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal("json.Unmarshal(b, &all):", err)
	}
	for i, work := range []int64{9000, 7000} {
		if r := all.Recorded[i]; r.Work != work || len(r.Predicted) != 2 || r.Predicted[0].Time != work || r.Serial != 0 {
			t.Errorf("%+v, of work %d", r, work)
		}
	}
}

func TestTheLimitIsWhatExplainsTheTime(t *testing.T) {
	without := func(waking int64) map[string]int64 {
		return map[string]int64{"waking": waking, "stealing": 99, "publishing": 99, "held searches": 100}
	}
	for want, c := range map[string]struct {
		r      sim.Result
		waking int64
	}{
		"work 90%":    {sim.Result{Workers: 2, T1: 180, Tinf: 80, Time: 100}, 50},
		"span 70%":    {sim.Result{Workers: 2, T1: 140, Tinf: 70, Time: 100}, 50},
		"waking 40%":  {sim.Result{Workers: 2, T1: 140, Tinf: 10, Time: 100}, 60},
		"many things": {sim.Result{Workers: 2, T1: 140, Tinf: 10, Time: 100}, 97},
	} {
		if got := limit(&c.r, without(c.waking)); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestRecordRefusesWhatCannotBe(t *testing.T) {
	for text, args := range map[string]string{
		"unknown workload":         "--record nothing",
		"missing.json":             "--record missing.json",
		"sleeps":                   "--record pizza",
		"not a number from 1 to":   "--record sssp=99",
		"--runs 0":                 "--record fib --runs 0",
		"--finest -1ns":            "--record fib --finest -1ns",
		"--finest is for":          "--record graph.json --finest 1us",
		"--record knows no --dag":  "--record fib --dag fib",
		"--tune knows no --record": "--tune --record fib",
		"--runs is for --record":   "--runs 3",
	} {
		if _, errs := simulate(t, 2, strings.Fields(args)...); !strings.Contains(errs, text) {
			t.Errorf("%s: %s; it does not say %q", args, errs, text)
		}
	}
}

// The policies stand in their order, each against today's on each number of workers.
func TestEachPolicyIsTunedAgainstTodays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	out, _ := simulate(t, 0, "--tune", "--dag", "fib=12", "--workers", "2,64", "--json", file)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile(file):", err)
	}
	var all struct{ Tuned []tuning }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal("json.Unmarshal(b, &all):", err)
	}
	tried := append(tunedForks[1:len(tunedForks):len(tunedForks)], tunedTasks[1:]...)
	if len(all.Tuned) != 2*len(tried) {
		t.Fatalf("%d rows", len(all.Tuned))
	}
	for i, one := range all.Tuned {
		if one.Policy != tried[i/2].name || one.Best <= 0 || one.Ratio < one.Best || one.Worst < one.Ratio || !strings.Contains(out, one.Policy) {
			t.Errorf("row %d: %+v", i, one)
		}
	}
}

// Costs that only a machine with other programs has are told as such.
func TestCostsOfABusyMachineAreTold(t *testing.T) {
	for _, c := range []struct {
		costs sim.Costs
		told  bool
	}{
		{sim.Costs{Steal: 270, Publish: 190, Wake: 38_548}, false},
		{sim.Costs{Steal: 61_000, Publish: 190}, true},
		{sim.Costs{Steal: 270, Publish: 14_000}, true},
	} {
		var out strings.Builder
		printRecorded(&out, recordings{Costs: c.costs}, false)
		if told := strings.Contains(out.String(), "the machine runs other programs"); told != c.told {
			t.Errorf("costs of %+v: a busy machine is told: %t, not %t, in\n%s", c.costs, told, c.told, out.String())
		}
	}
}
