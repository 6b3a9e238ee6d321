package cluster

import (
	"context"
	"errors"
	"fmt"
)

// orEnd calls f, and returns its error. If ctx ends before f does, orEnd returns the cause of that, and f goes on by itself: it has to end
// in a bounded time. So a call keeps to its context though what it asks the servers does not, since it is to be done to its end.
func orEnd(ctx context.Context, f func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	select {
	case err := <-ended:
		return causeOf(ctx, err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// causeOf returns err as it is, or with the cause of ctx if that has ended, and the cause does not stand in err.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}
