package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

func show(t testing.TB, n *cluster.Node, id string) cluster.TaskInfo {
	t.Helper()
	info, err := n.Show(t.Context(), id)
	if err != nil {
		t.Fatal("Show:", err)
	}
	return info
}

// blocker is a handler that waits.
func blocker(began chan<- string, release <-chan struct{}) func(context.Context, string) (string, error) {
	return func(ctx context.Context, s string) (string, error) {
		if began != nil {
			began <- s
		}
		filch.Blocking(ctx, func() {
			select {
			case <-release:
			case <-ctx.Done():
			}
		})
		return s, ctx.Err()
	}
}

func TestNodesAreListed(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(2), append(places(3), cluster.WithTier(4)), places(0), places(0))
	for _, n := range nodes[:2] {
		cluster.Handle(n, "double", double)
	}
	cluster.Handle(nodes[1], "double", double, cluster.WithVersion("2"))
	list := func() (all []cluster.NodeInfo) {
		all, err := nodes[3].Nodes(t.Context())
		if err != nil {
			t.Fatal("Nodes:", err)
		}
		return all
	}
	eventually(t, "two nodes are listed", func() bool { return len(list()) == 2 && len(list()[1].Handlers) == 2 })
	all := list()
	if a, b := all[0], all[1]; a.Name != "n0" || a.Places != 2 || b.Name != "n1" || b.Tier != 4 || b.Host == "" || b.PID == 0 || b.Opened.IsZero() || b.Seen.Before(b.Opened) || fmt.Sprint(b.Handlers) != "[double double@2]" {
		t.Errorf("%+v", all)
	}
	closeNode(t, nodes[0])
	if all := list(); len(all) != 1 || all[0].Name != "n1" {
		t.Errorf("after a node has left: %+v", all)
	}
}

func TestNodesTellFromWhomTheyGotTasks(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(2), places(0), places(0))
	cluster.Handle(nodes[0], "double", double)
	for i, n := range nodes[1:] {
		for range 3 * (i + 1) {
			eventually(t, "the handler is known", func() bool {
				_, err := cluster.Submit[int, int](t.Context(), n, "double", 1, cluster.NoResult())
				return err == nil
			})
		}
		f, err := cluster.Submit[int, int](t.Context(), n, "double", 1)
		if _, err := wait(t, f, err); err != nil {
			t.Error("wait:", err)
		}
	}
	eventually(t, "the counts are told", func() bool {
		all, err := nodes[2].Nodes(t.Context())
		if err != nil {
			t.Fatal("nodes:", err)
		}
		i := slices.IndexFunc(all, func(n cluster.NodeInfo) bool { return n.Name == "n0" })
		return i >= 0 && all[i].From["n1"] == 4 && all[i].From["n2"] == 7 && len(all[i].From) == 2
	})
}

func TestQueuesHasAllLanes(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	release := make(chan struct{})
	defer close(release)
	began := make(chan string, 3)
	cluster.Handle(nodes[0], "block", blocker(began, release))
	cluster.Handle(nodes[0], "keyed", double, cluster.WithKeys(12))
	for range 3 {
		eventually(t, "the lane is there", func() bool {
			_, err := cluster.Submit[string, string](t.Context(), nodes[1], "block", "x")
			return err == nil
		})
	}
	<-began
	until(t, js, "keyed_k11", func(*jetstream.ConsumerInfo) bool { return true })
	queues := func() []cluster.Queue {
		all, err := nodes[1].Queues(t.Context())
		if err != nil {
			t.Fatal("Queues:", err)
		}
		return all
	}
	eventually(t, "all lanes are there", func() bool { return len(queues()) == 18 })
	all := queues()
	var titles []string
	for _, q := range all {
		titles = append(titles, q.Handler+"/"+q.Lane)
	}
	want := "block/high block/normal block/low keyed/high keyed/normal keyed/low keyed/0 keyed/1 keyed/2 keyed/3 keyed/4 keyed/5 keyed/6 keyed/7 keyed/8 keyed/9 keyed/10 keyed/11"
	if got := strings.Join(titles, " "); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if q := all[1]; q.Taken+q.Waiting != 3 || q.Waiting == 0 || q.Taken == 0 || q.Oldest <= 0 || q.Paused {
		t.Errorf("%+v", q)
	}
	if q := all[0]; q.Waiting != 0 || q.Oldest != 0 {
		t.Errorf("%+v", q)
	}
}

