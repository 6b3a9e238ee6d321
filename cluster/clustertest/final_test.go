package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/clustertest"
)

// doomed makes a node run the handler doomed, which fails for good, and returns how often it ran.
func doomed(n *cluster.Node) *atomic.Int64 {
	runs := new(atomic.Int64)
	cluster.Handle(n, "doomed", func(context.Context, int) (int, error) {
		runs.Add(1)
		return 0, cluster.Permanent(errors.New("for good"))
	}, cluster.WithAckWait(time.Second))
	return runs
}

// expectDoomed checks that a task has ended with the error of its only run.
func expectDoomed(t *testing.T, f *cluster.Future[int], err error) {
	t.Helper()
	_, err = wait(t, f, err)
	if e, ok := errors.AsType[*cluster.TaskError](err); !ok || e.Message != "for good" || e.Attempts != 1 {
		t.Errorf("the task ended as %v; want the error of its only attempt, \"for good\"", err)
	}
}

// An error for good ends its task though no dead letter can be stored: it is kept, no node runs the task again, and the letter that is
// stored at last has the error. What cannot be stored does not count.
func TestAnErrorForGoodIsFinalBeforeItsLetterIsStored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse, take func(t *testing.T, js jetstream.JetStream, dead jetstream.StreamConfig) error
	}{
		"the stream is full": {
			func(t *testing.T, js jetstream.JetStream, dead jetstream.StreamConfig) error {
				dead.MaxBytes, dead.Discard = 1, jetstream.DiscardNew
				_, err := js.UpdateStream(t.Context(), dead)
				return err
			},
			func(t *testing.T, js jetstream.JetStream, dead jetstream.StreamConfig) error {
				_, err := js.UpdateStream(t.Context(), dead)
				return err
			},
		},
		"nobody answers for the stream": { // as while servers elect its leader
			func(t *testing.T, js jetstream.JetStream, dead jetstream.StreamConfig) error {
				return js.DeleteStream(t.Context(), dead.Name)
			},
			func(t *testing.T, js jetstream.JetStream, dead jetstream.StreamConfig) error {
				_, err := js.CreateStream(t.Context(), dead)
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes, js := share(t, []cluster.Option{cluster.WithPlaces(2), cluster.WithLogger(newLines().logger())}, places(0))
			runs := doomed(nodes[0])
			until(t, js, "doomed_p1", known)
			s, err := js.Stream(t.Context(), "filch_dead")
			if err != nil {
				t.Fatal("js.Stream:", err)
			}
			dead := s.CachedInfo().Config
			if err := c.refuse(t, js, dead); err != nil {
				t.Fatal("c.refuse:", err)
			}
			f, err := cluster.Submit[int, int](t.Context(), nodes[1], "doomed", 1, cluster.ID("told"))
			if err == nil {
				_, err = cluster.Submit[int, int](t.Context(), nodes[1], "doomed", 1, cluster.NoResult())
			}
			if err == nil {
				_, err = js.PublishMsg(t.Context(), &nats.Msg{Subject: "filch.work.doomed.p1", Header: nats.Header{"Filch-Version": {"99"}}})
			}
			if err != nil {
				t.Fatal("js.PublishMsg:", err)
			}
			until(t, js, "doomed_p1", func(i *jetstream.ConsumerInfo) bool { return i.Delivered.Consumer >= 9 })
			if n, s := runs.Load(), nodes[0].Stats(); n != 2 || s.Dead != 0 || s.Refused != 0 {
				t.Errorf("two tasks ran %d times, and without room for dead letters these count: %+v", n, s)
			}
			eventually(t, "the task is shown as failed", func() bool {
				info := show(t, nodes[0], "told")
				return info.State == cluster.StateFailed && info.Error == "for good" && info.Attempts == 1
			})
			if err := c.take(t, js, dead); err != nil {
				t.Fatal("c.take:", err)
			}
			expectDoomed(t, f, nil)
			empty(t, js)
			reasons := map[string]int{}
			for _, l := range letters(t, nodes[1], "doomed") {
				reasons[l.Reason]++
				if l.Reason == "for good" && l.Attempts != 1 {
					t.Errorf("a task that ran once has the dead letter %+v", l)
				}
			}
			if len(reasons) != 2 || reasons["for good"] != 2 {
				t.Errorf("the dead letters have the reasons %v; want \"for good\" twice, and that of a message of another version", reasons)
			}
			if n, s := runs.Load(), nodes[0].Stats(); n != 2 || s.Dead != 2 || s.Refused != 1 {
				t.Errorf("two tasks ran %d times, and with two dead letters and one of a message these count: %+v", n, s)
			}
		})
	}
}

