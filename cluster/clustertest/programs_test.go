package clustertest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
	"github.com/filch-go/filch/cluster/internal/sweep"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil { // they wait for servers, and not for processors
		panic(err)
	}
	sweep.Every = 2 * time.Second
	clustertest.Main(m, clustertest.Programs{"worker": workerProgram, "submitter": submitterProgram, "poison": poisonProgram})
}

// openNode opens a node of a process.
func nodeAt(url, name string, opts ...cluster.Option) *cluster.Node {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		n, err := cluster.Open(ctx, append([]cluster.Option{cluster.WithURL(url), cluster.WithNode(name), cluster.WithReplicas(1 + strings.Count(url, ","))}, opts...)...)
		if err == nil {
			return n
		}
		if ctx.Err() != nil {
			fmt.Println("open:", err)
			os.Exit(1)
		}
		time.Sleep(100 * time.Millisecond) // the servers are being killed
	}
}

// poisonProgram has a handler whose tasks end the process, and one that is innocent.
func poisonProgram(args []string) {
	n := nodeAt(args[0], args[1], cluster.WithPlaces(2), cluster.WithPool(filch.New(filch.WithWorkers(2))))
	cluster.Handle(n, "poison", func(context.Context, int) (int, error) { os.Exit(1); return 0, nil },
		cluster.WithAckWait(time.Second), cluster.WithRetry(cluster.Retry{Attempts: 2}))
	cluster.Handle(n, "double", double, cluster.WithAckWait(time.Second), cluster.WithRetry(cluster.Retry{Attempts: 20}))
	select {}
}
