// Package three runs a program as three processes on this machine, which form a cluster.
package three

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
)

// address is where a process that was started by another finds the server.
const address = "FILCH_EXAMPLE_SERVER"

// wait is how long starting and ending may take.
const wait = 30 * time.Second

// Run calls handle in three processes, to set up their handlers, and then run in this one. The other two are the same
// program, started anew: in these, Run returns when the first process has ended, and does not call run.
func Run(ctx context.Context, handle func(n *cluster.Node), run func(ctx context.Context, n *cluster.Node) error) error {
	if url := os.Getenv(address); url != "" {
		return help(ctx, url, handle)
	}
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "filch-example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n, err := cluster.Open(ctx, cluster.WithNode("first"), cluster.WithServer(embedded.Server{Dir: dir, Listen: addr, NoSync: true}))
	if err != nil {
		return err
	}
	handle(n)
	err = among(ctx, n, "nats://"+addr, run)
	return errors.Join(err, closeNode(n)) // the last one: the server is its
}

// among starts the other two processes, calls run, and ends them.
func among(ctx context.Context, n *cluster.Node, url string, run func(ctx context.Context, n *cluster.Node) error) error {
	for _, name := range []string{"second", "third"} {
		stop, err := start(ctx, url, name)
		if err != nil {
			return err
		}
		defer stop()
	}
	if err := present(ctx, n, 3); err != nil {
		return err
	}
	return run(ctx, n)
}

// help is one of the other two processes. It ends when its standard input does, and so when the first process ends.
func help(ctx context.Context, url string, handle func(n *cluster.Node)) error {
	n, err := cluster.Open(ctx, cluster.WithURL(url), cluster.WithNode(os.Args[len(os.Args)-1]))
	if err != nil {
		return err
	}
	handle(n)
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, closeNode(n))
}

// start starts another process. stop waits for its end.
func start(ctx context.Context, url, name string) (stop func(), err error) {
	c := exec.CommandContext(ctx, os.Args[0], append(os.Args[1:], name)...)
	c.Env = append(os.Environ(), address+"="+url)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() {
		in.Close()
		late := time.AfterFunc(wait, func() { c.Process.Kill() })
		defer late.Stop()
		if err := c.Wait(); err != nil {
			fmt.Fprintln(os.Stderr, name+":", err)
		}
	}, nil
}

// present waits until there are so many nodes.
func present(ctx context.Context, n *cluster.Node, want int) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		nodes, err := n.Nodes(ctx)
		if err != nil || len(nodes) >= want {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("there are %d nodes of %d: %w", len(nodes), want, ctx.Err())
		}
	}
}

// closeNode leaves the cluster.
func closeNode(n *cluster.Node) error {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	return n.Close(ctx)
}

// freeAddress returns a local address that nobody uses.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
