package clustertest_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
	"github.com/filch-go/filch/internal/poll"
)

// forgetful is a server that is started again, and a node that counts runs.
type forgetful struct {
	t    *testing.T
	s    *clustertest.Servers
	js   jetstream.JetStream
	h    *cluster.Handler[int, int]
	runs atomic.Int64
}

func newForgetful(t *testing.T) *forgetful {
	f := &forgetful{t: t, s: clustertest.Server(t)}
	nc, err := nats.Connect(f.s.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal("nats.Connect:", err)
	}
	t.Cleanup(nc.Close)
	if f.js, err = jetstream.New(nc); err != nil {
		t.Fatal("jetstream.New:", err)
	}
	n := openAt(t, f.s.URL())
	f.h = cluster.Handle(n, "double", func(_ context.Context, n int) (int, error) {
		f.runs.Add(1)
		return 2 * n, nil
	})
	return f
}

// restart ends the server and starts it again. It forgets the IDs of messages that it has no more.
func (f *forgetful) restart() {
	f.t.Helper()
	empty(f.t, f.js)
	f.s.Kill(0)
	if err := f.s.Restart(f.t.Context(), 0); err != nil {
		f.t.Fatal("f.s.Restart:", err)
	}
	if err := f.s.WaitReady(within(f.t)); err != nil {
		f.t.Fatal("f.s.WaitReady:", err)
	}
}

// once waits until nothing is left in a stream, and in that of tasks, and fails the test if a task has run twice.
func (f *forgetful) once(tasks int64, stream, subject string) {
	f.t.Helper()
	poll.Until(f.t, time.Minute, "what waits is gone", func() (bool, any) { // a node looks for it each 5 s
		n, err := countOf(f.t.Context(), f.js, stream, subject)
		return err == nil && n == 0, err
	})
	empty(f.t, f.js)
	if runs := f.runs.Load(); runs != tasks {
		f.t.Error(runs, "runs of", tasks, "tasks")
	}
}

// A task that is due is moved a second time when the node is lost that has moved it. It does not run again, also if it has ended
// and the server was started again meanwhile.
func TestADueTaskThatHasEndedIsNotMovedAgain(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	moved, err := f.js.Conn().SubscribeSync("filch.work.>")
	if err != nil {
		t.Fatal("f.js.Conn().SubscribeSync:", err)
	}
	a, err := f.h.Submit(t.Context(), 21, cluster.ID("a"), cluster.Delay(time.Millisecond), cluster.Unique("key", time.Hour))
	if got, err := wait(t, a, err); got != 42 || err != nil {
		t.Fatal(got, err)
	}
	m, err := moved.NextMsgWithContext(within(t))
	if err != nil {
		t.Fatal("moved.NextMsgWithContext:", err)
	}
	f.restart()
	due := &nats.Msg{Subject: strings.Replace(m.Subject, "filch.work.", "filch.due.", 1), Header: m.Header, Data: m.Data}
	due.Header.Del(nats.MsgIdHdr)
	if _, err := f.js.PublishMsg(within(t), due); err != nil {
		t.Fatal("f.js.PublishMsg:", err)
	}
	f.once(1, "filch_later", ">")
}

// A task is released a second time when the node is lost that has released it. It does not run again, also if it has ended and
// the server was started again meanwhile.
func TestADependentThatHasEndedIsNotReleasedAgain(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	b, err := f.h.Submit(t.Context(), 21, cluster.ID("b"), cluster.After(cluster.TaskID("a")))
	if err != nil {
		t.Fatal("f.h.Submit:", err)
	}
	kv, err := f.js.KeyValue(t.Context(), "filch_after")
	if err != nil {
		t.Fatal("f.js.KeyValue:", err)
	}
	keys := []string{"met.b", "edge.b.0.a", "task.b"}
	values := map[string][]byte{}
	for _, key := range keys {
		entry, err := kv.Get(within(t), key)
		if err != nil {
			t.Fatal("kv.Get:", err)
		}
		values[key] = entry.Value()
	}
	if _, err := f.h.Submit(t.Context(), 1, cluster.ID("a")); err != nil {
		t.Fatal("f.h.Submit:", err)
	}
	expect(t, b, 42)
	f.restart()
	for _, key := range keys { // as the node leaves them that is lost
		if _, err := kv.Put(within(t), key, values[key]); err != nil {
			t.Fatal("kv.Put:", err)
		}
	}
	untilStream(t, f.js, "KV_filch_after", "$KV.filch_after.edge.>", func(n int) bool { return n == 1 })
	f.once(2, "KV_filch_after", "$KV.filch_after.edge.>")
}

// A unique key that was given back stays free, also if the server is killed and started again: it has no marker, with whose time
// what was removed would come back.
func TestAFreedUniqueKeyIsForgotten(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	for _, id := range []string{"a", "b"} {
		task, err := f.h.Submit(t.Context(), 21, cluster.ID(id), cluster.Unique("key", time.Hour))
		if got, err := wait(t, task, err); got != 42 || err != nil {
			t.Fatal(got, err)
		}
		f.restart()
		untilStream(t, f.js, "KV_filch_unique", "$KV.filch_unique.key", func(n int) bool { return n == 0 })
	}
}

// So does a task that waited for others. A marker tells the nodes that it waits no more, and the task does not come back when the
// marker is gone. Its tally may: nodes look for tallies without tasks.
func TestADependentThatWasReleasedIsForgotten(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	if _, err := f.h.Submit(t.Context(), 21, cluster.ID("waits"), cluster.After(cluster.TaskID("never"))); err != nil { // the stream is not empty
		t.Fatal("f.h.Submit:", err)
	}
	b, err := f.h.Submit(t.Context(), 21, cluster.ID("b"), cluster.After(cluster.TaskID("a"), cluster.TaskID("c")))
	if err != nil {
		t.Fatal("f.h.Submit:", err)
	}
	for _, id := range []string{"a", "c"} {
		if _, err := f.h.Submit(t.Context(), 1, cluster.ID(id)); err != nil {
			t.Fatal("f.h.Submit:", err)
		}
	}
	expect(t, b, 42)
	untilStream(t, f.js, "KV_filch_after", "$KV.filch_after.met.b", func(n int) bool { return n == 0 })
	s, err := f.js.Stream(t.Context(), "KV_filch_after")
	if err == nil {
		err = s.Purge(within(t), jetstream.WithPurgeSubject("$KV.filch_after.gone.b")) // as when the marker's time is over
	}
	if err != nil {
		t.Fatal("s.Purge:", err)
	}
	f.restart()
	for _, subject := range []string{"task.b", "edge.b.>"} {
		n, err := countOf(within(t), f.js, "KV_filch_after", "$KV.filch_after."+subject)
		if err != nil || n != 0 {
			t.Error(n, "of", subject, err)
		}
	}
}
