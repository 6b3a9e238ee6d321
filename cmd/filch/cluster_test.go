package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
	"github.com/filch-go/filch/internal/poll"
)

// asProgram makes the test binary one of those below, instead of the tests.
const asProgram = "FILCH_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "":
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
		t.Fatal(err)
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
	status, out, errs := command(append(args, "--json")...)
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

func TestClusterRunsPrograms(t *testing.T) {
	startCluster(t)
	startNode(t, "env", "--keys", "2", "--version", "2")
	startNode(t, "upper", "--text")
	startNode(t, "fail", "--attempts", "3")
	startNode(t, "again", "--attempts", "2")
	startNode(t, "babble")

	var task struct {
		ID, State string
		Result    map[string]any
	}
	asked(t, &task, "submit", "env", `{"a": [1]}`, "--version", "2", "--key", "k", "--id", "mine")
	if want := fmt.Sprint(map[string]any{"in": map[string]any{"a": []any{1}}, "handler": "env", "key": "k", "attempt": "1", "task": "mine"}); task.ID != "mine" || task.State != "done" || fmt.Sprint(task.Result) != want {
		t.Errorf("%+v, not %s", task, want)
	}
	expect(t, 0, []string{`"attempt":"1"`}, "submit", "env", "--version", "2", "--id", "mine") // the same task
	expect(t, 0, []string{"LOUD\n"}, "submit", "upper", "--text", "loud")
	expect(t, 0, []string{`"LOUD\n"`}, "submit", "upper", `"loud"`)
	expect(t, 0, []string{"null\n"}, "submit", "again")
	expect(t, 1, []string{"of fail failed after 1 attempt: exit status 65: cannot do 7"}, "submit", "fail", "7")
	expect(t, 1, []string{"wrote no JSON: no JSON"}, "submit", "babble")
	expect(t, 1, []string{"the argument is no text: 5"}, "submit", "upper", "5")
	expect(t, 1, []string{"no node has a handler of that name: other"}, "submit", "other")
	expect(t, 1, []string{`"state": "failed"`, "cannot do 8"}, "submit", "fail", "8", "--json")
	expect(t, 1, []string{"takes no keys"}, "submit", "fail", "--key", "k")

	expect(t, 0, []string{"later\n"}, "submit", "upper", `"x"`, "--id", "later", "--delay", "24h", "--unique", "u", "--no-wait")
	expect(t, 0, []string{"then\n"}, "submit", "upper", `"x"`, "--id", "then", "--after", "later", "--no-wait")
	expect(t, 1, []string{"task later has the unique key u"}, "submit", "upper", `"x"`, "--unique", "u")
	untilState(t, "later", "delayed")
	untilState(t, "then", "after")

	var v clusterView
	asked(t, &v, "ls")
	if len(v.Nodes) != 5 || len(v.Queues) != 5*3+2 {
		t.Errorf("%d nodes and %d queues: %+v", len(v.Nodes), len(v.Queues), v)
	}
	expect(t, 0, []string{"took from", "env@2", " of "}, "ls")
	expect(t, 0, []string{"cluster filch, ", "done/s"}, "top", "--rounds", "2", "--every", "100ms")
	status, out, _ := command("top", "--rounds", "2", "--every", "100ms", "--json")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); status != 0 || len(lines) != 2 || !json.Valid([]byte(lines[1])) {
		t.Errorf("top: status %d: %s", status, out)
	}
}

