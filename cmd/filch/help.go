package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usage is what the help of a command shows below what it does.
const usage = `Usage:{{if .Runnable}} {{.UseLine}}{{else}} {{.CommandPath}} <command>{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of the servers and the connection: {{.Parent.CommandPath}} --help{{end}}{{with topicsOf .Name}}

More: {{.}}{{end}}
`

// topics are what "filch help" knows besides the commands, by name, with what each is about. The name begins with the command's.
var topics = []struct{ name, short, text string }{
	{"bench-programs", "what filch bench can measure", `What filch bench can measure besides its workloads, which --list names:

  tasks     pools of tasks, filch's and the best known for Go: empty tasks, tasks that submit or
            await others, tasks that compute. Minutes: a rival that deadlocks is awaited for 20 s
  service   thumbnails by HTTP at 0.6 and 2 times what the workers can do, one request in ten
            urgent, beside a semaphore, errgroup, ants and pond: times of requests from when they
            were due, and processor time. Some three minutes
  suite     programs like those of the Barcelona and PBBS suites; each can be named alone as well
  strand    programs on package strand, Func and goroutines. For one of them, name it without
            strand: filch bench nqueens --executors strand,filch
  sssp      shortest paths by priority: --size grid=<side>, --size rmat=<scale>, or --input <file>
  par       functions of package par, all or those named, against serial programs and libraries
  cluster   package cluster beside plain JetStream, River and asynq: rates, latency, local tasks,
            a kill. --workers are the workers of a node, --size is the number of tasks

--parallelism measures work, span and the speed-up to expect on 2 to 256 workers instead.
--builds measures the command built with and without its profile.

  filch bench tasks --workers 2
  filch bench service --runs 5 --bars
  filch bench suite --executors goroutine,filch
  filch bench strand --size fib=35 --executors filch,strand
  filch bench sssp --input USA-road-d.NY.gr
  filch bench par Sort Map --size 1000,1000000
  filch bench cluster rates --workers 64 --size 20000
  filch bench --parallelism fib mergesort fft
  filch bench --size fib=35 --size uts=T1L fib uts`},
	{"bench-files", "its files, charts and comparisons", `The files of filch bench:

  --json FILE     all figures
  --html FILE     a report in one file: charts of speed-up, overhead, scaling and spread, the
                  losses of filch, and all figures
  --svg FOLDER    each chart as a file; with --parallelism the curve of each workload
  --from FILE     draws a file of --json by --html and --svg, and measures nothing

--compare OLD NEW tells what got slower between two files of --json: medians with their confidence
intervals, and as changes only those that chance seldom makes, by the statistics of benchstat. Take
10 runs of each on an idle machine. The exit status is 0, unless --fail-if-slower is given: then it
is 1 if a row of filch got slower by that many percent, or does not run any more. Rivals and serial
programs do not count. It is 2 for files that cannot be compared.

  filch bench fib uts --runs 10 --json old.json
  filch bench --from old.json --svg charts
  filch bench --compare old.json new.json --fail-if-slower 5`},
	{"bench-columns", "the columns of its table", `Of more than 40 rows, filch bench prints a line for each program: the time of the serial one, and
how many times as fast each executor is with the most workers. With -v, or of fewer rows, it prints
all. Where the terminal, or COLUMNS, is too narrow, columns are left out. The columns:

  time      wall-clock time of the median run; at-once counts it for each of its programs
  spread    the slowest run less the fastest, in percent of the median
  T1/Ts     time of the executor on one worker over that of the serial program
  speed-up  time of the serial program over this one; the bar has eight columns for 1.00
  ns/fork   time over the number of forks in the workload
  allocs    allocations of a run
  cpu       processor time of a run, on all processors together
  peak      peak memory of the process
  steals    how often a worker got a fork of another one, in a run
  open      most children of a loop that were spawned and had not ended; only if it is counted`},
	{"sim-columns", "the columns of filch sim", `Of more than 40 runs, filch sim prints the speed-up by the number of workers. With -v, --columns or
--summary, or of fewer runs, it prints a row for each:

  T1, Tinf    the work and the span of the DAG: all its steps, and those of its longest path
  time        how many steps the run took
  speed-up    T1 over the time
  of bound    the time over T1/P + Tinf, which a greedy scheduler does not exceed
  idle        the part of all worker-steps in which a worker had a processor and ran no node
  steals      attempts to steal that found something, and all attempts
  moved       threads that went on on another worker than before
  deque       the most threads in one queue
  live        the most threads that had been spawned and had not ended
  misses      of the workers' caches, with --cache
  shared misses  of the cache that all share, with --shared-cache
  inversions  threads that began while one with a better priority waited, under ordered
  PA          how many workers had a processor, on average, with --kernel or --churn; "of bound" is
              then the time over T1/PA + Tinf*P/PA
  wasted      the part of all steps of nodes that was in vain, with --churn: what failed machines
              had done

With --columns there are also:

  spans       the time beyond T1/P, over the span
  efficiency  the part of all worker-steps with a processor in which a worker did some of the work
  M1          the misses of one worker that runs spawned threads first`},
	{"sim-machines", "machines, kernels and orders of filch sim", `Options of filch sim for what a run meets:

  --kernel NAME[=PROCESSORS/STEPS]  takes processors away from workers; --list names the kernels.
                   A file has lines of a step and a number of processors
  --churn MACHINE/UP/DOWN  machines of so many workers fail and come back after these mean times in
                   steps; with /hands at the end they hand over their work first
  --topology 8@100x16  8 machines, 100 steps apart, of 16 workers each; may be repeated to compare
  --cache N, --shared-cache N  blocks in each worker's cache, and in one behind them all
  --stealing ORDER  the order in which pool tries its victims: random-start, round-robin, localized,
                   nearest, adaptive
  --central-cost N, --inside N, --priority BY, --yield WHOM, --yield-first, --step TIME  belong to
                   the schedulers central, hierarchical, ordered (hash or depth), abp (none, random
                   or all) and pool
  --efficiency N   finds how heavy a leaf must be for workers to spend N percent of their time on it
  --record WORKLOAD[=SIZE]  records a workload of filch bench, runs it, and simulates it; or
                   simulates a file with a graph whose weights are nanoseconds. --finest TIME makes
                   what takes no longer one node
  --tune           compares the pool's policies with others, on all DAGs and numbers of workers`},
}

