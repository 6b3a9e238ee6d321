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
	// peersWait is how long it may take until a server that has just started, or was busy, has been heard of by the others.
	// After that there are too few servers.
	peersWait = 10 * time.Second
	// electionWait is how long a stream may have nobody that answers: longer than an election takes. After that it is gone.
	electionWait = 15 * time.Second
)

// askServers calls f, which asks the servers something, until they have answered or ctx ends. If ctx ends while a question is
// lost, the error is also what was the matter before.
func askServers(ctx context.Context, f func(context.Context) error) error {
	begin := time.Now()
	var before error
	for wait := firstWait; ; wait = min(2*wait, serverWait) {
		attempt, cancel := context.WithTimeout(ctx, wait)
		err := f(attempt)
		cancel()
		lost := errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrPermissionViolation)
		waited := time.Since(begin)
		again := lost || hasCode(err, leaderless) || hasCode(err, noPeers) && waited < peersWait || isUnanswered(err) && waited < electionWait
		if !again || ctx.Err() != nil {
			if lost {
				err = errors.Join(err, before)
			}
			return err
		}
		if !lost {
			before = err
			select {
			case <-time.After(askAgain):
			case <-ctx.Done():
				return err
			}
		}
	}
}

// isUnanswered reports whether err says that nobody answers for a stream: it has no leader, or is not there.
func isUnanswered(err error) bool {
	return errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders)
}

// Codes of errors of the servers.
const (
	leaderless jetstream.ErrorCode = 10008 // there is no leader
	noPeers    jetstream.ErrorCode = 10005 // it knows of too few servers that are up
)

// hasCode reports whether err is the servers' error of that code.
func hasCode(err error, code jetstream.ErrorCode) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && api.ErrorCode == code
}
