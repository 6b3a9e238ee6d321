package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// nodeOptions are the flags of filch cluster node.
type nodeOptions struct {
	*clusterOptions
	handler, version           string
	places, tier, replicas     int
	limit, keys, stealAbove    int
	attempts                   int
	ackWait, silence, patience time.Duration
	text                       bool
	program                    []string
}

// permanentStatus is the status of a program that would fail again: EX_DATAERR of sysexits.
const permanentStatus = 65

func nodeCommand(all *clusterOptions) *cobra.Command {
	o := nodeOptions{clusterOptions: all}
	cmd := &cobra.Command{
		Use:   "node --handler name -- program [argument...]",
		Short: "Run a program for each task of a handler",
		Long: `Node joins the cluster with a handler that runs a program for each task, until it is interrupted. The cluster is made
if it is not there. The program reads the task's argument, which is JSON, from its standard input, and writes the result, JSON too, to its standard
output. With --text both are text, and a JSON string in the cluster.

A status of 0 is success. Any other is an error, and the task is tried again; with status 65 it is not. The end of what the program
has written to its standard error is the text of the error. The environment has FILCH_TASK, FILCH_HANDLER, FILCH_KEY and FILCH_ATTEMPT. A task that is
canceled gets an interrupt, and is killed 5 s later. What the program writes is a sign of progress, for --silence.

On an interrupt the node takes no more tasks, and ends with those that run, or after --patience gives them to other nodes. A second one
ends it at once.`,
		Example: `  filch cluster node --handler count --text -- wc -w
  filch cluster node --handler thumbnail --places 2 --attempts 3 -- ./thumbnail --size 200`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.program = args
			options, err := o.check()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			context.AfterFunc(ctx, stop) // a second interrupt does not wait
			return failed(cmd, o.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr(), options))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.handler, "handler", "", "name of the handler; cannot be left out")
	f.StringVar(&o.version, "version", "", "version of the handler")
	f.IntVar(&o.places, "places", runtime.GOMAXPROCS(0), "tasks that run at once")
	f.IntVar(&o.tier, "tier", 0, "how far the node is from the tasks, 0 to 9: nearer ones come first")
	f.IntVar(&o.replicas, "replicas", 1, "on how many servers tasks are stored, 1, 3 or 5, if the cluster is made")
	f.IntVar(&o.limit, "limit", 0, "tasks of the handler that run at once in the whole cluster (default any number)")
	f.IntVar(&o.keys, "keys", 0, "partitions for tasks with keys, 1 to 256 (default none)")
	f.IntVar(&o.stealAbove, "steal-above", 0, "nodes of tier t take tasks while more than t times this wait (default at once)")
	f.IntVar(&o.attempts, "attempts", cluster.DefaultRetry().Attempts, "how often a task is tried")
	f.DurationVar(&o.ackWait, "ack-wait", 30*time.Second, "after what time without a sign of this node its tasks go to others")
	f.DurationVar(&o.silence, "silence", 15*time.Minute, "how long a program may go on without writing anything")
	f.DurationVar(&o.patience, "patience", 30*time.Second, "how long an interrupt waits for what runs")
	f.BoolVar(&o.text, "text", false, "arguments and results are text")
	return cmd
}

// check returns the options of the handler, or says what is wrong with the flags.
func (o *nodeOptions) check() ([]cluster.HandlerOption, error) {
	if err := o.clusterOptions.check(); err != nil {
		return nil, err
	}
	if o.handler == "" {
		return nil, errors.New("node: name the handler, by --handler")
	}
	if err := checkName("--handler", o.handler); err != nil {
		return nil, err
	}
	if o.version != "" {
		if err := checkName("--version", o.version); err != nil {
			return nil, err
		}
	}
	switch {
	case len(o.program) == 0:
		return nil, errors.New("node: name the program, after --")
	case o.places < 1:
		return nil, fmt.Errorf("--places %d: must be positive", o.places)
	case o.tier < 0 || o.tier > 9:
		return nil, fmt.Errorf("--tier %d: tiers are 0 to 9", o.tier)
	case o.replicas != 1 && o.replicas != 3 && o.replicas != 5:
		return nil, fmt.Errorf("--replicas %d: must be 1, 3 or 5", o.replicas)
	case o.limit < 0 || o.stealAbove < 0:
		return nil, errors.New("--limit and --steal-above: must not be negative")
	case o.keys < 0 || o.keys > 256:
		return nil, fmt.Errorf("--keys %d: there are 1 to 256 partitions", o.keys)
	case o.limit > 0 && o.keys > 0:
		return nil, errors.New("--limit and --keys: a handler has one of them")
	case o.attempts < 1:
		return nil, fmt.Errorf("--attempts %d: must be positive", o.attempts)
	case o.ackWait < time.Second:
		return nil, fmt.Errorf("--ack-wait %v: must be at least a second", o.ackWait)
	case o.silence <= 0 || o.patience < 0:
		return nil, errors.New("--silence must be positive, and --patience not negative")
	}
	if _, err := exec.LookPath(o.program[0]); err != nil {
		return nil, fmt.Errorf("node: the program %s: %w", o.program[0], errors.Unwrap(err))
	}
	return o.handlerOptions(), nil
}

