package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
)

// oddIDs are texts that subjects and keys of the servers cannot have, but for one. The last is as long as may be, and three times as
// long there.
var oddIDs = []string{"plain-1_", "ann@example.com", "a/b.c", "50 %=", "ü*>", "2026-11-23T10:00Z", "=40", "$KV.>", strings.Repeat("*", 128)}

// noIDs are texts that no ID and no key can be, and what their errors say.
var noIDs = map[string]string{
	"": " is empty", strings.Repeat("x", 129): " has 129 bytes; 128 are allowed", "a\nb": ` "a\nb" contains '\n', which is not printable`, "\x00": ` "\x00" contains '\x00', which is not printable`, "a\xff": ` "a\xff" is not valid UTF-8`,
}

// begin returns an ID with another first character.
func begin(first byte, id string) string {
	_, size := utf8.DecodeRuneInString(id)
	return string(first) + id[size:]
}

// echo is a handler that returns what it knows of its task, and fails for good with an argument below 0.
func echo(ctx context.Context, n int) (string, error) {
	if n < 0 {
		return "", cluster.Permanent(errors.New("below 0"))
	}
	info, _ := cluster.TaskOf(ctx)
	return info.ID + " " + info.Key, nil
}

// longest returns the longest names that there can be: of the cluster, and of a handler with its version.
func longest() (name, handler, version string) {
	return strings.Repeat("c", 128), strings.Repeat("h", 128), strings.Repeat("v", 121)
}

func TestAnyTextIsTheIDOfATask(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2), places(0))
	cluster.Handle(nodes[0], "echo", echo, cluster.WithKeys(2))
	until(t, js, "echo_p1", known)
	for _, id := range oddIDs {
		submit := func(n *cluster.Node) *cluster.Future[string] {
			f, err := cluster.Submit[int, string](t.Context(), n, "echo", 1, cluster.ID(id), cluster.Key(id), cluster.Unique(id, time.Hour))
			if err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			if f.ID() != id {
				t.Errorf("the task %q is %q", id, f.ID())
			}
			return f
		}
		expect(t, submit(nodes[1]), id+" "+id)
		expect(t, submit(nodes[0]), id+" "+id) // the first one
		f, err := cluster.Attach[string](t.Context(), nodes[0], id)
		if err != nil {
			t.Fatal("cluster.Attach:", err)
		}
		expect(t, f, id+" "+id)
		if info := show(t, nodes[1], id); info.ID != id || info.State != cluster.StateDone {
			t.Errorf("%+v", info)
		}
	}
	empty(t, js)
	if done := nodes[0].Stats().Done; int(done) != len(oddIDs) {
		t.Error("tasks have run:", done)
	}
	kv, err := js.KeyValue(t.Context(), "filch_results")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	for _, key := range []string{"plain-1_", "ann=40example=2Ecom"} {
		if _, err := kv.Get(t.Context(), key); err != nil {
			t.Error("not stored as", key, err)
		}
	}
	if keys, err := js.KeyValue(t.Context(), "filch_unique"); err == nil {
		if _, err := keys.Keys(t.Context()); !errors.Is(err, jetstream.ErrNoKeysFound) {
			t.Error("unique keys are left:", err)
		}
	}
}

func TestTasksOfAnyIDAreCanceled(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0), places(0))
	began := make(chan string, 1)
	cluster.Handle(nodes[0], "block", blocker(began, nil), cluster.WithKeys(1))
	until(t, js, "block_p1", known)
	for _, id := range oddIDs {
		submit := func(id string, opts ...cluster.SubmitOption) *cluster.Future[string] {
			f, err := cluster.Submit[string, string](t.Context(), nodes[1], "block", id, append(opts, cluster.ID(id))...)
			if err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			return f
		}
		running := submit(id, cluster.Key(id))
		<-began
		all := []*cluster.Future[string]{
			running, submit(begin('d', id), cluster.Delay(time.Hour), cluster.Key(id)), submit(begin('e', id), cluster.After(running, cluster.TaskID("never/"))),
		}
		for i, state := range []cluster.State{cluster.StateRunning, cluster.StateDelayed, cluster.StateAfter} {
			if info := show(t, nodes[2], all[i].ID()); info.ID != all[i].ID() || info.State != state || i < 2 && info.Key != id {
				t.Errorf("%+v", info)
			}
		}
		for _, f := range slices.Backward(all) {
			if err := nodes[2].Cancel(t.Context(), f.ID()); err != nil {
				t.Error("nodes:", err)
			}
			other, err := cluster.Attach[string](t.Context(), nodes[2], f.ID()) // the submitter of one that did not run looks later
			if _, err := wait(t, other, err); !errors.Is(err, cluster.ErrCanceled) {
				t.Errorf("%q: %v", f.ID(), err)
			}
		}
	}
	empty(t, js)
	nothingWaits(t, js)
	untilStream(t, js, "filch_later", "filch.>", none)
}

