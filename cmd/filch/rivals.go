package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// rival is a line that bench/queues writes.
type rival struct {
	System, Durable, Version, Note string
	Places, Tasks                  int
	Times                          []time.Duration `json:"times_ns"`
}

// rivalsLess is how many times fewer tasks than of the other rates rivals run: some do not reach a thousand a second.
const rivalsLess = 5

// rivals measures other queues of tasks, by the program bench/queues: their modules are not in this command. Without
// the source it says so, and measures nothing.
func (q *queueBench) rivals() error {
	fmt.Fprintln(q.out)
	cmd, err := q.rivalsCommand()
	if err != nil {
		fmt.Fprintf(q.out, "Rivals are not measured: %v\n", err)
		return nil
	}
	all, err := readRivals(cmd)
	if err != nil {
		return err
	}
	t := newTable(q.out)
	t.AppendHeader(table.Row{"empty tasks", "it writes with", "places", "tasks/s", "spread"})
	t.right(3, 5)
	for _, f := range all {
		name := f.System + " (" + f.Version + ")"
		if f.Note != "" {
			t.AppendRow(table.Row{name, f.Durable, f.Places, f.Note})
			q.report.Rows = append(q.report.Rows, &row{Workload: "cluster", Size: f.Durable, Executor: f.System, Workers: f.Places, Note: f.Note})
			continue
		}
		r := clusterRow(f.Durable, f.System, f.Places, f.Tasks, f.Times)
		q.report.Rows = append(q.report.Rows, r)
		t.AppendRow(table.Row{name, f.Durable, f.Places, taskRate(r), spread(r)})
	}
	t.print(q.markdown)
	return nil
}

// rivalsCommand returns the command that runs bench/queues.
func (q *queueBench) rivalsCommand() (*exec.Cmd, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(sourceFolder(), "..", "..", "bench", "queues")
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err != nil {
		return nil, fmt.Errorf("their program's source is not here: %w", err)
	}
	places := strings.Trim(strings.ReplaceAll(fmt.Sprint(q.places), " ", ","), "[]")
	cmd := exec.CommandContext(q.ctx, path, "run", ".", "-tasks", fmt.Sprint(max(1, q.tasks/rivalsLess)), "-runs", fmt.Sprint(q.runs), "-places", places)
	cmd.Dir, cmd.Stderr = folder, q.progress
	cmd.Env = append(os.Environ(), "GOWORK=off")
	// It is the child of "go run" that has started servers, and it ends them when it is interrupted.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	return cmd, nil
}

// readRivals runs the command and reads what it writes.
func readRivals(cmd *exec.Cmd) (all []rival, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	d := json.NewDecoder(out)
	var wrong error
	for wrong == nil {
		var r rival
		if wrong = d.Decode(&r); wrong == nil {
			all = append(all, r)
		}
	}
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("bench/queues: %w", err)
	}
	if !errors.Is(wrong, io.EOF) {
		return nil, fmt.Errorf("bench/queues: %w", wrong)
	}
	return all, nil
}
