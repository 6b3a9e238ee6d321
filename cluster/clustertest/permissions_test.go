package clustertest_test

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
)

// tap is a dialer whose connections note to which subjects the client publishes, and to which it subscribes.
type tap struct {
	mu         sync.Mutex
	published  map[string]bool
	subscribed map[string]bool
}

func newTap() *tap { return &tap{published: map[string]bool{}, subscribed: map[string]bool{}} }

// as are the options of a connection of a user that is tapped.
func (p *tap) as(user string) []nats.Option { return append(as(user), nats.SetCustomDialer(p)) }

func (p *tap) Dial(network, address string) (net.Conn, error) {
	c, err := net.Dial(network, address)
	return &tapped{Conn: c, tap: p}, err
}

// tapped is a connection. One goroutine writes at a time.
type tapped struct {
	net.Conn
	tap  *tap
	line []byte // a line that has not ended
	skip int    // bytes of a message that are still to come
}

func (c *tapped) Write(b []byte) (int, error) {
	c.hear(b)
	return c.Conn.Write(b)
}

// hear notes what is in the next bytes of the NATS protocol.
func (c *tapped) hear(b []byte) {
	for len(b) > 0 {
		if c.skip > 0 {
			n := min(c.skip, len(b))
			c.skip, b = c.skip-n, b[n:]
			continue
		}
		rest, after, ends := bytes.Cut(b, []byte("\r\n"))
		c.line = append(c.line, rest...)
		if !ends {
			if before, ok := bytes.CutSuffix(c.line, []byte("\n")); ok { // the line's end came in two parts
				c.line = bytes.TrimSuffix(before, []byte("\r"))
				c.note()
			}
			return
		}
		b = after
		c.note()
	}
}

// note notes a line.
func (c *tapped) note() {
	words := strings.Fields(string(c.line))
	c.line = c.line[:0]
	if len(words) < 3 {
		return
	}
	c.tap.mu.Lock()
	defer c.tap.mu.Unlock()
	switch words[0] {
	case "PUB", "HPUB":
		c.tap.published[words[1]] = true
		size, _ := strconv.Atoi(words[len(words)-1])
		c.skip = size + len("\r\n")
	case "SUB":
		c.tap.subscribed[words[1]] = true
	}
}

// matches reports whether a subject, which can have wildcards as well, is one of those that a pattern stands for, as the server sees it.
func matches(pattern, subject string) bool { return server.SubjectMatchesFilter(subject, pattern) }

// needless returns the patterns without which all that was said would still be permitted.
func needless(patterns []string, said map[string]bool) []string {
	var all []string
	for i, p := range patterns {
		others := slices.Delete(slices.Clone(patterns), i, i+1)
		needed := false
		for subject := range said {
			needed = needed || matches(p, subject) && !slices.ContainsFunc(others, func(o string) bool { return matches(o, subject) })
		}
		if !needed {
			all = append(all, p)
		}
	}
	return all
}

// has reports whether the client has published to a subject that a pattern stands for.
func (p *tap) has(pattern string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.published {
		if matches(pattern, s) {
			return true
		}
	}
	return false
}

// flow stores as much in a bucket as makes the servers ask those that watch it whether they have got it. subject is that of a key
// without its end.
func flow(t *testing.T, js jetstream.JetStream, stream, subject string, watching ...*tap) {
	t.Helper()
	for i := range 30 { // in headers, for those that watch without values
		m := &nats.Msg{Subject: fmt.Sprint(subject, i), Header: nats.Header{"Much": {strings.Repeat("a", 60_000)}}}
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(m.Subject, err)
		}
	}
	for _, p := range watching {
		eventually(t, "flow control of "+stream, func() bool { return p.has("$JS.FC." + stream + ".>") })
	}
}

