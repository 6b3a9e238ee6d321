package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster"
)

// Cancel of an ID that the cluster does not know is an error, and stores nothing: a task that is submitted by that ID later runs.
func TestCancelOfATaskThatNobodyKnows(t *testing.T) {
	t.Parallel()
	said := newLines()
	nodes, js := share(t, append(places(1), cluster.WithLogger(said.logger())), append(places(0), cluster.WithLogger(said.logger())))
	h := cluster.Handle(nodes[0], "double", double)
	until(t, js, "double_p1", known)
	f, err := h.Submit(t.Context(), 1, cluster.ID("another"))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	expect(t, f, 2)
	for _, n := range nodes {
		if err := n.Cancel(within(t), "no/such"); !errors.Is(err, cluster.ErrUnknownTask) || !strings.HasSuffix(err.Error(), ": no/such") {
			t.Errorf("Cancel of an ID that was never submitted, by %s: %v; want ErrUnknownTask, and the ID", n.Name(), err)
		}
		attached, err := cluster.Attach[int](t.Context(), n, "no/such")
		if err != nil {
			t.Fatal("cluster.Attach:", err)
		}
		attached.Cancel()
		said.until(t, "level=WARN msg=\"filch cluster: a task was not canceled\" node="+n.Name())
		if _, err := n.Show(within(t), "no/such"); !errors.Is(err, cluster.ErrUnknownTask) {
			t.Errorf("Show after Cancel, by %s: %v; want ErrUnknownTask", n.Name(), err)
		}
	}
	for stream, most := range map[string]uint64{"KV_filch_control": 0, "KV_filch_results": 1, "filch_work": 1, "filch_later": 0} {
		s, err := js.Stream(t.Context(), stream)
		if err != nil {
			t.Fatal("js.Stream:", err)
		}
		if last := s.CachedInfo().State.LastSeq; last != most {
			t.Errorf("%d messages were stored in the stream %s; want %d", last, stream, most)
		}
	}
	f, err = h.Submit(t.Context(), 2, cluster.ID("no/such"))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	expect(t, f, 4)
}

// Cancel finds a task of another node wherever it is.
func TestCancelFindsATaskWhereverItIs(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(2), places(0), places(0))
	began := make(chan string, 1)
	cluster.Handle(nodes[0], "block", blocker(began, nil))
	cluster.Handle(nodes[0], "paused", double)
	cluster.Handle(nodes[0], "fail", func(context.Context, int) (int, error) { return 0, errors.New("not yet") }, cluster.WithRetry(cluster.Retry{First: time.Hour, Most: time.Hour}))
	for _, lane := range []string{"block_p1", "paused_p1", "fail_p1"} {
		until(t, js, lane, known)
	}
	if err := nodes[1].Pause(t.Context(), "paused"); err != nil {
		t.Fatal("nodes:", err)
	}
	if _, err := cluster.Submit[string, string](t.Context(), nodes[1], "block", "x", cluster.ID("running")); err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	<-began
	submit := func(handler, id string, opts ...cluster.SubmitOption) {
		if _, err := cluster.Submit[int, int](t.Context(), nodes[1], handler, 1, append(opts, cluster.ID(id))...); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
	}
	submit("fail", "again")
	eventually(t, "it is tried again", func() bool { return show(t, nodes[2], "again").State == cluster.StateRetry })
	submit("paused", "delayed", cluster.Delay(time.Hour))
	submit("paused", "after", cluster.After(cluster.TaskID("never")))
	submit("paused", "waiting")
	submit("paused", "unheard", cluster.NoResult())
	for _, id := range []string{"running", "again", "delayed", "after", "waiting", "unheard"} {
		if err := nodes[2].Cancel(within(t), id); err != nil {
			t.Errorf("Cancel of the task %q: %v", id, err)
		}
		f, err := cluster.Attach[int](t.Context(), nodes[2], id)
		if _, err := wait(t, f, err); !errors.Is(err, cluster.ErrCanceled) {
			t.Errorf("the task %q has ended with %v; want ErrCanceled", id, err)
		}
	}
	b := batchOf(t, nodes[1])
	if err := nodes[2].Cancel(within(t), b.ID()); err != nil {
		t.Errorf("Cancel of a batch: %v", err)
	}
}

