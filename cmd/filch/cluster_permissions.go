package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster"
)

// roles are what a user of the servers may be, by name.
var roles = map[string]cluster.Role{"submitter": cluster.Submitter, "worker": cluster.Worker, "operator": cluster.Operator}

func permissionsCommand(o *clusterOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "permissions role",
		Short: "Print the least permissions of a user, for the configuration of a server",
		Long: `Permissions prints what a user of the servers must be permitted at least, as it stands in the configuration of a NATS server:
permissions = what is printed. It asks no server. The role is submitter, worker or operator. The permissions hold for the cluster of --name and the
node of --node, or for nodes of any name if that is left out. --inbox is the prefix of the user's answers, and no other user's.

A user connects by the same --node and --inbox. "submit", "cancel" and "node" need a submitter, a submitter and a worker; all else needs an operator, and so
does the first node, which makes the cluster.`,
		Example: `  filch cluster permissions worker --node worker-1 --inbox _INBOX_worker-1`,
		Args:    exactly("role"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			role, ok := roles[args[0]]
			if !ok {
				return fmt.Errorf("permissions: the role %q: roles are %s", args[0], strings.Join(slices.Sorted(maps.Keys(roles)), ", "))
			}
			if o.inbox == "" {
				return errors.New("permissions: name the prefix of the user's answers, by --inbox")
			}
			node := o.node
			if node == "" {
				node = "*"
			}
			p, err := cluster.PermissionsOf(role, o.name, node, o.inbox)
			if err != nil {
				return err
			}
			if o.json {
				return printJSON(cmd.OutOrStdout(), map[string]any{"publish": p.Publish, "subscribe": p.Subscribe, "allow_responses": p.Responses})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), p)
			return err
		},
	}
}
