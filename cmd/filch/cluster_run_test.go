package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch/cluster/embedded"
	"github.com/filch-go/filch/internal/poll"
)

// asProgram makes the test binary one of those below, instead of the tests.
const asProgram = "FILCH_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "":
		os.Unsetenv("COLUMNS") // tables are as wide as they are
		os.Exit(m.Run())
	case "filch":
		main()
	case "handler":
		os.Exit(handlerProgram(os.Args[1]))
	}
}

// handlerProgram is what the nodes of these tests run.
func handlerProgram(what string) int {
	in, _ := io.ReadAll(os.Stdin)
	switch what {
	case "env":
		fmt.Printf(`{"in": %s, "handler": %q, "key": %q, "attempt": %q, "task": %q}`, in, os.Getenv("FILCH_HANDLER"), os.Getenv("FILCH_KEY"), os.Getenv("FILCH_ATTEMPT"), os.Getenv("FILCH_TASK"))
	case "upper":
		fmt.Println(strings.ToUpper(string(in)))
	case "fail":
		fmt.Fprintf(os.Stderr, "cannot do %s\n", in)
		return permanentStatus
	case "again":
		if os.Getenv("FILCH_ATTEMPT") == "1" {
			fmt.Fprintln(os.Stderr, "not yet")
			return 1
		}
	case "babble":
		fmt.Print("no JSON")
	case "wait":
		select {} // until it is interrupted
	}
	return 0
}

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal("net.Listen:", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startCluster starts a server where the commands look for one.
func startCluster(t *testing.T) {
	t.Helper()
	address := freeAddress(t)
	nc, stop, err := embedded.Server{Dir: t.TempDir(), Listen: address, NoSync: true}.Start(t.Context(), "filch")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); stop() })
	t.Setenv("NATS_URL", "nats://"+address)
}

// startNode runs filch cluster node until what it returns is called, which returns its error.
func startNode(t *testing.T, program string, flags ...string) (stop func() error) {
	t.Helper()
	t.Setenv(asProgram, "handler")
	o := nodeOptions{clusterOptions: &clusterOptions{}}
	cmd := nodeCommand(o.clusterOptions)
	o.clusterOptions.addFlags(cmd)
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	cmd.SetArgs(append(flags, "--handler", program, "--", os.Args[0], program))
	cmd.SetOut(out)
	var errs bytes.Buffer
	cmd.SetErr(&errs)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	ended := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		out.Close()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, errs.String())
		}
		ended <- err
	}()
	if _, err := in.Read(make([]byte, 1000)); err != nil {
		t.Fatal("node: ", <-ended)
	}
	stop = func() error {
		cancel()
		err, ok := <-ended
		if ok {
			close(ended)
		}
		return err
	}
	t.Cleanup(func() { _ = stop() })
	// The handler is there as soon as its consumer is.
	poll.Until(t, 10*time.Second, "the node is there", func() (bool, any) {
		var v clusterView
		asked(t, &v, "ls")
		return len(v.Nodes) > 0 && hasQueue(v, program), v
	})
	return stop
}

func hasQueue(v clusterView, handler string) bool {
	for _, q := range v.Queues {
		if name, _, _ := strings.Cut(q.Handler, "@"); name == handler && q.Lane == "normal" {
			return true
		}
	}
	return false
}

// command runs filch cluster, and returns its status and what it has written.
func command(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = run(append([]string{"cluster"}, args...), &o, &e)
	return status, o.String(), e.String()
}

// asked runs a command with --json, and reads what it prints.
func asked(t *testing.T, into any, args ...string) {
	t.Helper()
	status, out, errs := command(append([]string{"--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), into); status != 0 || err != nil {
		t.Fatalf("filch cluster %s: status %d, %v: %s%s", args, status, err, out, errs)
	}
}

// expect runs a command, and checks its status and parts of what it writes.
func expect(t *testing.T, status int, parts []string, args ...string) {
	t.Helper()
	got, out, errs := command(args...)
	for _, part := range parts {
		if got != status || !strings.Contains(out+errs, part) {
			t.Errorf("filch cluster %s: status %d, without %q: %s%s", args, got, part, out, errs)
		}
	}
	if (status == 0) != (errs == "") {
		t.Errorf("filch cluster %s: status %d, and the errors %q", args, got, errs)
	}
}

// until asks for a task until it is in a state.
func untilState(t *testing.T, id, state string) (task map[string]any) {
	t.Helper()
	poll.Until(t, 20*time.Second, id+" is "+state, func() (bool, any) {
		task = nil
		asked(t, &task, "show", id)
		return task["state"] == state, task
	})
	return task
}
