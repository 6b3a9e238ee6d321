package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster/embedded"
)

// serverOptions are the flags of filch cluster server.
type serverOptions struct {
	*clusterOptions
	listen, dir string
	three       bool
	noSync      bool

	routes []string // of one of three
	routed string   // where it listens to the others
	id     string   // its name
}

func serverCommand(all *clusterOptions) *cobra.Command {
	o := serverOptions{clusterOptions: all}
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Run a NATS server with JetStream, or three of them",
		Long: `Server runs a NATS server with JetStream, until it is interrupted. It is for those who do not run servers of
their own, for a try and for tests: there is no password, so leave it on an address of this machine.

With --three there are three on this machine, which form a cluster of servers: each is a process, in a folder of its own below
--dir, and the ports are that of --listen and the two after it. The servers talk to each other on those that are 1000 higher. It prints
the number of each process, to end one and see what happens. One that has ended is not started again. Nodes need --replicas 3.`,
		Example: `  filch cluster server
  filch cluster server --three --dir /tmp/three --listen 127.0.0.1:4300`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			if o.three {
				return failed(cmd, o.runThree(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr()))
			}
			return failed(cmd, o.runOne(ctx, cmd.OutOrStdout()))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:4222", "address to listen on")
	f.StringVar(&o.dir, "dir", "", "folder of the files (default filch-server in that of the user's caches)")
	f.BoolVar(&o.three, "three", false, "run three servers that form a cluster")
	f.BoolVar(&o.noSync, "no-sync", false, "let the system decide when files are written: faster, and a crash of the machine loses some")
	f.StringSliceVar(&o.routes, "routes", nil, "")
	f.StringVar(&o.routed, "routed", "", "")
	f.StringVar(&o.id, "id", "filch", "")
	for _, hidden := range []string{"routes", "routed", "id"} {
		_ = f.MarkHidden(hidden)
	}
	return cmd
}

// check sets what was left out, and says which flag makes no sense.
func (o *serverOptions) check() error {
	host, port, err := splitAddress(o.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", o.listen, err)
	}
	if most := 65535 - 1002; o.three && port > most {
		return fmt.Errorf("--listen %s: three servers need a port from 1 to %d", o.listen, most)
	}
	if o.dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("--dir: there is no default: %w", err)
		}
		o.dir = filepath.Join(cache, "filch-server")
	}
	o.listen = net.JoinHostPort(host, strconv.Itoa(port))
	return nil
}

// splitAddress returns the parts of an address.
func splitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, errors.New("an address is host:port")
	}
	if port, err = strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
		return "", 0, errors.New("the port is a number from 1 to 65535")
	}
	return host, port, nil
}

// runOne runs a server until ctx ends.
func (o *serverOptions) runOne(ctx context.Context, out io.Writer) error {
	if o.routed != "" { // it is one of three, and ends with the process that has started it
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		go func() {
			defer cancel()
			_, _ = io.Copy(io.Discard, os.Stdin)
		}()
	}
	nc, stop, err := embedded.Server{Dir: o.dir, Listen: o.listen, NoSync: o.noSync, ID: o.id, Routed: o.routed, Routes: o.routes}.Start(ctx, "filch")
	if err != nil {
		return err
	}
	defer stop()
	nc.Close()
	fmt.Fprintln(out, "nats://"+o.listen)
	<-ctx.Done()
	return nil
}

// serverWait is how long servers may take until they are ready, and to end.
const serverWait = 30 * time.Second

// runThree runs three servers until ctx ends.
func (o *serverOptions) runThree(ctx context.Context, out, errs io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	urls := make([]string, 3)
	for i := range urls {
		child, err := o.child(ctx, i)
		if err != nil {
			return err
		}
		child.Stderr = errs
		if urls[i], err = startServer(ctx, &all, child, errs, i); err != nil {
			return err
		}
		fmt.Fprintf(out, "server%d: process %d, %s\n", i, child.Process.Pid, urls[i])
	}
	url := strings.Join(urls, ",")
	if err := untilReady(ctx, url); err != nil {
		return err
	}
	fmt.Fprintln(out, url)
	<-ctx.Done()
	return nil
}

// child returns the process of one of three servers.
func (o *serverOptions) child(ctx context.Context, i int) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	host, port, err := splitAddress(o.listen)
	if err != nil {
		return nil, err
	}
	at := func(base, i int) string { return net.JoinHostPort(host, strconv.Itoa(base+i)) }
	name := fmt.Sprint("server", i)
	args := []string{"cluster", "server", "--listen", at(port, i), "--dir", filepath.Join(o.dir, name), "--id", name, "--routed", at(port+1000, i)}
	for j := range 3 {
		if j != i {
			args = append(args, "--routes", at(port+1000, j))
		}
	}
	if o.noSync {
		args = append(args, "--no-sync")
	}
	child := exec.CommandContext(ctx, self, args...)
	child.Cancel = func() error { return interrupt(child.Process) }
	child.WaitDelay = serverWait
	return child, nil
}

// untilReady waits until streams can be stored on three servers.
func untilReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, serverWait)
	defer cancel()
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer nc.Close()
	return embedded.Ready(ctx, nc, 3)
}

// startServer starts a server, and returns its URL when it takes connections.
func startServer(ctx context.Context, all *sync.WaitGroup, child *exec.Cmd, errs io.Writer, i int) (string, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer read.Close()
	child.Stdout = write
	if _, err := child.StdinPipe(); err != nil { // it ends when this process does
		return "", err
	}
	err = child.Start()
	write.Close()
	if err != nil {
		return "", err
	}
	all.Go(func() {
		if err := child.Wait(); ctx.Err() == nil {
			fmt.Fprintf(errs, "filch: server%d has ended: %v\n", i, err)
		}
	})
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("server%d has not started", i)
	}
	return strings.TrimSpace(line), nil
}
