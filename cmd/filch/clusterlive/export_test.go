package clusterlive

import (
	"context"
	"net/http"
	"time"
)

// Often is Handler for a test that is in a hurry.
func Often(ctx context.Context, every time.Duration, ask func(context.Context) (View, error)) http.Handler {
	return handler(&source{ctx, "filch", 5 * time.Second, ask}, every)
}