func TestClusterLettersAreListedAndPutBack(t *testing.T) {
	startCluster(t)
	startNode(t, "fail")
	for _, id := range []string{"a", "b", "c"} {
		expect(t, 1, []string{"cannot do"}, "submit", "fail", "1", "--id", id)
	}
	var letters []struct {
		ID, Handler, Reason string
		Argument            int
	}
	asked(t, &letters, "dead")
	if len(letters) != 3 || letters[0].ID != "a" || letters[0].Argument != 1 || !strings.Contains(letters[0].Reason, "cannot do 1") {
		t.Errorf("%+v", letters)
	}
	expect(t, 0, []string{"cannot do 1"}, "dead", "fail", "--limit", "1")
	expect(t, 0, []string{"no dead letters"}, "dead", "other")
	expect(t, 0, []string{"state     failed", "argument  1"}, "show", "a")

	expect(t, 0, []string{"paused fail"}, "pause", "fail")
	expect(t, 1, []string{"retried a", "no dead letter has that ID: none"}, "retry", "none", "a")
	untilState(t, "a", "waiting")
	expect(t, 0, []string{"retried b\nretried c\n"}, "retry", "--all", "--handler", "fail")
	expect(t, 0, []string{"no dead letters"}, "dead")
	var v clusterView
	if asked(t, &v, "ls"); v.Queues[1].Waiting != 3 || !v.Queues[1].Paused {
		t.Errorf("%+v", v)
	}
	expect(t, 0, []string{"paused"}, "ls")

	expect(t, 0, []string{"canceled c"}, "cancel", "c")
	expect(t, 0, []string{"no dead letters"}, "retry", "--all")
	expect(t, 0, []string{"resumed fail"}, "resume", "fail")
	untilState(t, "a", "failed")
	untilState(t, "b", "failed")
	untilState(t, "c", "canceled")
	expect(t, 1, []string{"canceled c", "task a had ended before"}, "cancel", "c", "a")
	var deleted map[string][]string
	asked(t, &deleted, "delete", "--all")
	slices.Sort(deleted["deleted"]) // both ran at once
	if fmt.Sprint(deleted) != "map[deleted:[a b]]" {
		t.Error(deleted)
	}
	expect(t, 1, []string{"nothing is known of a task of that ID: none"}, "show", "none")
	for _, name := range []string{"pause", "resume"} {
		expect(t, 1, []string{"no node has a handler of that name: other"}, name, "other")
	}
}

// IDs and keys are any text, as they are written and read, in all commands and for programs.
func TestClusterTakesAnyID(t *testing.T) {
	startCluster(t)
	startNode(t, "env", "--keys", "2")
	startNode(t, "fail")
	for _, id := range []string{"ann@example.com", "a,b/c.d", "50 %=", "ü*>", strings.Repeat("*", 128)} {
		var task struct {
			ID, State, Key string
			Result         map[string]any
		}
		_, size := utf8.DecodeRuneInString(id)
		other, failed := "~"+id[size:], "!"+id[size:]
		expect(t, 0, []string{other + "\n"}, "submit", "env", "--id", other, "--after", id, "--after", "plain", "--key", id, "--no-wait")
		if asked(t, &task, "show", other); task.ID != other || task.State != "after" || task.Key != id {
			t.Errorf("%+v", task)
		}
		asked(t, &task, "submit", "env", "--id", id, "--key", id, "--unique", id)
		if task.ID != id || task.State != "done" || task.Result["task"] != id || task.Result["key"] != id {
			t.Errorf("%+v", task)
		}
		expect(t, 0, []string{"id        " + id + "\n"}, "show", id)
		expect(t, 0, []string{"canceled " + other + "\n"}, "cancel", other)

		expect(t, 1, []string{"task " + failed + " of fail failed after 1 attempt"}, "submit", "fail", "--id", failed)
		expect(t, 0, []string{" " + failed + " "}, "dead")
		var letters []struct{ ID string }
		if asked(t, &letters, "dead"); len(letters) != 1 || letters[0].ID != failed {
			t.Error(letters)
		}
		expect(t, 0, []string{"retried " + failed + "\n"}, "retry", failed)
		untilState(t, failed, "failed")
		expect(t, 0, []string{"deleted " + failed + "\n"}, "delete", failed)
		expect(t, 1, []string{"no dead letter has that ID: " + failed}, "delete", failed)
	}
}

