package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster"
)

// letters returns the dead letters of a handler.
func letters(t testing.TB, n *cluster.Node, handler string) (all []cluster.DeadLetter) {
	t.Helper()
	for l, err := range n.Dead(t.Context(), handler) {
		if err != nil {
			t.Fatal("Dead:", err)
		}
		all = append(all, l)
	}
	return all
}

func TestDeadLettersAreListedPutBackAndRemoved(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(2), places(0))
	broken := true
	h := cluster.Handle(nodes[0], "mend", func(ctx context.Context, s string) (int, error) {
		info, _ := cluster.TaskOf(ctx)
		if broken {
			return 0, fmt.Errorf("%s is broken", s)
		}
		return info.Attempt, nil
	}, cluster.WithRetry(cluster.Retry{Attempts: 2, First: time.Millisecond}), cluster.WithKeys(2))
	cluster.Handle(nodes[0], "other", func(context.Context, int) (int, error) { return 0, cluster.Permanent(errors.New("no")) }, cluster.WithVersion("2"))
	for _, id := range []string{"a", "b", "c"} {
		f, err := h.Submit(t.Context(), id, cluster.ID(id), cluster.Key("k"))
		if _, err := wait(t, f, err); err == nil {
			t.Error("no error")
		}
	}
	f, err := cluster.Submit[int, int](t.Context(), nodes[1], "other", 7, cluster.ID("d"), cluster.OfVersion("2"))
	if _, err := wait(t, f, err); err == nil {
		t.Error("no error")
	}

	all := letters(t, nodes[1], "")
	if len(all) != 4 {
		t.Fatalf("%+v", all)
	}
	if l := all[0]; l.ID != "a" || l.Handler != "mend" || l.Reason != "a is broken" || l.Attempts != 2 || l.Node != "n0" || l.From != "n0" || l.Key != "k" || l.At.IsZero() || l.Codec != "json" || string(l.Argument) != `"a"` {
		t.Errorf("%+v", l)
	}
	if one := letters(t, nodes[1], "other@2"); len(one) != 1 || one[0].ID != "d" || one[0].Handler != "other@2" {
		t.Errorf("%+v", one)
	}

	// One that is canceled after it has failed runs all the same when it is put back.
	if err := nodes[1].Cancel(t.Context(), "b"); err != nil {
		t.Fatal("nodes:", err)
	}
	broken = false
	if err := nodes[1].Requeue(t.Context(), "a", "nothing", "b"); !errors.Is(err, cluster.ErrNoDeadLetter) || !strings.HasSuffix(err.Error(), ": nothing") {
		t.Error("nodes:", err)
	}
	if err := nodes[1].Requeue(t.Context(), "a"); !errors.Is(err, cluster.ErrNoDeadLetter) {
		t.Error("a second time:", err)
	}
	for _, id := range []string{"a", "b"} {
		eventually(t, id+" is done", func() bool { return show(t, nodes[1], id).State == cluster.StateDone })
		if info := show(t, nodes[1], id); string(info.Result) != "1" || info.Attempts != 1 {
			t.Errorf("%+v", info)
		}
	}
	if err := nodes[1].DeleteDead(t.Context(), "c", "d"); err != nil {
		t.Error("nodes:", err)
	}
	if all := letters(t, nodes[1], ""); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if info := show(t, nodes[1], "c"); info.State != cluster.StateFailed || info.Error != "c is broken" {
		t.Errorf("%+v", info)
	}
}

// Each dead letter counts for its handler until it is removed.
func TestDeadLettersAreCounted(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2), places(0))
	fail := func(context.Context, int) (int, error) { return 0, cluster.Permanent(errors.New("no")) }
	cluster.Handle(nodes[0], "a", fail)
	cluster.Handle(nodes[0], "b", fail, cluster.WithVersion("2"))
	until(t, js, "a_p1", known)
	until(t, js, "b@2_p1", known)
	submit := func(handler, id string, opts ...cluster.SubmitOption) {
		t.Helper()
		f, err := cluster.Submit[int, int](t.Context(), nodes[1], handler, 7, append(opts, cluster.ID(id))...)
		if _, err := wait(t, f, err); err == nil {
			t.Error("no error")
		}
	}
	counts := func(want map[string]int) {
		t.Helper()
		for range 2 { // the second time nothing has changed
			if got, err := nodes[1].DeadCounts(t.Context()); err != nil || !maps.Equal(got, want) {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		}
	}
	counts(map[string]int{})
	submit("a", "one")
	submit("a", "two")
	submit("b", "three", cluster.OfVersion("2"))
	counts(map[string]int{"a": 2, "b@2": 1})
	if err := nodes[0].DeleteDead(t.Context(), "one", "three"); err != nil {
		t.Fatal("nodes:", err)
	}
	counts(map[string]int{"a": 1})
	submit("a", "four")
	counts(map[string]int{"a": 2})
}

// A task that is put back from the dead letters begins anew: nothing is noted of its attempts.
func TestWhatIsPutBackBeginsAnew(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(1), places(0))
	h := cluster.Handle(nodes[0], "fail", func(context.Context, int) (int, error) { return 0, errors.New("no") },
		cluster.WithRetry(cluster.Retry{Attempts: 2, First: time.Millisecond}))
	f, err := h.Submit(t.Context(), 0, cluster.ID("a"))
	if _, err := wait(t, f, err); err == nil {
		t.Fatal("no error")
	}
	if err := nodes[0].Pause(t.Context(), "fail"); err != nil {
		t.Fatal("nodes:", err)
	}
	if err := nodes[1].Requeue(t.Context(), "a"); err != nil {
		t.Fatal("nodes:", err)
	}
	if i := show(t, nodes[1], "a"); i.State != cluster.StateWaiting || i.Error != "" || i.Attempts != 0 {
		t.Errorf("%+v", i)
	}
}

