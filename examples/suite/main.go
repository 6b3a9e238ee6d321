// Suite runs the programs that filch is measured on beside the Barcelona OpenMP Tasks Suite and the
// Problem Based Benchmark Suite: sparselu, strassen, fft, health, tsp, alignment, bfs, hull, nbody,
// words, and a build graph. Each runs as a serial program, by goroutines as one writes them by hand, and by filch, and must have
// the same answer three times.
//
//	go run ./examples/suite              # all, in their usual sizes
//	go run ./examples/suite strassen fft # these
//
// The programs themselves are in internal/workload, a file each: read them for how a kernel like yours
// is written. "filch bench suite" measures them with more care.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/filch-go/filch/internal/workload"
)

func main() {
	names := os.Args[1:]
	if len(names) == 0 {
		for _, w := range workload.Suite {
			names = append(names, w.Name)
		}
	}
	workers := runtime.GOMAXPROCS(0)
	fmt.Printf("%-10s %10s %10s %10s   on %d workers\n", "", "serial", "goroutines", "filch", workers)
	for _, name := range names {
		if err := run(os.Stdout, name, "", workers); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
}

// run runs the program of that name in that size, or in its usual one, and prints how long it took each executor.
func run(out io.Writer, name, size string, workers int) error {
	w, err := workload.Find(name)
	if err != nil {
		return err
	}
	if size == "" {
		size = w.Default[0].Size
	}
	job, err := w.Prepare(size, workload.Env{})
	if err != nil {
		return err
	}
	if job.Load != nil {
		job.Load()
	}
	answer := job.Want
	fmt.Fprintf(out, "%-10s", name)
	for _, executor := range []string{"serial", "goroutine", "filch"} {
		e, err := workload.FindExecutor(executor)
		if err != nil {
			return err
		}
		r, err := e.Start(job, workers)
		if err != nil {
			return err
		}
		if job.Reset != nil {
			job.Reset()
		}
		begin := time.Now()
		got := r.Run()
		took := time.Since(begin)
		r.Close()
		if job.Answer != nil {
			got = job.Answer()
		}
		if answer == "" {
			answer = got
		}
		if got != answer {
			return fmt.Errorf("%s by %s: the answer is %s, not %s", name, executor, got, answer)
		}
		fmt.Fprintf(out, " %7.1f ms", took.Seconds()*1000)
	}
	fmt.Fprintf(out, "   %s\n", answer)
	return nil
}