// What is due and was not moved yet is shown and canceled by its ID, also a time of a cron job.
func TestCancelOfWhatIsDue(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0), places(0))
	cluster.Handle(nodes[0], "double", double)
	until(t, js, "double_p1", known)
	closeNode(t, nodes[0]) // so nobody moves it
	if _, err := cluster.Submit[int, int](t.Context(), nodes[1], "double", 7, cluster.ID("due"), cluster.Delay(time.Nanosecond)); err != nil {
		t.Fatal("cluster.Submit:", err)
	}
	untilStream(t, js, "filch_later", "filch.due.>", func(n int) bool { return n == 1 })
	if info := show(t, nodes[2], "due"); info.State != cluster.StateDelayed || info.Handler != "double" || info.From != "n1" || string(info.Argument) != "7" || info.Stored.IsZero() {
		t.Errorf("Show of a task that is due: %+v", info)
	}
	if err := nodes[2].Cancel(within(t), "due"); err != nil {
		t.Error("Cancel of a task that is due:", err)
	}
	f, err := cluster.Attach[int](t.Context(), nodes[2], "due")
	if _, err := wait(t, f, err); !errors.Is(err, cluster.ErrCanceled) {
		t.Error("the task that was due has ended with", err)
	}
	if err := nodes[1].Cron(t.Context(), "job", "@every 1s", "double", 1); err != nil {
		t.Fatal("nodes:", err)
	}
	untilStream(t, js, "filch_later", "filch.due.>", func(n int) bool { return n > 1 })
	s, err := js.Stream(t.Context(), "filch_later")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	m, err := s.GetLastMsgForSubject(t.Context(), "filch.due.>")
	if err != nil {
		t.Fatal("s.GetLastMsgForSubject:", err)
	}
	next, err := time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Schedule-Next"))
	if err != nil {
		t.Fatal("time.Parse:", err)
	}
	if err := nodes[1].Cancel(within(t), "job"+next.UTC().Format("-20060102T150405")); err != nil {
		t.Error("Cancel of a time that is due:", err)
	}
	if err := nodes[1].Cancel(within(t), "job-20060102T150405"); !errors.Is(err, cluster.ErrUnknownTask) {
		t.Error("Cancel of a time that never was:", err)
	}
}

// A task that goes on while Cancel looks for it is found where it has come to.
func TestCancelFindsATaskThatGoesOnMeanwhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		begins cluster.SubmitOption
		before string // what Cancel publishes to look where the task has begun; by then it has gone on
		stream string // where it is then
		ends   bool
	}{
		{"released", cluster.After(cluster.TaskID("first")), "$JS.API.DIRECT.GET.KV_filch_after.", "filch_work", false},
		{"released and ended", cluster.After(cluster.TaskID("first")), "$JS.API.DIRECT.GET.KV_filch_after.", "KV_filch_results", true},
		{"due and moved", cluster.Delay(time.Second), "filch.later.x", "filch_work", false},
		{"due, moved and ended", cluster.Delay(time.Second), "filch.later.x", "KV_filch_results", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, mid, b, js := pair(t, places(0), places(1))
			submit := func(handler, id string, opts ...cluster.SubmitOption) {
				if _, err := cluster.Submit[int, int](t.Context(), b, handler, 1, append(opts, cluster.ID(id))...); err != nil {
					t.Error("cluster.Submit:", err)
				}
			}
			for _, name := range []string{"double", "last"} {
				cluster.Handle(b, name, double)
				until(t, js, name+"_p1", known)
			}
			if !c.ends {
				if err := b.Pause(t.Context(), "last"); err != nil {
					t.Fatal("b.Pause:", err)
				}
			}
			submit("last", "x", c.begins)
			mid.before(c.before, func() {
				submit("double", "first")
				subject := "filch.work.last.>"
				if c.ends {
					subject = "$KV.filch_results.x"
				}
				untilStream(t, js, c.stream, subject, func(n int) bool { return n == 1 })
			})
			if err := a.Cancel(within(t), "x"); err != nil {
				t.Error("Cancel:", err)
			}
			mid.once(t)
		})
	}
}

