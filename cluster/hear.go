package cluster

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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
// returns when set was called for all that was there, or with an error if ctx ends before. Values are not heard.
func (n *Node) follow(ctx context.Context, bucket jetstream.KeyValue, keys []string, set func(jetstream.KeyValueEntry)) error {
	hearing, stop := context.WithCancel(n.ctx)
	w, err := bucket.WatchFiltered(hearing, keys, jetstream.MetaOnly())
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
		defer w.Stop()
		for {
			select {
			case entry, ok := <-w.Updates():
				switch {
				case !ok:
					return
				case entry == nil: // these were all
					close(all)
				default:
					set(entry)
				}
			case <-hearing.Done():
				return
			}
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