// While neither the letter nor the note of an error for good can be stored, the node of the task keeps it, and gives signs of life, also
// for longer than its handler may be silent.
func TestANodeKeepsAnErrorForGoodThatNobodyStores(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // of the node's clock
	clock := cluster.WithClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	nodes, js := share(t, []cluster.Option{cluster.WithPlaces(1), cluster.WithLogger(newLines().logger()), clock}, places(0))
	runs := doomed(nodes[0])
	until(t, js, "doomed_p1", known)
	var streams []jetstream.StreamConfig
	for _, name := range []string{"filch_dead", "KV_filch_tries"} {
		s, err := js.Stream(t.Context(), name)
		if err == nil {
			streams = append(streams, s.CachedInfo().Config)
			err = js.DeleteStream(t.Context(), name)
		}
		if err != nil {
			t.Fatal("js.DeleteStream:", err)
		}
	}
	f, err := cluster.Submit[int, int](t.Context(), nodes[1], "doomed", 1, cluster.ID("told"))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	eventually(t, "the task has failed", func() bool { return nodes[0].Stats().Failed > 0 })
	ahead.Store(int64(time.Hour)) // longer than the silence of a handler may be
	ackWaits(t, js, 3)
	for _, s := range streams {
		if _, err := js.CreateStream(t.Context(), s); err != nil {
			t.Fatal("js.CreateStream:", err)
		}
	}
	expectDoomed(t, f, nil)
	empty(t, js)
	if n := runs.Load(); n != 1 || deadLetters(t, js) != 1 {
		t.Errorf("the task ran %d times, and has %d dead letters; want 1 of both", n, deadLetters(t, js))
	}
}

// Wherever a node dies after it has noted an error for good, the next one stores what is missing, and runs nothing.
func TestAnErrorForGoodIsFinalWhereverANodeDies(t *testing.T) {
	t.Parallel()
	eachDeath(t, func(t *testing.T, m mortal, k int) {
		var runs atomic.Int64
		handle := func(n *cluster.Node) {
			cluster.Handle(n, "doomed", func(context.Context, int) (int, error) {
				if runs.Add(1) == 1 {
					m.conn.arm(k)
				}
				return 0, cluster.Permanent(errors.New("for good"))
			}, cluster.WithAckWait(time.Second))
		}
		handle(m.open(m.conn))
		m.lane(t, "doomed_p1")
		f, err := cluster.Submit[int, int](t.Context(), m.submit, "doomed", 1, cluster.Unique("a", time.Hour))
		if err != nil {
			t.Error(k, err)
			return
		}
		handle(m.open(nil))
		_, err = f.Wait(t.Context())
		most := int64(1)
		if k == 0 { // it died before the note
			most = 2
		}
		if e, ok := errors.AsType[*cluster.TaskError](err); !ok || e.Message != "for good" || e.Attempts != int(runs.Load()) || runs.Load() > most {
			t.Errorf("a node died before its write %d: the task ran %d times, and %d are allowed; it ended as %v", k, runs.Load(), most, err)
		}
		if all := letters(t, m.submit, ""); len(all) != 1 || all[0].Reason != "for good" {
			t.Errorf("a node died before its write %d: the dead letters are %+v", k, all)
		}
	})
}

// While nobody answers for what follows from the end of a task, its node asks again: a task without an outcome would run once more.
func TestWhatFollowsFromAnEndIsTriedAgain(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, []cluster.Option{cluster.WithPlaces(1), cluster.WithLogger(newLines().logger())}, places(0))
	kv, err := js.Stream(t.Context(), "KV_filch_unique")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	var runs atomic.Int64
	cluster.Handle(nodes[0], "job", func(ctx context.Context, _ int) (int, error) {
		if runs.Add(1) == 1 {
			return 1, js.DeleteStream(ctx, "KV_filch_unique")
		}
		return 1, nil
	}, cluster.WithAckWait(time.Second))
	until(t, js, "job_p1", known)
	if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "job", 1, cluster.NoResult(), cluster.Unique("a", time.Hour)); err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	eventually(t, "the task has run", func() bool { return runs.Load() > 0 })
	ackWaits(t, js, 2)
	if _, err := js.CreateStream(t.Context(), kv.CachedInfo().Config); err != nil {
		t.Fatal("js.CreateStream:", err)
	}
	empty(t, js)
	if n, s := runs.Load(), nodes[0].Stats(); n != 1 || s.Done != 1 {
		t.Errorf("a task ran %d times, and counts as done %d times; want once", n, s.Done)
	}
}

// The server that leads the dead letters is killed as a handler fails for good. Until another leads, nobody answers for them, and perhaps for
// the notes and the tasks; the handler does not run again.
func TestAnErrorForGoodOutlivesTheServerOfItsLetter(t *testing.T) {
	t.Parallel()
	s := clustertest.Three(t)
	n := openAt(t, s.URL(), cluster.WithReplicas(3), cluster.WithPlaces(1), cluster.WithLogger(newLines().logger()))
	_, js := connect(t, s.URL())
	dead, err := js.Stream(t.Context(), "filch_dead")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	var leader int
	if _, err := fmt.Sscanf(dead.CachedInfo().Cluster.Leader, "server%d", &leader); err != nil {
		t.Fatal("fmt.Sscanf:", err)
	}
	var runs atomic.Int64
	h := cluster.Handle(n, "doomed", func(context.Context, int) (int, error) {
		if runs.Add(1) == 1 {
			s.Kill(leader)
		}
		return 0, cluster.Permanent(errors.New("for good"))
	}, cluster.WithAckWait(time.Second))
	until(t, js, "doomed_p1", known)
	f, err := h.Submit(t.Context(), 1)
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	select {
	case <-f.Done():
	case <-time.After(time.Minute):
		t.Fatal("a minute after a server of three was killed, the task has not ended")
	}
	expectDoomed(t, f, nil)
	if n := runs.Load(); n != 1 {
		t.Errorf("the task ran %d times; want once", n)
	}
}
