package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
)

// behind is a connection to a server in this process whose reads of some keys are answered as by a server that does not have them yet: it asks
// for another key instead.
type behind struct {
	net.Conn
	srv *server.Server

	mu     sync.Mutex
	reads  map[string]int // how many reads are, by what the key ends with
	missed []byte         // the beginning of a command that is not complete
}

// read has the next reads of a key answered so.
func (b *behind) read(key string, times int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads[key] = times
}

// left returns how many of these were not made.
func (b *behind) left(key string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reads[key]
}

func (b *behind) InProcessConn() (net.Conn, error) {
	c, err := b.srv.InProcessConn()
	b.Conn = c
	return b, err
}

// Write passes on the commands that are complete.
func (b *behind) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.missed = append(b.missed, data...)
	for {
		n, subject := command(b.missed)
		if n == 0 {
			return len(data), nil
		}
		line := string(b.missed[:n])
		for key, left := range b.reads {
			if left > 0 && strings.HasPrefix(subject, "$JS.API.DIRECT.GET.") && strings.HasSuffix(subject, key) {
				b.reads[key]--
				line = strings.Replace(line, subject, subject+"-of-before", 1)
			}
		}
		if _, err := b.Conn.Write([]byte(line)); err != nil {
			return 0, err
		}
		b.missed = b.missed[n:]
	}
}

// openBehind opens a node whose connection is behind.
func openBehind(t *testing.T, opts ...cluster.Option) (*cluster.Node, *behind, jetstream.JetStream) {
	t.Helper()
	b := &behind{srv: inProcess(t), reads: map[string]int{}}
	nc, err := nats.Connect("", nats.InProcessServer(b), nats.MaxReconnects(0))
	if err != nil {
		t.Fatal("nats.Connect:", err)
	}
	t.Cleanup(nc.Close)
	n, err := cluster.Open(t.Context(), append([]cluster.Option{cluster.WithConn(nc)}, opts...)...)
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() { closeNode(t, n) })
	js, err := jetstream.New(connectMortal(t, b.srv, nil))
	if err != nil {
		t.Fatal("jetstream.New:", err)
	}
	return n, b, js
}

// once fails the test if the reads that are behind were not made.
func (b *behind) once(t *testing.T, key string) {
	t.Helper()
	if left := b.left(key); left > 0 {
		t.Errorf("%d reads of %s were not made", left, key)
	}
}

// A task that was given back has used no attempt, also if the server that is asked has not heard that it was: it is not
// buried for that before it runs, nor when it fails.
func TestATaskThatWasGivenBackKeepsItsAttempts(t *testing.T) {
	t.Parallel()
	for attempts := 1; attempts <= 2; attempts++ {
		n, b, js := openBehind(t, cluster.WithPlaces(1))
		first, err := cluster.Open(t.Context(), cluster.WithConn(connectMortal(t, b.srv, nil)), cluster.WithPlaces(1))
		if err != nil {
			t.Fatal("cluster.Open:", err)
		}
		cluster.Handle(first, "fail", double)
		until(t, js, "fail_p1", known)
		closeNode(t, first)
		f, err := cluster.Submit[int, int](t.Context(), n, "fail", 0, cluster.ID("a"))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		// The test fetches the task, and gives it back as a node does.
		m, err := js.Conn().RequestWithContext(within(t), "$JS.API.CONSUMER.MSG.NEXT.filch_work.fail_p1", fmt.Appendf(nil, `{"batch":1,"group":%q,"expires":%d}`, "tiers", 10*time.Second))
		if err != nil {
			t.Fatal("js.Conn().RequestWithContext:", err)
		}
		kv, err := js.KeyValue(t.Context(), "filch_tries")
		if err == nil {
			_, err = kv.Put(t.Context(), "a", []byte(`{"returned":1}`))
		}
		if err == nil {
			err = m.Nak()
		}
		if err != nil {
			t.Fatal("m.Nak:", err)
		}
		b.read("$KV.filch_tries.a", 1)
		runs := make(chan struct{}, 10)
		cluster.Handle(n, "fail", func(context.Context, int) (int, error) {
			runs <- struct{}{}
			return 0, errors.New("on purpose")
		}, cluster.WithRetry(cluster.Retry{Attempts: attempts, First: time.Millisecond, Most: time.Millisecond}))
		_, err = f.Wait(within(t))
		if e, ok := errors.AsType[*cluster.TaskError](err); !ok || e.Attempts != attempts || e.Message != "on purpose" {
			t.Error("f.Wait:", err)
		}
		if len(runs) != attempts {
			t.Error("it ran", len(runs), "times, not", attempts)
		}
		b.once(t, "$KV.filch_tries.a")
	}
}

