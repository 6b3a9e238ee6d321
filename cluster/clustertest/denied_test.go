package clustertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// A worker that asks for what only an operator may see is told what it may not.
func TestOperationsSayWhatIsNotPermitted(t *testing.T) {
	t.Parallel()
	s := clustertest.Server(t, clustertest.WithConfig(users(t)))
	openAs(t, s.URL(), "operator", cluster.WithPlaces(0))
	told := make(chan error, 1)
	n, err := cluster.Open(t.Context(), cluster.WithNode("worker"), cluster.WithURL(s.URL(), append(as("worker"), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { told <- err }))...))
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	t.Cleanup(func() { closeNode(t, n) })
	cluster.Handle(n, "double", double)
	f, err := cluster.Submit[int, int](t.Context(), n, "double", 21)
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	expect(t, f, 42)
	for what, ask := range map[string]func(context.Context) error{
		"Nodes":      func(ctx context.Context) error { _, err := n.Nodes(ctx); return err },
		"Queues":     func(ctx context.Context) error { _, err := n.Queues(ctx); return err },
		"Show":       func(ctx context.Context) error { _, err := n.Show(ctx, "nothing"); return err },
		"Requeue":    func(ctx context.Context) error { return n.Requeue(ctx, "nothing") },
		"DeleteDead": func(ctx context.Context) error { return n.DeleteDead(ctx, "nothing") },
		"Resume":     func(ctx context.Context) error { return n.Resume(ctx, "double") },
		"Dead": func(ctx context.Context) error {
			for _, err := range n.Dead(ctx, "") {
				return err
			}
			return nil
		},
	} {
		ctx, end := context.WithCancel(t.Context())
		go func() { <-told; end() }()
		if err := ask(overdue{ctx}); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%s: %v", what, err)
		}
		end()
	}
	if _, err := n.Show(t.Context(), "nothing"); err == nil || !strings.Contains(err.Error(), `"filch.who"`) {
		t.Error("Show, which waits for answers no longer than it says:", err)
	}
}

// overdue is a context whose deadline has passed when it has ended.
type overdue struct{ context.Context }

func (o overdue) Err() error {
	if o.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// Value hides the context that was canceled, which would else be the parent of those that are made from o.
func (o overdue) Value(any) any { return nil }
