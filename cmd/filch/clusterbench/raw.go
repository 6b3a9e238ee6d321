package clusterbench

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// raw is a plain program on JetStream: it fetches as many messages as it has places for, and prefetches none; it puts a result
// for each into a bucket, acknowledges it, and waits for both to be confirmed. Its streams are configured as those of filch.
type raw struct {
	up      *up
	results bool
	js      jetstream.JetStream
	lane    jetstream.Consumer
	bucket  jetstream.KeyValue
}

func startRaw(ctx context.Context, s Servers, results bool) (queue, error) {
	u, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	r := &raw{up: u, results: results}
	if err := r.setUp(ctx, s.replicas); err != nil {
		u.stop()
		return nil, err
	}
	return r, nil
}

func (r *raw) setUp(ctx context.Context, replicas int) (err error) {
	if r.js, err = jetstream.New(r.up.nc); err != nil {
		return err
	}
	_, err = r.js.CreateStream(ctx, jetstream.StreamConfig{Name: "raw", Subjects: []string{"raw.>"}, Retention: jetstream.WorkQueuePolicy,
		Replicas: replicas, Duplicates: 2 * time.Minute, Discard: jetstream.DiscardNew})
	if err != nil {
		return err
	}
	if r.bucket, err = r.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "raw_results", TTL: 24 * time.Hour, Replicas: replicas}); err != nil {
		return err
	}
	r.lane, err = r.js.CreateConsumer(ctx, "raw", jetstream.ConsumerConfig{Durable: "lane", FilterSubject: "raw.p1",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: 30 * time.Second, MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: 8192})
	return err
}

func (r *raw) fill(ctx context.Context, n int) error {
	var last atomic.Int64
	return inParallel(n, func() error {
		id := strconv.FormatInt(last.Add(1), 10)
		_, err := r.js.PublishMsg(ctx, &nats.Msg{Subject: "raw.p1", Data: []byte("1"), Header: nats.Header{nats.MsgIdHdr: {id}}})
		return err
	})
}

func (r *raw) drain(ctx context.Context, places, n int) error {
	free := make(chan struct{}, places)
	for range places {
		free <- struct{}{}
	}
	var ran sync.WaitGroup
	errs := make(chan error, 1)
	for left := n; left > 0; {
		want := take(free, min(left, places))
		batch, err := r.lane.Fetch(want)
		if err != nil {
			return err
		}
		got := 0
		for m := range batch.Messages() {
			got++
			ran.Go(func() {
				if err := r.handle(ctx, m); err != nil {
					select {
					case errs <- err:
					default:
					}
				}
				free <- struct{}{}
			})
		}
		if err := batch.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) {
			return err
		}
		for range want - got {
			free <- struct{}{}
		}
		left -= got
	}
	ran.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// handle is one task.
func (r *raw) handle(ctx context.Context, m jetstream.Msg) error {
	if r.results {
		if _, err := r.bucket.Put(ctx, m.Headers().Get(nats.MsgIdHdr), m.Data()); err != nil {
			return err
		}
	}
	return m.DoubleAck(ctx)
}

// take waits for one place, and takes more that are free, up to most.
func take(free chan struct{}, most int) int {
	<-free
	for n := 1; n < most; n++ {
		select {
		case <-free:
		default:
			return n
		}
	}
	return most
}

func (r *raw) close() { r.up.stop() }
