package clustertest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// connect connects to servers.
func connect(t testing.TB, url string, opts ...nats.Option) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal("nats.Connect:", err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal("jetstream.New:", err)
	}
	return nc, js
}

// rawPublish stores messages as bytes, without what a client library would check. Each has a block of headers and a body.
func rawPublish(t *testing.T, url, subject string, messages [][2][]byte) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "nats://"))
	if err != nil {
		t.Fatal("net.Dial:", err)
	}
	defer c.Close()
	var b bytes.Buffer
	b.WriteString("CONNECT {\"verbose\":false,\"headers\":true}\r\n")
	for _, m := range messages {
		fmt.Fprintf(&b, "HPUB %s %d %d\r\n%s%s\r\n", subject, len(m[0]), len(m[0])+len(m[1]), m[0], m[1])
	}
	b.WriteString("PING\r\n")
	if _, err := c.Write(b.Bytes()); err != nil {
		t.Fatal("c.Write:", err)
	}
	var got []byte
	buffer := make([]byte, 4096)
	for !bytes.Contains(got, []byte("PONG")) {
		n, err := c.Read(buffer)
		if got = append(got, buffer[:n]...); err != nil {
			t.Fatalf("%v after %s", err, got)
		}
	}
}

// hostileMessages are whole messages, and ones that were changed at random.
func hostileMessages(rng *rand.Rand) (all [][2][]byte) {
	head := func(lines ...string) []byte { return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n") }
	whole := head("NATS/1.0", "Filch-Version: 1", "Filch-Id: x", "Filch-Codec: json", "Filch-From: somebody", "Filch-Key: k", "Filch-Time: 1000000")
	seeds := [][]byte{
		whole,
		head("NATS/1.0 404 No Messages"), head("NATS/1.0 409 Consumer Deleted"), head("NATS/1.0 100 Idle Heartbeat"),
		head("NATS/1.0", "Filch-Version: 2", "Filch-Id: later", "Filch-From: n"),
		head("NATS/1.0", "Filch-Version: 1", "Filch-Id: other", "Filch-Codec: gob"),
		head("NATS/1.0", "Filch-Version: 1", "Filch-Id: $KV.>", "Filch-From: >"),
		head("NATS/1.0", "Filch-Version: 1", "Filch-Id: y", "Filch-Time: 99999999999999999999"),
		head("NATS/1.0", "Filch-Version: 1", "Filch-Id: z", "Nats-Future: 1", "Nats-Subject: a", "Nats-Num-Pending: x"),
		[]byte("NATS/1.0\r\nno colon\r\n\r\n"), []byte("NATS/1.0\r\n: \r\n\r\n"), []byte("\r\n\r\n"),
	}
	for _, s := range seeds {
		for _, body := range []string{"", "1", "\"text\"", "{", "\x00\xff"} {
			all = append(all, [2][]byte{s, []byte(body)})
		}
	}
	for i := range 300 {
		s := bytes.Clone(seeds[i%len(seeds)])
		for range 1 + rng.IntN(4) {
			s[rng.IntN(len(s))] = byte(rng.Uint32())
		}
		all = append(all, [2][]byte{s, []byte("2")})
	}
	return append(all, [2][]byte{whole, bytes.Repeat([]byte("1"), 1<<20-len(whole)-8)})
}

func TestMalformedMessagesBreakNobody(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t)
	n := openAt(t, s.URL(), cluster.WithNode("n"))
	h := cluster.Handle(n, "double", double, cluster.WithAckWait(time.Second), cluster.WithRetry(cluster.Retry{Attempts: 2, First: time.Millisecond}))
	_, js := connect(t, s.URL())
	until(t, js, "double_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	seed := rand.Uint64()
	t.Log("seed", seed)
	rawPublish(t, s.URL(), "filch.work.double.p1", hostileMessages(rand.New(rand.NewPCG(seed, 0))))
	for i := range 100 {
		f, err := h.Submit(t.Context(), i)
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		if got, err := f.Wait(t.Context()); got != 2*i || err != nil {
			t.Fatal(got, err)
		}
	}
	empty(t, js)
	if s := n.Stats(); s.Refused < 50 {
		t.Errorf("%+v", s)
	}
	entry, err := js.KeyValue(t.Context(), "filch_results")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	o, err := entry.Get(t.Context(), "later")
	if err != nil || !strings.Contains(string(o.Value()), `version \"2\", and this node reads 1`) {
		t.Error("the submitter of a foreign version is not told:", err)
	}
}

// What others may have written into the buckets breaks nobody either.
func TestMalformedNotesBreakNobody(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	n := nodes[0]
	h := cluster.Handle(n, "again", func(ctx context.Context, _ int) (int, error) {
		info, _ := cluster.TaskOf(ctx)
		if info.Attempt == 1 {
			return 0, errors.New("the first attempt fails")
		}
		return info.Attempt, nil
	}, cluster.WithRetry(cluster.Retry{First: time.Millisecond}))
	for bucket, key := range map[string]string{"results": "ended", "tries": "tried", "control": "odd/key=.1"} {
		kv, err := js.KeyValue(t.Context(), "filch_"+bucket)
		if err != nil {
			t.Fatal("js.KeyValue:", err)
		}
		if _, err := kv.Put(t.Context(), key, []byte("{\"returned\": nonsense")); err != nil {
			t.Fatal("kv.Put:", err)
		}
	}
	kv, err := js.KeyValue(t.Context(), "filch_after")
	if err != nil {
		t.Fatal("js.KeyValue:", err)
	}
	for _, key := range []string{"met.x", "edge.x.-1.tried", "edge.x.99999999999999.tried", "edge.x.y.tried", "edge.tried", "task.x"} {
		if _, err := kv.Put(t.Context(), key, []byte("{\"size\":1}")); err != nil {
			t.Fatal("kv.Put:", err)
		}
	}
	f, err := h.Submit(t.Context(), 0, cluster.ID("tried"))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	if got, err := f.Wait(t.Context()); got != 2 || err != nil {
		t.Error(got, err)
	}
	if f, err = h.Submit(t.Context(), 0, cluster.ID("ended")); err != nil {
		t.Fatal("h.Submit:", err)
	}
	if _, err := f.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "an outcome that cannot be read") {
		t.Error("f.Wait:", err)
	}
}

