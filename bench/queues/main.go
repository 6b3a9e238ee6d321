// Command queues measures other durable queues of tasks: at what rate they run empty tasks. It is a module of its own, so
// that their modules are in nobody else's graph. "filch bench cluster rivals" runs it.
//
// It writes a line of JSON for each system and number of places.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "queues:", err)
		os.Exit(1)
	}
}

// run measures what the arguments ask for.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("queues", flag.ContinueOnError)
	tasks := flags.Int("tasks", 2000, "empty tasks of a run")
	runs := flags.Int("runs", 3, "measured runs")
	placesText := flags.String("places", "1,16,64", "how many tasks run at once")
	only := flags.String("systems", "", "systems to measure, by the beginning of their names; all if empty")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *tasks < 1 || *runs < 1 || flags.NArg() > 0 {
		return errors.New("-tasks and -runs are at least 1, and there are no other arguments")
	}
	places, err := parsePlaces(*placesText)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	for _, s := range systems {
		if !chosen(s.name, *only) {
			continue
		}
		for _, p := range places {
			f := s.measure(ctx, p, *tasks, *runs)
			if err := encoder.Encode(f); err != nil {
				return err
			}
			if f.Note != "" {
				break // it does not start here, or has failed
			}
		}
	}
	return ctx.Err()
}

// chosen reports whether a system is to be measured.
func chosen(name, only string) bool {
	for part := range strings.SplitSeq(only, ",") {
		if strings.HasPrefix(name, part) {
			return true
		}
	}
	return false
}

func parsePlaces(text string) (all []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-places %s: %q is no number of at least 1", text, part)
		}
		all = append(all, n)
	}
	return all, nil
}
