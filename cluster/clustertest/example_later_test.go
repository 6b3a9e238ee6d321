package clustertest_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
)

// openExample opens a node for an example, with a server whose files are gone afterwards.
func openExample() (*cluster.Node, func()) {
	dir, err := os.MkdirTemp("", "filch")
	if err != nil {
		log.Fatal(err)
	}
	n, err := cluster.Open(context.Background(), cluster.WithServer(embedded.Server{Dir: dir, NoSync: true}))
	if err != nil {
		log.Fatal(err)
	}
	return n, func() { n.Close(context.Background()); os.RemoveAll(dir) }
}

// A reminder that is sent in half a second, also if this process has ended by then and another has the handler.
func Example_delay() {
	n, done := openExample()
	defer done()
	remind := cluster.Handle(n, "remind", func(ctx context.Context, of string) (string, error) {
		return "do not forget " + of, nil
	})

	f, err := remind.Submit(context.Background(), "the milk", cluster.Delay(500*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Wait(context.Background()))
	// Output: do not forget the milk <nil>
}

// A reminder for a time.
func Example_at() {
	n, done := openExample()
	defer done()
	remind := cluster.Handle(n, "remind", func(ctx context.Context, of string) (string, error) {
		return "do not forget " + of, nil
	})

	f, err := remind.Submit(context.Background(), "the milk", cluster.At(time.Now().Add(time.Second)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Wait(context.Background()))
	// Output: do not forget the milk <nil>
}

// Each node of a service may set up its jobs when it starts: it is one job.
func Example_cron() {
	ctx := context.Background()
	n, done := openExample()
	defer done()
	cluster.Handle(n, "report", func(ctx context.Context, kind string) (struct{}, error) {
		return struct{}{}, nil // write it
	})

	if err := n.Cron(ctx, "nightly", "CRON_TZ=Europe/Berlin 30 3 * * *", "report", "daily"); err != nil {
		log.Fatal(err)
	}
	jobs, err := n.CronJobs(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range jobs {
		fmt.Println(j.Name, "at", j.Spec, "runs", j.Handler)
	}
	if err := n.RemoveCron(ctx, "nightly"); err != nil {
		log.Fatal(err)
	}
	// Output: nightly at CRON_TZ=Europe/Berlin 30 3 * * * runs report
}
