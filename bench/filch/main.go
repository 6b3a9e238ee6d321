// Command filch in bench is the programs of the suite on filch, as the rivals beside it have
// them. It reads lines from standard input: "load <program> <size> <workers>", then any number
// of "serial" and "run"; each is answered by one line, of nanoseconds and an answer. The
// argument is the executor of what forks: filch, which is Func, or filch-chain.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/workload"
	"github.com/filch-go/filch/par"
)

// program is what was loaded. Its forms return the answer, or "" if the answer is told later.
type program struct {
	reset, close func()
	serial, run  func() string
	answer       func() string
}

func main() {
	executor := "filch"
	if len(os.Args) > 1 {
		executor = os.Args[1]
	}
	if err := serve(os.Stdin, os.Stdout, executor); err != nil {
		fmt.Fprintln(os.Stderr, "filch:", err)
		os.Exit(1)
	}
}

// serve answers the lines of in.
func serve(in io.Reader, out io.Writer, executor string) error {
	var p *program
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 4 && words[0] == "load":
			if p != nil {
				p.close()
			}
			workers, err := strconv.Atoi(words[3])
			if err == nil {
				p, err = load(words[1], words[2], workers, executor)
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(out, "0 loaded")
		case p != nil && len(words) == 1:
			p.reset()
			form := p.serial
			if words[0] == "run" {
				form = p.run
			}
			begin := time.Now()
			answer := form()
			took := time.Since(begin)
			if answer == "" {
				answer = p.answer()
			}
			fmt.Fprintln(out, took.Nanoseconds(), answer)
		default:
			return fmt.Errorf("what is %q?", lines.Text())
		}
	}
	if p != nil {
		p.close()
	}
	return lines.Err()
}

func load(name, size string, workers int, executor string) (*program, error) {
	if w, err := workload.Find(name); err == nil {
		return loadWorkload(w, size, workers, executor)
	}
	n, err := strconv.Atoi(size)
	if err != nil {
		return nil, err
	}
	pool := filch.New(filch.WithWorkers(workers))
	p := &program{reset: func() {}, close: func() { pool.Close() }}
	switch name {
	case "sort-random", "sort-nearly":
		loadSort(p, pool, input(name, n))
	case "sum":
		x := input(name, n)
		p.serial = func() string {
			sum := int64(0)
			for _, v := range x {
				sum += v
			}
			return strconv.FormatInt(sum, 10)
		}
		p.run = func() string { return strconv.FormatInt(par.Sum(pool, x), 10) }
	case "prefix":
		x, to := input(name, n), make([]int64, n)
		p.serial = func() string {
			sum := int64(0)
			for i, v := range x {
				sum += v
				to[i] = sum
			}
			return ""
		}
		p.run = func() string {
			par.PrefixSum(pool, to, x)
			return ""
		}
		p.answer = func() string { return fmt.Sprintf("%d and %d", to[n/3], to[n-1]) }
	case "tasks":
		loadTasks(p, pool, n)
	default:
		return nil, fmt.Errorf("there is no program %q", name)
	}
	return p, nil
}

// loadWorkload loads a program of package workload.
func loadWorkload(w *workload.Workload, size string, workers int, executor string) (*program, error) {
	j, err := w.Prepare(size, workload.Env{})
	if err != nil {
		return nil, err
	}
	e, err := workload.FindExecutor(executor)
	if err != nil {
		return nil, err
	}
	if j.Load != nil {
		j.Load()
	}
	r, err := e.Start(j, workers)
	if err != nil {
		return nil, err
	}
	p := &program{reset: j.Reset, close: r.Close, serial: j.Serial, run: r.Run, answer: j.Answer}
	if p.reset == nil {
		p.reset = func() {}
	}
	return p, nil
}

func loadSort(p *program, pool *filch.Pool, x []int64) {
	a := make([]int64, len(x))
	p.reset = func() { copy(a, x) }
	p.serial = func() string { slices.Sort(a); return "" }
	p.run = func() string { par.Sort(pool, a); return "" }
	p.answer = func() string {
		sum := uint64(0)
		for _, v := range a {
			sum += uint64(v)
		}
		return fmt.Sprintf("ordered %v, sum %d", slices.IsSorted(a), sum)
	}
}

func loadTasks(p *program, pool *filch.Pool, n int) {
	var count atomic.Int64
	p.serial = func() string {
		count.Store(0)
		for range n {
			count.Add(1)
		}
		return strconv.FormatInt(count.Load(), 10)
	}
	p.run = func() string {
		count.Store(0)
		pool.Do(func(w *filch.Worker) {
			for range n {
				w.Async(func(*filch.Worker) { count.Add(1) })
			}
		})
		return strconv.FormatInt(count.Load(), 10)
	}
}

// input makes up numbers as the rivals do.
func input(name string, n int) []int64 {
	x := make([]int64, n)
	state := uint64(1)
	next := func() uint64 {
		state = state*6364136223846793005 + 1442695040888963407
		return state
	}
	random := func() uint64 { v := next(); return v ^ v>>29 }
	switch name {
	case "sort-random":
		for i := range x {
			x[i] = int64(random())
		}
	case "sort-nearly":
		for i := range x {
			x[i] = 16 * int64(i)
		}
		for range n / 100 {
			i, j := random()%uint64(n), random()%uint64(n)
			x[i], x[j] = x[j], x[i]
		}
	default:
		for i := range x {
			x[i] = int64(i % 1000)
		}
	}
	return x
}
