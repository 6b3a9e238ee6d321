package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster"
)

func showCommand(o *clusterOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "show id",
		Short: "Show what is known of a task",
		Long: `Show has the state of a task: delayed, after (it waits for other tasks), waiting, running, retry (it has failed, and is tried
again), done, failed, canceled or deadline (its time was over). A task that has not ended is looked for on all nodes, which takes half a second, and then in
the stream, for --timeout at most.`,
		Args: ids(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				ctx, cancel := o.within(ctx)
				defer cancel()
				t, err := n.Show(ctx, args[0])
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), &taskView{t})
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				for _, row := range rows(t) {
					if row[1] != "" {
						fmt.Fprintf(w, "%s\t%s\n", row[0], strings.ReplaceAll(row[1], "\n", "\n\t"))
					}
				}
				return w.Flush()
			})
		},
	}
}

// rows are what people read of a task.
func rows(t cluster.TaskInfo) [][2]string {
	attempts, stored := "", ""
	if t.Attempts > 0 {
		attempts = fmt.Sprint(t.Attempts)
	}
	if !t.Stored.IsZero() {
		stored = t.Stored.Local().Format(time.DateTime)
	}
	return [][2]string{
		{"id", t.ID}, {"state", string(t.State)}, {"handler", t.Handler}, {"node", t.Node}, {"attempts", attempts}, {"error", t.Error},
		{"from", t.From}, {"key", t.Key}, {"stored", stored}, {"argument", body(t.Codec, t.Argument)}, {"result", body(t.Codec, t.Result)},
	}
}

// mostBody is how much of an argument or a result people are shown, in bytes.
const mostBody = 4000

// body returns an argument or a result for people.
func body(codec string, data []byte) string {
	switch {
	case len(data) == 0:
		return ""
	case codec != "json":
		return fmt.Sprintf("%d bytes of the codec %s", len(data), codec)
	case len(data) > mostBody:
		return strings.ToValidUTF8(string(data[:mostBody]), "") + fmt.Sprintf("... (%d bytes)", len(data))
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}

// ids checks that there is an ID, or any number of them if most is 0.
func ids(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if most == 1 && len(args) != 1 {
			return fmt.Errorf("%s: want the ID of a task, not %d: %s", cmd.Name(), len(args), cmd.UseLine())
		}
		if len(args) == 0 {
			return fmt.Errorf("%s: want IDs of tasks, not %d: %s", cmd.Name(), len(args), cmd.UseLine())
		}
		return checkIDs(cmd, args)
	}
}

func checkIDs(cmd *cobra.Command, args []string) error {
	for _, id := range args {
		if err := checkText(cmd.Name()+": the ID", id); err != nil {
			return err
		}
	}
	return nil
}

// checkHandler returns an error if a handler is no name, nor name@version.
func checkHandler(what, handler string) error {
	name, version, versioned := strings.Cut(handler, "@")
	if err := checkName(what, name); err != nil || !versioned {
		return err
	}
	return checkName(what+"'s version", version)
}

// each does something for each ID, and tells what was done. What fails does not keep the rest from being done.
func (o *clusterOptions) each(cmd *cobra.Command, ids []string, done string, do func(id string) error) error {
	return o.eachOf(cmd, ids, done, func(i int) error { return do(ids[i]) })
}

// eachOf is each by the indices of the IDs.
func (o *clusterOptions) eachOf(cmd *cobra.Command, ids []string, done string, do func(i int) error) error {
	worked := []string{}
	var all []error
	for i, id := range ids {
		if err := do(i); err != nil {
			all = append(all, err)
			continue
		}
		worked = append(worked, id)
		if !o.json {
			fmt.Fprintln(cmd.OutOrStdout(), done, id)
		}
	}
	if o.json {
		all = append(all, printJSON(cmd.OutOrStdout(), map[string][]string{done: worked}))
	}
	return errors.Join(all...)
}

func cancelCommand(o *clusterOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel id...",
		Short: "Cancel tasks",
		Long: `Cancel ends the handlers of tasks that run, and keeps those that wait from running. A task that has ended stays as it is,
which is an error; so is an ID that nobody knows. The stream is searched for each, for --timeout at most.`,
		Args: ids(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				return o.each(cmd, args, "canceled", func(id string) error { return o.cancelTask(ctx, n, id) })
			})
		},
	}
}

// cancelTask cancels a task. The error says so if it had ended in another way before.
func (o *clusterOptions) cancelTask(ctx context.Context, n *cluster.Node, id string) error {
	ctx, cancel := o.within(ctx)
	defer cancel()
	if err := n.Cancel(ctx, id); err != nil {
		return err
	}
	f, err := cluster.Attach[json.RawMessage](ctx, n, id)
	if err != nil {
		return err
	}
	select {
	case <-f.Done():
	default:
		return nil // a node is told to end it
	}
	if _, err := f.Wait(ctx); !errors.Is(err, cluster.ErrCanceled) {
		return fmt.Errorf("task %s had ended before", id)
	}
	return nil
}

func pauseCommand(o *clusterOptions) *cobra.Command {
	return handlerCommand(o, "pause", "paused", "Pause the tasks of handlers", `Pause keeps nodes from fetching tasks of handlers until they are resumed, also nodes that come later. What runs goes on, and
tasks can be submitted.`, (*cluster.Node).Pause)
}

func resumeCommand(o *clusterOptions) *cobra.Command {
	return handlerCommand(o, "resume", "resumed", "Resume the tasks of handlers", "Resume lets nodes fetch tasks of handlers again, which they do at once.", (*cluster.Node).Resume)
}

func removeCommand(o *clusterOptions) *cobra.Command {
	return handlerCommand(o, "remove", "removed", "Remove the queues of handlers that no node has", `Remove removes the queues of handlers that no node has any more, such as those of an old version, so that they are not listed, and
submitting to them is an error. It refuses a handler that a node has, or of which tasks are there.`, (*cluster.Node).RemoveHandler)
}

// handlerCommand returns a command that does something to handlers.
func handlerCommand(o *clusterOptions, name, done, short, long string, do func(*cluster.Node, context.Context, string) error) *cobra.Command {
	return &cobra.Command{
		Use:   name + " handler...",
		Short: short,
		Long:  long + " A handler with a version is name@version.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: name a handler", name)
			}
			for _, h := range args {
				if err := checkHandler(name+": the handler", h); err != nil {
					return err
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				return o.each(cmd, args, done, func(h string) error { return do(n, ctx, h) })
			})
		},
	}
}