func TestTasksAreAfterThoseOfAnyID(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2), places(0))
	cluster.Handle(nodes[0], "echo", echo)
	until(t, js, "echo_p1", known)
	for i, dep := range oddIDs {
		fails := i%2 == 1
		submit := func(n int, opts ...cluster.SubmitOption) *cluster.Future[string] {
			f, err := cluster.Submit[int, string](t.Context(), nodes[1], "echo", n, opts...)
			if err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			return f
		}
		check := func(after *cluster.Future[string]) {
			_, err := wait(t, after, nil)
			failed, _ := errors.AsType[*cluster.TaskError](err)
			if !fails && err != nil || fails && (failed == nil || failed.ID != after.ID() || !strings.Contains(failed.Message, "its dependency "+dep+" failed: below 0")) {
				t.Errorf("%q after %q: %v", after.ID(), dep, err)
			}
		}
		waits := submit(1, cluster.ID(begin('A', dep)), cluster.After(cluster.TaskID(dep)))
		if _, err := cluster.Submit[int, string](t.Context(), nodes[0], "echo", 1, cluster.ID(dep), cluster.After(waits)); !errors.Is(err, cluster.ErrCycle) || !strings.HasSuffix(err.Error(), ": "+dep) {
			t.Error("cluster.Submit:", err)
		}
		first := submit(-i%2, cluster.ID(dep))
		check(waits)
		check(submit(1, cluster.After(first))) // which has ended
	}
	nothingWaits(t, js)
}

func TestDeadLettersOfAnyID(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	cluster.Handle(nodes[0], "echo", echo, cluster.WithKeys(2))
	until(t, js, "echo_p1", known)
	for _, id := range oddIDs {
		f, err := cluster.Submit[int, string](t.Context(), nodes[1], "echo", -1, cluster.ID(id), cluster.Key(id), cluster.Unique(id, time.Hour))
		_, err = wait(t, f, err)
		if failed, _ := errors.AsType[*cluster.TaskError](err); failed == nil || failed.ID != id || err.Error() != "cluster: task "+id+" of echo failed after 1 attempt: below 0" {
			t.Errorf("%q: %v", id, err)
		}
		for _, end := range []func(context.Context, ...string) error{nodes[1].Requeue, nodes[1].DeleteDead} {
			eventually(t, "it is a dead letter, and has failed", func() bool {
				all := letters(t, nodes[1], "echo")
				info, err := nodes[1].Show(t.Context(), id)
				return len(all) == 1 && all[0].ID == id && all[0].Key == id && err == nil && info.ID == id && info.Key == id && info.State == cluster.StateFailed
			})
			if err := end(t.Context(), id); err != nil {
				t.Errorf("%q: %v", id, err)
			}
		}
		if err := nodes[1].DeleteDead(t.Context(), id); !errors.Is(err, cluster.ErrNoDeadLetter) || !strings.HasSuffix(err.Error(), ": "+id) {
			t.Error("nodes:", err)
		}
	}
	empty(t, js)
}

