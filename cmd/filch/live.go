package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/workload"
	"github.com/filch-go/filch/trace/live"
)

// liveOptions are the flags of filch live.
type liveOptions struct {
	address  string
	workers  int
	size     string
	executor string
	input    string
	token    bool
	hosts    []string
	rest     time.Duration
}

func liveCommand() *cobra.Command {
	var o liveOptions
	cmd := &cobra.Command{
		Use:   "live [workload]",
		Short: "Show what the workers do, in a browser, while something runs",
		Long: `Live runs tasks, recursion and loops in turn, or a workload again and again, and serves a page that shows the workers while they
do: tasks and forks in time, steals, queues, throughput and run times. It prints the page's
address, and runs until it is interrupted. "filch bench --list" names the workloads and their sizes.

The page is for this machine alone. With another --addr it is for the host of that address and those of --host,
and asks for a token, which is printed with the address. For --addr :6061, all addresses of this machine, name
the host that other machines use by --host.`,
		Example: `  filch live
  filch live mergesort --workers 8 --addr 127.0.0.1:6061
  filch live health --rest 1s`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("live: name one workload, not %d; filch bench --list has them", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop) // a second interrupt does not wait for the run
			if len(args) == 0 {
				for _, name := range []string{"size", "executor", "input", "rest"} {
					if cmd.Flags().Changed(name) {
						return fmt.Errorf("live: --%s is for a workload; filch bench --list has them", name)
					}
				}
				return showDemonstration(ctx, cmd.OutOrStdout(), o)
			}
			return showLive(ctx, cmd.OutOrStdout(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.address, "addr", "127.0.0.1:0", "address to listen on; port 0, or none, is any that is free")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "number of workers")
	f.StringVar(&o.size, "size", "", "size of the workload (default the greatest that filch bench measures)")
	f.StringVar(&o.executor, "executor", "filch", "executor to run it on, one of filch's")
	f.StringVar(&o.input, "input", "", "folder that goparse reads (default the Go installation's src)")
	f.BoolVar(&o.token, "token", false, "ask for a token on this machine too")
	f.StringSliceVar(&o.hosts, "host", nil, "other names by which the page may be asked for")
	f.DurationVar(&o.rest, "rest", 10*time.Millisecond, "rest between two runs")
	return cmd
}

// showDemonstration serves the page of a pool that does something of all kinds, until ctx ends.
func showDemonstration(ctx context.Context, out io.Writer, o liveOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	p := filch.New(filch.WithWorkers(o.workers), filch.WithName("demonstration"))
	defer p.Close()
	stop, err := o.serve(out, p)
	if err != nil {
		return err
	}
	defer stop()
	demonstrate(ctx, p)
	return nil
}

// showLive serves the page and runs the workload until ctx ends.
func showLive(ctx context.Context, out io.Writer, name string, o liveOptions) error {
	job, err := o.job(name)
	if err != nil {
		return err
	}
	e, err := workload.FindExecutor(o.executor)
	if err != nil {
		return err
	}
	r, err := e.Start(job, o.workers)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", name, e.Name, err)
	}
	defer r.Close()
	if r.Pool == nil {
		return fmt.Errorf("--executor: %s is none of filch's, whose workers are seen", e.Name)
	}
	stop, err := o.serve(out, r.Pool)
	if err != nil {
		return err
	}
	defer stop()
	if job.Load != nil {
		job.Load()
	}
	for ctx.Err() == nil {
		if job.Reset != nil {
			job.Reset()
		}
		r.Run()
		select {
		case <-ctx.Done():
		case <-time.After(o.rest):
		}
	}
	return nil
}

// job returns what to run, or says what is wrong with the options.
func (o liveOptions) job(name string) (*workload.Job, error) {
	w, err := workload.Find(name)
	if err != nil {
		return nil, err
	}
	if o.input != "" && w.Name != "goparse" {
		return nil, errors.New("--input: only goparse reads a folder")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	size := o.size
	if size == "" {
		if size = w.Default[len(w.Default)-1].Size; o.input != "" {
			size = "all"
		}
	}
	return w.Prepare(size, workload.Env{Input: o.input})
}

// check says what is wrong with the options that are for all.
func (o liveOptions) check() error {
	switch {
	case o.workers < 1 || o.workers > 10_000:
		return fmt.Errorf("--workers %d: the number of workers must be from 1 to 10000", o.workers)
	case o.rest < 0:
		return fmt.Errorf("--rest %v: must not be negative", o.rest)
	}
	for _, host := range o.hosts {
		if !isIP(host) && (host == "" || strings.ContainsAny(host, "/*: ")) {
			return fmt.Errorf("--host %q: a host is a name or an address without a port", host)
		}
	}
	return nil
}

// serve serves the page of p until stop is called, and prints its address.
func (o liveOptions) serve(out io.Writer, p *filch.Pool) (stop func(), err error) {
	address := withPort(o.address)
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--addr %s: %w", o.address, err)
	}
	host, _, _ := net.SplitHostPort(address)
	options := []live.Option{live.WithPools(p), live.WithHosts(o.hosts...)}
	at := l.Addr().(*net.TCPAddr)
	switch {
	case at.IP.IsUnspecified(): // a server listens there, and no browser asks for it
		host = "localhost"
		if len(o.hosts) > 0 {
			host = strings.Trim(o.hosts[0], "[]")
		}
	case at.IP.IsLoopback():
		host = at.IP.String()
	default:
		options = append(options, live.WithHosts(host))
	}
	url := fmt.Sprintf("http://%s/", net.JoinHostPort(host, strconv.Itoa(at.Port)))
	if o.token || !at.IP.IsLoopback() {
		token := rand.Text()
		options = append(options, live.WithToken(token))
		url += "#token=" + token
	}
	s := &http.Server{Handler: live.New(options...), ReadHeaderTimeout: 10 * time.Second}
	go s.Serve(l)
	fmt.Fprintf(out, "%s\n", url)
	return func() { s.Close() }, nil
}

// isIP reports whether host is an address, which may stand in brackets.
func isIP(host string) bool {
	_, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil
}

// withPort returns address with the port 0, if it is a host alone: localhost, or an address, as ::1 is.
func withPort(address string) string {
	if address == "localhost" || isIP(address) {
		return net.JoinHostPort(strings.Trim(address, "[]"), "0")
	}
	return address
}
