package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// probe is the name of the stream that Ready makes.
const probe = "filch_probe"

// Ready waits until what is stored on so many servers is confirmed: until each of three knows the leader, and has heard of
// the others. It makes a stream without messages, and deletes it. The error says why the servers are not ready when ctx
// ends. Ready panics if nc is nil or replicas is less than 1.
func Ready(ctx context.Context, nc *nats.Conn, replicas int) error {
	if nc == nil || replicas < 1 {
		panic("embedded: Ready with a nil connection, or without replicas")
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		if err = tryReady(ctx, js, replicas); err == nil {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("cluster: the servers are not ready: %w", errors.Join(context.Cause(ctx), err))
		}
	}
}

// tryReady is Ready once. A request gets no answer while there is no leader.
func tryReady(ctx context.Context, js jetstream.JetStream, replicas int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: probe, Subjects: []string{probe}, Replicas: replicas}); err != nil {
		return err
	}
	return js.DeleteStream(ctx, probe)
}