func TestUniqueKeysAndBatchesOfAnyText(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	cluster.Handle(nodes[0], "echo", echo, cluster.WithKeys(2))
	until(t, js, "echo_p1", known)
	for i, key := range oddIDs {
		id := oddIDs[(i+1)%len(oddIDs)]
		first, err := cluster.Submit[int, string](t.Context(), nodes[1], "echo", 1, cluster.ID(id), cluster.Unique(key, time.Hour), cluster.Delay(time.Hour))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		_, err = cluster.Submit[int, string](t.Context(), nodes[0], "echo", 1, cluster.Unique(key, time.Hour))
		if e, _ := errors.AsType[*cluster.NotUniqueError](err); e == nil || e.Key != key || e.ID != id || e.Error() != "cluster: task "+id+" has the unique key "+key {
			t.Errorf("%q: %v", key, err)
		}
		if err := nodes[0].Cancel(t.Context(), first.ID()); err != nil {
			t.Fatal("nodes:", err)
		}
		b := batchOf(t, nodes[0])
		member, err := cluster.Submit[int, string](t.Context(), nodes[0], "echo", 1, cluster.Unique(key, time.Hour), cluster.Key(key), cluster.InBatch(b))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		after, err := cluster.Submit[int, string](t.Context(), nodes[1], "echo", 1, cluster.ID(begin('A', id)), cluster.After(b), cluster.Key(key))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		all, err := b.Close(t.Context())
		if err != nil {
			t.Fatal("b.Close:", err)
		}
		expect(t, member, member.ID()+" "+key)
		expect(t, all, cluster.BatchCounts{Total: 1, Ended: 1, Closed: true})
		expect(t, after, after.ID()+" "+key)
		if _, err := nodes[1].BatchCounts(t.Context(), key); !errors.Is(err, cluster.ErrUnknownBatch) || !strings.HasSuffix(err.Error(), ": "+key) {
			t.Error("nodes:", err)
		}
	}
}

// What is three times as long on the servers is taken there, beside names that are as long as may be.
func TestTheLongestNamesAreTaken(t *testing.T) {
	t.Parallel()
	name, handler, version := longest()
	nodes, js := share(t, append(places(1), cluster.WithName(name)), append(places(0), cluster.WithName(name)))
	h := cluster.Handle(nodes[0], handler, echo, cluster.WithVersion(version))
	id := func(i int) string { return strings.Repeat("ü", 63) + fmt.Sprintf("%%%d", i) }
	eventually(t, "the lane is there", func() bool {
		_, err := js.Consumer(t.Context(), name+"_work", handler+"@"+version+"_p1")
		return err == nil
	})
	submit := func(n int, opts ...cluster.SubmitOption) *cluster.Future[string] {
		f, err := cluster.Submit[int, string](t.Context(), nodes[1], handler, n, append(opts, cluster.OfVersion(version))...)
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		return f
	}
	delayed := submit(1, cluster.ID(id(1)), cluster.Unique(id(1), time.Hour), cluster.Delay(time.Second))
	after := submit(1, cluster.ID(id(2)), cluster.Unique(id(2), time.Hour), cluster.After(delayed, cluster.TaskID(id(3))))
	expect(t, submit(1, cluster.ID(id(3))), id(3)+" ")
	expect(t, delayed, id(1)+" ")
	expect(t, after, id(2)+" ")
	failed := submit(-1, cluster.ID(id(4)))
	if _, err := wait(t, submit(1, cluster.After(failed)), nil); err == nil || !strings.Contains(err.Error(), id(4)) {
		t.Error("wait:", err)
	}
	if err := nodes[1].Requeue(t.Context(), id(4)); err != nil {
		t.Error("nodes:", err)
	}
	eventually(t, "it has failed again", func() bool { return len(letters(t, nodes[1], h.Name()+"@"+version)) == 2 })
	if err := nodes[1].DeleteDead(t.Context(), id(4)); err != nil {
		t.Error("nodes:", err)
	}
	if err := nodes[0].Cron(t.Context(), strings.Repeat("j", 112), "@every 1s", handler, -1, cluster.OfVersion(version), cluster.Unique(id(5), time.Minute)); err != nil {
		t.Fatal("nodes:", err)
	}
	eventually(t, "a task of the cron job has run", func() bool {
		return slices.ContainsFunc(letters(t, nodes[1], ""), func(l cluster.DeadLetter) bool {
			return strings.HasPrefix(l.ID, strings.Repeat("j", 112)+"-2") && len(l.ID) == 128
		})
	})
}

