package clustertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
)

// A node uses a connection, a pool, a clock and a logger of the program.
func Example_connection() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "filch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var server cluster.Server = embedded.Server{Dir: dir, NoSync: true}
	nc, stop, err := server.Start(ctx, "shop", nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()

	opts := []cluster.Option{cluster.WithConn(nc), cluster.WithName("shop"), cluster.WithPool(p), cluster.WithClock(time.Now),
		cluster.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))), cluster.WithResultsFor(time.Hour), cluster.WithDeadFor(7 * 24 * time.Hour)}
	var n *cluster.Node
	n, err = cluster.Open(ctx, opts...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n.Cluster(), n.Pool() == p)
	fmt.Println(n.Close(ctx))
	// Output:
	// shop true
	// <nil>
}

// A node starts a server of its own in this process, whose files are in a folder. Trouble is why it cannot write there, if so.
func Example_server() {
	dir, err := os.MkdirTemp("", "filch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	n, err := cluster.Open(context.Background(), cluster.WithServer(embedded.Server{Dir: dir, NoSync: true}), cluster.WithNode("front-1"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n.Name(), n.Trouble(), n.Close(context.Background()))
	// Output: front-1 <nil> <nil>
}

// Package cluster/embedded registers its server when it is imported. There can be one.
func Example_register() {
	defer func() { fmt.Println(recover()) }()
	cluster.Register(embedded.Server{})
	// Output: cluster: two servers were registered
}

// A batch tells how far it is while it is filled, and after.
func Example_batchCounts() {
	ctx := context.Background()
	n, stop := start()
	defer stop()
	gate := make(chan struct{})
	var pack *cluster.Handler[int, int] = cluster.Handle(n, "pack", func(ctx context.Context, box int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return box, nil
	})
	show := func(c cluster.BatchCounts, err error) {
		fmt.Println("ended", c.Ended, "of", c.Total, "closed", c.Closed, err)
	}

	var b *cluster.Batch
	b, err := cluster.NewBatch(ctx, n)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		if _, err := pack.Submit(ctx, i, cluster.InBatch(b)); err != nil {
			log.Fatal(err)
		}
	}
	show(b.Counts(ctx))
	all, err := b.Close(ctx)
	if err != nil {
		log.Fatal(err)
	}
	show(n.BatchCounts(ctx, b.ID()))
	close(gate)
	show(all.Wait(ctx))
	// Output:
	// ended 0 of 0 closed false <nil>
	// ended 0 of 3 closed true <nil>
	// ended 3 of 3 closed true <nil>
}

// A task that has failed for good says how often it was tried, and why.
func Example_taskError() {
	ctx := context.Background()
	n, stop := start()
	defer stop()
	retry := cluster.DefaultRetry()
	retry.Attempts, retry.First = 2, time.Millisecond
	opts := []cluster.HandlerOption{cluster.WithRetry(retry)}
	pay := cluster.Handle(n, "pay", func(ctx context.Context, sum int) (int, error) {
		var info cluster.Info
		info, _ = cluster.TaskOf(ctx)
		return 0, fmt.Errorf("the bank is closed, attempt %d", info.Attempt)
	}, opts...)
	f, err := pay.Submit(ctx, 10, cluster.ID("order/1"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = f.Wait(ctx)
	if e, ok := errors.AsType[*cluster.TaskError](err); ok {
		fmt.Println(e.ID, e.Handler, e.Attempts, e.Message)
	}
	var s cluster.Stats = n.Stats()
	fmt.Println(s.Failed, "attempts have failed,", s.Dead, "dead letter")
	// Output:
	// order/1 pay 2 the bank is closed, attempt 2
	// 2 attempts have failed, 1 dead letter
}

// A task waits for others: for Futures and IDs.
func Example_dependency() {
	ctx := context.Background()
	n, stop := start()
	defer stop()
	add := cluster.Handle(n, "add", func(ctx context.Context, x int) (int, error) { return x + 1, nil })
	first, err := add.Submit(ctx, 1, cluster.ID("first"))
	if err != nil {
		log.Fatal(err)
	}
	deps := []cluster.Dependency{first, cluster.TaskID("second")}
	last, err := add.Submit(ctx, 3, cluster.ID("last"), cluster.After(deps...))
	if err != nil {
		log.Fatal(err)
	}
	info, err := n.Show(ctx, "last")
	if err != nil {
		log.Fatal(err)
	}
	var state cluster.State = info.State
	fmt.Println(state == cluster.StateAfter)
	if _, err := add.Submit(ctx, 2, cluster.ID("second")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(last.Wait(ctx))
	// Output:
	// true
	// 4 <nil>
}

// The cron jobs of a cluster, as JSON.
func Example_cronJobs() {
	ctx := context.Background()
	n, stop := start()
	defer stop()
	cluster.Handle(n, "report", func(ctx context.Context, kind string) (string, error) { return kind, nil })
	for { // until the servers know the handler
		err := n.Cron(ctx, "daily", "30 3 * * *", "report", "sales")
		if err == nil {
			break
		}
		if !errors.Is(err, cluster.ErrUnknownHandler) {
			log.Fatal(err)
		}
	}
	var jobs []cluster.CronJob
	jobs, err := n.CronJobs(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range jobs {
		fmt.Println(j.Name, j.Spec, j.Handler)
	}
	// Output: daily 30 3 * * * report
}

// indented is a codec that writes JSON for people.
type indented struct{ cluster.Codec }

func (indented) Name() string                  { return "indented" }
func (indented) Marshal(v any) ([]byte, error) { return json.MarshalIndent(v, "", " ") }

// A codec may change another.
func Example_codec() {
	ctx := context.Background()
	var codec cluster.Codec = indented{cluster.JSON()}
	n, stop := start(cluster.WithCodecs(codec))
	defer stop()
	swap := cluster.Handle(n, "swap", func(ctx context.Context, p [2]int) ([2]int, error) { return [2]int{p[1], p[0]}, nil })
	f, err := swap.Submit(ctx, [2]int{1, 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Wait(ctx))
	// Output: [2 1] <nil>
}

// What each role may publish to, beyond the one before.
func Example_roles() {
	before := 0
	for _, role := range []cluster.Role{cluster.Submitter, cluster.Worker, cluster.Operator} {
		var p cluster.Permissions
		p, err := cluster.PermissionsOf(role, "shop", "node-1", "_INBOX_node-1")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(p.Publish) > before, p.Responses)
		before = len(p.Publish)
	}
	// Output:
	// true false
	// true true
	// true true
}
