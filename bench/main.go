// Command bench measures filch beside programs in other languages that do the same. They are
// started once for each row of the table, and asked in turn for a run; see README.md.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// row is a program to run, in a size. The short size is to see whether all works.
type row struct {
	name, size, short string
	forks             bool // it is one that filch has as a Chain, too
	answers           bool // its answer is known to all languages alike
}

var rows = []row{
	{"fib", "38", "20", true, true},
	{"nqueens", "12", "8", true, true},
	{"skynet", "1000000", "1000", true, true},
	{"integrate", "10000", "10", true, true},
	{"uts", "T1", "T1", true, true},
	{"matmul", "1024", "128", false, false},
	{"sort-random", "10000000", "10000", false, true},
	{"sort-nearly", "10000000", "10000", false, true},
	{"sum", "100000000", "100000", false, true},
	{"prefix", "100000000", "100000", false, true},
	{"tasks", "1000000", "1000", false, true},
}

// system is what a row is run on: a command that answers lines.
type system struct {
	name    string
	command []string
}

// child is a system that was started.
type child struct {
	system
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	took   []time.Duration
	serial []time.Duration
}

func start(s system) (*child, error) {
	cmd := exec.Command(s.command[0], s.command[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &child{system: s, cmd: cmd, in: in, out: bufio.NewReader(out)}, cmd.Start()
}

// ask sends a line and returns what is answered.
func (c *child) ask(line string) (took time.Duration, answer string, err error) {
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		return 0, "", fmt.Errorf("%s: %w", c.name, err)
	}
	text, err := c.out.ReadString('\n')
	if err != nil {
		return 0, "", fmt.Errorf("%s ended at %q: %w", c.name, line, err)
	}
	number, answer, _ := strings.Cut(strings.TrimSpace(text), " ")
	ns, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, "", fmt.Errorf("%s answers %q", c.name, text)
	}
	return time.Duration(ns), answer, nil
}

func (c *child) stop() {
	c.in.Close()
	c.cmd.Wait()
}

// measure runs r on the systems in turn, so often after a run to warm up, and returns them
// with their times.
func measure(r row, systems []system, workers, runs int) (cs []*child, err error) {
	for _, s := range systems {
		c, err := start(s)
		if err != nil {
			return nil, err
		}
		defer c.stop()
		cs = append(cs, c)
		if _, _, err := c.ask(fmt.Sprintf("load %s %s %d", r.name, r.size, workers)); err != nil {
			return nil, err
		}
	}
	want := ""
	for i := range runs + 1 {
		for k := range cs {
			c := cs[(k+i)%len(cs)]
			for _, how := range []string{"serial", "run"} {
				took, answer, err := c.ask(how)
				if err != nil {
					return nil, err
				}
				if want == "" && r.answers {
					want = answer
				}
				if r.answers && answer != want {
					return nil, fmt.Errorf("%s %s on %s, %s: %s, not %s", r.name, r.size, c.name, how, answer, want)
				}
				switch {
				case i == 0:
				case how == "run":
					c.took = append(c.took, took)
				default:
					c.serial = append(c.serial, took)
				}
			}
		}
	}
	return cs, nil
}

func median(ds []time.Duration) time.Duration {
	ds = slices.Sorted(slices.Values(ds))
	return (ds[(len(ds)-1)/2] + ds[len(ds)/2]) / 2
}

// cell is a time, and how many times as fast it is as the serial program of its language.
func cell(c *child) string {
	took := median(c.took)
	return fmt.Sprintf("%.3g ms (%.2f)", took.Seconds()*1e3, median(c.serial).Seconds()/took.Seconds())
}

func run(out, progress io.Writer, systems []system, names []string, workers []int, runs int, short bool) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "program\tsize\tworkers")
	for _, s := range systems {
		fmt.Fprintf(t, "\t%s", s.name)
	}
	fmt.Fprintln(t)
	for _, r := range rows {
		if len(names) > 0 && !slices.Contains(names, r.name) {
			continue
		}
		if short {
			r.size = r.short
		}
		for _, n := range workers {
			fmt.Fprintf(progress, "%s %s, workers: %d\n", r.name, r.size, n)
			var on []system
			for _, s := range systems {
				if r.forks || s.name != "filch-chain" {
					on = append(on, s)
				}
			}
			cs, err := measure(r, on, n, runs)
			if err != nil {
				return err
			}
			fmt.Fprintf(t, "%s\t%s\t%d", r.name, r.size, n)
			for _, s := range systems {
				i := slices.IndexFunc(cs, func(c *child) bool { return c.name == s.name })
				if i < 0 {
					fmt.Fprint(t, "\t-")
					continue
				}
				fmt.Fprintf(t, "\t%s", cell(cs[i]))
			}
			fmt.Fprintln(t)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nMedians of %d runs, systems in turn; in parentheses, times as fast as the serial program of the same language.\n", runs)
	return err
}

// parse reads the arguments: flags, and systems as name=command.
func parse(args []string) (systems []system, names []string, workers []int, runs int, short bool, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	of := f.String("workers", "1,2", "numbers of workers")
	only := f.String("programs", "", "programs to run (default all)")
	f.IntVar(&runs, "runs", 5, "measured runs of each")
	f.BoolVar(&short, "short", false, "small sizes, to see whether all works")
	if err = f.Parse(args); err != nil {
		return
	}
	for _, s := range strings.Split(*of, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, nil, nil, 0, false, fmt.Errorf("-workers %s: not a number of workers", s)
		}
		workers = append(workers, n)
	}
	if *only != "" {
		names = strings.Split(*only, ",")
	}
	for _, name := range names {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) {
			return nil, nil, nil, 0, false, fmt.Errorf("-programs: there is no %s", name)
		}
	}
	for _, arg := range f.Args() {
		name, command, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, nil, nil, 0, false, fmt.Errorf("%s: a system is name=command", arg)
		}
		systems = append(systems, system{name, strings.Fields(command)})
	}
	if len(systems) == 0 || runs < 1 {
		err = errors.New("there must be a system and a run; bench/run builds them")
	}
	return
}

func main() {
	systems, names, workers, runs, short, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = run(os.Stdout, os.Stderr, systems, names, workers, runs, short)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
