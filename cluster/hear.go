package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/internal/sweep"
)

// hear subscribes until the node is closed.
func (n *Node) hear(subject string, f func(*nats.Msg)) error {
	sub, err := n.nc.Subscribe(subject, f)
	if err == nil {
		context.AfterFunc(n.ctx, func() { _ = sub.Unsubscribe() })
	}
	return err
}

// follow calls set for each of the keys that a bucket has, and then for each change of one, until the node is closed. It
// returns when set was called for all that was there, or with an error if ctx ends before. Values are not heard. If the
// bucket was made anew, or the servers tell no more, it calls lost, and then set for all that is there.
func (n *Node) follow(ctx context.Context, bucket jetstream.KeyValue, keys []string, set func(jetstream.KeyValueEntry), lost func()) error {
	hearing, stop := context.WithCancel(n.ctx)
	w, err := n.watch(ctx, hearing, bucket, keys)
	if err != nil {
		stop()
		return n.explain(err, api("CONSUMER.CREATE."+streamOf(bucket.Bucket())+".>"))
	}
	all := make(chan struct{})
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		stop()
		return errors.Join(ErrClosed, w.Stop())
	}
	n.loops.Go(func() {
		defer stop()
		first := sync.OnceFunc(func() { close(all) })
		for w != nil {
			n.listenTo(hearing, w, set, first)
			if hearing.Err() != nil {
				return
			}
			n.log.Warn("filch cluster: changes of a bucket are not told any more; it is read anew", "node", n.node, "bucket", bucket.Bucket())
			lost()
			w = n.watchAgain(hearing, bucket, keys)
		}
	})
	n.mu.Unlock()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
		stop()
		return context.Cause(ctx)
	case <-hearing.Done():
		return ErrClosed
	}
}

// watcher tells of the changes of a bucket.
type watcher struct {
	jetstream.KeyWatcher
	stream string
	made   time.Time // when the stream of the bucket was made
}

// watch begins to watch keys of a bucket, until hearing ends. ctx counts only for watch.
func (n *Node) watch(ctx, hearing context.Context, bucket jetstream.KeyValue, keys []string) (*watcher, error) {
	w := &watcher{stream: streamOf(bucket.Bucket())}
	err := askServers(ctx, func(ctx context.Context) (err error) { w.made, err = n.madeAt(ctx, w.stream); return err })
	if err == nil {
		w.KeyWatcher, err = bucket.WatchFiltered(hearing, slices.Clone(keys), jetstream.MetaOnly()) // it writes into keys
	}
	return w, err
}

// watchAgain is watch until it succeeds, or nil if ctx ends before.
func (n *Node) watchAgain(ctx context.Context, bucket jetstream.KeyValue, keys []string) *watcher {
	for {
		w, err := n.watch(ctx, ctx, bucket, keys)
		if err == nil {
			return w
		}
		select {
		case <-time.After(rand.N(retryLane)):
		case <-ctx.Done():
			return nil
		}
	}
}

// madeAt returns when a stream was made.
func (n *Node) madeAt(ctx context.Context, stream string) (time.Time, error) {
	s, err := n.js.Stream(ctx, stream)
	if err != nil {
		return time.Time{}, err
	}
	return s.CachedInfo().Created, nil
}

// listenTo calls set for what w tells, and first when that was all that was there, until ctx ends or w tells nothing more.
// In a stream that was made anew, the library goes on where it was in the one before, and leaves out what was stored meanwhile.
// So listenTo looks from time to time whether the stream is another.
func (n *Node) listenTo(ctx context.Context, w *watcher, set func(jetstream.KeyValueEntry), first func()) {
	defer w.Stop()
	look := time.NewTicker(sweep.Every)
	defer look.Stop()
	for {
		select {
		case entry, ok := <-w.Updates():
			switch {
			case !ok:
				return
			case entry == nil: // these were all
				first()
			default:
				set(entry)
			}
		case <-look.C:
			asking, cancel := context.WithTimeout(ctx, firstWait)
			made, err := n.madeAt(asking, w.stream)
			cancel()
			if errors.Is(err, jetstream.ErrStreamNotFound) || err == nil && !made.Equal(w.made) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
