package clustertest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
)

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	cluster.Handle(nodes[0], "job", double)
	for p := range 3 {
		until(t, js, fmt.Sprint("job_p", p), func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	}
	paused := func(want bool) {
		t.Helper()
		all, err := nodes[1].Queues(t.Context())
		if err != nil || len(all) != 3 {
			t.Fatal(all, err)
		}
		for _, q := range all {
			if q.Paused != want {
				t.Errorf("%+v, not %v", q, want)
			}
		}
	}
	for range 2 {
		if err := nodes[1].Pause(t.Context(), "job"); err != nil {
			t.Fatal("nodes:", err)
		}
		paused(true)
	}
	var futures []*cluster.Future[int]
	for level := range 3 {
		f, err := cluster.Submit[int, int](t.Context(), nodes[1], "job", level, cluster.AtLevel(level))
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		futures = append(futures, f)
	}

	// Lanes that are made anew, and a node that changes them, leave it paused.
	if err := js.DeleteConsumer(t.Context(), "filch_work", "job_p0"); err != nil {
		t.Fatal("js.DeleteConsumer:", err)
	}
	until(t, js, "job_p0", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 }) // the first node has made it, and does not set its AckWait later
	second := reopen(t, nodes[0])
	cluster.Handle(second, "job", double, cluster.WithAckWait(time.Minute))
	for p := range 3 {
		until(t, js, fmt.Sprint("job_p", p), func(i *jetstream.ConsumerInfo) bool {
			return i.Config.AckWait == time.Minute && i.NumWaiting > 0 && i.Paused
		})
	}
	paused(true)
	if s := nodes[0].Stats(); s.Done != 0 {
		t.Errorf("%+v", s)
	}

	if err := nodes[1].Resume(t.Context(), "job"); err != nil {
		t.Fatal("nodes:", err)
	}
	paused(false)
	for i, f := range futures {
		if got, err := wait(t, f, nil); got != 2*i || err != nil {
			t.Error(got, err)
		}
	}
	for handler, want := range map[string]string{"other": "no node has a handler of that name: other", "": "name of the handler is empty", "job@": "version of a handler is empty"} {
		for _, f := range []func(context.Context, string) error{nodes[1].Pause, nodes[1].Resume} {
			if err := f(t.Context(), handler); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", handler, err)
			}
		}
	}
}

// Resume has each lane ask the servers again. By itself a lane asks each 5 s, which would be far too seldom for this.
func TestResumeIsHeard(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	requests := make(chan *nats.Msg, 1000)
	if _, err := conn(t).ChanSubscribe("$JS.API.CONSUMER.MSG.NEXT.filch_work.job_p1", requests); err != nil {
		t.Fatal("conn(t).ChanSubscribe:", err)
	}
	cluster.Handle(nodes[0], "job", double)
	until(t, js, "job_p1", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	<-requests
	late := time.After(patience)
	for i := range 20 {
		if err := nodes[1].Pause(t.Context(), "job"); err != nil {
			t.Fatal("nodes:", err)
		}
		f, err := cluster.Submit[int, int](t.Context(), nodes[1], "job", i)
		if err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		if err := nodes[1].Resume(t.Context(), "job"); err != nil {
			t.Fatal("nodes:", err)
		}
		select {
		case <-f.Done():
		case <-late:
			t.Fatalf("Resume was heard %d times of 20", i)
		}
	}
	if len(requests) < 20 {
		t.Error("requests:", len(requests))
	}
}

// Whatever order calls come in, all lanes of a handler are paused afterwards, or none.
func TestPausesAtTheSameTimeAgree(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0), places(0))
	cluster.Handle(nodes[0], "job", double, cluster.WithKeys(5))
	for _, lane := range []string{"job_p1", "job_k4"} {
		until(t, js, lane, known)
	}
	for range 5 {
		done := make(chan error)
		go func() { done <- nodes[1].Pause(t.Context(), "job") }()
		go func() { done <- nodes[2].Resume(t.Context(), "job") }()
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal("<-done:", err)
			}
		}
		all, err := nodes[1].Queues(t.Context())
		if err != nil {
			t.Fatal("nodes:", err)
		}
		for _, q := range all {
			if q.Paused != all[0].Paused {
				t.Errorf("%+v", all)
			}
		}
	}
}