func TestShowTellsTheStateOfATask(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	release := make(chan struct{})
	began := make(chan string, 1)
	cluster.Handle(nodes[0], "block", blocker(began, release))
	cluster.Handle(nodes[0], "fail", func(context.Context, int) (int, error) { return 0, errors.New("not yet") }, cluster.WithRetry(cluster.Retry{First: time.Hour, Most: time.Hour}))
	until(t, js, "fail_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	until(t, js, "block_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	if _, err := nodes[1].Show(t.Context(), "none"); !errors.Is(err, cluster.ErrUnknownTask) {
		t.Error("nodes:", err)
	}
	if _, err := nodes[1].Show(t.Context(), "no\tname"); err == nil || !strings.Contains(err.Error(), "the ID") {
		t.Error("nodes:", err)
	}

	if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "fail", 1, cluster.ID("again")); err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	eventually(t, "it is tried again", func() bool { return show(t, nodes[1], "again").State == cluster.StateRetry })
	if i := show(t, nodes[1], "again"); i.Error != "not yet" || i.Attempts != 1 || i.Node != "n0" || i.Handler != "fail" || i.From != "n1" || string(i.Argument) != "1" {
		t.Errorf("%+v", i)
	}

	_, err := cluster.Submit[int, int](t.Context(), nodes[1], "fail", 2, cluster.ID("tomorrow"), cluster.Delay(24*time.Hour))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	if i := show(t, nodes[1], "tomorrow"); i.ID != "tomorrow" || i.State != cluster.StateDelayed || i.Handler != "fail" || i.From != "n1" || string(i.Argument) != "2" || i.Stored.IsZero() {
		t.Errorf("%+v", i)
	}
	if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "fail", 3, cluster.ID("then"), cluster.After(cluster.TaskID("tomorrow"))); err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	if i := show(t, nodes[1], "then"); i.ID != "then" || i.State != cluster.StateAfter || i.Handler != "fail" || i.From != "n1" || string(i.Argument) != "3" {
		t.Errorf("%+v", i)
	}

	var futures []*cluster.Future[string]
	for _, id := range []string{"first", "second", "third"} {
		f, err := cluster.Submit[string, string](t.Context(), nodes[1], "block", id, cluster.ID(id))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		futures = append(futures, f)
		if id == "first" {
			<-began
		}
	}
	if i := show(t, nodes[1], "first"); i.State != cluster.StateRunning || i.Node != "n0" || i.Attempts != 1 || i.Handler != "block" || i.From != "n1" || i.Stored.IsZero() {
		t.Errorf("%+v", i)
	}
	if i := show(t, nodes[1], "third"); i.State != cluster.StateWaiting || i.Handler != "block" || string(i.Argument) != `"third"` {
		t.Errorf("%+v", i)
	}
	futures[2].Cancel()
	wait(t, futures[2], nil)
	if i := show(t, nodes[1], "third"); i.State != cluster.StateCanceled {
		t.Errorf("%+v", i)
	}
	go func() { <-began }()
	close(release)
	for _, f := range futures[:2] {
		if _, err := wait(t, f, nil); err != nil {
			t.Error("wait:", err)
		}
	}
	if i := show(t, nodes[1], "first"); i.State != cluster.StateDone || string(i.Result) != `"first"` || i.Codec != "json" || i.Node != "n0" {
		t.Errorf("%+v", i)
	}
}

func TestAClosedNodeSaysSo(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(0))
	n := nodes[0]
	b := batchOf(t, n)
	closeNode(t, n)
	_, batchErr := cluster.NewBatch(t.Context(), n)
	_, closeErr := b.Close(t.Context())
	_, countsErr := b.Counts(t.Context())
	_, jobsErr := n.CronJobs(t.Context())
	_, attachErr := cluster.Attach[int](t.Context(), n, "a")
	_, submitErr := cluster.Submit[int, int](t.Context(), n, "a", 1)
	_, mapErr := cluster.MapReduce(t.Context(), n, "a", numbers(1), func(a, _ int) int { return a })
	_, nodesErr := n.Nodes(t.Context())
	_, queuesErr := n.Queues(t.Context())
	_, showErr := n.Show(t.Context(), "a")
	_, deadCountsErr := n.DeadCounts(t.Context())
	var deadErr error
	for _, deadErr = range n.Dead(t.Context(), "") {
	}
	for what, err := range map[string]error{
		"Nodes": nodesErr, "Queues": queuesErr, "Show": showErr, "DeadCounts": deadCountsErr, "Dead": deadErr, "Requeue": n.Requeue(t.Context(), "a"),
		"DeleteDead": n.DeleteDead(t.Context(), "a"), "Pause": n.Pause(t.Context(), "a"), "Resume": n.Resume(t.Context(), "a"),
		"Cancel": n.Cancel(t.Context(), "a"), "Cron": n.Cron(t.Context(), "a", "@daily", "a", 1), "RemoveCron": n.RemoveCron(t.Context(), "a"),
		"CronJobs": jobsErr, "NewBatch": batchErr, "Close of a batch": closeErr, "Counts of a batch": countsErr, "Attach": attachErr,
		"Submit": submitErr, "MapReduce": mapErr,
	} {
		if !errors.Is(err, cluster.ErrClosed) {
			t.Error(what, err)
		}
	}
}
