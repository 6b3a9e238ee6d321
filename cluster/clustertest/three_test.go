package clustertest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// What is kept at the servers works on three, too: a compare-and-swap that fails has another error there, and reads
// may come from a server that is behind.
func TestTasksThatWaitDoSoOnThreeServers(t *testing.T) {
	t.Parallel()
	s := clustertest.Three(t)
	var nodes []*cluster.Node
	ran := &seen{ran: make(chan struct{}, 100)}
	for i := range 2 {
		n := openAt(t, s.ServerURL(i), cluster.WithReplicas(3), cluster.WithNode(fmt.Sprint("n", i)), cluster.WithPlaces(4))
		cluster.Handle(n, "double", double)
		cluster.Handle(n, "note", ran.note)
		nodes = append(nodes, n)
	}
	_, js := connect(t, s.URL())
	until(t, js, "double_p1", known)
	until(t, js, "note_p1", known)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	if err := nodes[0].Cron(ctx, "job", "@every 1s", "note", "x"); err != nil {
		t.Fatal("nodes:", err)
	}
	if err := nodes[1].Cron(ctx, "job", "@every 1s", "note", "x"); err != nil {
		t.Fatal("nodes:", err)
	}
	b, err := cluster.NewBatch(ctx, nodes[0])
	if err != nil {
		t.Fatal("cluster.NewBatch:", err)
	}
	last, err := cluster.Submit[int, int](ctx, nodes[1], "double", 50, cluster.After(b), cluster.Unique("last", time.Hour))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	_, err = cluster.Submit[int, int](ctx, nodes[0], "double", 50, cluster.Unique("last", time.Hour))
	if id := refusedBy(t, err); id != last.ID() {
		t.Error(id)
	}
	before := cluster.Dependency(cluster.TaskID("first"))
	for i := range 40 {
		opts := []cluster.SubmitOption{cluster.InBatch(b)}
		if i%4 == 0 {
			opts = append(opts, cluster.After(before))
		} else if i%4 == 1 {
			opts = append(opts, cluster.Delay(300*time.Millisecond))
		}
		f, err := cluster.Submit[int, int](ctx, nodes[i%2], "double", i, opts...)
		if err != nil {
			t.Fatal(i, err)
		}
		before = f
	}
	if _, err := cluster.Submit[int, int](ctx, nodes[0], "double", 1, cluster.ID("first")); err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	all, err := b.Close(ctx)
	if err != nil {
		t.Fatal("b.Close:", err)
	}
	if c, err := all.Wait(ctx); c != (cluster.BatchCounts{Total: 40, Ended: 40, Closed: true}) || err != nil {
		t.Errorf("%+v %v", c, err)
	}
	if got, err := last.Wait(ctx); got != 100 || err != nil {
		t.Error(got, err)
	}
	<-ran.ran
	<-ran.ran
	if err := nodes[1].RemoveCron(ctx, "job"); err != nil {
		t.Fatal("nodes:", err)
	}
	untilStream(t, js, "filch_later", "filch.>", none)
	untilStream(t, js, "filch_work", "filch.>", none)
	nothingWaits(t, js)
	ran.mu.Lock()
	defer ran.mu.Unlock()
	for id, times := range ran.ids {
		if times != 1 {
			t.Error(id, "ran", times, "times")
		}
	}
}
