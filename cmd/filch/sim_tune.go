package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/sim"
)

// tunedForks are the policies for forks that filch sim --tune compares with today's, the first, which has no name.
var tunedForks = []policyTried{
	{"", sim.Tuning{}},
	{"price 1 us", sim.Tuning{Price: 1000}},
	{"price 2 us", sim.Tuning{Price: 2000}},
	{"price 8 us", sim.Tuning{Price: 8000}},
	{"price 16 us", sim.Tuning{Price: 16000}},
	{"spin 25 us", sim.Tuning{SpinTime: 25_000}},
	{"spin 50 us", sim.Tuning{SpinTime: 50_000}},
	{"spin 200 us", sim.Tuning{SpinTime: 200_000}},
	{"one in 4 searches", sim.Tuning{Searchers: 4}},
	{"all search", sim.Tuning{Searchers: 1}},
	{"glance 1", sim.Tuning{Glance: 1}},
	{"glance 4", sim.Tuning{Glance: 4}},
	{"glance 256", sim.Tuning{Glance: 256}},
	{"round robin", sim.Tuning{Stealing: "round-robin"}},
	{"localized", sim.Tuning{Stealing: "localized"}},
	{"adaptive", sim.Tuning{Stealing: "adaptive"}},
	{"wake one at a time", sim.Tuning{WakeShare: sim.MaxWorkers}},
	{"wake while 1 in 16 searches", sim.Tuning{WakeShare: 16}},
	{"wake while 1 in 8 searches", sim.Tuning{WakeShare: 8}},
	{"wake while 1 in 2 searches", sim.Tuning{WakeShare: 2}},
	{"a finder wakes 2", sim.Tuning{FinderWakes: 2}},
	{"reserve 1", sim.Tuning{Reserve: 1}},
	{"reserve 12", sim.Tuning{Reserve: 12}},
	{"reserve 192", sim.Tuning{Reserve: 192}},
	{"one publication at a time", sim.Tuning{Reserve: policy.MaxCredit}},
	{"steal 2 forks", sim.Tuning{Amount: sim.Amount{Every: 1, Most: 2}}},
	{"steal 4 forks", sim.Tuning{Amount: sim.Amount{Every: 1, Most: 4}}},
	{"steal half of the forks", sim.Tuning{Amount: sim.Amount{Every: 2}}},
	{"hold 50 us", sim.Tuning{HoldTime: 50_000}},
	{"hold 125 us", sim.Tuning{HoldTime: 125_000}},
	{"hold 500 us", sim.Tuning{HoldTime: 500_000}},
	{"hold 1 ms", sim.Tuning{HoldTime: 1_000_000}},
	{"search all the time", sim.Tuning{FreeSearch: 1}},
	{"search 1/5 of the time", sim.Tuning{FreeSearch: 5}},
	{"search 1/10 of the time", sim.Tuning{FreeSearch: 10}},
	{"search 1/40 of the time", sim.Tuning{FreeSearch: 40}},
	{"search 1/100 of the time", sim.Tuning{FreeSearch: 100}},
	{"save 1 search", sim.Tuning{SavedTime: policy.SpinTime}},
	{"save 3 searches", sim.Tuning{SavedTime: 3 * policy.SpinTime}},
}

// tunedTasks are those for what a thief takes of a victim's tasks. The simulator has the scheduler half for them.
var tunedTasks = []policyTried{
	{"", sim.Tuning{Amount: sim.Amount{Every: policy.StealHalf, Most: 1 + policy.MostMoved}}},
	{"steal 1 task", sim.Tuning{Amount: sim.Amount{Most: 1}}},
	{"steal 2 tasks", sim.Tuning{Amount: sim.Amount{Every: 1, Most: 2}}},
	{"steal 4 tasks", sim.Tuning{Amount: sim.Amount{Every: 1, Most: 4}}},
	{"steal 8 tasks", sim.Tuning{Amount: sim.Amount{Every: 1, Most: 8}}},
	{"steal a quarter, at most 33", sim.Tuning{Amount: sim.Amount{Every: 4, Most: 1 + policy.MostMoved}}},
	{"steal half, at most 9", sim.Tuning{Amount: sim.Amount{Every: 2, Most: 9}}},
	{"steal half, without a limit", sim.Tuning{Amount: sim.Amount{Every: 2}}},
	{"steal all tasks but one", sim.Tuning{Amount: sim.Amount{Every: 1, Leave: 1}}},
	{"steal all tasks", sim.Tuning{Amount: sim.Amount{Every: 1}}},
}

// policyTried is a policy and its name in the table.
type policyTried struct {
	name string
	sim.Tuning
}

// tuneCosts are what --record measures on the machine that the figures in docs are of, rounded.
var tuneCosts = sim.Costs{Publish: 200, Waking: 3500, Wake: 36_000, Steal: 215}

// tuneStep is what a node of weight 1, and an attempt, take in nanoseconds.
const tuneStep = 100

