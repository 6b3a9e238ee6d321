package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster"
)

func cronCommand(o *clusterOptions) *cobra.Command {
	cmd := parent(&cobra.Command{
		Use:   "cron",
		Short: "Submit tasks again and again",
		Long: `Cron sets, lists and removes cron jobs. The servers keep them and submit a task each time one is due, whether or not the node that has set
it is still there. Each time is one task, however many nodes there are.`,
	})
	cmd.AddCommand(cronAddCommand(o), cronListCommand(o), cronRemoveCommand(o))
	return cmd
}

func cronAddCommand(all *clusterOptions) *cobra.Command {
	o := submitOptions{clusterOptions: all}
	cmd := &cobra.Command{
		Use:   "add name schedule handler [argument]",
		Short: "Set a cron job, in the place of one of the same name",
		Long: `Add sets a cron job. A job of the same name is replaced; if it is the same in all, it stays as it is.

A schedule has five fields: minute, hour, day of the month, month, day of the week; or six, with the second before them. CRON_TZ=Europe/Berlin
before them sets a time zone; the default is UTC. It can also be "@every 90s", or @hourly, @daily, @weekly, @monthly or @yearly.

The argument is that of "filch cluster submit". Results are not stored, and what fails is in the dead letters. With --unique a time
is left out while a task of that key has not ended.`,
		Example: `  filch cluster cron add nightly '0 3 * * *' report '{"days": 1}'
  filch cluster cron add beat '@every 30s' ping --within 10s --unique beat`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 3 || len(args) > 4 {
				return fmt.Errorf("cron add: want a name, a schedule, a handler and an argument, not %d arguments", len(args))
			}
			if err := checkName("cron add: the name", args[0]); err != nil {
				return err
			}
			return checkName("cron add: the handler", args[2])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := o.check(cmd)
			if err != nil {
				return err
			}
			in, err := o.argument(cmd, args[3:])
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				return o.each(cmd, args[:1], "added", func(name string) error { return n.Cron(ctx, name, args[1], args[2], in, options...) })
			})
		},
	}
	o.addTaskFlags(cmd)
	cmd.Flags().BoolVar(&o.text, "text", false, "the argument is text")
	return cmd
}

func cronListCommand(o *clusterOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the cron jobs",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				jobs, err := n.CronJobs(ctx)
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), append([]cluster.CronJob{}, jobs...))
				}
				if len(jobs) == 0 {
					fmt.Fprintln(cmd.OutOrStdout(), "no cron jobs")
					return nil
				}
				t := newTable(cmd.OutOrStdout())
				t.AppendHeader(table.Row{"name", "schedule", "handler", "set"})
				for _, j := range jobs {
					handler := j.Handler
					if j.Version != "" {
						handler += "@" + j.Version
					}
					t.AppendRow(table.Row{j.Name, j.Spec, handler, j.Set.Local().Format(time.DateTime)})
				}
				t.Render()
				return nil
			})
		},
	}
}

func cronRemoveCommand(o *clusterOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "rm name...",
		Short: "Remove cron jobs",
		Long:  "Rm removes cron jobs. Tasks that were submitted stay.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("cron rm: name a cron job")
			}
			for _, name := range args {
				if err := checkName("cron rm: the name", name); err != nil {
					return err
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				jobs, err := n.CronJobs(ctx)
				if err != nil {
					return err
				}
				there := map[string]bool{}
				for _, j := range jobs {
					there[j.Name] = true
				}
				return o.each(cmd, args, "removed", func(name string) error {
					if !there[name] {
						return fmt.Errorf("no cron job has that name: %s", name)
					}
					return n.RemoveCron(ctx, name)
				})
			})
		},
	}
}