// A Requeue that ended after it had put the task back, and before it removed the letter, is called again.
func TestARequeueThatWasCutOffIsCalledAgain(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	var ran int
	h := cluster.Handle(nodes[0], "once", func(context.Context, int) (int, error) {
		if ran++; ran == 1 {
			return 0, cluster.Permanent(errors.New("no"))
		}
		return ran, nil
	})
	f, err := h.Submit(t.Context(), 0, cluster.ID("a"))
	if _, err := wait(t, f, err); err == nil {
		t.Fatal("no error")
	}
	s, err := js.Stream(t.Context(), "filch_dead")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	letter, err := s.GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal("s.GetMsg:", err)
	}
	if err := nodes[0].Requeue(t.Context(), "a"); err != nil {
		t.Fatal("nodes:", err)
	}
	eventually(t, "it has run", func() bool { return show(t, nodes[0], "a").State == cluster.StateDone })
	letter.Header.Del(nats.MsgIdHdr)
	if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: letter.Subject, Header: letter.Header, Data: letter.Data}); err != nil {
		t.Fatal("js.PublishMsg:", err)
	}
	if err := nodes[0].Requeue(t.Context(), "a"); err != nil {
		t.Error("nodes:", err)
	}
	if len(letters(t, nodes[0], "")) != 0 || ran != 2 || nodes[0].Stats().Done != 1 {
		t.Error("ran", ran)
	}
}

// A message that could not be read gets its own ID again.
func TestAnUnreadableMessageIsPutBackAsItWas(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	cluster.Handle(nodes[0], "double", double)
	m := &nats.Msg{Subject: "filch.work.double.p1", Header: nats.Header{"Filch-Version": {"99"}, "Filch-Id": {"mine"}, "Filch-Codec": {"json"}}, Data: []byte("3")}
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal("js.PublishMsg:", err)
	}
	eventually(t, "it is a dead letter", func() bool { return len(letters(t, nodes[0], "double")) == 1 })
	if err := nodes[0].Pause(t.Context(), "double"); err != nil {
		t.Fatal("nodes:", err)
	}
	if err := nodes[0].Requeue(t.Context(), letters(t, nodes[0], "")[0].ID); err != nil {
		t.Fatal("nodes:", err)
	}
	if info := show(t, nodes[0], "mine"); info.State != cluster.StateWaiting || string(info.Argument) != "3" {
		t.Errorf("%+v", info)
	}
}

// A letter has a name besides the ID of its task: by it there is one of each, also of what says no ID, and of several letters of an ID.
func TestEachLetterHasAName(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	n := nodes[1]
	cluster.Handle(nodes[0], "double", double)
	until(t, js, "double_p1", known)
	put := func(subject, id, argument string) {
		t.Helper()
		h := nats.Header{"Filch-Version": {"1"}, "Filch-Codec": {"json"}, "Filch-From": {"n1"}, "Filch-Subject": {"filch.work.double.p1"}}
		if id != "" {
			h["Filch-Id"] = []string{id}
		}
		if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: subject, Header: h, Data: []byte(argument)}); err != nil {
			t.Fatal("js.PublishMsg:", err)
		}
	}
	put("filch.dead.double.a", "a", "1")
	put("filch.dead.double.none", "", "2")             // without an ID
	put("filch.dead.double.other", "a.b", "3")         // with one that no node has written
	put("filch.dead.double.x.y", "x", "4")             // which is not found by its ID
	put("filch.dead.double.a", "a", "5")               // a second one of the ID
	put("filch.dead.double.letter-1", "letter-1", "6") // an ID that looks like a name
	var ids []string
	for _, l := range letters(t, n, "") {
		ids = append(ids, l.ID+" "+l.Name)
	}
	if got, want := strings.Join(ids, ", "), "a letter-1, letter-2 letter-2, letter-3 letter-3, letter-4 letter-4, a letter-5, letter-1 letter-6"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	for id, want := range map[string]string{"a": "a 5", "letter-2": "letter-2 2", "letter-4": "letter-4 4", "letter-5": "a 5", "letter-1": "letter-1 6"} {
		if info := show(t, n, id); info.ID+" "+string(info.Argument) != want || info.State != cluster.StateFailed {
			t.Errorf("%s: %+v", id, info)
		}
	}
	for _, id := range []string{"letter-7", "letter-0", "letter-02", "letter-x", "letter-"} {
		if err := n.DeleteDead(t.Context(), id); !errors.Is(err, cluster.ErrNoDeadLetter) || !strings.HasSuffix(err.Error(), ": "+id) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := n.DeleteDead(t.Context(), "letter-2", "letter-4", "letter-1", "letter-5"); err != nil { // of letter-1 the ID goes before the name
		t.Error("n.DeleteDead:", err)
	}
	if err := n.Requeue(t.Context(), "letter-1"); err != nil {
		t.Error("n.Requeue:", err)
	}
	f, err := cluster.Attach[int](t.Context(), n, "a")
	if got, err := wait(t, f, err); got != 2 || err != nil {
		t.Error(got, err)
	}
	if left := letters(t, n, ""); len(left) != 1 || left[0].Name != "letter-3" {
		t.Errorf("%+v", left)
	}
	// What no node can read is refused again.
	if err := n.Requeue(t.Context(), "letter-3"); err != nil {
		t.Error("n.Requeue:", err)
	}
	eventually(t, "it is a dead letter again", func() bool {
		left := letters(t, n, "")
		return len(left) == 1 && strings.HasPrefix(left[0].ID, "unreadable-") && string(left[0].Argument) == "3"
	})
}
