package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster"
)

// submitOptions are the flags of filch cluster submit.
type submitOptions struct {
	*clusterOptions
	id, key, level, version string
	within, delay           time.Duration
	after                   []string
	unique                  string
	uniqueFor               time.Duration
	text, noWait            bool
}

// mostUnique is for how long a unique key can be taken: 100 years.
const mostUnique = 100 * 365 * 24 * time.Hour

// levelNames are those of the levels of priority.
var levelNames = []string{cluster.High: "high", cluster.Normal: "normal", cluster.Low: "low"}

func submitCommand(all *clusterOptions) *cobra.Command {
	o := submitOptions{clusterOptions: all}
	cmd := &cobra.Command{
		Use:   "submit handler [argument]",
		Short: "Submit a task, and print its result",
		Long: `Submit stores a task in the cluster, waits until it has ended, and prints its result. The argument is JSON, null if it is left
out, and read from the standard input if it is "-". With --text the argument is a string as it is, and a result that is a string is printed as it is.

Interrupted, submit ends, and the task goes on: "filch cluster show" has its state, and "filch cluster cancel" cancels it. A task with --id that
was submitted before is only waited for. IDs and keys are any text of printable characters, of 1 to 128 bytes.`,
		Example: `  filch cluster submit resize '{"file": "a.jpg", "width": 200}'
  filch cluster submit count --text - <letter.txt
  filch cluster submit report --id report/2026-11 --level low --no-wait`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("submit: want a handler, and an argument or none: filch cluster submit handler [argument]; there are %d", len(args))
			}
			return checkName("submit: the handler", args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := o.check(cmd)
			if err != nil {
				return err
			}
			in, err := o.argument(cmd, args[1:])
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				return o.submit(ctx, cmd.OutOrStdout(), n, args[0], in, options)
			})
		},
	}
	o.addTaskFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.id, "id", "", "ID of the task (default a new one)")
	f.DurationVar(&o.delay, "delay", 0, "how long the servers keep the task before a node gets it")
	f.StringArrayVar(&o.after, "after", nil, "ID of a task that must have ended with a result before; may be given several times")
	f.BoolVar(&o.text, "text", false, "the argument and the result are text")
	f.BoolVar(&o.noWait, "no-wait", false, "print the ID of the task, and do not wait")
	return cmd
}

// addTaskFlags adds the flags that the tasks of a cron job have as well.
func (o *submitOptions) addTaskFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.key, "key", "", "key: tasks of one key run in order")
	f.StringVar(&o.level, "level", "", "level of priority: high, normal or low")
	f.StringVar(&o.version, "version", "", "version of the handler")
	f.DurationVar(&o.within, "within", 0, "after what time the task is given up (default never)")
	f.StringVar(&o.unique, "unique", "", "unique key: the task is refused while another of this key has not ended")
	f.DurationVar(&o.uniqueFor, "unique-for", 24*time.Hour, "how long the unique key is kept at most")
}

// check returns the options of the task, or says what is wrong with the flags.
func (o *submitOptions) check(cmd *cobra.Command) ([]cluster.SubmitOption, error) {
	if o.unique == "" && cmd.Flags().Changed("unique-for") {
		return nil, errors.New("--unique-for: is for --unique")
	}
	var all []cluster.SubmitOption
	for _, c := range []struct {
		flag, value string
		check       func(what, value string) error
		with        func(string) cluster.SubmitOption
	}{{"--id", o.id, checkText, cluster.ID}, {"--key", o.key, checkText, cluster.Key}, {"--version", o.version, checkName, cluster.OfVersion}} {
		if c.value == "" {
			continue
		}
		if err := c.check(c.flag, c.value); err != nil {
			return nil, err
		}
		all = append(all, c.with(c.value))
	}
	if o.level != "" {
		level := slices.Index(levelNames, o.level)
		if level < 0 {
			return nil, fmt.Errorf("--level %q: levels are %s", o.level, strings.Join(levelNames, ", "))
		}
		if o.key != "" {
			return nil, errors.New("--level and --key: a task has one of them")
		}
		all = append(all, cluster.AtLevel(level))
	}
	more, err := o.checkTimes()
	if err != nil {
		return nil, err
	}
	return append(all, more...), nil
}

