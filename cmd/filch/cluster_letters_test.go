package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

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

// Of several letters of an ID, the newest is put back, once, and the others stay. All are deleted. Each has a name, also one without an ID.
func TestClusterLettersHaveNames(t *testing.T) {
	startCluster(t)
	startNode(t, "fail")
	expect(t, 0, []string{"paused fail"}, "pause", "fail")
	nc, err := nats.Connect(os.Getenv("NATS_URL"))
	if err != nil {
		t.Fatal("nats.Connect:", err)
	}
	defer nc.Close()
	put := func(handler, id string) {
		t.Helper()
		m := &nats.Msg{Subject: "filch.dead." + handler + ".x", Data: []byte("1"), Header: nats.Header{"Filch-Version": {"1"}, "Filch-Codec": {"json"}, "Filch-Subject": {"filch.work.fail.p1"}}}
		if id != "" {
			m.Header["Filch-Id"] = []string{id}
		}
		if _, err := nc.RequestMsg(m, 10*time.Second); err != nil {
			t.Fatal("nc.RequestMsg:", err)
		}
	}
	put("fail", "x")
	put("fail", "x")
	put("other", "x")
	put("other", "")
	expect(t, 0, []string{"id        letter  ", "\n x         letter-2", "\n letter-4  letter-4"}, "dead")
	expect(t, 0, []string{"id        letter-4\n", "argument  1"}, "show", "letter-4")
	expect(t, 0, []string{"letter-1 stays, an older letter of x\nretried x\n"}, "retry", "--all", "--handler", "fail")
	expect(t, 0, []string{"letter-1", "letter-3", "letter-4"}, "dead")
	var v clusterView
	if asked(t, &v, "ls"); v.Queues[1].Waiting != 1 {
		t.Errorf("%+v", v)
	}
	expect(t, 0, []string{"deleted letter-4\n"}, "delete", "letter-4")
	expect(t, 1, []string{"no dead letter has that ID: letter-4"}, "retry", "letter-4")
	put("fail", "x")
	expect(t, 0, []string{"deleted x\ndeleted x\n"}, "delete", "--all", "--handler", "fail")
	var left []struct{ ID, Name, Handler string }
	if asked(t, &left, "dead"); len(left) != 1 || left[0].Name != "letter-3" || left[0].ID != "x" || left[0].Handler != "other" {
		t.Errorf("%+v", left)
	}
	put("fail", "x")
	put("fail", "x")
	status, stdout, stderr := command("--json", "retry", "--all", "--handler", "fail")
	if status != 0 || !json.Valid([]byte(stdout)) || strings.Contains(stdout, "stays") || !strings.Contains(stderr, "letter-6 stays, an older letter of x") {
		t.Error(status, stdout, stderr)
	}
}
