package cluster

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// read returns the value of a key and its revision, as any server that has the bucket knows them. Of a key that was removed, the
// revision is that of the marker. A value that no node has written is empty: README.md says how it comes there.
func (n *Node) read(ctx context.Context, kv jetstream.KeyValue, key string) (value []byte, revision uint64, err error) {
	m, revision, err := n.last(ctx, kv, key)
	if err != nil {
		return nil, revision, err
	}
	return written(m), revision, nil
}

// last returns the message of a key and its revision, as read does.
func (n *Node) last(ctx context.Context, kv jetstream.KeyValue, key string) (m *nats.Msg, revision uint64, err error) {
	from := api("DIRECT.GET." + streamOf(kv.Bucket()) + "." + keyOf(kv.Bucket(), key))
	if m, err = n.nc.RequestWithContext(ctx, from, nil); err != nil {
		return nil, 0, n.explain(err, from)
	}
	stored := lastHeader(m, jetstream.SequenceHeader)
	if stored == "" {
		if header(m.Header, "Status") == "404" {
			return nil, 0, jetstream.ErrKeyNotFound
		}
		return nil, 0, fmt.Errorf("cluster: a request for the key %s: %s %s", key, header(m.Header, "Status"), header(m.Header, "Description"))
	}
	if revision, err = strconv.ParseUint(stored, 10, 64); err != nil {
		return nil, 0, fmt.Errorf("cluster: the servers do not say which revision a key has: %w", err)
	}
	if isMarker(m.Header) {
		return nil, revision, jetstream.ErrKeyNotFound
	}
	return m, revision, nil
}

// isMarker reports whether a message of a bucket says that its key was removed.
func isMarker(h nats.Header) bool {
	return header(h, "KV-Operation") != "" || header(h, jetstream.MarkerReasonHeader) != ""
}

// written returns what a message has that the servers have answered to a request for it, if a node has written that. An answer has headers of
// where it is stored, behind those that were stored with it. So a message that was stored as an answer has them twice.
func written(m *nats.Msg) []byte {
	if len(m.Header[jetstream.StreamHeader]) > 1 {
		return nil
	}
	return m.Data
}

// lastHeader returns the last value of a header: the one that the servers have added to a message that they answer with.
func lastHeader(m *nats.Msg, key string) string {
	if v := m.Header[key]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}
