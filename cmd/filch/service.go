package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cmd/filch/servicebench"
)

// serviceLoads are what the service is measured under: a share of what the workers could compute if they did nothing else.
var serviceLoads = []struct {
	name    string
	share   float64
	lasts   time.Duration
	timeout time.Duration
}{
	{"calm", 0.6, 5 * time.Second, 10 * time.Second},
	{"overloaded", 2, 2 * time.Second, time.Minute},
}

// serviceBench measures a service.
type serviceBench struct {
	ctx           context.Context
	out, progress io.Writer
	workers, runs int
	command       func(args ...string) *exec.Cmd
	report        report
}

// runService does "filch bench service".
func runService(cmd *cobra.Command, args []string, o options) error {
	flags := cmd.Flags()
	switch {
	case len(args) > 1:
		return errors.New("service is measured apart from other workloads")
	case len(o.executors) > 0 || len(o.sizes) > 0 || o.input != "" || o.markdown || o.html != "" || o.svg != "":
		return errors.New("service knows no --executors, --size, --input, --markdown, --html and --svg")
	}
	if err := o.check(); err != nil {
		return err
	}
	if flags.Changed("workers") && len(o.workers) > 1 {
		return errors.New("--workers: service takes one number")
	}
	workers := slices.Max(o.workers)
	if p := runtime.GOMAXPROCS(0); workers > p && !flags.Changed("workers") {
		workers = p
	} else if workers > p {
		return fmt.Errorf("--workers %d: service needs a processor for each, and there are %d", workers, p)
	}
	file, err := newOutputs(o)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(contextOf(cmd), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &serviceBench{ctx: ctx, out: cmd.OutOrStdout(), progress: cmd.ErrOrStderr(), workers: workers, runs: o.runs,
		command: asChild, report: report{Machine: thisMachine()}}
	if err := b.measure(); err != nil {
		return err
	}
	fmt.Fprintln(b.out)
	say(b.out, "A thumbnail is some milliseconds of work; one request in ten is urgent. Requests come at times that do not depend on answers, and are timed from "+
		"when they were due. Calm: %.1f of what %d workers can do. Overloaded: %.1f times what they can do, for %v. %s", serviceLoads[0].share, b.workers,
		serviceLoads[1].share, serviceLoads[1].lasts, b.report.footer())
	if o.bars {
		printBars(b.out, b.report.Bars)
	}
	return file.write(b.report)
}

// serviceShorter is by what tests divide how long loads last.
var serviceShorter time.Duration = 1

// figures of a service, by which rows are named after the load's name.
const (
	p50, p99             = "p50", "p99"
	urgentP50, urgentP99 = "urgent p50", "urgent p99"
	perRequest           = "processor time a request"
	perAnswer            = "time an answer"
)

// measure measures all ways under all loads, in turn, each time in a new process.
func (b *serviceBench) measure() error {
	names := servicebench.Names()
	rate := float64(b.workers) / servicebench.Cost().Seconds()
	bar := newProgress(b.progress, len(serviceLoads)*len(names)*b.runs)
	defer bar.done()
	for _, load := range serviceLoads {
		times := map[string][]time.Duration{} // by way and figure
		for i := range b.runs {
			for k := range names {
				name := names[(k+i)%len(names)]
				l := servicebench.Load{Rate: load.share * rate, Lasts: load.lasts / serviceShorter, Timeout: load.timeout, Seed: uint64(i)}
				r, err := b.once(l, name)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", load.name, name, err)
				}
				for figure, x := range figuresOf(r) {
					times[name+figure] = append(times[name+figure], x)
				}
				bar.step("service "+name, 1)
			}
		}
		for _, name := range names {
			for _, figure := range []string{p50, p99, urgentP50, urgentP99, perRequest, perAnswer} {
				r := &row{Workload: "service", Size: load.name + " " + figure, Executor: name, Workers: b.workers, Runs: b.runs, OK: true, Forks: 1, Times: times[name+figure]}
				r.summarize()
				b.report.Rows = append(b.report.Rows, r)
			}
		}
		b.print(load.name, names)
	}
	b.report.Bars = b.bars()
	return nil
}

