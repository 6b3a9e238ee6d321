package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// Each role can do with the permissions that it has what it may, and it needs all of them for that.
func TestTheLeastPermissionsSuffice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openRoles(t, clustertest.Server(t, clustertest.WithConfig(users(t)), clustertest.WithDir(dir)).URL())
	r.submit(t)
	r.submitLater(t)
	r.batch(t)
	r.set(t)
	operate(t, r.operator)
	r.fail(t)
	r.cancel(t)
	flow(t, r.js, "KV_filch_after", "$KV.filch_after.edge.flow.", r.taps["worker"])
	flow(t, r.js, "KV_filch_control", "$KV.filch_control.flow-", r.taps["worker"])
	for _, n := range []*cluster.Node{r.submitter, r.worker, r.operator} {
		closeNode(t, n)
	}
	manage(t, r.js, r.taps["operator"])
	for line := range strings.Lines(violations(t, dir)) { // a submitter tries to store an outcome, which it leaves to a worker then
		if !strings.Contains(line, `user:submitter" - Publish Violation - Subject "$KV.filch_results.`) {
			t.Error("more is needed:", line)
		}
	}
	r.taps["submitter"].checkNeeded(t, "submitter", cluster.Submitter, cluster.Submitter)
	r.taps["worker"].checkNeeded(t, "worker", cluster.Worker, cluster.Submitter)
	r.taps["operator"].checkNeeded(t, "operator", cluster.Operator, cluster.Worker)
}

// roles has a node of each role, with what it says to the server.
type roles struct {
	operator, worker, submitter *cluster.Node
	taps                        map[string]*tap
	js                          jetstream.JetStream // the operator's
	begun                       chan struct{}       // the task of 100 runs
}

func openRoles(t *testing.T, url string) *roles {
	t.Helper()
	r := &roles{taps: map[string]*tap{}, begun: make(chan struct{})}
	open := func(user string, places int) *cluster.Node {
		r.taps[user] = newTap()
		return openAs(t, url, user, cluster.WithPlaces(places), cluster.WithURL(url, r.taps[user].as(user)...))
	}
	r.operator, r.worker, r.submitter = open("operator", 0), open("worker", 2), open("submitter", 0)
	_, r.js = connect(t, url, r.taps["operator"].as("operator")...)
	cluster.Handle(r.worker, "double", func(ctx context.Context, n int) (int, error) {
		info, _ := cluster.TaskOf(ctx)
		switch {
		case n < 0:
			return 0, cluster.Permanent(errors.New("negative"))
		case n == 1 && info.Attempt == 1:
			return 0, errors.New("the first attempt fails")
		case n == 100:
			close(r.begun)
			<-ctx.Done()
			return 0, ctx.Err()
		}
		return 2 * n, nil
	}, cluster.WithRetry(cluster.Retry{First: time.Millisecond}), cluster.WithAckWait(time.Second))
	until(t, r.js, "double_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	return r
}

// double submits a task.
func (r *roles) double(t *testing.T, by *cluster.Node, n int, opts ...cluster.SubmitOption) *cluster.Future[int] {
	t.Helper()
	f, err := cluster.Submit[int, int](t.Context(), by, "double", n, opts...)
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	return f
}

func (r *roles) submit(t *testing.T) {
	for i := range 20 {
		expect(t, r.double(t, r.submitter, i, cluster.ID(fmt.Sprint("id/", i))), 2*i)
	}
	if _, err := r.double(t, r.submitter, -1).Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "negative") {
		t.Error("r.double(t, r.submitter, -1).Wait:", err)
	}
	if dead := deadLetters(t, r.js); dead != 1 {
		t.Error("dead letters:", dead)
	}
}

