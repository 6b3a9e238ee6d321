package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// What is over in a moment is waited for: an election for as long as the context allows, a server that the others have
// not heard of yet for 10 s, a stream for which nobody answers for 15 s. What the servers refuse is told at once.
func TestServersAreAskedAgain(t *testing.T) {
	code := func(c jetstream.ErrorCode) error { return &jetstream.APIError{ErrorCode: c} }
	tests := []struct {
		name  string
		err   error
		until time.Duration // the error is over then
		want  time.Duration // until askServers returns
		ok    bool
	}{
		{"an election", code(10008), time.Minute, time.Minute, true},
		{"no leader at all", code(10008), time.Hour, 2 * time.Minute, false},
		{"a server comes up", code(10005), 9 * time.Second, 9 * time.Second, true},
		{"too few servers", code(10005), time.Hour, 10 * time.Second, false},
		{"a stream elects its leader", jetstream.ErrNoStreamResponse, 9 * time.Second, 9 * time.Second, true},
		{"a stream that is gone", jetstream.ErrNoStreamResponse, time.Hour, 15 * time.Second, false},
		{"nobody answers yet", nats.ErrNoResponders, 9 * time.Second, 9 * time.Second, true},
		{"nobody answers", nats.ErrNoResponders, time.Hour, 15 * time.Second, false},
		{"a wrong question", code(10003), time.Hour, 0, false},
		{"a lost question", context.DeadlineExceeded, 14 * time.Second, 14 * time.Second, true}, // 2, 4 and 8 s
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				begin := time.Now()
				err := askServers(ctx, func(ctx context.Context) error {
					if time.Since(begin) >= tt.until {
						return nil
					}
					if errors.Is(tt.err, context.DeadlineExceeded) {
						<-ctx.Done()
						return ctx.Err()
					}
					return tt.err
				})
				if took := time.Since(begin); took != tt.want || (err == nil) != tt.ok || err != nil && !errors.Is(err, tt.err) {
					t.Errorf("%v after %v, not after %v", err, took, tt.want)
				}
			})
		})
	}
}

// If the last question is lost as the time is over, the error is also what was the matter before.
func TestALostQuestionHidesNoReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		calls := 0
		err := askServers(ctx, func(ctx context.Context) error {
			if calls++; calls == 1 {
				return jetstream.ErrNoStreamResponse
			}
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, jetstream.ErrNoStreamResponse) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error("askServers:", err)
		}
	})
}