// A program ends when its task is canceled, or its node leaves and has no patience.
func TestClusterProgramsAreInterrupted(t *testing.T) {
	startCluster(t)
	stop := startNode(t, "wait", "--patience", "10ms", "--places", "2")
	for _, id := range []string{"a", "b"} {
		expect(t, 0, []string{id + "\n"}, "submit", "wait", "--id", id, "--no-wait")
		untilState(t, id, "running")
	}
	expect(t, 0, []string{"node"}, "show", "a")
	expect(t, 0, nil, "cancel", "a")
	untilState(t, "a", "canceled")
	if err := stop(); err == nil || !strings.Contains(err.Error(), "tasks that had not ended were given to other nodes") {
		t.Error("node: ", err)
	}
	untilState(t, "b", "waiting")
}

// What is called wrongly is told in a line, with status 2.
func TestClusterCalledWrongly(t *testing.T) {
	t.Setenv("NATS_URL", "nats://127.0.0.1:1")
	for args, want := range map[string]string{
		"submit":                                    "submit: want a handler, and an argument or none: filch cluster submit handler [argument]; there are 0",
		"submit a b c":                              "submit: want a handler, and an argument or none: filch cluster submit handler [argument]; there are 3",
		"submit a.b":                                `submit: the handler "a.b": a name has letters`,
		"submit a {":                                "submit: the argument is no JSON: {",
		"submit a --level top":                      `--level "top": levels are high, normal, low`,
		"submit a --level low --key k":              "--level and --key: a task has one of them",
		"submit a --within -1s":                     "--within -1s: must not be negative",
		"submit a --delay -1s":                      "--delay -1s: must not be negative",
		"submit a --delay 1s --after b":             "--delay and --after: a task has one",
		"submit a --after a\x01b":                   `--after "a\x01b": '\x01' is not printable`,
		"submit a --key a\xff":                      `--key "a\xff": it is not valid UTF-8`,
		"submit a --unique a\u200bb":                `--unique "a\u200bb": '\u200b' is not printable`,
		"submit a --unique a --unique-for 1ms":      "--unique-for 1ms: must be at least a second",
		"submit a --unique-for 1h":                  "--unique-for: is for --unique",
		"submit a --unique a --unique-for 876001h":  "--unique-for 876001h0m0s: must be at most 876000h0m0s",
		"submit a --id " + strings.Repeat("*", 129): "--id \"" + strings.Repeat("*", 129) + `": it has 1 to 128 bytes`,
		"submit a --version a/b":                    `--version "a/b": a name has`,
		"node":                                      "node: name the handler, by --handler",
		"node --handler a":                          "node: name the program, after --",
		"node --handler a -- no-such-program-a":     "node: the program no-such-program-a: executable file not found",
		"node --handler a --places 0 -- go":         "--places 0: must be positive",
		"node --handler a --tier 10 -- go":          "--tier 10: tiers are 0 to 9",
		"node --handler a --limit 1 --keys 1 -- go": "--limit and --keys: a handler has one",
		"node --handler a --keys 257 -- go":         "--keys 257: there are 1 to 256",
		"node --handler a --replicas 2 -- go":       "--replicas 2: must be 1, 3 or 5",
		"node --handler a --attempts 0 -- go":       "--attempts 0: must be positive",
		"node --handler a --ack-wait 1ms -- go":     "--ack-wait 1ms: must be at least a second",
		"show":                                      "show: want the ID of a task, not 0",
		"show a b":                                  "show: want the ID of a task, not 2",
		"show a\x7fb":                               `show: the ID "a\x7fb": '\x7f' is not printable`,
		"cancel":                                    "cancel: want IDs of tasks, not 0",
		"dead a b":                                  "dead: want a handler, not 2",
		"dead a@":                                   `dead: the handler's version ""`,
		"dead --limit -1":                           "--limit -1: must not be negative",
		"retry":                                     "retry: want IDs of tasks, not 0",
		"retry a --all":                             "--all: there are IDs as well",
		"retry a --handler b":                       "--handler: is for --all",
		"delete --all --handler a.b":                `--handler "a.b": a name has`,
		"pause":                                     "pause: name a handler",
		"resume a.b":                                `resume: the handler "a.b": a name has`,
		"nothing":                                   `unknown command "nothing" for "filch cluster"`,
		"cron nothing":                              `unknown command "nothing" for "filch cluster cron"`,
		"cron add a @daily":                         "cron add: want a name, a schedule, a handler and an argument, not 2 arguments",
		"cron add a @daily b c d":                   "cron add: want a name, a schedule, a handler and an argument, not 5 arguments",
		"cron add a.b @daily c":                     `cron add: the name "a.b": a name has letters`,
		"cron add a @daily b.c":                     `cron add: the handler "b.c": a name has letters`,
		"cron add a @daily b {":                     "cron add: the argument is no JSON: {",
		"cron add a @daily b --level top":           `--level "top": levels are high, normal, low`,
		"cron add a @daily b --delay 1s":            "unknown flag: --delay",
		"cron add a @daily b --unique-for 1h":       "--unique-for: is for --unique",
		"cron ls a":                                 "cron ls: want 0 arguments, not 1",
		"cron rm":                                   "cron rm: name a cron job",
		"cron rm a.b":                               `cron rm: the name "a.b": a name has letters`,
		"ls a":                                      "ls: want 0 arguments, not 1",
		"ls --name a.b":                             `--name "a.b": a name has`,
		"ls --timeout 0s":                           "--timeout 0s: must be positive",
		"ls --node a.b":                             `--node "a.b": a name has`,
		"ls --inbox a.b":                            `--inbox "a.b": a name has`,
		"ls --tls-cert a":                           "--tls-cert and --tls-key: the one needs the other",
		"top --every 1ms":                           "--every 1ms: must be at least 100ms",
		"server --listen x":                         "--listen x: an address is host:port",
		"server --listen :99999":                    "--listen :99999: the port is a number",
		"server --three --listen :65000":            "--listen :65000: three servers need a port",
		"permissions":                               "permissions: want 1 arguments, not 0",
		"permissions root --inbox a":                `permissions: the role "root": roles are operator, submitter, worker`,
		"permissions worker":                        "permissions: name the prefix of the user's answers",
		"ls --nothing":                              "unknown flag: --nothing",
	} {
		status, out, errs := command(strings.Fields(args)...)
		if status != 2 || out != "" || !strings.HasPrefix(errs, "filch: "+want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("filch cluster %s: status %d, %q, %q", args, status, out, errs)
		}
	}
}

