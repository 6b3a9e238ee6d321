package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster"
)

func deadCommand(o *clusterOptions) *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:   "dead [handler]",
		Short: "List the dead letters",
		Long: `Dead lists the tasks that have failed for good, the oldest first. "filch cluster retry" puts them back, and "filch cluster delete"
removes them. The argument of one is in "filch cluster show", and in --json. These commands take the ID of a task, or the name of a
letter, such as letter-7. That is the only ID of a message that said none. Of several letters of an ID, they take the newest.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("dead: want a handler, not %d", len(args))
			}
			if len(args) == 1 {
				return checkHandler("dead: the handler", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return fmt.Errorf("--limit %d: must not be negative", limit)
			}
			return o.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				letters, err := letters(ctx, n, strings.Join(args, ""), limit)
				if err != nil {
					return err
				}
				if o.json {
					views := []*letterView{}
					for _, l := range letters {
						views = append(views, &letterView{l})
					}
					return printJSON(cmd.OutOrStdout(), views)
				}
				if len(letters) == 0 {
					fmt.Fprintln(cmd.OutOrStdout(), "no dead letters")
					return nil
				}
				t := newTable(cmd.OutOrStdout())
				t.AppendHeader(table.Row{"id", "letter", "handler", "at", "attempts", "node", "reason"})
				t.right(5, 5)
				for _, l := range letters {
					reason, _, _ := strings.Cut(l.Reason, "\n")
					t.AppendRow(table.Row{l.ID, l.Name, l.Handler, l.At.Local().Format(time.DateTime), l.Attempts, l.Node, fmt.Sprintf("%.100s", reason)})
				}
				t.Render()
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "how many at most; 0 for all")
	return cmd
}

// letters returns dead letters, as many as limit says, or all if it is 0.
func letters(ctx context.Context, n *cluster.Node, handler string, limit int) (all []cluster.DeadLetter, err error) {
	for l, err := range n.Dead(ctx, handler) {
		if err != nil {
			return nil, err
		}
		if all = append(all, l); len(all) == limit {
			break
		}
	}
	return all, nil
}

func retryCommand(o *clusterOptions) *cobra.Command {
	return letterCommand(o, letterAct{"retry", "retried", "Put dead letters back", (*cluster.Node).Requeue, true})
}

func deleteCommand(o *clusterOptions) *cobra.Command {
	return letterCommand(o, letterAct{"delete", "deleted", "Delete dead letters", (*cluster.Node).DeleteDead, false})
}

// letterAct is what a command does to dead letters.
type letterAct struct {
	name, done, short string
	do                func(*cluster.Node, context.Context, ...string) error
	newest            bool // to the newest of an ID alone
}

// letterCommand returns a command that does something to dead letters.
func letterCommand(o *clusterOptions, a letterAct) *cobra.Command {
	all, handler := false, ""
	cmd := &cobra.Command{
		Use:   a.name + " id...",
		Short: a.short,
		Long: a.short + `. An ID is that of a task, or the name of a letter, as "filch cluster dead" lists both. Of several letters of an ID, it is the
newest.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case handler != "" && !all:
				return errors.New("--handler: is for --all")
			case handler != "":
				if err := checkHandler("--handler", handler); err != nil {
					return err
				}
			}
			if !all {
				return ids(0)(cmd, args)
			}
			if len(args) > 0 {
				return errors.New("--all: there are IDs as well")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				if !all {
					return o.each(cmd, args, a.done, func(id string) error { return a.do(n, ctx, id) })
				}
				letters, err := letters(ctx, n, handler, 0)
				if err != nil {
					return err
				}
				return a.all(ctx, cmd, o, n, letters)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all dead letters")
	cmd.Flags().StringVar(&handler, "handler", "", "with --all: those of this handler")
	return cmd
}

// all does it to dead letters, the oldest first, each by its name. A task is put back once, by the newest of its letters, and the
// others stay.
func (a letterAct) all(ctx context.Context, cmd *cobra.Command, o *clusterOptions, n *cluster.Node, letters []cluster.DeadLetter) error {
	notes := cmd.OutOrStdout()
	if o.json {
		notes = cmd.ErrOrStderr()
	}
	if len(letters) == 0 {
		fmt.Fprintln(notes, "no dead letters")
	}
	newest := map[string]string{}
	for _, l := range letters {
		newest[l.ID] = l.Name
	}
	var ids, names []string
	for _, l := range letters {
		if a.newest && newest[l.ID] != l.Name {
			fmt.Fprintf(notes, "%s stays, an older letter of %s\n", l.Name, l.ID)
			continue
		}
		ids, names = append(ids, l.ID), append(names, l.Name)
	}
	return o.eachOf(cmd, ids, a.done, func(i int) error { return a.do(n, ctx, names[i]) })
}
