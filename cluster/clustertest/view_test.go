package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// letters returns the dead letters of a handler.
func letters(t testing.TB, n *cluster.Node, handler string) (all []cluster.DeadLetter) {
	t.Helper()
	for l, err := range n.Dead(t.Context(), handler) {
		if err != nil {
			t.Fatal("Dead:", err)
		}
		all = append(all, l)
	}
	return all
}

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
			t.Error(err)
		}
	}
	eventually(t, "the counts are told", func() bool {
		all, err := nodes[2].Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(n cluster.NodeInfo) bool { return n.Name == "n0" })
		return i >= 0 && all[i].From["n1"] == 4 && all[i].From["n2"] == 7 && len(all[i].From) == 2
	})
}

func TestQueues(t *testing.T) {
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

func TestDeadLettersAreListedPutBackAndRemoved(t *testing.T) {
	nodes, _ := share(t, places(2), places(0))
	broken := true
	h := cluster.Handle(nodes[0], "mend", func(ctx context.Context, s string) (int, error) {
		info, _ := cluster.TaskOf(ctx)
		if broken {
			return 0, fmt.Errorf("%s is broken", s)
		}
		return info.Attempt, nil
	}, cluster.WithRetry(cluster.Retry{Attempts: 2, First: time.Millisecond}), cluster.WithKeys(2))
	cluster.Handle(nodes[0], "other", func(context.Context, int) (int, error) { return 0, cluster.Permanent(errors.New("no")) }, cluster.WithVersion("2"))
	for _, id := range []string{"a", "b", "c"} {
		f, err := h.Submit(t.Context(), id, cluster.ID(id), cluster.Key("k"))
		if _, err := wait(t, f, err); err == nil {
			t.Error("no error")
		}
	}
	f, err := cluster.Submit[int, int](t.Context(), nodes[1], "other", 7, cluster.ID("d"), cluster.OfVersion("2"))
	if _, err := wait(t, f, err); err == nil {
		t.Error("no error")
	}

	all := letters(t, nodes[1], "")
	if len(all) != 4 {
		t.Fatalf("%+v", all)
	}
	if l := all[0]; l.ID != "a" || l.Handler != "mend" || l.Reason != "a is broken" || l.Attempts != 2 || l.Node != "n0" || l.From != "n0" || l.Key != "k" || l.At.IsZero() || l.Codec != "json" || string(l.Argument) != `"a"` {
		t.Errorf("%+v", l)
	}
	if one := letters(t, nodes[1], "other@2"); len(one) != 1 || one[0].ID != "d" || one[0].Handler != "other@2" {
		t.Errorf("%+v", one)
	}

	// One that is canceled after it has failed runs all the same when it is put back.
	if err := nodes[1].Cancel(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	broken = false
	if err := nodes[1].Requeue(t.Context(), "a", "nothing", "b"); !errors.Is(err, cluster.ErrNoDeadLetter) || !strings.HasSuffix(err.Error(), ": nothing") {
		t.Error(err)
	}
	if err := nodes[1].Requeue(t.Context(), "a"); !errors.Is(err, cluster.ErrNoDeadLetter) {
		t.Error("a second time:", err)
	}
	for _, id := range []string{"a", "b"} {
		eventually(t, id+" is done", func() bool { return show(t, nodes[1], id).State == cluster.StateDone })
		if info := show(t, nodes[1], id); string(info.Result) != "1" || info.Attempts != 1 {
			t.Errorf("%+v", info)
		}
	}
	if err := nodes[1].DeleteDead(t.Context(), "c", "d"); err != nil {
		t.Error(err)
	}
	if all := letters(t, nodes[1], ""); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if info := show(t, nodes[1], "c"); info.State != cluster.StateFailed || info.Error != "c is broken" {
		t.Errorf("%+v", info)
	}
}

// Each dead letter counts for its handler until it is removed.
func TestDeadLettersAreCounted(t *testing.T) {
	nodes, js := share(t, places(2), places(0))
	fail := func(context.Context, int) (int, error) { return 0, cluster.Permanent(errors.New("no")) }
	cluster.Handle(nodes[0], "a", fail)
	cluster.Handle(nodes[0], "b", fail, cluster.WithVersion("2"))
	until(t, js, "a_p1", known)
	until(t, js, "b@2_p1", known)
	submit := func(handler, id string, opts ...cluster.SubmitOption) {
		t.Helper()
		f, err := cluster.Submit[int, int](t.Context(), nodes[1], handler, 7, append(opts, cluster.ID(id))...)
		if _, err := wait(t, f, err); err == nil {
			t.Error("no error")
		}
	}
	counts := func(want map[string]int) {
		t.Helper()
		for range 2 { // the second time nothing has changed
			if got, err := nodes[1].DeadCounts(t.Context()); err != nil || !maps.Equal(got, want) {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		}
	}
	counts(map[string]int{})
	submit("a", "one")
	submit("a", "two")
	submit("b", "three", cluster.OfVersion("2"))
	counts(map[string]int{"a": 2, "b@2": 1})
	if err := nodes[0].DeleteDead(t.Context(), "one", "three"); err != nil {
		t.Fatal(err)
	}
	counts(map[string]int{"a": 1})
	submit("a", "four")
	counts(map[string]int{"a": 2})
}

// A task that is put back from the dead letters begins anew: nothing is noted of its attempts.
func TestWhatIsPutBackBeginsAnew(t *testing.T) {
	nodes, _ := share(t, places(1), places(0))
	h := cluster.Handle(nodes[0], "fail", func(context.Context, int) (int, error) { return 0, errors.New("no") },
		cluster.WithRetry(cluster.Retry{Attempts: 2, First: time.Millisecond}))
	f, err := h.Submit(t.Context(), 0, cluster.ID("a"))
	if _, err := wait(t, f, err); err == nil {
		t.Fatal("no error")
	}
	if err := nodes[0].Pause(t.Context(), "fail"); err != nil {
		t.Fatal(err)
	}
	if err := nodes[1].Requeue(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if i := show(t, nodes[1], "a"); i.State != cluster.StateWaiting || i.Error != "" || i.Attempts != 0 {
		t.Errorf("%+v", i)
	}
}

// A Requeue that ended after it had put the task back, and before it removed the letter, is called again.
func TestRequeueTwice(t *testing.T) {
	nodes, js := share(t, places(1))
	var ran int
	h := cluster.Handle(nodes[0], "once", func(context.Context, int) (int, error) {
		if ran++; ran == 1 {
			return 0, cluster.Permanent(errors.New("no"))
		}
		return ran, nil
	})
	f, err := h.Submit(t.Context(), 0, cluster.ID("a"))
	if _, err := wait(t, f, err); err == nil {
		t.Fatal("no error")
	}
	s, err := js.Stream(t.Context(), "filch_dead")
	if err != nil {
		t.Fatal(err)
	}
	letter, err := s.GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := nodes[0].Requeue(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has run", func() bool { return show(t, nodes[0], "a").State == cluster.StateDone })
	letter.Header.Del(nats.MsgIdHdr)
	if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: letter.Subject, Header: letter.Header, Data: letter.Data}); err != nil {
		t.Fatal(err)
	}
	if err := nodes[0].Requeue(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if len(letters(t, nodes[0], "")) != 0 || ran != 2 || nodes[0].Stats().Done != 1 {
		t.Error("ran", ran)
	}
}

// A message that could not be read gets its own ID again.
func TestAnUnreadableMessageIsPutBackAsItWas(t *testing.T) {
	nodes, js := share(t, places(1))
	cluster.Handle(nodes[0], "double", double)
	m := &nats.Msg{Subject: "filch.work.double.p1", Header: nats.Header{"Filch-Version": {"99"}, "Filch-Id": {"mine"}, "Filch-Codec": {"json"}}, Data: []byte("3")}
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is a dead letter", func() bool { return len(letters(t, nodes[0], "double")) == 1 })
	if err := nodes[0].Pause(t.Context(), "double"); err != nil {
		t.Fatal(err)
	}
	if err := nodes[0].Requeue(t.Context(), letters(t, nodes[0], "")[0].ID); err != nil {
		t.Fatal(err)
	}
	if info := show(t, nodes[0], "mine"); info.State != cluster.StateWaiting || string(info.Argument) != "3" {
		t.Errorf("%+v", info)
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	release := make(chan struct{})
	began := make(chan string, 1)
	cluster.Handle(nodes[0], "block", blocker(began, release))
	cluster.Handle(nodes[0], "fail", func(context.Context, int) (int, error) { return 0, errors.New("not yet") }, cluster.WithRetry(cluster.Retry{First: time.Hour, Most: time.Hour}))
	until(t, js, "fail_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	until(t, js, "block_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	if _, err := nodes[1].Show(t.Context(), "none"); !errors.Is(err, cluster.ErrUnknownTask) {
		t.Error(err)
	}
	if _, err := nodes[1].Show(t.Context(), "no\tname"); err == nil || !strings.Contains(err.Error(), "the ID") {
		t.Error(err)
	}

	if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "fail", 1, cluster.ID("again")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is tried again", func() bool { return show(t, nodes[1], "again").State == cluster.StateRetry })
	if i := show(t, nodes[1], "again"); i.Error != "not yet" || i.Attempts != 1 || i.Node != "n0" || i.Handler != "fail" || i.From != "n1" || string(i.Argument) != "1" {
		t.Errorf("%+v", i)
	}

	_, err := cluster.Submit[int, int](t.Context(), nodes[1], "fail", 2, cluster.ID("tomorrow"), cluster.Delay(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if i := show(t, nodes[1], "tomorrow"); i.ID != "tomorrow" || i.State != cluster.StateDelayed || i.Handler != "fail" || i.From != "n1" || string(i.Argument) != "2" || i.Stored.IsZero() {
		t.Errorf("%+v", i)
	}
	if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "fail", 3, cluster.ID("then"), cluster.After(cluster.TaskID("tomorrow"))); err != nil {
		t.Fatal(err)
	}
	if i := show(t, nodes[1], "then"); i.ID != "then" || i.State != cluster.StateAfter || i.Handler != "fail" || i.From != "n1" || string(i.Argument) != "3" {
		t.Errorf("%+v", i)
	}

	var futures []*cluster.Future[string]
	for _, id := range []string{"first", "second", "third"} {
		f, err := cluster.Submit[string, string](t.Context(), nodes[1], "block", id, cluster.ID(id))
		if err != nil {
			t.Fatal(err)
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
			t.Error(err)
		}
	}
	if i := show(t, nodes[1], "first"); i.State != cluster.StateDone || string(i.Result) != `"first"` || i.Codec != "json" || i.Node != "n0" {
		t.Errorf("%+v", i)
	}
}

func TestAClosedNodeSaysSo(t *testing.T) {
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