// Notes of tasks that wait, and of batches, that cannot be read keep nobody from ending.
func TestMalformedNotesOfOthersKeepNoTask(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	n := nodes[0]
	put := func(bucket, key, value string) {
		kv, err := js.KeyValue(t.Context(), "filch_"+bucket)
		if err == nil {
			_, err = kv.Put(t.Context(), key, []byte(value))
		}
		if err != nil {
			t.Fatal("kv.Put:", err)
		}
	}
	for id, task := range map[string]string{"bad": "nonsense", "odd": `{"subject":"","header":{}}`, "foreign": `{"subject":"filch.work.gate.p1"}`} {
		put("after", "met."+id, `{"size":1}`)
		put("after", "task."+id, task)
		put("after", "edge."+id+".0.dependency", "")
	}
	put("after", "met.worse", "nonsense")
	put("after", "edge.worse.0.dependency", "")
	b, err := cluster.NewBatch(t.Context(), n)
	if err != nil {
		t.Fatal("cluster.NewBatch:", err)
	}
	gate := make(chan struct{})
	h := cluster.Handle(n, "gate", func(ctx context.Context, _ int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return 1, nil
	}, cluster.WithAckWait(time.Second))
	member, err := h.Submit(t.Context(), 0, cluster.InBatch(b))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	put("batches", "chunk."+b.ID()+".0", "nonsense")
	other, err := h.Submit(t.Context(), 0, cluster.ID("dependency"))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	// A dependency that is real: what the node has heard of it, it has heard of the others.
	after, err := h.Submit(t.Context(), 0, cluster.After(other))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	close(gate)
	for _, f := range []*cluster.Future[int]{member, other, after} {
		if got, err := wait(t, f, nil); got != 1 || err != nil {
			t.Error(got, err)
		}
	}
	empty(t, js)
}
