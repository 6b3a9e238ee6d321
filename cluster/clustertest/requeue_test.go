package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/internal/poll"
)

// What fails when a task was put back is noted, and the task is tried again when it should be.
func TestRequeuedTaskFailsAgain(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(1))
	runs := 0
	h := cluster.Handle(nodes[0], "again", func(context.Context, int) (int, error) {
		if runs++; runs == 1 {
			return 0, cluster.Permanent(errors.New("no"))
		}
		return 0, cluster.RetryAfter(errors.New("not yet"), time.Hour)
	})
	f, err := h.Submit(t.Context(), 0, cluster.ID("a"))
	if _, err := wait(t, f, err); err == nil {
		t.Error("no error")
	}
	if err := nodes[0].Requeue(t.Context(), "a"); err != nil {
		t.Fatal("nodes:", err)
	}
	poll.Until(t, patience, "it is to be tried again", func() (bool, any) {
		info := show(t, nodes[0], "a")
		return info.State == cluster.StateRetry && info.Attempts == 1 && info.Error == "not yet", fmt.Sprintf("%+v", info)
	})
}
