package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// firstWait is how long a question waits for its answer before it is asked again the first time; then twice as long, up
	// to serverWait. An answer takes milliseconds; while the servers elect a leader, questions are lost.
	firstWait = 2 * time.Second
	// askAgain is how long a question waits that the servers could not answer, since they had no leader.
	askAgain = 200 * time.Millisecond
)

// askServers calls f, which asks the servers something, until they have answered or ctx ends.
func askServers(ctx context.Context, f func(context.Context) error) error {
	for wait := firstWait; ; wait = min(2*wait, serverWait) {
		attempt, cancel := context.WithTimeout(ctx, wait)
		err := f(attempt)
		cancel()
		lost := errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrPermissionViolation)
		if !lost && !isLeaderless(err) || ctx.Err() != nil {
			return err
		}
		if !lost {
			select {
			case <-time.After(askAgain):
			case <-ctx.Done():
				return err
			}
		}
	}
}

// isLeaderless reports whether err says that the servers have no leader.
func isLeaderless(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == 10008
}
