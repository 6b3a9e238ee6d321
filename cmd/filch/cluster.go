package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster"
)

// clusterText explains the commands of a cluster.
const clusterText = `Cluster runs and shows tasks of several machines, on NATS JetStream. To try it, in three terminals:

  filch cluster server                                    a server, on port 4222
  filch cluster node --handler count --text -- wc -w      a node that runs a program for each task
  filch cluster submit count --text 'how many words'      a task`

func clusterCommand() *cobra.Command {
	o := &clusterOptions{}
	cmd := parent(&cobra.Command{
		Use:   "cluster",
		Short: "Run and show tasks of several machines",
		Long:  clusterText,
	})
	o.addFlags(cmd)
	cmd.AddCommand(
		serverCommand(o), nodeCommand(o), submitCommand(o),
		permissionsCommand(o), lsCommand(o), topCommand(o), clusterLiveCommand(o), showCommand(o), deadCommand(o),
		cancelCommand(o), pauseCommand(o), resumeCommand(o), retryCommand(o), deleteCommand(o), removeCommand(o), cronCommand(o),
	)
	return cmd
}

// clusterOptions are the flags of all commands of a cluster.
type clusterOptions struct {
	server, name  string
	node, inbox   string
	creds         string
	ca, cert, key string
	timeout       time.Duration
	json          bool
}

func (o *clusterOptions) addFlags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&o.server, "server", "", "`URLs` of the NATS servers, with commas (default $NATS_URL, or "+nats.DefaultURL+")")
	f.StringVar(&o.name, "name", "filch", "name of the cluster")
	f.StringVar(&o.node, "node", "", "`name` of this node (default the machine's, with a random part)")
	f.StringVar(&o.inbox, "inbox", "", "prefix of the subjects of answers, for a user whose permissions have one")
	f.StringVar(&o.creds, "creds", "", "file of NATS credentials")
	f.StringVar(&o.ca, "tls-ca", "", "file of the certificates that the servers' must be signed by")
	f.StringVar(&o.cert, "tls-cert", "", "file of a certificate for the servers")
	f.StringVar(&o.key, "tls-key", "", "file of its key")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "how long to wait for the servers")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

// check says which flag makes no sense.
func (o *clusterOptions) check() error {
	o.server = cmp.Or(o.server, os.Getenv("NATS_URL"), nats.DefaultURL) // and no default of the flag: help would print its password
	switch {
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %v: must be positive", o.timeout)
	case (o.cert == "") != (o.key == ""):
		return errors.New("--tls-cert and --tls-key: the one needs the other")
	}
	for flag, name := range map[string]string{"--node": o.node, "--inbox": o.inbox} {
		if name != "" {
			if err := checkName(flag, name); err != nil {
				return err
			}
		}
	}
	return checkName("--name", o.name)
}

// checkName returns an error if a name is none that a cluster takes. what is what the user has written it as.
func checkName(what, name string) error {
	if name == "" || len(name) > 128 {
		return fmt.Errorf("%s %q: a name has 1 to 128 characters", what, name)
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return fmt.Errorf("%s %q: a name has letters, digits, - and _", what, name)
		}
	}
	return nil
}

// checkText returns an error if a text is none that an ID or a key can be. what is what the user has written it as.
func checkText(what, text string) error {
	if text == "" || len(text) > 128 {
		return fmt.Errorf("%s %q: it has 1 to 128 bytes", what, text)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s %q: it is not valid UTF-8", what, text)
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("%s %q: %q is not printable", what, text, r)
		}
	}
	return nil
}

// connect connects to the servers.
func (o *clusterOptions) connect() (*nats.Conn, error) {
	opts := []nats.Option{nats.Name("filch cluster"), nats.Timeout(o.timeout), nats.MaxReconnects(-1)}
	if o.inbox != "" {
		opts = append(opts, nats.CustomInboxPrefix(o.inbox))
	}
	if o.creds != "" {
		opts = append(opts, nats.UserCredentials(o.creds))
	}
	if o.ca != "" {
		opts = append(opts, nats.RootCAs(o.ca))
	}
	if o.cert != "" {
		opts = append(opts, nats.ClientCert(o.cert, o.key))
	}
	nc, err := nats.Connect(o.server, opts...)
	if err != nil {
		err = fmt.Errorf("--server %s: %w", o.servers(), err)
		if errors.Is(err, nats.ErrNoServers) {
			err = fmt.Errorf("%w; filch cluster server starts one", err)
		}
		return nil, err
	}
	return nc, nil
}