// checkTimes returns the options that say when the task runs, or says what is wrong with the flags.
func (o *submitOptions) checkTimes() (all []cluster.SubmitOption, err error) {
	switch {
	case o.within < 0:
		return nil, fmt.Errorf("--within %v: must not be negative", o.within)
	case o.delay < 0:
		return nil, fmt.Errorf("--delay %v: must not be negative", o.delay)
	case o.delay > 0 && len(o.after) > 0:
		return nil, errors.New("--delay and --after: a task has one of them")
	case o.uniqueFor < time.Second:
		return nil, fmt.Errorf("--unique-for %v: must be at least a second", o.uniqueFor)
	case o.uniqueFor > mostUnique:
		return nil, fmt.Errorf("--unique-for %v: must be at most %v", o.uniqueFor, mostUnique)
	}
	if o.within > 0 {
		all = append(all, cluster.Within(o.within))
	}
	if o.delay > 0 {
		all = append(all, cluster.Delay(o.delay))
	}
	var deps []cluster.Dependency
	for _, id := range o.after {
		if err := checkText("--after", id); err != nil {
			return nil, err
		}
		deps = append(deps, cluster.TaskID(id))
	}
	if len(deps) > 0 {
		all = append(all, cluster.After(deps...))
	}
	if o.unique != "" {
		if err := checkText("--unique", o.unique); err != nil {
			return nil, err
		}
		all = append(all, cluster.Unique(o.unique, o.uniqueFor))
	}
	return all, nil
}

// argument returns the argument of the task as JSON.
func (o *submitOptions) argument(cmd *cobra.Command, args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		if o.text {
			return json.RawMessage(`""`), nil
		}
		return json.RawMessage("null"), nil
	}
	data := []byte(args[0])
	if args[0] == "-" {
		var err error
		if data, err = io.ReadAll(cmd.InOrStdin()); err != nil {
			return nil, fmt.Errorf("%s: the argument: %w", title(cmd), err)
		}
	}
	if o.text {
		return json.Marshal(strings.ToValidUTF8(string(data), "\ufffd"))
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("%s: the argument is no JSON: %.100s (--text is for text)", title(cmd), data)
	}
	return data, nil
}

// submit submits the task and prints what has become of it.
func (o *submitOptions) submit(ctx context.Context, out io.Writer, n *cluster.Node, handler string, in json.RawMessage, options []cluster.SubmitOption) error {
	f, err := cluster.Submit[json.RawMessage, json.RawMessage](ctx, n, handler, in, options...)
	if err != nil {
		return err
	}
	if o.noWait {
		if o.json {
			return printJSON(out, map[string]string{"id": f.ID()})
		}
		_, err := fmt.Fprintln(out, f.ID())
		return err
	}
	result, err := f.Wait(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("task %s goes on", f.ID())
	}
	if o.json {
		view := taskView{TaskInfo: cluster.TaskInfo{ID: f.ID(), State: cluster.StateDone, Handler: handler, Codec: "json", Result: result}}
		if err != nil {
			view.State, view.Result, view.Error = stateOf(err), nil, err.Error()
		}
		return errors.Join(err, printJSON(out, &view))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, o.shown(result))
	return err
}

// shown returns a result for people.
func (o *submitOptions) shown(result json.RawMessage) string {
	var text string
	if o.text && json.Unmarshal(result, &text) == nil {
		return strings.TrimSuffix(text, "\n")
	}
	return string(result)
}

// stateOf returns the state of a task that has ended with an error.
func stateOf(err error) cluster.State {
	switch {
	case errors.Is(err, cluster.ErrCanceled):
		return cluster.StateCanceled
	case errors.Is(err, cluster.ErrDeadline):
		return cluster.StateDeadline
	}
	return cluster.StateFailed
}

// taskView is a task as JSON. What is JSON in it stays so; the rest is in base64.
type taskView struct{ cluster.TaskInfo }

func (t *taskView) MarshalJSON() ([]byte, error) {
	return withBodies(t.TaskInfo, t.Codec, map[string][]byte{"argument": t.Argument, "result": t.Result})
}

// letterView is a dead letter as JSON.
type letterView struct{ cluster.DeadLetter }

func (l *letterView) MarshalJSON() ([]byte, error) {
	return withBodies(l.DeadLetter, l.Codec, map[string][]byte{"argument": l.Argument})
}

// withBodies returns v as JSON with the bodies as JSON, if the codec says so and they are, and else in base64 with that in their names.
func withBodies(v any, codec string, bodies map[string][]byte) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	for name, body := range bodies {
		delete(fields, name)
		switch {
		case len(body) == 0:
		case codec == "json" && json.Valid(body):
			fields[name] = body
		default:
			fields[name+"_base64"], _ = json.Marshal(base64.StdEncoding.EncodeToString(body))
		}
	}
	return json.Marshal(fields)
}
