package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// roleOf is the role of each user.
var roleOf = map[string]cluster.Role{"submitter": cluster.Submitter, "victim": cluster.Submitter, "worker": cluster.Worker, "other": cluster.Worker, "operator": cluster.Operator}

// users returns the configuration of a server with the users of roleOf, and a stranger, who may use its inbox only.
func users(t *testing.T) string {
	var b strings.Builder
	b.WriteString("authorization { users: [\n")
	for name, role := range roleOf {
		p, err := cluster.PermissionsOf(role, "filch", name, "_INBOX_"+name)
		if err != nil {
			t.Fatal("cluster.PermissionsOf:", err)
		}
		fmt.Fprintf(&b, "{ user: %s, password: secret, permissions: %s }\n", name, p)
	}
	b.WriteString("{ user: stranger, password: secret, permissions: { publish: [\"_INBOX_stranger.>\"], subscribe: [\"_INBOX_stranger.>\"] } }\n] }\n")
	return b.String()
}

// as are the options of a connection of a user.
func as(user string) []nats.Option {
	return []nats.Option{nats.UserInfo(user, "secret"), nats.CustomInboxPrefix("_INBOX_" + user), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}
}

// openAs opens a node of a user, by the user's name.
func openAs(t *testing.T, url, user string, opts ...cluster.Option) *cluster.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	n, err := cluster.Open(ctx, append([]cluster.Option{cluster.WithURL(url, as(user)...), cluster.WithNode(user)}, opts...)...)
	if err != nil {
		t.Fatal(user, err)
	}
	t.Cleanup(func() { closeNode(t, n) })
	return n
}

