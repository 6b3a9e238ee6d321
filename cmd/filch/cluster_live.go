package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cmd/filch/clusterlive"
	hosts "github.com/filch-go/filch/internal/guard"
)

func clusterLiveCommand(all *clusterOptions) *cobra.Command {
	address := ""
	cmd := &cobra.Command{
		Use:   "live",
		Short: "Show the nodes, the queues, and the steals between nodes, in a browser",
		Long: `Live serves a page that shows the nodes, the queues, and how many tasks each node has fetched of those that each other has
submitted, as they change. It prints the page's address, and runs until it is interrupted. The page is for this machine alone.
The servers are asked once a second at most, however many browsers show the page, and not at all while none does.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if host, _, err := net.SplitHostPort(withPort(address)); err != nil || !hosts.IsLoopback(host) {
				return notLoopback(address)
			}
			return all.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				return serveCluster(ctx, cmd.OutOrStdout(), address, clusterlive.Handler(ctx, all.name, all.timeout, lookAt(n)))
			})
		},
	}
	cmd.Flags().StringVar(&address, "addr", "127.0.0.1:0", "address to listen on; port 0, or none, is any that is free")
	return cmd
}

func notLoopback(address string) error {
	return fmt.Errorf("--addr %s: must be a loopback address", address)
}

// lookAt returns what asks for all that the page shows. Dead letters are counted when they are asked for, then at every fifth time.
func lookAt(n *cluster.Node) func(context.Context) (clusterlive.View, error) {
	var dead map[string]int
	asked := 0
	return func(ctx context.Context) (clusterlive.View, error) {
		v, err := viewOf(ctx, n)
		if err != nil {
			return clusterlive.View{}, err
		}
		if asked%5 == 0 {
			if dead, err = n.DeadCounts(ctx); err != nil {
				return clusterlive.View{}, err
			}
		}
		asked++
		return clusterlive.View{Nodes: v.Nodes, Queues: v.Queues, Dead: dead}, nil
	}
}

// serveCluster serves the page until ctx ends, and prints its address.
func serveCluster(ctx context.Context, out io.Writer, address string, page http.Handler) error {
	l, err := net.Listen("tcp", withPort(address))
	if err != nil {
		return fmt.Errorf("--addr %s: %w", address, err)
	}
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() { // a name below localhost, which a name server has sent elsewhere
		_ = l.Close()
		return notLoopback(address)
	}
	fmt.Fprintf(out, "http://%s/\n", l.Addr())
	s := &http.Server{Handler: page, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { s.Close() })()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