// What the servers say is a failure, with status 1.
func TestClusterWithoutServersOrNodes(t *testing.T) {
	t.Setenv("NATS_URL", "nats://127.0.0.1:1")
	expect(t, 1, []string{"filch: --server nats://127.0.0.1:1: "}, "ls")
	expect(t, 1, []string{"filch cluster server starts one"}, "ls")
	expect(t, 1, []string{"filch: --server nats://127.0.0.1:1,tls://127.0.0.1:2: "}, "ls", "--server", "nats://me:secret@127.0.0.1:1,tls://token@127.0.0.1:2")
	expect(t, 1, []string{"filch: --server nats://127.0.0.1:1: "}, "node", "--handler", "a", "--", os.Args[0])
	startCluster(t)
	expect(t, 1, []string{"filch: --name other: there is no such cluster at nats://"}, "ls", "--name", "other")
	expect(t, 1, []string{"filch: --name filch: there is no such cluster"}, "submit", "a")
	n, err := cluster.Open(t.Context(), cluster.WithURL(os.Getenv("NATS_URL")))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(context.Background())
	expect(t, 0, []string{`"nodes": []`, `"queues": []`}, "ls", "--json")
}

// The argument can come from the standard input.
func TestSubmitReadsItsArgument(t *testing.T) {
	for _, c := range []struct {
		args []string
		text bool
		want string
	}{{nil, false, "null"}, {nil, true, `""`}, {[]string{"-"}, false, "[1]"}, {[]string{"-"}, true, `"[1]"`}, {[]string{"\xff"}, true, `"` + "\ufffd" + `"`}} {
		o := submitOptions{text: c.text}
		cmd := &cobra.Command{}
		cmd.SetIn(strings.NewReader("[1]"))
		if got, err := o.argument(cmd, c.args); string(got) != c.want || err != nil {
			t.Errorf("%q, %v: %s, %v", c.args, c.text, got, err)
		}
	}
}

