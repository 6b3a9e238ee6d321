package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/workload"
)

// predicted are the numbers of workers that the table has speed-ups for.
var predicted = []int{2, 4, 8, 16, 64, 256}

// parallelism measures how parallel workloads are, and prints a table.
func parallelism(cmd *cobra.Command, args []string, o options) error {
	if apart := apartOf(args); apart != "" {
		return fmt.Errorf("%s knows no --parallelism", apart)
	}
	for _, name := range []string{"workers", "json", "html", "from", "markdown", "builds", "cpuprofile"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--parallelism knows no --%s", name)
		}
	}
	if len(o.executors) == 0 {
		o.executors = []string{"filch"}
	}
	plan, err := newPlan(args, o)
	if err != nil {
		return err
	}
	if plan.groups, err = measurable(plan.groups, len(args) > 0, len(o.sizes) > 0); err != nil {
		return err
	}
	executors := slices.DeleteFunc(plan.executors, func(e *workload.Executor) bool { return e.Name == "serial" })
	if err := onlyFilchs(o.executors); err != nil {
		return err
	}
	if o.svg != "" {
		if err := os.MkdirAll(o.svg, 0o777); err != nil {
			return fmt.Errorf("--svg: %w", err)
		}
	}
	return plan.printParallelism(cmd.OutOrStdout(), cmd.ErrOrStderr(), executors, o.svg)
}

// measurable leaves out what sleeps and, unless sizes are asked for, what takes too long with each fork seen.
func measurable(all []group, named, sized bool) (some []group, err error) {
	for _, g := range all {
		switch {
		case !g.workload.Sleeps && (sized || !g.heavy):
			some = append(some, g)
		case g.workload.Sleeps && named:
			return nil, fmt.Errorf("%s sleeps: --parallelism counts what takes processors", g.workload.Name)
		}
	}
	return some, nil
}

// onlyFilchs returns an error if one of the executors that were asked for is not filch's.
func onlyFilchs(asked []string) error {
	for _, name := range asked {
		if !strings.HasPrefix(name, "filch") && !strings.HasPrefix(name, "strand") {
			return fmt.Errorf("--executors: %s is none of filch's, whose forks --parallelism sees: filch, filch-call, filch-chain, filch-join, strand, strand-closure", name)
		}
	}
	return nil
}

func (p *plan) printParallelism(out, stderr io.Writer, executors []*workload.Executor, svg string) error {
	t := newTable(out)
	header := table.Row{"workload", "size", "executor", "T1", "Tinf", "T1/Tinf", "burdened", "forks"}
	for _, n := range predicted {
		header = append(header, fmt.Sprintf("on %d", n))
	}
	t.AppendHeader(header)
	var notes []string
	wrong := false
	bar := newProgress(stderr, len(p.groups)*len(executors)*p.runs)
	for i, g := range p.groups {
		if g.job.Load != nil {
			g.job.Load()
		}
		for _, e := range executors {
			bar.step(g.workload.Name+" "+g.size, p.runs)
			profile, err := p.profile(g.job, e)
			switch {
			case errors.Is(err, errWrong):
				fmt.Fprintf(stderr, "filch: WRONG ANSWER: %s %s, %s: %v\n", g.workload.Name, g.size, e.Name, err)
				wrong = true
				continue
			case err != nil:
				notes = append(notes, fmt.Sprintf("%s on %s: %v", g.workload.Name, e.Name, err))
				continue
			}
			t.AppendRow(profileRow(g, e, profile))
			if svg != "" {
				name := strings.ReplaceAll(fmt.Sprintf("%s-%s-%s.svg", g.workload.Name, g.size, e.Name), "/", "_")
				if err := drawInto(filepath.Join(svg, name), profile); err != nil {
					return err
				}
			}
		}
		p.groups[i].job = nil // its input is garbage now
	}
	bar.done()
	t.Render()
	fmt.Fprintln(out)
	for _, n := range notes {
		fmt.Fprintln(out, n)
	}
	m := thisMachine()
	fmt.Fprintf(out, "%s, %s; T1 and Tinf are the least of %d runs on one worker\n", m.CPU, m.build(), p.runs)
	if wrong {
		return errFailed
	}
	return nil
}

// errWrong says that a program gave a wrong answer.
var errWrong = errors.New("want")

// profile measures j some times. An interruption makes a span longer, and nothing makes it shorter: the least
// counts, and so does the least work.
func (p *plan) profile(j *workload.Job, e *workload.Executor) (least *filch.Profile, err error) {
	want := j.Want
	if want == "" {
		if j.Reset != nil {
			j.Reset()
		}
		if want = j.Serial(); j.Answer != nil {
			want = j.Answer()
		}
	}
	for range p.runs {
		if j.Reset != nil {
			j.Reset()
		}
		profile, answer, err := e.Measure(j)
		if err != nil {
			return nil, err
		}
		if j.Answer != nil {
			answer = j.Answer()
		}
		if answer != want {
			return nil, fmt.Errorf("%s; %w %s", answer, errWrong, want)
		}
		if least == nil {
			least = profile
		}
		least.Work = min(least.Work, profile.Work)
		least.Span = min(least.Span, profile.Span, least.Work)
		least.BurdenedSpan = max(min(least.BurdenedSpan, profile.BurdenedSpan), least.Span)
		least.Forks = profile.Forks
	}
	return least, nil
}

func profileRow(g group, e *workload.Executor, p *filch.Profile) table.Row {
	burdened := 0.0
	if p.BurdenedSpan > 0 {
		burdened = float64(p.Work) / float64(p.BurdenedSpan)
	}
	row := table.Row{g.workload.Name, g.size, e.Name, threeDigits(p.Work), threeDigits(p.Span), short(p.Parallelism()), short(burdened), p.Forks}
	for _, n := range predicted {
		least, most := p.SpeedUp(n)
		row = append(row, short(least)+" to "+short(most))
	}
	return row
}

// short returns v with two digits, or all that are before the point.
func short(v float64) string {
	if v < 9.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

func threeDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

func drawInto(name string, p *filch.Profile) error {
	var b bytes.Buffer
	if err := p.WriteSVG(&b); err != nil {
		return fmt.Errorf("--svg %s: %w", name, err)
	}
	return reportFile{"--svg", name}.write(b.Bytes())
}
