// Command filch measures the scheduler, and other ways to run the same work, and records what its workers do.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// errFailed is returned when what went wrong has been told already, and is no
// mistake of the caller's.
var errFailed = errors.New("failed")

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the command and returns its exit status: 2 if it was called wrongly,
// 1 if something else failed.
func run(args []string, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch err := root.Execute(); {
	case err == nil:
		return 0
	case errors.Is(err, errFailed):
		return 1
	default:
		fmt.Fprintln(stderr, "filch:", err)
		return 2
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "filch",
		Short: "filch is a work-stealing scheduler for Go; this is its command",
		Example: `  filch bench    # filch beside goroutines and other pools, on this machine
  filch live     # a page that shows workers as they run
  filch sim --scheduler pool,sharing --dag mergesort=65536    # would more processors help?`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(benchCommand(), traceCommand(), liveCommand(), simCommand(), clusterCommand(), benchNodeCommand(), benchServiceCommand())
	refuseTwice(root)
	addHelp(root)
	return root
}
