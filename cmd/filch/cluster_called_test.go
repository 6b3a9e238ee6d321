package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/filch-go/filch/cluster"
)

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
		"node --handler a --handler b -- go":        `invalid argument "b" for "--handler" flag: the flag is given twice, and takes one value`,
		"ls --json --json":                          `invalid argument "true" for "--json" flag: the flag is given twice`,
		"submit a --after b --after c --delay 1s":   "--delay and --after: a task has one of them", // a list
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
		"cron add a @daily b --delay 1s":            "unknown flag --delay",
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
		"ls --nothing":                              "unknown flag --nothing",
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
		t.Fatal("cluster.Open:", err)
	}
	defer n.Close(context.Background())
	expect(t, 0, []string{`"nodes": []`, `"queues": []`}, "ls", "--json")
}
