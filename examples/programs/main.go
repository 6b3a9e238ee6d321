// Programs are ten small programs of the kinds that people bring to a scheduler. Each has a serial form, one with
// goroutines and one with filch, which give the same answer. docs/programs.md says which form to take.
//
//	go run ./examples/programs
//	go test -run - -bench Programs ./examples/programs
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/filch-go/filch"
)

// A program is made for a pool, with an input that takes the serial form some tens of milliseconds, or with a small one.
type program struct {
	name string
	make func(p *filch.Pool, small bool) forms
}

// forms are the three forms of a program. Each returns the answer for the same input.
type forms struct{ serial, goroutines, filch form }

type form func() (answer any, err error)

// programs stand in the order of docs/programs.md.
var programs = []program{
	{"tree", makeTree},
	{"divide", makeDivide},
	{"loop", makeLoop},
	{"pipeline", makePipeline},
	{"crawl", makeCrawl},
	{"build", makeBuild},
	{"search", makeSearch},
	{"requests", makeRequests},
	{"jobs", makeJobs},
	{"steps", makeSteps},
}

func main() {
	if err := run(os.Stdout, filch.Default(), false); err != nil {
		fmt.Fprintln(os.Stderr, "programs:", err)
		os.Exit(1)
	}
}

// run runs each program once in each form, and prints how long that took. The forms must agree.
func run(out io.Writer, p *filch.Pool, small bool) error {
	for _, prog := range programs {
		f := prog.make(p, small)
		want, serial, err := timed(f.serial)
		if err != nil {
			return fmt.Errorf("%s: %w", prog.name, err)
		}
		line := fmt.Sprintf("%-9s serial %v", prog.name, serial)
		for _, other := range []struct {
			name string
			form
		}{{"goroutines", f.goroutines}, {"filch", f.filch}} {
			got, took, err := timed(other.form)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", prog.name, other.name, err)
			}
			if got != want {
				return fmt.Errorf("%s, %s: %v, not %v", prog.name, other.name, got, want)
			}
			line += fmt.Sprintf(", %s %v", other.name, took)
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

func timed(f form) (answer any, took time.Duration, err error) {
	start := time.Now()
	answer, err = f()
	return answer, time.Since(start).Round(10 * time.Microsecond), err
}
