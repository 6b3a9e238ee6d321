package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

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
	const there = "; the handlers are again, babble, env@2, fail, upper\n" // which is said once, though each has three queues at least
	expect(t, 1, []string{"no node has a handler of that name: other" + there}, "submit", "other")
	expect(t, 1, []string{"no node has a handler of that name: other\n", "no node has a handler of that name: env" + there}, "pause", "other", "env")
	expect(t, 1, []string{`"state": "failed"`, "cannot do 8"}, "submit", "fail", "8", "--json")
	expect(t, 1, []string{"takes no keys"}, "submit", "fail", "--key", "k")

	expect(t, 0, []string{"later\n"}, "submit", "upper", `"x"`, "--id", "later", "--delay", "24h", "--unique", "u", "--no-wait")
	expect(t, 0, []string{"then\n"}, "submit", "upper", `"x"`, "--id", "then", "--after", "later", "--no-wait")
	expect(t, 1, []string{"task later has the unique key u"}, "submit", "upper", `"x"`, "--unique", "u")
	untilState(t, "later", "delayed")
	expect(t, 1, []string{"nothing is known of a task of that ID: nosuch\n"}, "cancel", "nosuch")
	expect(t, 1, []string{"nothing is known of a task of that ID: nosuch\n"}, "show", "nosuch")
	var canceled map[string][]string
	if status, out, errs := command("cancel", "nosuch", "--json"); status != 1 || json.Unmarshal([]byte(out), &canceled) != nil || len(canceled["canceled"]) != 0 || errs == "" {
		t.Errorf("cancel of an unknown ID with --json: status %d, %q, %q; want 1, no ID, and why", status, out, errs)
	}
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

// IDs and keys are any text, as they are written and read, in all commands and for programs.
func TestClusterTakesAnyID(t *testing.T) {
	startCluster(t)
	startNode(t, "env", "--keys", "2")
	startNode(t, "fail")
	for _, id := range []string{"ann@example.com", "a,b/c.d", "50 %=", "ü*>", "-v", " a'b\"c ", "日本語?&#\\", strings.Repeat("*", 128)} {
		var task struct {
			ID, State, Key string
			Result         map[string]any
		}
		_, size := utf8.DecodeRuneInString(id)
		other, failed := "~"+id[size:], "!"+id[size:]
		expect(t, 0, []string{other + "\n"}, "submit", "env", "--id", other, "--after", id, "--after", "plain", "--key", id, "--no-wait")
		if asked(t, &task, "show", "--", other); task.ID != other || task.State != "after" || task.Key != id {
			t.Errorf("%+v", task)
		}
		asked(t, &task, "submit", "env", "--id", id, "--key", id, "--unique", id)
		if task.ID != id || task.State != "done" || task.Result["task"] != id || task.Result["key"] != id {
			t.Errorf("%+v", task)
		}
		expect(t, 0, []string{"id        " + id + "\n"}, "show", "--", id)
		expect(t, 0, []string{"canceled " + other + "\n"}, "cancel", "--", other)

		expect(t, 1, []string{"task " + failed + " of fail failed after 1 attempt"}, "submit", "fail", "--id", failed)
		expect(t, 0, []string{" " + failed + " "}, "dead")
		var letters []struct{ ID string }
		if asked(t, &letters, "dead"); len(letters) != 1 || letters[0].ID != failed {
			t.Error(letters)
		}
		expect(t, 0, []string{"retried " + failed + "\n"}, "retry", "--", failed)
		untilState(t, failed, "failed")
		expect(t, 0, []string{"deleted " + failed + "\n"}, "delete", "--", failed)
		expect(t, 1, []string{"no dead letter has that ID: " + failed}, "delete", "--", failed)
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