// Three servers go on when one of them is lost, and end with the command. The loss is part of the long form.
func TestThreeServers(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("starts servers, and interrupts them")
	}
	base := freePorts(t)
	server := exec.Command(os.Args[0], "cluster", "server", "--three", "--no-sync", "--dir", t.TempDir(), "--listen", base)
	server.Env = append(os.Environ(), asProgram+"=filch")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	server.Stderr = &errs
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Process.Kill()
	var pids [3]int
	var urls string
	for i := range pids {
		var n int
		var url string
		if _, err := fmt.Fscanf(out, "server%d: process %d, %s\n", &n, &pids[i], &url); err != nil || n != i {
			t.Fatal(i, err, errs.String())
		}
	}
	if _, err := fmt.Fscanln(out, &urls); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NATS_URL", urls)
	startNode(t, "upper", "--text", "--replicas", "3", "--timeout", "30s")
	expect(t, 0, []string{"ONE"}, "submit", "upper", "--text", "one")
	if os.Getenv("FILCH_LONG") != "" {
		goesOnWithTwo(t, pids[0])
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	if err := server.Wait(); err != nil {
		t.Error("server: ", err, errs.String())
	}
	if l, err := net.Listen("tcp", strings.TrimPrefix(strings.Split(urls, ",")[1], "nats://")); err != nil {
		t.Error("a server is left: ", err)
	} else {
		l.Close()
	}
}

// goesOnWithTwo kills one of three servers and submits a task to the others.
func goesOnWithTwo(t *testing.T, pid int) {
	t.Helper()
	lost, err := os.FindProcess(pid)
	if err == nil {
		err = lost.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; { // until the two have a leader
		status, out, errs := command("submit", "upper", "--text", "two", "--timeout", "3s")
		if status == 0 && out == "TWO\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("with two servers: status %d, %s%s", status, out, errs)
		}
	}
}

// freePorts returns an address from which on there are the ports of three servers.
func freePorts(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := freeAddress(t)
		host, port, err := splitAddress(address)
		if err != nil {
			t.Fatal(err)
		}
		free := port < 65535-1002
		for _, p := range []int{port + 1, port + 2, port + 1000, port + 1001, port + 1002} {
			l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", host, p))
			if free = free && err == nil; err == nil {
				l.Close()
			}
		}
		if free {
			return address
		}
	}
	t.Fatal("there are no free ports")
	return ""
}

// What is shown of nodes: the rate between two times, and from whom most tasks came.
func TestClusterTables(t *testing.T) {
	at := time.Unix(1000, 0)
	before := cluster.NodeInfo{Name: "a", Seen: at, Stats: cluster.Stats{Done: 10}}
	now := before
	now.Seen, now.Stats.Done = at.Add(5*time.Second), 60
	now.From = map[string]int64{"a": 30, "b": 5, "c": 20, "": 3, "d": 2}
	if got := rateBetween(before, now); got != "10.0" {
		t.Error(got)
	}
	if got := rateBetween(cluster.NodeInfo{}, now) + rateBetween(before, before); got != "" {
		t.Error(got)
	}
	if got, want := from(now), "itself 30, c 20, b 5, and 2 nodes"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	tp := top{seen: map[string][2]cluster.NodeInfo{}}
	tp.before([]cluster.NodeInfo{before})
	for range 2 { // seen again, it is the same record
		if got := tp.before([]cluster.NodeInfo{now})["a"]; !got.Seen.Equal(at) {
			t.Errorf("%+v", got)
		}
	}
}
