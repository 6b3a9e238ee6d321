package clustertest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
)

// between is a connection to a server in this process that calls a function before a publication: so the test puts what
// another node does between two steps of this one. It can also lose the answer to a publication.
type between struct {
	net.Conn
	srv    *server.Server
	armed  atomic.Pointer[step]
	missed []byte // the beginning of a command that is not complete; one goroutine writes at a time
}

// step is before which publication something is done.
type step struct {
	subject string // begins so
	do      func()
	lost    bool // its answer goes to nobody
}

// before has do be called once, before the first publication from now on to a subject that begins so.
func (b *between) before(subject string, do func()) { b.armed.Store(&step{subject: subject, do: do}) }

// unanswered loses, once, the answer to the first publication from now on to a subject that begins so.
func (b *between) unanswered(subject string) {
	b.armed.Store(&step{subject: subject, do: func() {}, lost: true})
}

func (b *between) InProcessConn() (net.Conn, error) {
	c, err := b.srv.InProcessConn()
	b.Conn = c
	return b, err
}

// Write passes on the commands that are complete.
func (b *between) Write(data []byte) (int, error) {
	b.missed = append(b.missed, data...)
	for {
		n, subject := command(b.missed)
		if n == 0 {
			return len(data), nil
		}
		if s := b.armed.Load(); s != nil && subject != "" && strings.HasPrefix(subject, s.subject) && b.armed.CompareAndSwap(s, nil) {
			s.do()
			if s.lost {
				reply := strings.Fields(string(b.missed[:n]))[2]
				copy(b.missed[:n], bytes.Replace(b.missed[:n], []byte(reply), bytes.Repeat([]byte("x"), len(reply)), 1))
			}
		}
		if _, err := b.Conn.Write(b.missed[:n]); err != nil {
			return 0, err
		}
		b.missed = b.missed[n:]
	}
}

// pair opens two nodes of a cluster. What the first does can be interrupted.
func pair(t *testing.T, first, second []cluster.Option) (a *cluster.Node, mid *between, b *cluster.Node, js jetstream.JetStream) {
	t.Helper()
	srv := inProcess(t)
	mid = &between{srv: srv}
	nc, err := nats.Connect("", nats.InProcessServer(mid), nats.MaxReconnects(0))
	if err != nil {
		t.Fatal("nats.Connect:", err)
	}
	t.Cleanup(nc.Close)
	open := func(nc *nats.Conn, opts []cluster.Option) *cluster.Node {
		n, err := cluster.Open(t.Context(), append([]cluster.Option{cluster.WithConn(nc)}, opts...)...)
		if err != nil {
			t.Fatal("cluster.Open:", err)
		}
		t.Cleanup(func() { closeNode(t, n) })
		return n
	}
	a, b = open(nc, first), open(connectMortal(t, srv, nil), second)
	if js, err = jetstream.New(connectMortal(t, srv, nil)); err != nil {
		t.Fatal("jetstream.New:", err)
	}
	return a, mid, b, js
}

// once fails the test if what was to be done before a publication was not done.
func (b *between) once(t *testing.T) {
	t.Helper()
	if b.armed.Load() != nil {
		t.Error("the node has not come so far")
	}
}