// A task is found though the server that answers for many at once has only the beginning of the stream: the leader says what follows.
func TestATaskIsFoundThoughAServerIsBehind(t *testing.T) {
	t.Parallel()
	n, b, js := openBehind(t, places(0)...)
	other, err := cluster.Open(t.Context(), cluster.WithConn(connectMortal(t, b.srv, nil)), cluster.WithPlaces(1))
	if err != nil {
		t.Fatal("cluster.Open:", err)
	}
	cluster.Handle(other, "double", double)
	until(t, js, "double_p1", known)
	closeNode(t, other)
	before, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "filch_work-of-before", Subjects: []string{"before.>"}, AllowDirect: true,
		SubjectTransform: &jetstream.SubjectTransformConfig{Source: "before.>", Destination: "filch.work.>"}})
	if err != nil {
		t.Fatal("js.CreateStream:", err)
	}
	for i := range 5 {
		if _, err := cluster.Submit[int, int](t.Context(), n, "double", i, cluster.ID(fmt.Sprint("task ", i)), cluster.NoResult()); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
		if i < 3 {
			if _, err := js.Publish(t.Context(), "before.double.p1", nil); err != nil {
				t.Fatal("js.Publish:", err)
			}
		}
	}
	b.read("filch_work", 1000)
	if info := show(t, n, "task 4"); info.State != cluster.StateWaiting || string(info.Argument) != "4" || info.Stored.IsZero() || info.Handler != "double" {
		t.Errorf("Show: %+v", info)
	}
	if b.left("filch_work") == 1000 {
		t.Error("no server was asked for many at once")
	}
	if _, err := n.Show(t.Context(), "task 5"); !errors.Is(err, cluster.ErrUnknownTask) {
		t.Error("Show of a task that is not there:", err)
	}
	if err := js.DeleteStream(t.Context(), before.CachedInfo().Config.Name); err != nil {
		t.Fatal("js.DeleteStream:", err)
	}
}

// Show and Cancel look for as long as their context says, and say how far they came.
func TestALookForATaskSaysHowFarItCame(t *testing.T) {
	t.Parallel()
	a, mid, b, js := pair(t, places(0), places(1))
	cluster.Handle(b, "double", double)
	until(t, js, "double_p1", known)
	closeNode(t, b)
	for i := range 1500 {
		if _, err := cluster.Submit[int, int](t.Context(), a, "double", i, cluster.NoResult()); err != nil {
			t.Fatal("cluster.Submit:", err)
		}
	}
	for what, look := range map[string]func(context.Context) error{
		"Show":   func(ctx context.Context) error { _, err := a.Show(ctx, "none"); return err },
		"Cancel": func(ctx context.Context) error { return a.Cancel(ctx, "none") },
	} {
		why := errors.New("on purpose")
		ctx, cancel := context.WithCancelCause(t.Context())
		const many = "$JS.API.DIRECT.GET.filch_work"
		mid.before(many, func() { // of the newest tasks, which come first
			mid.armed.Store(&step{subject: many, do: func() { cancel(why) }, lost: true})
		})
		err := look(ctx)
		if !errors.Is(err, why) || errors.Is(err, cluster.ErrUnknownTask) || !strings.Contains(err.Error(), "of 1500 messages were read") {
			t.Errorf("%s whose context ends: %v; want the cause, and how many of 1500 messages were read", what, err)
		}
		cancel(nil)
	}
}