// What is no text of an ID or a key is an error that says which argument it is, and why.
func TestTextsThatAreNoIDs(t *testing.T) {
	t.Parallel()
	n := open(t)
	h := cluster.Handle(n, "echo", echo, cluster.WithKeys(1))
	ctx := t.Context()
	for text, want := range noIDs {
		submit := func(o cluster.SubmitOption) error { _, err := h.Submit(ctx, 1, o); return err }
		_, attach := cluster.Attach[int](ctx, n, text)
		_, shown := n.Show(ctx, text)
		_, counts := n.BatchCounts(ctx, text)
		for what, err := range map[string]error{
			"ID":         errors.Join(submit(cluster.ID(text)), attach, shown, n.Cancel(ctx, text), n.Requeue(ctx, text), n.DeleteDead(ctx, text)),
			"key":        submit(cluster.Key(text)),
			"unique key": submit(cluster.Unique(text, time.Hour)), "ID of the batch": counts,
		} {
			lines := strings.Split(fmt.Sprint(err), "\n")
			if what == "ID" && len(lines) != 6 {
				t.Errorf("%q: %v", text, err)
			}
			for _, line := range lines {
				if !strings.HasPrefix(line, "cluster: the "+what+" ") || !strings.Contains(line, want) {
					t.Errorf("%q: %s", text, line)
				}
			}
		}
		if err := submit(cluster.After(cluster.TaskID(text))); err == nil || text != "" && !strings.Contains(err.Error(), "the ID of a dependency"+want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Bytes in place of IDs and keys that no node has written break nobody.
func TestMalformedIDsBreakNobody(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	n := nodes[0]
	h := cluster.Handle(n, "echo", echo, cluster.WithAckWait(time.Second))
	until(t, js, "echo_p1", known)
	put := func(bucket, key, value string) {
		kv, err := js.KeyValue(t.Context(), "filch_"+bucket)
		if err == nil {
			_, err = kv.Put(t.Context(), key, []byte(value))
		}
		if err != nil {
			t.Fatal("kv.Put:", err)
		}
	}
	for _, bad := range []string{"=", "=4", "=zz", "=61", "=2e", "=0A", "=FF", "a/b", strings.Repeat("=2A", 129)} {
		put("control", bad, "")
		put("results", bad, `{"status":"done"}`)
		put("unique", "=2A", bad)
		put("after", "met."+bad, `{"size":1}`)
		put("after", "task."+bad, "{}")
		put("after", "edge."+bad+".0.dependency", "")
		put("after", "edge.waits.0."+bad, "")
		_, err := h.Submit(t.Context(), 1, cluster.Unique("*", time.Hour))
		if e, _ := errors.AsType[*cluster.NotUniqueError](err); e == nil || e.Key != "*" || e.ID != "" || err.Error() != "cluster: a task has the unique key *" {
			t.Error("h.Submit:", err)
		}
		before := n.Stats().Refused
		for _, key := range []string{"Filch-Id", "Filch-Key", "Filch-Unique", "Filch-Batch"} {
			m := &nats.Msg{Subject: "filch.work.echo.p1", Header: nats.Header{"Filch-Version": {"1"}, "Filch-Id": {"mine"}, "Filch-Codec": {"json"}}, Data: []byte("1")}
			m.Header[key] = []string{bad}
			if _, err := js.PublishMsg(t.Context(), m); err != nil {
				t.Fatal("js.PublishMsg:", err)
			}
		}
		empty(t, js)
		if refused := n.Stats().Refused - before; refused != 4 {
			t.Errorf("%q: %d refused", bad, refused)
		}
		for _, subject := range []string{"filch.who", "filch.ended", "filch.done.n0"} {
			for _, data := range []string{bad, bad + " 1", string(append([]byte{byte(min(len(bad), 127))}, bad...)) + "\x12" + `{"status":"done"}` + "\n"} {
				if err := conn(t).Publish(subject, []byte(data)); err != nil {
					t.Fatal("conn(t).Publish:", err)
				}
			}
		}
	}
	for _, l := range letters(t, n, "") {
		if l.Key != "" || !strings.HasPrefix(l.ID, "unreadable-") || !strings.Contains(l.Reason, "was written by no node") {
			t.Errorf("%+v", l)
		}
	}
	dependency, err := h.Submit(t.Context(), 1, cluster.ID("dependency"))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	expect(t, dependency, "dependency ")
	after, err := h.Submit(t.Context(), 1, cluster.After(dependency))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	expect(t, after, after.ID()+" ")
}
