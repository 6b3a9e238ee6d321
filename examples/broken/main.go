// Broken runs programs that get stuck, each in a way that pools of tasks get stuck in, and shows what filch says of
// them: Dump, the trace, and the live page. docs/debugging.md explains these, and the cure.
//
//	go run ./examples/broken channel
//	go run ./examples/broken -page channel
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/trace"
	"github.com/filch-go/filch/trace/live"
)

// A program has a mistake.
type program struct {
	options []filch.Option
	broken  func(p *filch.Pool) // gets stuck, and returns all the same
	cured   func(p *filch.Pool) // is the same without the mistake, and returns when all is done
}

var programs = map[string]program{
	"channel": {[]filch.Option{filch.WithWorkers(1), filch.WithStallTimeout(0)}, channel, channelCured},
	"circle":  {[]filch.Option{filch.WithWorkers(2)}, circle, circleCured},
	"mutex":   {[]filch.Option{filch.WithWorkers(1), filch.WithQueueLimit(1, filch.CallerRuns)}, mutex, mutexCured},
	"leaf":    {[]filch.Option{filch.WithWorkers(1), filch.WithOrder(filch.ByPriority)}, leaf, leafCured},
	"limit":   {[]filch.Option{filch.WithWorkers(2)}, limit, limitCured},
}

// background is where the tasks come from.
var background = context.Background()

func main() { os.Exit(run(os.Args[1:], time.Second, os.Stdout, os.Stderr)) }

// run runs the program that is named, shows what it looks like after some time, and returns the exit status.
func run(args []string, after time.Duration, out, stderr io.Writer) int {
	names := slices.Sorted(maps.Keys(programs))
	page := len(args) > 0 && args[0] == "-page"
	if page {
		args = args[1:]
	}
	if len(args) != 1 || programs[args[0]].broken == nil {
		fmt.Fprintf(stderr, "broken: name one program: %s\n", strings.Join(names, ", "))
		return 2
	}
	if page {
		return serve(args[0], out, stderr)
	}
	p, record := begin(args[0])
	time.Sleep(after / 10)
	p.Stats() // from now on Dump knows how long tasks run
	time.Sleep(after)
	err := cmp.Or(p.Dump(out), line(out), record.WriteText(out))
	if err != nil {
		fmt.Fprintln(stderr, "broken:", err)
		return 1
	}
	return 0
}

// serve serves the live page of a program that is stuck already. It returns only if it cannot listen.
func serve(name string, out, stderr io.Writer) int {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		fmt.Fprintln(stderr, "broken:", err)
		return 1
	}
	p := filch.New(append(programs[name].options, filch.WithName(name))...)
	programs[name].broken(p)
	fmt.Fprintf(out, "http://%s/\n", l.Addr())
	fmt.Fprintln(stderr, "broken:", http.Serve(l, live.Handler(p)))
	return 1
}

// begin begins the program with that name on a pool of its own.
func begin(name string) (*filch.Pool, *trace.Recorder) {
	p := filch.New(append(programs[name].options, filch.WithName(name))...)
	record := trace.New(p)
	record.Start()
	programs[name].broken(p)
	return p, record
}

func line(out io.Writer) error {
	_, err := fmt.Fprintln(out)
	return err
}
