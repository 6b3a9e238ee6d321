package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/filch-go/filch/internal/workload"
	"github.com/filch-go/filch/trace"
)

// traceOptions are the flags of filch trace.
type traceOptions struct {
	output   string
	text     bool
	workers  int
	size     string
	executor string
	input    string
	events   int
	last     time.Duration
}

func traceCommand() *cobra.Command {
	var o traceOptions
	cmd := &cobra.Command{
		Use:   "trace workload -o file",
		Short: "Record what the workers do in a run of a workload",
		Long: `Trace runs a workload once on a pool, and writes what each worker did: tasks, stolen
forks, waits and searches, with an arrow for each steal. "filch bench --list" names the
workloads and their sizes.

The name of the file says in which form:

  .json   Chrome's Trace Event Format, for ui.perfetto.dev and chrome://tracing
  .txt    text, one event a line

Any other name gets Chrome's, or with --text text. The file "-" is the standard output.
The file appears when it is complete. Until then there is the one that was there before.

The latest events of each worker are kept, as many as --events says; those that are lost are counted.

If it is interrupted, or told to end by SIGTERM, trace writes what it has recorded until then, and ends with
status 1. On the signals SIGQUIT and SIGUSR1 trace writes the last seconds to the file at once, and goes on. At
the end the whole recording takes their place. With "-" the signals do what they do elsewhere.`,
		Example: `  filch trace fib -o fib.json
  filch trace mergesort --workers 8 -o mergesort.json
  filch trace health --size small --text -o - | less`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("trace: name one workload, not %d; filch bench --list has them", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := newTracing(args[0], o, cmd.OutOrStdout(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return t.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", `file to write, or "-"; must be there`)
	f.BoolVar(&o.text, "text", false, "write text, whatever the name")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "number of workers")
	f.StringVar(&o.size, "size", "", "size of the workload (default the first that filch bench measures)")
	f.StringVar(&o.executor, "executor", "filch", "executor to run it on, one of filch's")
	f.StringVar(&o.input, "input", "", "folder that goparse reads (default the Go installation's src)")
	f.IntVar(&o.events, "events", 1<<16, "events that are kept of each worker")
	f.DurationVar(&o.last, "last", 5*time.Second, "how much a signal writes")
	return cmd
}

// traceForm is a form of the file.
type traceForm struct {
	open  string // what to do with it
	write func(t *trace.Trace, w io.Writer) error
}

// form returns the form that the flag and the name of the file ask for.
func (o traceOptions) form() (traceForm, error) {
	switch end := strings.ToLower(filepath.Ext(o.output)); {
	case o.text && end == ".json":
		return traceForm{}, fmt.Errorf("--output %s: a file whose name ends in %s has another form than that of --text", o.output, end)
	case o.text || end == ".txt":
		return traceForm{"one event a line", (*trace.Trace).WriteText}, nil
	}
	return traceForm{"open it at https://ui.perfetto.dev or chrome://tracing", (*trace.Trace).WriteChrome}, nil
}

// tracing is a run that is to be recorded.
type tracing struct {
	traceOptions
	form     traceForm
	file     reportFile // none for the standard output
	workload *workload.Workload
	job      *workload.Job
	executor *workload.Executor

	stdout, stderr io.Writer
	record         *trace.Recorder

	mu   sync.Mutex // held while a file is written
	over bool       // under mu: signals find nothing to do any more
}

// newTracing checks all that can be known before the run.
func newTracing(name string, o traceOptions, stdout, stderr io.Writer) (t *tracing, err error) {
	t = &tracing{traceOptions: o, stdout: stdout, stderr: stderr}
	if t.workload, err = workload.Find(name); err != nil {
		return nil, err
	}
	if t.executor, err = workload.FindExecutor(o.executor); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	if t.size == "" {
		if t.size = t.workload.Default[0].Size; t.input != "" {
			t.size = "all"
		}
	}
	if t.job, err = t.workload.Prepare(t.size, workload.Env{Input: o.input}); err != nil {
		return nil, err
	}
	if t.form, err = o.form(); err != nil || o.output == "-" {
		return t, err
	}
	t.file, err = newReportFile("--output", o.output)
	return t, err
}

// check checks the options that stand for themselves.
func (t *tracing) check() error {
	switch {
	case t.output == "":
		return errors.New("--output: there must be a file, or - for the standard output")
	case t.workers < 1 || t.workers > 10_000:
		return fmt.Errorf("--workers %d: the number of workers must be from 1 to 10000", t.workers)
	case t.events < 1 || t.events > 1<<24:
		return fmt.Errorf("--events %d: the number of events must be from 1 to %d", t.events, 1<<24)
	case t.last <= 0:
		return fmt.Errorf("--last %v: must be more than nothing", t.last)
	case t.input != "" && t.workload.Name != "goparse":
		return errors.New("--input: only goparse reads a folder")
	}
	if t.input == "" {
		return nil
	}
	if _, err := os.ReadDir(t.input); err != nil {
		return fmt.Errorf("--input: %w", err)
	}
	return nil
}

// run runs the workload until ctx ends, and writes the file.
func (t *tracing) run(ctx context.Context) error {
	r, err := t.executor.Start(t.job, t.workers)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", t.workload.Name, t.executor.Name, err)
	}
	if r.Pool == nil {
		r.Close()
		return fmt.Errorf("--executor: %s is none of filch's, whose workers are seen", t.executor.Name)
	}
	if t.job.Load != nil {
		t.job.Load()
	}
	if t.job.Reset != nil {
		t.job.Reset()
	}
	t.record = trace.New(r.Pool, trace.WithCapacity(t.events))
	if t.output != "-" {
		defer t.onSignals()()
	}
	answer, took, err := t.recorded(ctx, r)
	if err != nil {
		return err
	}
	defer r.Close()
	if t.job.Answer != nil {
		answer = t.job.Answer()
	}
	if want := t.job.Want; want != "" && answer != want {
		fmt.Fprintf(t.stderr, "filch: WRONG ANSWER: %s %s, %s on %d workers: %s; want %s\n", t.workload.Name, t.size, t.executor.Name, t.workers, answer, want)
		return errFailed
	}
	return t.tell("took", took)
}

// recorded records the run, and returns its answer and how long it took. If ctx ends or the program is interrupted
// before, it writes what there is; what still runs ends with the program.
func (t *tracing) recorded(ctx context.Context, r *workload.Runner) (answer string, took time.Duration, err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	t.record.Start()
	begin := time.Now()
	answers := make(chan string, 1)
	go func() { answers <- r.Run() }()
	select {
	case answer = <-answers:
		took = time.Since(begin)
		t.record.Stop()
		return answer, took, nil
	case <-ctx.Done():
		stop() // a second interrupt does not wait for the file
		t.record.Stop()
		return "", 0, cmp.Or(t.tell("interrupted after", time.Since(begin)), errFailed)
	}
}

// tell writes the file, and prints what is in it, and how long the run took.
func (t *tracing) tell(how string, took time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	all := t.record.Snapshot()
	size, err := t.write(all)
	if err != nil {
		return err
	}
	out, name := t.stdout, t.output
	if t.output == "-" {
		out, name = t.stderr, "to the standard output"
	}
	workers := "1 worker"
	if t.workers > 1 {
		workers = fmt.Sprint(t.workers, " workers")
	}
	fmt.Fprintf(out, "%s %s, %s on %s: %s %v\n", t.workload.Name, t.size, t.executor.Name, workers, how, threeDigits(took))
	fmt.Fprintf(out, "recorded: %d events, %d lost", all.Len(), all.Lost)
	if all.Lost > 0 {
		fmt.Fprint(out, ", the earliest; --events keeps more")
	}
	fmt.Fprintf(out, "\nwrote %s, %d bytes: %s\n", name, size, t.form.open)
	return nil
}

// write writes a trace, in one piece, and returns how long it is.
func (t *tracing) write(what *trace.Trace) (size int, err error) {
	var b bytes.Buffer
	if err := t.form.write(what, &b); err != nil {
		return 0, fmt.Errorf("--output %s: %w", t.output, err)
	}
	if t.output == "-" {
		if _, err = t.stdout.Write(b.Bytes()); err != nil {
			err = fmt.Errorf("--output -: %w", err)
		}
		return b.Len(), err
	}
	return b.Len(), t.file.write(b.Bytes())
}

// onSignals writes the last seconds on a signal, until stop is called.
func (t *tracing) onSignals() (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan bool)
	notify(signals)
	go func() {
		defer close(done)
		for range signals {
			t.writeLast()
		}
	}()
	return func() {
		stopNotify(signals)
		close(signals)
		<-done
	}
}

// writeLast writes the last seconds, unless the whole is written already.
func (t *tracing) writeLast() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	last := t.record.Snapshot().Last(t.last)
	if _, err := t.write(last); err != nil {
		fmt.Fprintln(t.stderr, "filch:", err)
		return
	}
	fmt.Fprintf(t.stderr, "filch: wrote %d events, of the last %v, to %s\n", last.Len(), t.last, t.output)
}
