// Command three starts three NATS servers on this machine that form a cluster, to try programs with. It needs nothing else.
//
//	go run ./cluster/clustertest/three
//
// It prints the URL for cluster.WithURL, and ends with an interrupt, and its servers with it. -dir keeps their files.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/filch-go/filch/cluster/clustertest"
)

func main() {
	clustertest.Child(nil)
	log.SetFlags(0)
	dir := flag.String("dir", "", "the folder of the servers' files; without, they are deleted at the end")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *dir, os.Stdout); err != nil {
		log.Fatal("three: ", err)
	}
}

// run runs three servers until ctx ends.
func run(ctx context.Context, dir string, out io.Writer) error {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "filch-three-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s, err := clustertest.OpenServers(starting, 3, clustertest.WithDir(dir))
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintf(out, "url %s\nOpen nodes with cluster.WithReplicas(3). The files are in %s. An interrupt ends the servers.\n", s.URL(), dir)
	<-ctx.Done()
	return nil
}
