package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster"
)

// clusterView is what ls and top show.
type clusterView struct {
	Nodes  []cluster.NodeInfo `json:"nodes"`
	Queues []cluster.Queue    `json:"queues"`
}

// viewOf looks at the cluster.
func viewOf(ctx context.Context, n *cluster.Node) (v clusterView, err error) {
	if v.Nodes, err = n.Nodes(ctx); err != nil {
		return v, err
	}
	v.Queues, err = n.Queues(ctx)
	v.Nodes, v.Queues = append([]cluster.NodeInfo{}, v.Nodes...), append([]cluster.Queue{}, v.Queues...) // none is [] in JSON
	return v, err
}

func lsCommand(o *clusterOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the nodes and the queues",
		Long: `Ls lists the nodes, as they told of themselves in the last 15 s, and the queues of all handlers.

Nodes:

  tier       how far the node is from the tasks; nearer ones come first
  running    tasks that run, of as many as there are places for
  done       tasks that it has fetched and done since it was opened
  failed     attempts that failed
  dead       tasks that it has made dead letters
  returned   tasks that it has given back
  took from  how many tasks it has fetched, by the node that had submitted them

Queues, one for each level or partition of a handler; those that are empty are left out, but for the first of a handler:

  waiting    tasks that no node was given yet
  taken      tasks that a node was given, or that are to be tried again later
  again      those of taken that were given away more than once
  oldest     age of the oldest that waits
  idle       requests of nodes that wait for a task`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				v, err := viewOf(ctx, n)
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), v)
				}
				v.print(cmd.OutOrStdout(), nil)
				return nil
			})
		},
	}
}

// print prints tables. With what was seen before, nodes have rates.
func (v clusterView) print(out io.Writer, before map[string]cluster.NodeInfo) {
	if len(v.Nodes) == 0 {
		fmt.Fprintln(out, "no nodes")
	} else {
		v.printNodes(out, before)
	}
	fmt.Fprintln(out)
	if len(v.Queues) == 0 {
		fmt.Fprintln(out, "no queues")
	} else {
		v.printQueues(out)
	}
}

func (v clusterView) printNodes(out io.Writer, before map[string]cluster.NodeInfo) {
	t := newTable(out)
	head := table.Row{"node", "tier", "running", "done", "failed", "dead", "returned", "handlers", "took from"}
	if before != nil {
		head = slices.Insert(head, 3, any("done/s"))
	}
	t.AppendHeader(head)
	t.right(2, len(head)-2)
	for _, n := range v.Nodes {
		row := table.Row{n.Name, n.Tier, fmt.Sprintf("%d of %d", n.Stats.Running, n.Places), n.Stats.Done, n.Stats.Failed, n.Stats.Dead, n.Stats.Returned, strings.Join(n.Handlers, " "), from(n)}
		if before != nil {
			row = slices.Insert(row, 3, any(rateBetween(before[n.Name], n)))
		}
		t.AppendRow(row)
	}
	t.Render()
}

// rateBetween returns how many tasks a node has done a second, between two times at which it told of itself.
func rateBetween(before, now cluster.NodeInfo) string {
	d := now.Seen.Sub(before.Seen)
	if before.Name == "" || d <= 0 || !now.Opened.Equal(before.Opened) {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(now.Stats.Done-before.Stats.Done)/d.Seconds())
}

// mostFrom is of how many nodes a table says what was taken from them.
const mostFrom = 3

// from returns from which nodes most tasks were taken.
func from(n cluster.NodeInfo) string {
	names := slices.SortedFunc(maps.Keys(n.From), func(a, b string) int {
		return cmp.Or(cmp.Compare(n.From[b], n.From[a]), cmp.Compare(a, b))
	})
	var parts []string
	for i, name := range names {
		if i == mostFrom {
			parts = append(parts, fmt.Sprintf("and %d nodes", len(names)-i))
			break
		}
		title := name
		switch name {
		case n.Name:
			title = "itself"
		case "":
			title = "others"
		}
		parts = append(parts, fmt.Sprintf("%s %d", title, n.From[name]))
	}
	return strings.Join(parts, ", ")
}

func (v clusterView) printQueues(out io.Writer) {
	t := newTable(out)
	t.AppendHeader(table.Row{"handler", "queue", "waiting", "taken", "again", "oldest", "idle", ""})
	t.right(3, 7)
	shown := map[string]bool{}
	for _, q := range v.Queues {
		if q.Waiting+q.Taken == 0 && (shown[q.Handler] || q.Lane != "normal") {
			continue
		}
		title, state, oldest := q.Handler, "", ""
		if shown[q.Handler] {
			title = ""
		}
		shown[q.Handler] = true
		if q.Paused {
			state = "paused"
		}
		if q.Oldest > 0 {
			oldest = ago(q.Oldest)
		}
		t.AppendRow(table.Row{title, q.Lane, q.Waiting, q.Taken, q.Redelivered, oldest, q.Requests, state})
	}
	t.Render()
}

// ago returns a time with the precision that people want.
func ago(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func topCommand(all *clusterOptions) *cobra.Command {
	every, rounds := time.Duration(0), 0
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show the nodes and the queues as they change",
		Long: `Top shows what ls shows, and how many tasks each node does a second, until it is interrupted. On a terminal
the new replaces the old. Nodes tell of themselves every 5 s, so their numbers change as often; those of queues are of the moment.
With --json there is an object on a line each time.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every < 100*time.Millisecond {
				return fmt.Errorf("--every %v: must be at least 100ms", every)
			}
			if rounds < 0 {
				return fmt.Errorf("--rounds %d: must not be negative", rounds)
			}
			return all.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				t := top{clusterOptions: all, out: cmd.OutOrStdout(), seen: map[string][2]cluster.NodeInfo{}}
				return t.run(ctx, n, every, rounds)
			})
		},
	}
	cmd.Flags().DurationVar(&every, "every", time.Second, "how often to look")
	cmd.Flags().IntVar(&rounds, "rounds", 0, "how many times (default until it is interrupted)")
	return cmd
}
