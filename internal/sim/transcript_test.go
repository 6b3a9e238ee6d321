package sim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
	"github.com/filch-go/filch/internal/sim/kernel"
)

var update = flag.Bool("update", false, "write the transcripts into testdata/transcripts, instead of comparing them")

// transcripts are runs whose events are in testdata/transcripts, each in a file of that name.
var transcripts = map[string]Config{
	"abp-none-robin":       {Program: dag.Fib(3), Scheduler: "abp", Workers: 3, Seed: 1, Yield: "none", Kernel: &kernel.Kernel{Name: "robin", Processors: 2, Steps: 3}},
	"abp-random-robin":     {Program: dag.Fib(3), Scheduler: "abp", Workers: 3, Seed: 1, Yield: "random", Kernel: &kernel.Kernel{Name: "robin", Processors: 2, Steps: 3}},
	"abp-all-adversary":    {Program: dag.Fib(3), Scheduler: "abp", Workers: 3, Seed: 1, Yield: "all", Kernel: &kernel.Kernel{Name: "adversary", Steps: 50}},
	"bws-shared":           {Program: dag.Fib(4), Scheduler: "bws", Workers: 4, Seed: 1, Kernel: &kernel.Kernel{Name: "shared", Steps: 7}},
	"churn-lost":           {Program: dag.Fib(4), Scheduler: "child", Workers: 3, Seed: 1, Churn: &Churn{Changes: []Change{{4, 1}, {9, 1}, {11, 2}}}},
	"churn-hands":          {Program: dag.Fib(4), Scheduler: "child", Workers: 3, Seed: 1, Churn: &Churn{Hands: true, Changes: []Change{{4, 1}, {9, 1}, {11, 2}}}},
	"bws":                  {Program: late{30, 8}, Scheduler: "bws", Workers: 4, Seed: 1},
	"child":                {Program: dag.Fib(5), Scheduler: "child", Workers: 3, Seed: 1},
	"continuation":         {Program: dag.Fib(5), Scheduler: "continuation", Workers: 3, Seed: 1},
	"continuation-latency": {Program: dag.Fib(5), Scheduler: "continuation", Workers: 3, Seed: 1, Topology: Topology{{2, 3}, {2, 0}}},
	"pool":                 {Program: uneven{dag.Fib(6)}, Scheduler: "pool", Workers: 3, Seed: 1, StepTime: 20_000, Tuning: Tuning{Stealing: "localized"}},
	"pool-robin":           {Program: dag.Fib(6), Scheduler: "pool", Workers: 3, Seed: 1, StepTime: 20_000, Tuning: Tuning{YieldFirst: true}, Kernel: &kernel.Kernel{Name: "robin", Processors: 2, Steps: 3}},
	"sharing":              {Program: dag.Fib(5), Scheduler: "sharing", Workers: 3, Seed: 1},
	"central":              {Program: dag.Fib(5), Scheduler: "central", Workers: 3},
	"central-lock":         {Program: dag.Loop(5), Scheduler: "central", Workers: 3, CentralCost: 2},
	"pdf":                  {Program: dag.Fib(5), Scheduler: "pdf", Workers: 3},
	"localized":            {Program: dag.Fib(6), Scheduler: "localized", Workers: 3, Seed: 1},
	"mailbox":              {Program: dag.Iterative{Rounds: 3, Blocks: 4}, Scheduler: "mailbox", Workers: 3, Seed: 1},
	"half":                 {Program: dag.Loop(9), Scheduler: "half", Workers: 3, Seed: 1, StealCost: 3},
	"ordered":              {Program: dag.Loop(9), Scheduler: "ordered", Workers: 3, Seed: 1, StealCost: 3},
	"ordered-depth":        {Program: dag.Fib(5), Scheduler: "ordered", Workers: 3, Seed: 1, Priority: PriorityDepth},
	"hierarchical":         {Program: dag.Loop(9), Scheduler: "hierarchical", Workers: 4, Seed: 1, Inside: 2, Topology: Topology{{2, 2}, {2, 0}}},
}

func TestTranscripts(t *testing.T) {
	for name, c := range transcripts {
		file := filepath.Join("testdata", "transcripts", name+".txt")
		got := transcript(t, c)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Error("os.WriteFile(file, []byte(got), 0o666):", err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s: %v; go test -run Transcripts -update . writes what is told now:\n%s", file, err, got)
		}
	}
}

// transcript runs c, and returns a line for each event. Threads are numbered as they are spawned.
func transcript(t *testing.T, c Config) string {
	var out strings.Builder
	threads := map[uint64]int{}
	c.Tell = func(e Event) {
		if _, again := threads[e.Thread]; e.Kind == Spawned && !again {
			threads[e.Thread] = len(threads)
		}
		fmt.Fprintf(&out, "%3d  worker %d %s\n", e.Time, e.Worker, phrase(e, threads[e.Thread]))
	}
	r := run(t, c)
	fmt.Fprintf(&out, "T1 %d, Tinf %d, time %d, idle %d, PA %.2f, preempted %d, asleep %d, absent %d, repeated %d, wasted %d\n",
		r.T1, r.Tinf, r.Time, r.Idle, r.PA, r.Preempted, r.Asleep, r.Absent, r.Repeated, r.Wasted)
	return out.String()
}

// phrase says what has happened in e, to the thread of that number.
func phrase(e Event, thread int) string {
	switch e.Kind {
	case Began:
		return fmt.Sprintf("begins a node of thread %d", thread)
	case Ended:
		return fmt.Sprintf("ends a node of thread %d", thread)
	case Spawned:
		return fmt.Sprintf("spawns thread %d", thread)
	case Enabled:
		return fmt.Sprintf("enables thread %d", thread)
	case Attempted:
		return fmt.Sprintf("finds nothing at worker %d", e.Other)
	case Stole:
		return fmt.Sprintf("steals thread %d from worker %d", thread, e.Other)
	case Scheduled:
		if e.Other != e.Worker {
			return fmt.Sprintf("gets the processor of worker %d", e.Other)
		}
		return "gets its processor"
	case Preempted:
		return "loses its processor"
	case Yielded:
		if e.Other == all {
			return "yields to all others"
		}
		return fmt.Sprintf("yields to worker %d", e.Other)
	case Slept:
		return "sleeps"
	case Woken:
		return fmt.Sprintf("wakes worker %d", e.Other)
	case Left:
		return "leaves"
	case Joined:
		return "joins"
	case Lost:
		return fmt.Sprintf("loses thread %d", thread)
	}
	return fmt.Sprintf("does %d", e.Kind)
}