func (o *nodeOptions) handlerOptions() []cluster.HandlerOption {
	all := []cluster.HandlerOption{cluster.WithAckWait(o.ackWait), cluster.WithSilence(o.silence), cluster.WithRetry(cluster.Retry{Attempts: o.attempts})}
	if o.version != "" {
		all = append(all, cluster.WithVersion(o.version))
	}
	for _, c := range []struct {
		n    int
		with func(int) cluster.HandlerOption
	}{{o.limit, cluster.WithLimit}, {o.keys, cluster.WithKeys}, {o.stealAbove, cluster.WithStealAbove}} {
		if c.n > 0 {
			all = append(all, c.with(c.n))
		}
	}
	return all
}

// run is the node until ctx ends.
func (o *nodeOptions) run(ctx context.Context, out, errs io.Writer, options []cluster.HandlerOption) error {
	nc, err := o.connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	opts := append(o.options(nc, errs), cluster.WithPlaces(o.places), cluster.WithTier(o.tier), cluster.WithReplicas(o.replicas))
	opening, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	n, err := cluster.Open(opening, opts...)
	if err != nil {
		return err
	}
	cluster.Handle(n, o.handler, o.handle, options...)
	if o.json {
		err = printJSON(out, map[string]string{"node": n.Name(), "handler": o.handler})
	} else {
		_, err = fmt.Fprintf(out, "node %s runs tasks of %s\n", n.Name(), o.handler)
	}
	if err == nil {
		<-ctx.Done()
	}
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.patience)
	defer cancel()
	if e := n.Close(leaving); e != nil {
		return errors.Join(err, errors.New("tasks that had not ended were given to other nodes"))
	}
	return err
}

// handle runs the program for a task.
func (o *nodeOptions) handle(ctx context.Context, in json.RawMessage) (result json.RawMessage, err error) {
	argument := []byte(in)
	if o.text {
		var s string
		if err := json.Unmarshal(in, &s); err != nil {
			return nil, cluster.Permanent(fmt.Errorf("the argument is no text: %.100s", in))
		}
		argument = []byte(s)
	}
	var output []byte
	filch.Blocking(ctx, func() { output, err = o.execute(ctx, argument) })
	if err != nil {
		return nil, err
	}
	if o.text {
		return json.Marshal(strings.ToValidUTF8(string(output), "\ufffd"))
	}
	output = bytes.TrimSpace(output)
	if len(output) == 0 {
		output = []byte("null")
	}
	if !json.Valid(output) {
		return nil, cluster.Permanent(fmt.Errorf("the program %s wrote no JSON: %.100s", o.program[0], output))
	}
	return output, nil
}

// killAfter is how long a program that was interrupted may go on.
const killAfter = 5 * time.Second

// execute runs the program and returns what it wrote.
func (o *nodeOptions) execute(ctx context.Context, input []byte) ([]byte, error) {
	var out, errs output
	out.ctx, errs.ctx = ctx, ctx
	p := exec.CommandContext(ctx, o.program[0], o.program[1:]...)
	p.Stdin, p.Stdout, p.Stderr = bytes.NewReader(input), &out, &errs
	errs.most = 4000
	p.SysProcAttr = ownGroup()
	p.Cancel = func() error { return interrupt(p.Process) }
	p.WaitDelay = killAfter
	if info, ok := cluster.TaskOf(ctx); ok {
		p.Env = append(os.Environ(), "FILCH_TASK="+info.ID, "FILCH_HANDLER="+info.Handler, "FILCH_KEY="+info.Key, "FILCH_ATTEMPT="+strconv.Itoa(info.Attempt))
	}
	err := p.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if text := strings.TrimSpace(errs.String()); text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	if p.ProcessState != nil && p.ProcessState.ExitCode() == permanentStatus {
		err = cluster.Permanent(err)
	}
	return nil, err
}

// interrupt asks a process to end. Where there are no interrupts it is killed.
func interrupt(p *os.Process) error {
	if runtime.GOOS == "windows" {
		return p.Kill()
	}
	return p.Signal(os.Interrupt)
}

// output is what a program writes. Each write is a sign of progress.
type output struct {
	bytes.Buffer
	ctx  context.Context
	most int // bytes that are kept, the last ones; 0 for all
}

func (o *output) Write(b []byte) (int, error) {
	cluster.Progress(o.ctx)
	n, err := o.Buffer.Write(b)
	if over := o.Len() - o.most; o.most > 0 && over > 0 {
		o.Next(over)
	}
	return n, err
}
