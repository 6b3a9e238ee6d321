package clustertest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
)

// cutOff calls f with a context that ends when f has come to a publication, from which on the servers do not answer, and checks
// that f returns the cause meanwhile.
func cutOff(t *testing.T, mid *between, subject string, f func(context.Context) error) {
	t.Helper()
	why := errors.New("on purpose")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	release := make(chan struct{})
	mid.before(subject, func() { cancel(why); <-release })
	defer close(release)
	returned := make(chan error, 1)
	go func() { returned <- f(ctx) }()
	select {
	case err := <-returned:
		if !errors.Is(err, why) {
			t.Error("not the cause:", err)
		}
	case <-time.After(patience):
		t.Error("it does not return")
	}
	mid.once(t)
}

// Cancel returns when its context ends, however far it is, and does its part when the servers are there again.
func TestCancelEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{"$KV.filch_control.", "$KV.filch_results.", "$JS.API.STREAM.PURGE.KV_filch_unique", "$JS.API.STREAM.PURGE.filch_later"} {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			a, mid, b, js := pair(t, places(0), places(1))
			cluster.Handle(b, "double", double)
			until(t, js, "double_p1", known)
			f, err := cluster.Submit[int, int](t.Context(), b, "double", 1, cluster.Delay(time.Hour), cluster.Unique("a", time.Hour))
			if err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			cutOff(t, mid, subject, func(ctx context.Context) error { return a.Cancel(ctx, f.ID()) })
			if err := a.Cancel(within(t), f.ID()); err != nil {
				t.Error("called again:", err)
			}
			untilStream(t, js, "filch_later", "filch.later.>", none)
		})
	}
}

// Cancel asks again when the servers have not answered in time.
func TestCancelAsksAgain(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{"$KV.filch_control.", "$KV.filch_results."} {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			a, mid, b, js := pair(t, places(0), places(1))
			cluster.Handle(b, "double", double)
			until(t, js, "double_p1", known)
			f, err := cluster.Submit[int, int](t.Context(), b, "double", 1, cluster.Delay(time.Hour))
			if err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			mid.unanswered(subject)
			if err := a.Cancel(within(t), f.ID()); err != nil {
				t.Error("a.Cancel:", err)
			}
			mid.once(t)
			if _, err := wait(t, f, nil); !errors.Is(err, cluster.ErrCanceled) {
				t.Error("wait:", err)
			}
		})
	}
}

// Close of a batch returns when its context ends. Called again, it closes the batch.
func TestCloseOfABatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{"$KV.filch_batches.batch.", "$KV.filch_batches.chunk."} {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			a, mid, b, js := pair(t, places(0), places(1))
			cluster.Handle(b, "double", double)
			until(t, js, "double_p1", known)
			batch := batchOf(t, a)
			if _, err := cluster.Submit[int, int](t.Context(), a, "double", 1, cluster.InBatch(batch)); err != nil {
				t.Fatal("cluster.Submit:", err)
			}
			cutOff(t, mid, subject, func(ctx context.Context) error { _, err := batch.Close(ctx); return err })
			all, err := batch.Close(within(t))
			if got, err := wait(t, all, err); got.Total != 1 || got.Ended != 1 || err != nil {
				t.Error(got, err)
			}
		})
	}
}

// Close of a batch does not wait longer than it may for members that are being submitted.
func TestCloseOfABatchWaitsForMembersAsLongAsItMay(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, append(places(0), cluster.WithQueueLimit(1, filch.Block)), places(1))
	began, release := make(chan string, 3), make(chan struct{})
	cluster.Handle(nodes[1], "block", blocker(began, release))
	until(t, js, "block_p1", known)
	batch := batchOf(t, nodes[0])
	submit := func() error {
		_, err := cluster.Submit[string, string](t.Context(), nodes[0], "block", "x", cluster.InBatch(batch))
		return err
	}
	if err := submit(); err != nil { // now the stream is full
		t.Fatal("submit:", err)
	}
	<-began
	second := make(chan error, 1)
	go func() { second <- submit() }()
	eventually(t, "the second one waits for room", func() bool { return nodes[0].Stats().Waiting == 2 })
	over, why := ended()
	if _, err := batch.Close(over); err != why {
		t.Error("batch.Close:", err)
	}
	if err := submit(); !errors.Is(err, cluster.ErrBatchClosed) {
		t.Error("a member of a batch that is being closed:", err)
	}
	close(release)
	if err := <-second; err != nil {
		t.Error("<-second:", err)
	}
	all, err := batch.Close(within(t))
	if got, err := wait(t, all, err); got.Total != 2 || got.Ended != 2 || err != nil {
		t.Error(got, err)
	}
}
