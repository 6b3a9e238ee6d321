package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// controlTTL is how long a request to cancel is remembered.
const controlTTL = 24 * time.Hour

// dedupWindow is how long the servers remember IDs of tasks.
const dedupWindow = 2 * time.Minute

// maxLanes is how many lanes a cluster may have. The servers' own limit is 1000 for a stream: four handlers with 256 partitions.
const maxLanes = 100_000

// setUp makes what the cluster needs on the servers, as far as it is not there.
func (n *Node) setUp(ctx context.Context) error {
	if most := n.nc.MaxPayload(); n.maxBytes > 0 && n.maxBytes < most {
		return fmt.Errorf("WithQueueBytes(%d): a message of the servers may have %d bytes, and would never have room", n.maxBytes, most)
	}
	info, err := n.stream(ctx, jetstream.StreamConfig{
		Name: n.work(), Subjects: []string{n.workAll()}, Retention: jetstream.WorkQueuePolicy,
		Replicas: n.replicas, Duplicates: dedupWindow, MaxMsgs: cmp.Or(n.maxQueued, -1), MaxBytes: cmp.Or(n.maxBytes, -1), Discard: jetstream.DiscardNew, MaxConsumers: maxLanes,
		AllowDirect: true, // for find
		Description: "tasks of the filch cluster " + n.cluster,
	})
	if err != nil {
		return err
	}
	n.opened = info.TimeStamp
	if err := n.readClock(ctx); err != nil {
		return err
	}
	if _, err := n.stream(ctx, jetstream.StreamConfig{
		Name: n.dead(), Subjects: []string{n.deadAll()}, Retention: jetstream.LimitsPolicy,
		Replicas: n.replicas, MaxAge: n.deadTTL, Duplicates: min(dedupWindow, n.deadTTL),
		Description: "dead letters of the filch cluster " + n.cluster,
	}); err != nil {
		return err
	}
	if err := n.setUpLater(ctx); err != nil {
		return err
	}
	if n.results, err = n.bucket(ctx, n.names.results(), n.resultTTL); err != nil {
		return err
	}
	if n.control, err = n.bucket(ctx, n.names.control(), controlTTL); err != nil {
		return err
	}
	if n.after, err = n.bucketOf(ctx, jetstream.KeyValueConfig{Bucket: n.names.after(), LimitMarkerTTL: markerTTL}); err != nil {
		return err
	}
	if n.batches, err = n.bucket(ctx, n.names.batches(), n.deadTTL); err != nil {
		return err
	}
	if n.afterStream, err = n.js.Stream(ctx, streamOf(n.names.after())); err != nil {
		return err
	}
	if n.unique, err = n.bucketOf(ctx, jetstream.KeyValueConfig{Bucket: n.names.unique(), LimitMarkerTTL: markerTTL}); err != nil {
		return err
	}
	if n.tries, err = n.bucket(ctx, n.names.tries(), n.deadTTL); err != nil {
		return err
	}
	n.nodes, err = n.bucket(ctx, n.names.nodes(), listedFor)
	return err
}

// stream returns the state of a stream, which it makes if it is not there.
func (n *Node) stream(ctx context.Context, c jetstream.StreamConfig) (*jetstream.StreamInfo, error) {
	for {
		var s jetstream.Stream
		err := n.ask(ctx, func(ctx context.Context) (err error) { s, err = n.js.Stream(ctx, c.Name); return err }, api("STREAM.INFO."+c.Name))
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			err = n.ask(ctx, func(ctx context.Context) (err error) { s, err = n.js.CreateStream(ctx, c); return err }, api("STREAM.CREATE."+c.Name))
		}
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			continue // another node has just made it
		}
		if err != nil {
			return nil, err
		}
		return s.CachedInfo(), nil
	}
}

// bucket returns a bucket whose values have a time to live.
func (n *Node) bucket(ctx context.Context, name string, ttl time.Duration) (jetstream.KeyValue, error) {
	return n.bucketOf(ctx, jetstream.KeyValueConfig{Bucket: name, TTL: ttl})
}

// bucketOf returns a bucket, which it makes if it is not there.
func (n *Node) bucketOf(ctx context.Context, c jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	c.Replicas = n.replicas
	for {
		var kv jetstream.KeyValue
		stream := streamOf(c.Bucket)
		err := n.ask(ctx, func(ctx context.Context) (err error) { kv, err = n.js.KeyValue(ctx, c.Bucket); return err }, api("STREAM.INFO."+stream))
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			err = n.ask(ctx, func(ctx context.Context) (err error) { kv, err = n.js.CreateKeyValue(ctx, c); return err }, api("STREAM.CREATE."+stream))
		}
		if errors.Is(err, jetstream.ErrBucketExists) {
			continue
		}
		return kv, err
	}
}

// serverClock is how far the servers' clocks are ahead of the node's, and by how much that may be wrong.
type serverClock struct{ ahead, doubt atomic.Int64 }

// set notes that the servers' clock showed server between two times of the node's.
func (c *serverClock) set(before, after, server time.Time) {
	if !server.IsZero() {
		half := after.Sub(before) / 2
		c.ahead.Store(int64(server.Sub(before.Add(half))))
		c.doubt.Store(int64(half))
	}
}

// least returns the least that the servers' clock may show when the node's shows own, and most the most.
func (c *serverClock) least(own time.Time) time.Time {
	return c.at(own).Add(-time.Duration(c.doubt.Load()))
}
func (c *serverClock) most(own time.Time) time.Time {
	return c.at(own).Add(time.Duration(c.doubt.Load()))
}

// at returns what the servers' clock shows when the node's shows own.
func (c *serverClock) at(own time.Time) time.Time { return own.Add(time.Duration(c.ahead.Load())) }

// readClock reads the servers' clock.
func (n *Node) readClock(ctx context.Context) error {
	return askServers(ctx, func(ctx context.Context) error {
		before := n.now()
		s, err := n.js.Stream(ctx, n.work())
		if err == nil {
			n.clock.set(before, n.now(), s.CachedInfo().TimeStamp)
		}
		return err
	})
}