// within bounds what fails by waiting.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// A Resume that comes while Pause is at the lanes holds for all of them.
func TestPauseLooksAgain(t *testing.T) {
	t.Parallel()
	a, mid, b, js := pair(t, places(0), places(1))
	cluster.Handle(b, "job", double)
	for p := range 3 {
		until(t, js, fmt.Sprint("job_p", p), known)
	}
	mid.before("$JS.API.CONSUMER.PAUSE.filch_work.job_p2", func() {
		if err := b.Resume(t.Context(), "job"); err != nil {
			t.Error("b.Resume:", err)
		}
	})
	if err := a.Pause(within(t), "job"); err != nil {
		t.Fatal("a.Pause:", err)
	}
	mid.once(t)
	all, err := b.Queues(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for _, q := range all {
		if q.Paused {
			t.Errorf("%+v", q)
		}
	}
}

// The time of a unique key is over as its task ends, and another task takes the key: it keeps it.
func TestTheEndOfATaskFreesNoKeyOfAnother(t *testing.T) {
	t.Parallel()
	a, mid, b, js := pair(t, places(1), places(1)) // a node without places would ask the first for the key
	cluster.Handle(a, "double", double)
	until(t, js, "double_p1", known)
	submit := func(opts ...cluster.SubmitOption) (*cluster.Future[int], error) {
		return cluster.Submit[int, int](t.Context(), b, "double", 1, append(opts, cluster.Unique("a", time.Hour))...)
	}
	var second *cluster.Future[int]
	mid.before("$JS.API.STREAM.PURGE.KV_filch_unique", func() {
		kv, err := js.KeyValue(t.Context(), "filch_unique")
		if err == nil {
			err = kv.Purge(t.Context(), "a") // as at the end of its time
		}
		if err == nil {
			second, err = submit(cluster.Delay(time.Hour))
		}
		if err != nil {
			t.Error("submit:", err)
		}
	})
	first, err := submit()
	if err != nil {
		t.Fatal("submit:", err)
	}
	expect(t, first, 2)
	if mid.once(t); second == nil {
		return
	}
	_, err = submit()
	if id := refusedBy(t, err); id != second.ID() {
		t.Error(id, "has the key, not", second.ID())
	}
}

// A dead letter that two put back at the same time is one task, whose new outcome stays.
func TestRequeueForgetsNoNewOutcome(t *testing.T) {
	t.Parallel()
	a, mid, b, _ := pair(t, places(0), places(1))
	var runs atomic.Int64
	h := cluster.Handle(b, "again", func(context.Context, int) (int, error) {
		if runs.Add(1) == 1 {
			return 0, cluster.Permanent(errors.New("no"))
		}
		return 5, nil
	})
	f, err := h.Submit(t.Context(), 0, cluster.ID("a"))
	if _, err := wait(t, f, err); err == nil {
		t.Error("no error")
	}
	mid.before("$KV.filch_results.a", func() {
		if err := b.Requeue(t.Context(), "a"); err != nil {
			t.Error("b.Requeue:", err)
		}
		eventually(t, "it is done", func() bool { return show(t, b, "a").State == cluster.StateDone })
	})
	if err := a.Requeue(within(t), "a"); err == nil || !strings.Contains(err.Error(), "the outcome of a: ") {
		t.Error("a.Requeue:", err)
	}
	mid.once(t)
	again, err := cluster.Attach[int](t.Context(), b, "a")
	if err != nil {
		t.Fatal("cluster.Attach:", err)
	}
	if got, err := again.Wait(within(t)); got != 5 || err != nil || runs.Load() != 2 {
		t.Error(got, err, "after", runs.Load(), "runs")
	}
}

// A dead letter that another removes meanwhile is removed.
func TestALetterIsRemovedByTwo(t *testing.T) {
	t.Parallel()
	a, mid, b, _ := pair(t, places(0), places(1))
	h := cluster.Handle(b, "fail", func(context.Context, int) (int, error) { return 0, cluster.Permanent(errors.New("no")) })
	f, err := h.Submit(t.Context(), 0, cluster.ID("a"))
	if _, err := wait(t, f, err); err == nil {
		t.Error("no error")
	}
	mid.before("$JS.API.STREAM.MSG.DELETE.filch_dead", func() {
		if err := b.DeleteDead(t.Context(), "a"); err != nil {
			t.Error("b.DeleteDead:", err)
		}
	})
	if err := a.DeleteDead(within(t), "a"); err != nil {
		t.Error("a.DeleteDead:", err)
	}
	mid.once(t)
	if left := letters(t, b, ""); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}

// What follows from the end of a task is done before its acknowledgment, after which no node would do it.
func TestWhatFollowsComesBeforeTheAcknowledgment(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{"done": nil, "failed": cluster.Permanent(errors.New("no"))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, mid, b, js := pair(t, places(1), places(0))
			cluster.Handle(a, "job", func(context.Context, int) (int, error) { return 1, fails }, cluster.WithAckWait(time.Hour)) // and nothing else is said of it before
			until(t, js, "job_p1", known)
			mid.before("$JS.ACK.filch_work.", func() {
				kv, err := js.KeyValue(t.Context(), "filch_unique")
				if err != nil {
					t.Error("js.KeyValue:", err)
					return
				}
				if _, err := kv.Get(t.Context(), "a"); !errors.Is(err, jetstream.ErrKeyNotFound) {
					t.Error("the unique key is not free:", err)
				}
			})
			f, err := cluster.Submit[int, int](t.Context(), b, "job", 1, cluster.Unique("a", time.Hour))
			if _, err := wait(t, f, err); (err != nil) != (fails != nil) {
				t.Error("wait:", err)
			}
			mid.once(t)
		})
	}
}