// A batch ends, and a unique key is free, also if the server that is asked has neither yet.
func TestWhatFollowsFromAnEndIsFound(t *testing.T) {
	t.Parallel()
	n, b, js := openBehind(t, cluster.WithPlaces(1))
	h := cluster.Handle(n, "double", double)
	until(t, js, "double_p1", known)
	batch, err := cluster.NewBatch(t.Context(), n)
	if err != nil {
		t.Fatal("cluster.NewBatch:", err)
	}
	id := batch.ID()
	stale := []string{"$KV.filch_unique.key", "$KV.filch_batches.chunk." + id + ".0", "$KV.filch_batches.chunks." + id, "$KV.filch_batches.batch." + id}
	for _, key := range stale {
		b.read(key, 3)
	}
	f, err := h.Submit(t.Context(), 1, cluster.InBatch(batch), cluster.Unique("key", time.Hour))
	if got, err := wait(t, f, err); got != 2 || err != nil {
		t.Fatal(got, err)
	}
	all, err := batch.Close(within(t))
	if err != nil {
		t.Fatal("batch.Close:", err)
	}
	if c, err := all.Wait(within(t)); c != (cluster.BatchCounts{Total: 1, Ended: 1, Closed: true}) || err != nil {
		t.Errorf("%+v %v", c, err)
	}
	empty(t, js)
	for _, key := range stale {
		b.once(t, key)
	}
	kv, err := js.KeyValue(t.Context(), "filch_unique")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	if _, err := kv.Get(t.Context(), "key"); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Error("the unique key is not free:", err)
	}
}

// A unique key that another task had before is given back, also if the server that is asked has the other one still. One whose time is over,
// or which another has since, is left, and waits for nothing.
func TestAUniqueKeyIsGivenBackByItsOwner(t *testing.T) {
	t.Parallel()
	n, b, js := openBehind(t, cluster.WithPlaces(1))
	kv, err := js.KeyValue(t.Context(), "filch_unique")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	put := func(key, id string) {
		t.Helper()
		if _, err := kv.Put(t.Context(), key, []byte(id)); err != nil {
			t.Fatal("kv.Put:", err)
		}
	}
	var during func()
	h := cluster.Handle(n, "job", func(context.Context, int) (int, error) { during(); return 1, nil })
	until(t, js, "job_p1", known)
	run := func(key string) {
		t.Helper()
		f, err := h.Submit(t.Context(), 1, cluster.Unique(key, time.Hour))
		if got, err := wait(t, f, err); got != 1 || err != nil {
			t.Fatal(got, err)
		}
		empty(t, js)
	}
	holds := func(key, want string) {
		t.Helper()
		e, err := kv.Get(t.Context(), key)
		if want == "" && errors.Is(err, jetstream.ErrKeyNotFound) {
			return
		}
		if err != nil || string(e.Value()) != want {
			t.Error(key, e, err)
		}
	}
	put("x-of-before", "other")
	during = func() { b.read("$KV.filch_unique.x", 2) }
	run("x")
	holds("x", "")
	b.once(t, "$KV.filch_unique.x")
	during = func() { put("y", "other") }
	run("y")
	holds("y", "other")
	during = func() {
		if err := kv.Purge(t.Context(), "z"); err != nil {
			t.Error("kv.Purge:", err)
		}
	}
	run("z")
	holds("z", "")
	during = func() {
		s, err := js.Stream(t.Context(), "KV_filch_unique")
		if err == nil {
			err = s.Purge(t.Context())
		}
		if err != nil {
			t.Error("s.Purge:", err)
		}
	}
	run("w")
	holds("w", "")
}

// A dead letter that is put back runs, also if the server that is asked still has the outcome of before, or does not have it yet.
func TestWhatIsPutBackRunsOnServersThatAreBehind(t *testing.T) {
	t.Parallel()
	n, b, js := openBehind(t, cluster.WithPlaces(1))
	fails := true
	var old jetstream.KeyValueEntry
	var kv jetstream.KeyValue
	h := cluster.Handle(n, "job", func(ctx context.Context, _ int) (int, error) {
		if fails {
			fails = false
			return 0, cluster.Permanent(errors.New("no"))
		}
		if _, err := kv.Put(ctx, "a-of-before", old.Value()); err != nil {
			t.Error("kv.Put:", err)
		}
		b.read("$KV.filch_results.a", 2) // Create of the bucket looks, and the node
		return 5, nil
	})
	f, err := h.Submit(t.Context(), 0, cluster.ID("a"))
	if _, err := wait(t, f, err); err == nil {
		t.Error("no error")
	}
	if kv, err = js.KeyValue(t.Context(), "filch_results"); err == nil {
		old, err = kv.Get(t.Context(), "a")
	}
	if err != nil {
		t.Fatal("kv.Get:", err)
	}
	b.read("$KV.filch_results.a", 1)
	if err := n.Requeue(within(t), "a"); err != nil {
		t.Fatal("n.Requeue:", err)
	}
	empty(t, js)
	got, err := kv.Get(t.Context(), "a")
	if err != nil || !strings.HasPrefix(string(got.Value()), `{"status":"done"`) {
		t.Errorf("%s %v", got.Value(), err)
	}
	b.once(t, "$KV.filch_results.a")
}