// manage does with each stream what an operator may do.
func manage(t *testing.T, js jetstream.JetStream, p *tap) {
	t.Helper()
	for stream, subject := range map[string]string{"filch_work": "filch.work.none.p1", "filch_later": "filch.later.none", "filch_dead": "filch.dead.none.x"} {
		ack, err := js.Publish(t.Context(), subject, nil)
		if err != nil {
			t.Fatal(subject, err)
		}
		if stream == "filch_dead" {
			readAll(t, js, stream)
		}
		manageStream(t, js, stream, ack.Sequence)
		s, err := js.Stream(t.Context(), stream)
		if err == nil {
			_, err = js.Publish(t.Context(), subject, nil)
		}
		if err == nil {
			err = s.DeleteMsg(t.Context(), ack.Sequence+1)
		}
		if err != nil {
			t.Error(stream, err)
		}
	}
	for _, bucket := range []string{"filch_results", "filch_control", "filch_after", "filch_unique", "filch_batches", "filch_tries", "filch_nodes"} {
		kv, err := js.KeyValue(t.Context(), bucket)
		if err != nil {
			t.Fatal("js.KeyValue:", err)
		}
		w, err := kv.WatchAll(t.Context())
		if err != nil {
			t.Fatal("kv.WatchAll:", err)
		}
		for range 4 {
			if _, err := kv.Put(t.Context(), "operator", make([]byte, 500_000)); err != nil {
				t.Fatal(bucket, err)
			}
		}
		eventually(t, "flow control of "+bucket, func() bool { return p.has("$JS.FC.KV_" + bucket + ".>") })
		entry, err := kv.Get(t.Context(), "operator")
		if err != nil {
			t.Fatal(bucket, err)
		}
		if err := w.Stop(); err != nil {
			t.Error(bucket, err)
		}
		readAll(t, js, "KV_"+bucket)
		manageStream(t, js, "KV_"+bucket, entry.Revision())
	}
}

// readAll reads the first message of a stream by a consumer that acknowledges nothing.
func readAll(t *testing.T, js jetstream.JetStream, stream string) {
	t.Helper()
	c, err := js.OrderedConsumer(t.Context(), stream, jetstream.OrderedConsumerConfig{})
	if err == nil {
		_, err = c.Next()
	}
	if err != nil {
		t.Error(stream, err)
	}
}

// manageStream reads a message of a stream, replaces the stream by its backup, changes it, and empties it.
func manageStream(t *testing.T, js jetstream.JetStream, stream string, message uint64) {
	t.Helper()
	ask(t, js.Conn(), "$JS.API.STREAM.MSG.GET."+stream, map[string]uint64{"seq": message}, &struct{}{})
	kept := takeSnapshot(t, js.Conn(), stream)
	if err := js.DeleteStream(t.Context(), stream); err != nil {
		t.Fatal(stream, err)
	}
	kept.restore(t, js.Conn(), stream)
	s, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	if _, err := js.UpdateStream(t.Context(), s.CachedInfo().Config); err != nil {
		t.Error(stream, err)
	}
	names := s.ConsumerNames(t.Context())
	for name := range names.Name() {
		if err := s.DeleteConsumer(t.Context(), name); err != nil {
			t.Error(stream, err)
		}
	}
	if names.Err() != nil {
		t.Error(stream, names.Err())
	}
	if err := s.Purge(t.Context()); err != nil {
		t.Error(stream, err)
	}
}

// checkNeeded fails for the permissions of a role, beyond those of another, that were not needed for what was said.
func (p *tap) checkNeeded(t *testing.T, user string, role, below cluster.Role) {
	t.Helper()
	permissions := func(role cluster.Role) cluster.Permissions {
		all, err := cluster.PermissionsOf(role, "filch", user, "_INBOX_"+user)
		if err != nil {
			t.Fatal("cluster.PermissionsOf:", err)
		}
		return all
	}
	all, less := permissions(role), cluster.Permissions{}
	if below != role {
		less = permissions(below)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range needless(all.Publish, p.published) {
		if !slices.Contains(less.Publish, s) {
			t.Errorf("%s does not need to publish to %s", user, s)
		}
	}
	if all.Responses && !less.Responses && !slices.ContainsFunc(slices.Collect(maps.Keys(p.published)), func(s string) bool {
		return !slices.ContainsFunc(all.Publish, func(o string) bool { return matches(o, s) })
	}) {
		t.Errorf("%s does not need to answer", user)
	}
	for _, s := range needless(all.Subscribe, p.subscribed) {
		if !slices.Contains(less.Subscribe, s) {
			t.Errorf("%s does not need to subscribe to %s", user, s)
		}
	}
}