// violations returns what a server has logged of what was not permitted.
func violations(t *testing.T, dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, "server0.log"))
	if err != nil {
		t.Fatal("os.ReadFile:", err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, "Violation") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// attempts are what a hostile client may try: to publish to a subject, or to subscribe to one.
var attempts = []struct {
	what      string
	publish   string
	subscribe string
	allowed   []string // to whom
}{
	{what: "submit", publish: "filch.work.double.p1", allowed: []string{"submitter", "worker", "operator"}},
	{what: "delay a task", publish: "filch.later.x", allowed: []string{"submitter", "worker", "operator"}},
	{what: "make a cron job", publish: "filch.cron.x", allowed: []string{"worker", "operator"}},
	{what: "put a task where it is due", publish: "filch.due.double.p1"},
	{what: "list another node", publish: "$KV.filch_nodes.somebody"},
	{what: "remove what is delayed", publish: "$JS.API.STREAM.PURGE.filch_later", allowed: []string{"worker", "operator"}},
	{what: "tell nodes of a handler that it is not paused", publish: "filch.resumed", allowed: []string{"operator"}},
	{what: "list all streams", publish: "$JS.API.STREAM.LIST"},
	{what: "ask what nodes run", publish: "filch.who", allowed: []string{"operator"}},
	{what: "answer for nodes", subscribe: "filch.who", allowed: []string{"worker", "operator"}},
	{what: "free a unique key", publish: "$JS.API.STREAM.PURGE.KV_filch_unique", allowed: []string{"worker", "operator"}},
	{what: "take a unique key", publish: "$KV.filch_unique.x", allowed: []string{"worker", "operator"}},
	{what: "read who has a unique key", publish: "$JS.API.DIRECT.GET.KV_filch_unique.$KV.filch_unique.x", allowed: []string{"worker", "operator"}},
	{what: "ask for a unique key", publish: "filch.claim", allowed: []string{"submitter", "worker", "operator"}},
	{what: "hear who asks for unique keys", subscribe: "filch.claim", allowed: []string{"worker", "operator"}},
	{what: "read a task that waits", publish: "$JS.API.DIRECT.GET.KV_filch_after.$KV.filch_after.task.x", allowed: []string{"worker", "operator"}},
	{what: "read many keys of tasks that wait", publish: "$JS.API.DIRECT.GET.KV_filch_after"},
	{what: "make a consumer of tasks that wait", publish: "$JS.API.CONSUMER.CREATE.KV_filch_after.mine.>", allowed: []string{"worker", "operator"}},
	{what: "cancel", publish: "$KV.filch_control.x", allowed: []string{"submitter", "worker", "operator"}},
	{what: "read a result", publish: "$JS.API.DIRECT.GET.KV_filch_results.$KV.filch_results.x", allowed: []string{"submitter", "worker", "operator"}},
	{what: "list tasks", publish: "$JS.API.STREAM.INFO.filch_work", allowed: []string{"submitter", "worker", "operator"}},
	{what: "forge an outcome", publish: "$KV.filch_results.x", allowed: []string{"worker", "operator"}},
	{what: "forge the news of an outcome", publish: "filch.done.submitter", allowed: []string{"worker", "operator"}},
	{what: "forge a dead letter", publish: "filch.dead.double", allowed: []string{"worker", "operator"}},
	{what: "forge attempts", publish: "$KV.filch_tries.x", allowed: []string{"worker", "operator"}},
	{what: "fetch a task", publish: "$JS.API.CONSUMER.MSG.NEXT.filch_work.double_p1", allowed: []string{"worker", "operator"}},
	{what: "acknowledge a task", publish: "$JS.ACK.filch_work.double_p1.1.1.1.1.1", allowed: []string{"worker", "operator"}},
	{what: "make a consumer of tasks", publish: "$JS.API.CONSUMER.CREATE.filch_work.mine", allowed: []string{"worker", "operator"}},
	{what: "read a dead letter", publish: "$JS.API.STREAM.MSG.GET.filch_dead", allowed: []string{"operator"}},
	{what: "make a consumer of dead letters", publish: "$JS.API.CONSUMER.CREATE.filch_dead.mine", allowed: []string{"operator"}},
	{what: "make a consumer of outcomes", publish: "$JS.API.CONSUMER.CREATE.KV_filch_results.mine", allowed: []string{"operator"}},
	{what: "read a task from the stream", publish: "$JS.API.STREAM.MSG.GET.filch_work", allowed: []string{"worker", "operator"}},
	{what: "read many tasks from the stream", publish: "$JS.API.DIRECT.GET.filch_work", allowed: []string{"worker", "operator"}},
	{what: "purge the tasks", publish: "$JS.API.STREAM.PURGE.filch_work", allowed: []string{"operator"}},
	{what: "delete the stream", publish: "$JS.API.STREAM.DELETE.filch_work", allowed: []string{"operator"}},
	{what: "make a stream that copies", publish: "$JS.API.STREAM.CREATE.mine"},
	{what: "see tasks as they are stored", subscribe: "filch.work.>"},
	{what: "see outcomes as they are stored", subscribe: "$KV.filch_results.>"},
	{what: "see what others are told", subscribe: "filch.done.*"},
	{what: "see what one other is told", subscribe: "filch.done.somebody"},
	{what: "see the answers to others", subscribe: "_INBOX_other.>"},
	{what: "see all", subscribe: ">"},
}

func TestWithoutPermissionNothingIsPossible(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t, clustertest.WithConfig(users(t)))
	openAs(t, s.URL(), "operator", cluster.WithPlaces(0))
	for _, user := range []string{"stranger", "submitter", "worker", "operator"} {
		for _, a := range attempts {
			nc, err := nats.Connect(s.URL(), as(user)...)
			if err != nil {
				t.Fatal("nats.Connect:", err)
			}
			if a.publish != "" {
				err = nc.Publish(a.publish, nil)
			} else {
				_, err = nc.SubscribeSync(a.subscribe)
			}
			if err == nil {
				err = nc.FlushTimeout(10 * time.Second)
			}
			if err != nil {
				t.Fatal("nc.FlushTimeout:", err)
			}
			denied := errors.Is(nc.LastError(), nats.ErrPermissionViolation)
			if allowed := strings.Contains(strings.Join(a.allowed, " "), user); denied == allowed {
				t.Errorf("%s may %s: %v", user, a.what, !denied)
			}
			nc.Close()
		}
	}
}

