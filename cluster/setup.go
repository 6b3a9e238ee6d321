package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// controlTTL is how long a request to cancel is remembered.
const controlTTL = 24 * time.Hour

// dedupWindow is how long the servers remember IDs of tasks.
const dedupWindow = 2 * time.Minute

// setUp makes what the cluster needs on the servers, as far as it is not there.
func (n *Node) setUp(ctx context.Context) error {
	limit := n.maxQueued
	if limit == 0 {
		limit = -1
	}
	info, err := n.stream(ctx, jetstream.StreamConfig{
		Name: n.work(), Subjects: []string{n.workAll()}, Retention: jetstream.WorkQueuePolicy,
		Replicas: n.replicas, Duplicates: dedupWindow, MaxMsgs: limit, Discard: jetstream.DiscardNew,
		Description: "tasks of the filch cluster " + n.cluster,
	})
	if err != nil {
		return err
	}
	n.clock.set(n.now(), info.TimeStamp)
	n.opened = info.TimeStamp
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
		err := askServers(ctx, func(ctx context.Context) (err error) { s, err = n.js.Stream(ctx, c.Name); return err })
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			err = askServers(ctx, func(ctx context.Context) (err error) { s, err = n.js.CreateStream(ctx, c); return err })
		}
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			continue // another node has just made it
		}
		if err != nil {
			return nil, n.explain(err, api("STREAM.INFO."+c.Name), api("STREAM.CREATE."+c.Name))
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
		err := askServers(ctx, func(ctx context.Context) (err error) { kv, err = n.js.KeyValue(ctx, c.Bucket); return err })
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			err = askServers(ctx, func(ctx context.Context) (err error) { kv, err = n.js.CreateKeyValue(ctx, c); return err })
		}
		if errors.Is(err, jetstream.ErrBucketExists) {
			continue
		}
		return kv, n.explain(err, api("STREAM.INFO."+streamOf(c.Bucket)), api("STREAM.CREATE."+streamOf(c.Bucket)))
	}
}

// serverClock is how far the servers' clocks are ahead of the node's.
type serverClock struct{ ahead atomic.Int64 }

// set notes that the servers' clock showed server when the node's showed own.
func (c *serverClock) set(own, server time.Time) {
	if !server.IsZero() {
		c.ahead.Store(int64(server.Sub(own)))
	}
}

// at returns what the servers' clock shows when the node's shows own.
func (c *serverClock) at(own time.Time) time.Time { return own.Add(time.Duration(c.ahead.Load())) }