// Two nodes set up a cron job at the same time. The same job is stored once, and another replaces it.
func TestACronJobIsSetByTwo(t *testing.T) {
	t.Parallel()
	a, mid, b, js := pair(t, places(0), places(1))
	cluster.Handle(b, "double", double)
	until(t, js, "double_p1", known)
	var other time.Time // when the other job was set
	set := func(spec string) cluster.CronJob {
		t.Helper()
		mid.before("filch.cron.", func() {
			if err := b.Cron(t.Context(), "job", "@every 1h", "double", 1); err != nil {
				t.Error("b.Cron:", err)
			}
			if jobs, err := b.CronJobs(t.Context()); err != nil || len(jobs) != 1 {
				t.Error(jobs, err)
			} else {
				other = jobs[0].Set
			}
		})
		if err := a.Cron(within(t), "job", spec, "double", 1); err != nil {
			t.Fatal("a.Cron:", err)
		}
		mid.once(t)
		jobs, err := b.CronJobs(t.Context())
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		return jobs[0]
	}
	if j := set("@every 1h"); j.Spec != "@every 1h" || !j.Set.Equal(other) {
		t.Errorf("it was set again: %+v, %v", j, other)
	}
	if j := set("@every 2h"); j.Spec != "@every 2h" || j.Set.Equal(other) {
		t.Errorf("it was not replaced: %+v, %v", j, other)
	}
}

// backwards returns a clock by which no edge ever is old enough for a node to look after it.
func backwards() cluster.Option {
	begin := time.Now()
	var calls atomic.Int64
	return cluster.WithClock(func() time.Time { return begin.Add(-time.Duration(calls.Add(1)) * time.Hour) })
}

// A node without places that finds that a dependency has ended tells a node with places, which releases the task.
func TestANodeWithPlacesHearsOfEnds(t *testing.T) {
	t.Parallel()
	worker, _, submitter, js := pair(t, append(places(1), backwards()), append(places(0), backwards()))
	cluster.Handle(worker, "double", double)
	until(t, js, "double_p1", known)
	first, err := cluster.Submit[int, int](t.Context(), submitter, "double", 1)
	if got, err := wait(t, first, err); got != 2 || err != nil {
		t.Fatal(got, err)
	}
	second, err := cluster.Submit[int, int](t.Context(), submitter, "double", 2, cluster.After(first))
	if err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	if got, err := second.Wait(within(t)); got != 4 || err != nil {
		t.Error(got, err)
	}
}

// Submit waits also for a bucket for which nobody answers, as while three servers elect its leader: longer than the library does,
// which asks three times.
func TestSubmitWaitsForTheBucketsOfItsOptions(t *testing.T) {
	t.Parallel()
	for bucket, option := range map[string]func(*cluster.Batch) cluster.SubmitOption{
		"filch_unique":  func(*cluster.Batch) cluster.SubmitOption { return cluster.Unique("a", time.Hour) },
		"filch_batches": cluster.InBatch,
	} {
		t.Run(bucket, func(t *testing.T) {
			t.Parallel()
			a, mid, b, js := pair(t, places(1), places(1))
			cluster.Handle(b, "double", double)
			until(t, js, "double_p1", known)
			batch, err := cluster.NewBatch(t.Context(), a)
			if err != nil {
				t.Fatal("cluster.NewBatch:", err)
			}
			if err := js.DeleteStream(t.Context(), "KV_"+bucket); err != nil {
				t.Fatal("js.DeleteStream:", err)
			}
			asked := 0
			var ask func()
			ask = func() {
				if asked++; asked <= 3 {
					mid.before("$KV."+bucket, ask)
					return
				}
				if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: bucket, LimitMarkerTTL: time.Minute}); err != nil {
					t.Error("js.CreateKeyValue:", err)
				}
			}
			mid.before("$KV."+bucket, ask)
			f, err := cluster.Submit[int, int](within(t), a, "double", 1, option(batch))
			if got, err := wait(t, f, err); got != 2 || err != nil {
				t.Error(got, err)
			}
			mid.once(t)
		})
	}
}