// servers are the URLs of the servers without users and passwords, for errors.
func (o *clusterOptions) servers() string { return inURL.ReplaceAllString(o.server, "$1") }

var inURL = regexp.MustCompile("(^|,|//)[^/,]*@")

// member opens a node of a cluster that is there. It runs nothing. It is closed with its connection by end.
func (o *clusterOptions) member(ctx context.Context, log io.Writer) (n *cluster.Node, end func(), err error) {
	nc, err := o.connect()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	if err := o.exists(ctx, nc); err != nil {
		nc.Close()
		return nil, nil, err
	}
	n, err = cluster.Open(ctx, append(o.options(nc, log), cluster.WithPlaces(0))...)
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return n, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = n.Close(ctx) // nothing of it runs
		nc.Close()
	}, nil
}

// options are those of each node.
func (o *clusterOptions) options(nc *nats.Conn, log io.Writer) []cluster.Option {
	all := []cluster.Option{cluster.WithConn(nc), cluster.WithName(o.name), cluster.WithLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))}
	if o.node != "" {
		all = append(all, cluster.WithNode(o.node))
	}
	return all
}

// exists returns an error if the servers have no cluster of the name. A node that is opened would make it.
func (o *clusterOptions) exists(ctx context.Context, nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	switch _, err = js.Stream(ctx, o.name+"_work"); {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("--name %s: there is no such cluster at %s; a node makes it, as filch cluster node", o.name, o.servers())
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("--server %s: JetStream is not enabled there", o.servers())
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(nc.LastError(), nats.ErrPermissionViolation):
		return fmt.Errorf("--server %s: %w; --inbox and --node name what the user's permissions do", o.servers(), nc.LastError())
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("--server %s: no answer within --timeout %v: %w", o.servers(), o.timeout, err)
	}
	return err
}

// run is what a command of a cluster does: it checks the flags, opens a member, and calls f until it is interrupted.
// Errors of f and of the servers are no mistakes of the caller.
func (o *clusterOptions) run(cmd *cobra.Command, f func(ctx context.Context, n *cluster.Node) error) error {
	if err := o.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt does not wait
	n, end, err := o.member(ctx, cmd.ErrOrStderr())
	if err != nil {
		return failed(cmd, err)
	}
	defer end()
	return failed(cmd, o.withHandlers(ctx, n, f(ctx, n)))
}

// within returns a context for something that the servers may take long for.
func (o *clusterOptions) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("--timeout %v is over", o.timeout))
}

// withHandlers returns an error that says that there is no such handler with the names of those that there are, as far as the user may list them.
func (o *clusterOptions) withHandlers(ctx context.Context, n *cluster.Node, err error) error {
	if !errors.Is(err, cluster.ErrUnknownHandler) {
		return err
	}
	ctx, cancel := o.within(ctx)
	defer cancel()
	queues, e := n.Queues(ctx)
	if e != nil {
		return err
	}
	names := map[string]bool{}
	for _, q := range queues {
		names[q.Handler] = true
	}
	if len(names) == 0 {
		return fmt.Errorf("%w; there are no handlers", err)
	}
	return fmt.Errorf("%w; the handlers are %s", err, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
}

// failed tells of an error that is no mistake of the caller.
func failed(cmd *cobra.Command, err error) error {
	if err == nil || errors.Is(err, errFailed) {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "filch:", err)
	return errFailed
}

// printJSON prints a value, and a line's end.
func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// parent makes a command one that only has others: alone it shows them, and it refuses the name of one that is not there.
func parent(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unknown command %q for %q: %[2]s --help lists them", args[0], cmd.CommandPath())
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}

// title returns the name of a command below filch cluster.
func title(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "filch cluster ") }

// exactly returns an error if there are not as many arguments as names.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return fmt.Errorf("%s: want %d arguments, not %d: %s", title(cmd), len(names), len(args), cmd.UseLine())
		}
		return nil
	}
}
