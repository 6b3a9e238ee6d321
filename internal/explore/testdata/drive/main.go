// Drive explores small programs on the code under test, of which it is given a
// copy whose atomics and locks are those of package sched. It prints a line for
// each program, and how one fails.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/filch-go/filch/internal/explore/sched"
)

// program is what is explored.
type program struct {
	name  string
	run   sched.Program
	bound int // preemptions, unless a flag says otherwise
}

// parts return the programs of one file each. Every file adds its own, so that it may be left out;
// see explore.Build. chosen says that not all programs are asked for.
var parts []func(deep, chosen bool) []program

// writeTranscripts writes the transcripts into a folder; nil if their file was left out.
var writeTranscripts func(dir string) error

// ran counts how often each of a few things has been done.
type ran [8]int

func (n *ran) want(counts ...int) error {
	for i, k := range counts {
		if n[i] != k {
			return fmt.Errorf("not done exactly once: %d was done %d times, not %d", i, n[i], k)
		}
	}
	return nil
}

// read reads the first k, which no thread may write any more.
func (n *ran) read(k int) {
	for i := range k {
		sched.Reads(&n[i])
	}
}

func main() {
	pattern := flag.String("run", "", "explore the programs that match")
	preemptions := flag.Int("preemptions", -1, "at most so many preemptions; negative: any number")
	less := flag.Int("less", 0, "so many preemptions less than a program's own bound, if it has one")
	limit := flag.Int("max", 0, "at most so many executions a program; 0: all")
	deep := flag.Bool("deep", false, "explore larger programs as well")
	replay := flag.String("replay", "", "run this schedule once, as thread numbers with commas, and print it")
	transcripts := flag.String("transcripts", "", "write the transcripts into this folder, and explore nothing")
	flag.Parse()
	if *transcripts != "" {
		if err := writeTranscripts(*transcripts); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	debug.SetGCPercent(800) // little is kept, and much is thrown away
	o := sched.Options{Preemptions: *preemptions, Max: *limit}
	for s := range strings.SplitSeq(*replay, ",") {
		if *replay == "" {
			break
		}
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			fmt.Fprintln(os.Stderr, "--replay:", err)
			os.Exit(2)
		}
		o.Schedule = append(o.Schedule, n)
	}
	match, err := regexp.Compile(*pattern)
	if err != nil {
		fmt.Fprintln(os.Stderr, "--run:", err)
		os.Exit(2)
	}
	var all []program
	for _, part := range parts {
		all = append(all, part(*deep, *pattern != "")...)
	}
	failed := false
	for _, p := range all {
		if !match.MatchString(p.name) {
			continue
		}
		o := o
		if o.Preemptions < 0 && o.Schedule == nil {
			o.Preemptions = p.bound
			if p.bound > 0 {
				o.Preemptions = max(0, p.bound-*less)
			}
		}
		r := sched.Explore(p.run, o)
		end := "complete"
		if o.Preemptions >= 0 {
			end = fmt.Sprintf("%d preemptions complete", o.Preemptions)
		}
		if r.Failure != nil {
			end = "FAIL"
			failed = true
		} else if !r.Complete {
			end = "stopped"
		}
		fmt.Printf("%s\t%d executions\t%d pruned\t%d steps\t%v\t%s\n", p.name, r.Executions, r.Pruned, r.Steps, r.Took.Round(time.Millisecond), end)
		if r.Failure != nil {
			fmt.Println(r.Failure)
		}
	}
	if failed {
		os.Exit(1)
	}
}