// tuning is what a policy came to on a number of workers.
type tuning struct {
	Policy  string     `json:"policy"`
	Tuning  sim.Tuning `json:"tuning"`
	Workers int        `json:"workers"`
	// Ratio is its time over that of today's policy: the geometric mean over DAGs and seeds. Best and Worst are those
	// of one DAG.
	Ratio    float64 `json:"ratio"`
	Best     float64 `json:"best"`
	BestDAG  string  `json:"best_dag"`
	Worst    float64 `json:"worst"`
	WorstDAG string  `json:"worst_dag"`
}

// tuneSim is filch sim --tune.
func tuneSim(cmd *cobra.Command, o simOptions) error {
	if err := onlyFlags(cmd, "tune", "dag", "workers", "seed", "seeds", "json", "markdown"); err != nil {
		return err
	}
	if !cmd.Flags().Changed("dag") {
		o.dags = []string{"fib=24", "uts=8", "mergesort=20000", "quicksort=20000", "loop=3000@20", "tree=15", "nested=150", "iterative=10x2000",
			"loop=200@5000", "iterative=3000x32@10", "iterative=20000x4"}
	}
	if !cmd.Flags().Changed("workers") {
		o.workers = []string{"2..256"}
	}
	o.schedulers, o.step = []string{"pool"}, tuneStep
	s, err := newSimulation(o)
	if err != nil {
		return err
	}
	if err := s.measure(); err != nil {
		return err
	}
	forks, err := s.tune(cmd.ErrOrStderr(), "pool", tunedForks)
	if err != nil {
		return err
	}
	tasks, err := s.tune(cmd.ErrOrStderr(), "half", tunedTasks)
	if err != nil {
		return err
	}
	all := append(forks, tasks...)
	printTuned(cmd.OutOrStdout(), all, o.markdown)
	return s.file.writeJSON(struct {
		Costs sim.Costs `json:"costs_ns"`
		Step  int64     `json:"step_ns"`
		Seeds int       `json:"seeds"`
		DAGs  []string  `json:"dags"`
		Tuned []tuning  `json:"tuned"`
	}{tuneCosts, tuneStep, s.seeds, o.dags, all})
}

// tune runs all with each policy, and compares them.
func (s *simulation) tune(stderr io.Writer, scheduler string, tuned []policyTried) ([]tuning, error) {
	flat, err := inParallel(stderr, len(tuned)*len(s.runs), func(i int) (int64, error) {
		r := s.runs[i%len(s.runs)]
		c := r.Config
		c.Scheduler, c.Program, c.Facts, c.Costs, c.Tuning = scheduler, r.dag.program, &r.dag.facts, &tuneCosts, tuned[i/len(s.runs)].Tuning
		if scheduler == "half" { // knows no Costs
			c.StealCost = (tuneStep + tuneCosts.Steal) / tuneStep
		}
		result, err := sim.Run(c)
		if err != nil {
			return 0, err
		}
		return result.Time, nil
	})
	return s.compareTuned(tuned, slices.Collect(slices.Chunk(flat, max(1, len(s.runs))))), err
}

// compareTuned compares the times of each policy with those of the first, by number of workers.
func (s *simulation) compareTuned(tuned []policyTried, times [][]int64) (all []tuning) {
	for i, t := range tuned[1:] {
		for _, workers := range s.counts {
			one := tuning{Policy: t.name, Tuning: t.Tuning, Workers: workers}
			sum, n := 0.0, 0
			for d := range s.dags {
				ofDAG, k := 0.0, 0
				for at, r := range s.runs {
					if r.dag == &s.dags[d] && r.Workers == workers {
						ofDAG += math.Log(float64(times[i+1][at]) / float64(times[0][at]))
						k++
					}
				}
				ratio := math.Exp(ofDAG / float64(k))
				if d == 0 || ratio < one.Best {
					one.Best, one.BestDAG = ratio, s.dags[d].name
				}
				if d == 0 || ratio > one.Worst {
					one.Worst, one.WorstDAG = ratio, s.dags[d].name
				}
				sum, n = sum+ofDAG, n+k
			}
			one.Ratio = math.Exp(sum / float64(n))
			all = append(all, one)
		}
	}
	return all
}

// printTuned prints a row for each policy.
func printTuned(out io.Writer, all []tuning, markdown bool) {
	t := newTable(out)
	head, row := table.Row{"instead"}, table.Row{}
	var best, worst tuning
	end := func() {
		if row != nil {
			t.AppendRow(append(row, fmt.Sprintf("%.2f %s on %d", best.Best, best.BestDAG, best.Workers),
				fmt.Sprintf("%.2f %s on %d", worst.Worst, worst.WorstDAG, worst.Workers)))
		}
	}
	for i, one := range all {
		if one.Policy == all[0].Policy {
			head = append(head, one.Workers)
		}
		if i == 0 || one.Policy != all[i-1].Policy {
			if i > 0 {
				end()
			}
			row, best, worst = table.Row{one.Policy}, one, one
		}
		row = append(row, fmt.Sprintf("%.2f", one.Ratio))
		if one.Best < best.Best {
			best = one
		}
		if one.Worst > worst.Worst {
			worst = one
		}
	}
	end()
	t.AppendHeader(append(head, "best", "worst"))
	t.right(2, len(head))
	t.print(markdown)
	fmt.Fprintln(out, "\nThe time over that of today's policy, by workers: less than 1 is better.")
}