// figuresOf returns the figures of one run.
func figuresOf(r servicebench.Result) map[string]time.Duration {
	all := slices.Concat(r.Urgent, r.Others)
	n := time.Duration(max(1, len(all)))
	return map[string]time.Duration{
		p50: quantile(all, 0.5), p99: quantile(all, 0.99), urgentP50: quantile(r.Urgent, 0.5), urgentP99: quantile(r.Urgent, 0.99),
		perRequest: r.CPU / n, perAnswer: r.Took / n,
	}
}

func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	times = slices.Sorted(slices.Values(times))
	return times[int(q*float64(len(times)-1))]
}

// once starts a service, sends it a short load first, then the load, and ends it.
func (b *serviceBench) once(l servicebench.Load, name string) (r servicebench.Result, err error) {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	cmd := b.command(serviceName, strconv.Itoa(b.workers))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return r, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	defer func() {
		_ = stdin.Close() // ends it
		if e := cmd.Wait(); err == nil {
			err = e
		}
	}()
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return r, fmt.Errorf("the service does not tell its address: %w", err)
	}
	address = strings.TrimSpace(address)
	warm := servicebench.Load{Rate: min(l.Rate, 300), Lasts: l.Lasts / 10, Timeout: l.Timeout, Seed: 1 << 32}
	if _, err := warm.Run(ctx, address, name); err != nil {
		return r, err
	}
	r, err = l.Run(ctx, address, name)
	if answered := len(r.Urgent) + len(r.Others); err == nil && answered < r.Sent {
		return r, fmt.Errorf("%d of %d requests were not answered in %v: the figures would be those of the others", r.Sent-answered, r.Sent, l.Timeout)
	}
	return r, err
}

// find returns the row of a way and a figure.
func (b *serviceBench) find(size, name string) *row {
	i := slices.IndexFunc(b.report.Rows, func(r *row) bool { return r.Size == size && r.Executor == name })
	return b.report.Rows[i]
}

func (b *serviceBench) print(load string, names []string) {
	t := newTable(b.out)
	t.AppendHeader(table.Row{"service, " + load, p50, p99, urgentP50, urgentP99, "cpu/request", "of " + names[0], "answers/s"})
	t.right(2, 8)
	for _, name := range names {
		line := table.Row{name}
		for _, figure := range []string{p50, p99, urgentP50, urgentP99, perRequest} {
			line = append(line, duration(b.find(load+" "+figure, name).Median))
		}
		cpu, first := b.find(load+" "+perRequest, name), b.find(load+" "+perRequest, names[0])
		line = append(line, fmt.Sprintf("%.3f", over(cpu, first)), digits(1/b.find(load+" "+perAnswer, name).Median.Seconds()))
		t.AppendRow(line)
	}
	t.Render()
	fmt.Fprintln(b.out)
}

// bars are the goals: filch beside a semaphore, and with loops of par inside.
func (b *serviceBench) bars() (bs []bar) {
	names := servicebench.Names()
	const ours, inside = "filch", "filch, par"
	goal := func(what, size, name, rival string, most float64) {
		r := b.find(size, name)
		bs = append(bs, bar{what, over(r, b.find(size, rival)), most, "x " + rival, float64(r.Median), true})
	}
	calm, full := serviceLoads[0].name+" ", serviceLoads[1].name+" "
	goal("processor time a request", calm+perRequest, ours, names[0], 1.01)
	goal("median time", calm+p50, ours, names[0], 1.03)
	goal("p99", calm+p99, ours, names[0], 1.03)
	goal("processor time with par inside", calm+perRequest, inside, ours, 1.03)
	goal("median time with par inside", calm+p50, inside, ours, 1.03)
	goal("p99 with par inside", calm+p99, inside, ours, 1.03)
	goal("overloaded, p99 of urgent requests", full+urgentP99, ours, names[0], 1.0/3)
	goal("overloaded, time an answer", full+perAnswer, ours, names[0], 1.03)
	return bs
}

// serviceName is the hidden command that is the service of a measurement.
const serviceName = "bench-service"

func benchServiceCommand() *cobra.Command {
	return &cobra.Command{
		Use: serviceName + " WORKERS", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			workers, err := strconv.Atoi(args[0])
			if err != nil || workers < 1 {
				return fmt.Errorf("%s: not a number of workers", args[0])
			}
			return servicebench.Serve(os.Stdin, cmd.OutOrStdout(), workers, cpuTime)
		},
	}
}