// addHelp gives root the topics, the form of all help, and errors of flags that say what to write.
func addHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("topicsOf", topicsOf)
	root.SetUsageTemplate(usage)
	root.SetFlagErrorFunc(flagError)
	reflow(root)
	for _, t := range topics {
		topic := &cobra.Command{Use: t.name, Short: t.short, Long: t.text}
		topic.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), c.Long) })
		root.AddCommand(topic)
	}
}

// reflow breaks the paragraphs of what commands say of themselves into lines of 100 columns. Lines that begin with a space stay.
// Lists that flags have by default lose their brackets.
func reflow(c *cobra.Command) {
	var all []string
	for _, paragraph := range strings.Split(c.Long, "\n\n") {
		if !strings.HasPrefix(paragraph, " ") && !strings.Contains(paragraph, "\n ") {
			paragraph = wrapped(paragraph, 100)
		}
		all = append(all, paragraph)
	}
	c.Long = strings.Join(all, "\n\n")
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) { // a list is shown as one writes it
			if f.DefValue != "[]" {
				f.DefValue = strings.TrimSuffix(strings.TrimPrefix(f.DefValue, "["), "]")
			}
		})
	}
	for _, sub := range c.Commands() {
		reflow(sub)
	}
}

// wrapped breaks s between words into lines of at most so many columns, if its words allow that.
func wrapped(s string, columns int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(s) {
		switch n := utf8.RuneCountInString(word); {
		case i == 0:
			at = n
		case at+1+n > columns:
			b.WriteByte('\n')
			at = n
		default:
			b.WriteByte(' ')
			at += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}

// topicsOf says how to read the topics of a command.
func topicsOf(command string) string {
	var all []string
	for _, t := range topics {
		if strings.HasPrefix(t.name, command+"-") {
			all = append(all, "filch help "+t.name)
		}
	}
	return strings.Join(all, ", ")
}

// flagError says what is wrong with a flag in words of its user's: which name was meant, or what the value must be.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		names := &cobra.Command{SuggestionsMinimumDistance: 2} // cobra finds what commands were meant: here each flag is one
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		})
		if meant := names.SuggestionsFor(unknown.GetSpecifiedName()); len(meant) > 0 {
			return fmt.Errorf("unknown flag --%s; did you mean --%s?", unknown.GetSpecifiedName(), strings.Join(meant, " or --"))
		}
		return fmt.Errorf("unknown flag --%s; see %s --help", unknown.GetSpecifiedName(), cmd.CommandPath())
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && !errors.Is(err, errTwice) {
		if kind := kinds[invalid.GetFlag().Value.Type()]; kind != "" {
			return fmt.Errorf("--%s %s: not %s", invalid.GetFlag().Name, invalid.GetValue(), kind)
		}
	}
	return err
}

// kinds are what values of flags must be, by their types.
var kinds = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0 on", "float64": "a number",
	"duration": "a time, such as 1.5s or 200ms", "intSlice": "whole numbers separated by commas, such as 1,2,4", "bool": "true or false",
}