// What is not permitted is said by name, and without an end of the context.
func TestAMissingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t, clustertest.WithConfig(users(t)))
	open := func(user string, opts ...cluster.Option) (*cluster.Node, error) {
		n, err := cluster.Open(t.Context(), append([]cluster.Option{cluster.WithURL(s.URL(), as(user)...), cluster.WithNode(user), cluster.WithPlaces(0)}, opts...)...)
		if err == nil {
			t.Cleanup(func() { closeNode(t, n) })
		}
		return n, err
	}
	denied := func(err error, subject string) {
		t.Helper()
		if !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), subject) {
			t.Errorf("%v does not name %s", err, subject)
		}
	}
	_, err := open("worker")
	denied(err, "$JS.API.STREAM.CREATE.filch_work")
	if _, err := open("operator"); err != nil {
		t.Fatal("open:", err)
	}
	_, err = open("stranger")
	denied(err, "$JS.API.STREAM.INFO.filch_work")
	_, err = open("submitter", cluster.WithNode("other"))
	denied(err, "filch.done.other")
	_, err = open("submitter", cluster.WithURL(s.URL(), nats.UserInfo("submitter", "secret")))
	denied(err, "nats.CustomInboxPrefix")
	n, err := cluster.Open(t.Context(), cluster.WithURL(s.URL(), as("submitter")...), cluster.WithNode("submitter"), cluster.WithPlaces(1))
	if err == nil {
		closeNode(t, n)
	}
	denied(err, "$JS.API.CONSUMER.CREATE.KV_filch_control")
	if n, err = open("submitter"); err != nil {
		t.Fatal("open:", err)
	}
	denied(n.RemoveCron(t.Context(), "job"), "$JS.API.STREAM.PURGE.filch_later")
	_, err = cluster.NewBatch(t.Context(), n)
	denied(err, "$KV.filch_batches.")
	if _, err := cluster.Open(t.Context(), cluster.WithURL(s.URL(), nats.UserInfo("worker", "wrong"))); !errors.Is(err, nats.ErrAuthorization) {
		t.Error("cluster.Open:", err)
	}
	for _, args := range [][3]string{{"a.b", "n", "i"}, {"c", ">", "i"}, {"c", "n", "_INBOX.x"}, {"", "n", "i"}} {
		if _, err := cluster.PermissionsOf(cluster.Worker, args[0], args[1], args[2]); err == nil {
			t.Error(args)
		}
	}
	if _, err := cluster.PermissionsOf(3, "c", "n", "i"); err == nil {
		t.Error("a role 3")
	}
}

// operate does what an operator does, with one dead letter of double.
func operate(t *testing.T, n *cluster.Node) {
	t.Helper()
	_, nodes := n.Nodes(t.Context())
	_, queues := n.Queues(t.Context())
	_, shown := n.Show(t.Context(), "id/1")
	_, counted := n.DeadCounts(t.Context())
	for what, err := range map[string]error{"Nodes": nodes, "Queues": queues, "Show": shown, "DeadCounts": counted, "Pause": n.Pause(t.Context(), "double")} {
		if err != nil {
			t.Error(what, err)
		}
	}
	all := letters(t, n, "double")
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	id := all[0].ID
	if err := n.Requeue(t.Context(), id); err != nil {
		t.Error("Requeue:", err)
	}
	if info := show(t, n, id); info.State != cluster.StateWaiting {
		t.Errorf("%+v", info)
	}
	if err := n.Cancel(t.Context(), id); err != nil {
		t.Error("Cancel:", err)
	}
	if err := n.Resume(t.Context(), "double"); err != nil {
		t.Error("Resume:", err)
	}
	if err := n.RemoveHandler(t.Context(), "double"); !errors.Is(err, cluster.ErrHandlerInUse) {
		t.Error("RemoveHandler:", err)
	}
	if err := n.DeleteDead(t.Context(), id); !errors.Is(err, cluster.ErrNoDeadLetter) {
		t.Error("DeleteDead:", err)
	}
}

// A submitter may not look for the task of another, and cancels it all the same.
func TestASubmitterCancelsATaskOfAnother(t *testing.T) {
	t.Parallel()
	url := clustertest.Server(t, clustertest.WithConfig(users(t))).URL()
	operator, worker := openAs(t, url, "operator", cluster.WithPlaces(0)), openAs(t, url, "worker", cluster.WithPlaces(1))
	submitter := openAs(t, url, "submitter", cluster.WithPlaces(0))
	h := cluster.Handle(worker, "double", double)
	eventually(t, "the lane is there", func() bool { return operator.Pause(t.Context(), "double") == nil })
	f, err := h.Submit(t.Context(), 1)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	if err := submitter.Cancel(t.Context(), f.ID()); err != nil {
		t.Error("Cancel:", err)
	}
	if err := operator.Resume(t.Context(), "double"); err != nil {
		t.Fatal("operator.Resume:", err)
	}
	if _, err := wait(t, f, nil); !errors.Is(err, cluster.ErrCanceled) {
		t.Error("the task has ended with", err)
	}
}