func (r *roles) submitLater(t *testing.T) {
	if _, err := cluster.Attach[int](t.Context(), r.submitter, "never"); err != nil { // for which it looks by itself, with all that wait then
		t.Error("Attach:", err)
	}
	f := r.double(t, r.submitter, 5, cluster.Delay(time.Second))
	g := r.double(t, r.submitter, 6, cluster.After(f), cluster.Unique("ann@example.com", time.Minute))
	expect(t, f, 10)
	expect(t, g, 12)
	held := r.double(t, r.submitter, 1, cluster.Unique("50 %=", time.Minute), cluster.Delay(time.Hour))
	if _, err := cluster.Submit[int, int](t.Context(), r.submitter, "double", 1, cluster.Unique("50 %=", time.Minute)); !errors.Is(err, cluster.ErrNotUnique) {
		t.Error("Unique:", err)
	}
	if err := r.worker.Cancel(t.Context(), held.ID()); err != nil {
		t.Error("Cancel of what is delayed:", err)
	}
}

func (r *roles) batch(t *testing.T) {
	b, err := cluster.NewBatch(t.Context(), r.worker)
	if err != nil {
		t.Fatal("NewBatch:", err)
	}
	for i := range 3 {
		r.double(t, r.worker, i, cluster.InBatch(b), cluster.NoResult())
	}
	all, err := b.Close(t.Context())
	if err != nil {
		t.Fatal("Close of a batch:", err)
	}
	expect(t, all, cluster.BatchCounts{Total: 3, Ended: 3, Closed: true})
}

// set sets a cron job.
func (r *roles) set(t *testing.T) {
	if err := r.worker.Cron(t.Context(), "each", "@every 1h", "double", 1); err != nil {
		t.Error("Cron:", err)
	}
	if jobs, err := r.worker.CronJobs(t.Context()); len(jobs) != 1 || err != nil {
		t.Error("CronJobs:", jobs, err)
	}
	if err := r.worker.RemoveCron(t.Context(), "each"); err != nil {
		t.Error("RemoveCron:", err)
	}
}

// fail submits tasks that wait for one that has failed, which a worker fails, and for themselves.
func (r *roles) fail(t *testing.T) {
	failed := r.double(t, r.submitter, -1)
	<-failed.Done()
	if _, err := r.double(t, r.submitter, 6, cluster.After(failed)).Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "its dependency "+failed.ID()) {
		t.Error("after a task that has failed:", err)
	}
	self := []cluster.SubmitOption{cluster.ID("self.*"), cluster.After(cluster.TaskID("self.*"))}
	for _, opts := range [][]cluster.SubmitOption{append(slices.Clone(self), cluster.Unique("self", time.Minute)), self} {
		if _, err := cluster.Submit[int, int](t.Context(), r.submitter, "double", 6, opts...); !errors.Is(err, cluster.ErrCycle) || errors.Is(err, nats.ErrPermissionViolation) {
			t.Error("after itself:", err)
		}
	}
	expect(t, r.double(t, r.submitter, 8, cluster.ID("self.*"), cluster.After(cluster.TaskID("id/1"))), 16)
	for range 2 { // the second time it waits already
		r.double(t, r.submitter, 9, cluster.ID("waits"), cluster.After(cluster.TaskID("never")))
	}
	if err := r.worker.Cancel(t.Context(), "waits"); err != nil {
		t.Error("Cancel of what waits:", err)
	}
}

// cancel cancels a task that runs.
func (r *roles) cancel(t *testing.T) {
	f := r.double(t, r.submitter, 100)
	<-r.begun
	if info := show(t, r.operator, f.ID()); info.State != cluster.StateRunning || info.Node != "worker" {
		t.Errorf("%+v", info)
	}
	expect(t, r.double(t, r.submitter, 3), 6) // its message was the last, and is gone: so the leader is asked what follows
	if err := r.worker.Cancel(t.Context(), "never"); !errors.Is(err, cluster.ErrUnknownTask) {
		t.Error("Cancel of a task that nobody knows:", err)
	}
	if err := r.submitter.Cancel(t.Context(), f.ID()); err != nil {
		t.Error("Cancel:", err)
	}
	if _, err := f.Wait(t.Context()); !errors.Is(err, cluster.ErrCanceled) {
		t.Error("f.Wait:", err)
	}
	empty(t, r.js)
	eventually(t, "the submitter looks for outcomes", func() bool { return r.taps["submitter"].has("$JS.API.DIRECT.GET.KV_filch_results") })
}
