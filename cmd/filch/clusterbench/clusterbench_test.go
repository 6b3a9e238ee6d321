package clusterbench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/filch-go/filch/internal/thorough"
)

// nodeEnv makes this program a node.
const nodeEnv = "FILCH_CLUSTERBENCH_NODE"

func TestMain(m *testing.M) {
	if os.Getenv(nodeEnv) == "" {
		os.Exit(m.Run())
	}
	if err := RunNode(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func node(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), nodeEnv+"=1")
	cmd.Stderr = os.Stderr
	return cmd
}

// soon returns a context that ends before the test does.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestAllSystemsRunAllTasks(t *testing.T) {
	servers := []Servers{Embedded, EmbeddedSynced}
	steps := 0
	o := Options{Servers: servers, Places: []int{1, 4}, Tasks: 100, Runs: 1, Step: func(string) { steps++ }}
	all, err := Rates(soon(t), o)
	if err != nil {
		t.Fatal("Rates:", err)
	}
	if steps != o.Steps() || len(all) != 2*2*2*len(servers) {
		t.Errorf("%d steps of %d, %d figures", steps, o.Steps(), len(all))
	}
	for _, r := range all {
		if len(r.Times) != 1 || r.Times[0] <= 0 {
			t.Errorf("%s %s: %v", r.Name(), r.System, r.Times)
		}
	}
}

func TestRatesAreMeasuredOnThreeServers(t *testing.T) {
	thorough.Only(t, "starts servers, and measures")
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	o := Options{Servers: []Servers{Three}, Places: []int{4}, Tasks: 100, Step: func(string) {}} // only what warms up
	if _, err := Rates(soon(t), o); err != nil {
		t.Fatal("Rates:", err)
	}
}

func TestPercentilesOfLatenciesAreInOrder(t *testing.T) {
	l, err := Latencies(soon(t), Embedded, 5)
	if err != nil || l.P50 <= 0 || l.P99 < l.P50 {
		t.Error(l, err)
	}
}

func TestEachLocalWayIsMeasuredAsOftenAsAsked(t *testing.T) {
	l, err := Locals(soon(t), 2, 10)
	if err != nil || len(l.Go) != 2 || len(l.Submit) != 2 || len(l.Node) != 2 {
		t.Error(l, err)
	}
}

func TestAKilledProcessLosesNoTask(t *testing.T) {
	f, err := Failovers(soon(t), node, 1)
	if err != nil || len(f.Took) != 1 || f.Took[0] <= 0 {
		t.Error(f, err)
	}
}

func TestEfficienciesAreFromNoneToAll(t *testing.T) {
	e, err := Efficient(soon(t), node, 2, 2, []time.Duration{50 * time.Millisecond}, func(string) {})
	if err != nil {
		t.Fatal("Efficient:", err)
	}
	if len(e.Rows) != 1 || e.Rows[0].Measured <= 0 || e.Rows[0].Measured > 1 || e.Rows[0].Predicted <= 0 || e.Rows[0].Predicted > 1 {
		t.Errorf("%+v", e)
	}
}

func TestANodeThatCannotStart(t *testing.T) {
	for _, args := range [][]string{nil, {"nats://127.0.0.1:1", "a", "0"}, {"nats://127.0.0.1:1", "a", "x"}, {"nats://127.0.0.1:1", "a", "1"}} {
		if err := RunNode(soon(t), args, nil, nil); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
