package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/cluster/embedded"
)

func none(n int) bool { return n == 0 }

// known says that the servers know a lane.
func known(*jetstream.ConsumerInfo) bool { return true }

// stored is when the task of a handler's context was stored in the work stream.
func stored(ctx context.Context, _ int) (time.Time, error) {
	info, _ := cluster.TaskOf(ctx)
	return info.Stored, nil
}

func TestADelayedTaskIsNotEarly(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(0))
	cluster.Handle(nodes[0], "stored", stored)
	until(t, js, "stored_p1", known)
	for name, delay := range map[string]func(time.Time) cluster.SubmitOption{
		"Delay":   func(time.Time) cluster.SubmitOption { return cluster.Delay(350 * time.Millisecond) },
		"At":      func(now time.Time) cluster.SubmitOption { return cluster.At(now.Add(350 * time.Millisecond)) },
		"At past": func(now time.Time) cluster.SubmitOption { return cluster.At(now.Add(-time.Hour)) },
	} {
		now := time.Now()
		f, err := cluster.Submit[int, time.Time](t.Context(), nodes[1], "stored", 0, delay(now))
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := f.Wait(t.Context())
		if d := got.Sub(now); err != nil || name != "At past" && d < 350*time.Millisecond {
			t.Error(name, "after", d, err)
		}
	}
	untilStream(t, js, "filch_later", "filch.>", none)
}

func TestADelayedTaskIsCanceled(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	h := cluster.Handle(nodes[0], "double", double)
	f, err := h.Submit(t.Context(), 1, cluster.Delay(time.Hour))
	if err != nil {
		t.Fatal("h.Submit:", err)
	}
	untilStream(t, js, "filch_later", "filch.later.*", func(n int) bool { return n == 1 })
	f.Cancel()
	if _, err := f.Wait(t.Context()); !errors.Is(err, cluster.ErrCanceled) {
		t.Error("f.Wait:", err)
	}
	untilStream(t, js, "filch_later", "filch.later.*", none)
}

func TestADelayedTaskOfAnIDIsStoredOnce(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	h := cluster.Handle(nodes[0], "double", double)
	var futures []*cluster.Future[int]
	for i := range 3 {
		f, err := h.Submit(t.Context(), i, cluster.ID("one"), cluster.Delay(500*time.Millisecond))
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		futures = append(futures, f)
	}
	untilStream(t, js, "filch_later", "filch.later.*", func(n int) bool { return n == 1 })
	for _, f := range futures {
		if got, err := f.Wait(t.Context()); got != 0 || err != nil {
			t.Error(got, err)
		}
	}
	if s := nodes[0].Stats(); s.Done != 1 {
		t.Errorf("%+v", s)
	}
}

func TestWhatIsDueWaitsUntilTheStreamHasRoom(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, append(places(1), cluster.WithQueueLimit(2, filch.Reject)))
	gate := make(chan struct{})
	h := cluster.Handle(nodes[0], "gate", func(ctx context.Context, i int) (int, error) {
		filch.Blocking(ctx, func() { <-gate })
		return i, nil
	})
	for i := range 2 {
		if _, err := h.Submit(t.Context(), i); err != nil {
			t.Fatal("h.Submit:", err)
		}
	}
	if _, err := h.Submit(t.Context(), 2); !errors.Is(err, cluster.ErrQueueFull) {
		t.Error("h.Submit:", err)
	}
	var futures []*cluster.Future[int]
	for i := range 5 {
		f, err := h.Submit(t.Context(), i, cluster.Delay(time.Millisecond))
		if err != nil {
			t.Fatal("h.Submit:", err)
		}
		futures = append(futures, f)
	}
	untilStream(t, js, "filch_later", "filch.later.*", none)
	untilStream(t, js, "filch_later", "filch.due.>", func(n int) bool { return n == 5 })
	close(gate)
	for i, f := range futures {
		if got, err := f.Wait(t.Context()); got != i || err != nil {
			t.Error(i, got, err)
		}
	}
	untilStream(t, js, "filch_later", "filch.>", none)
}

func TestOptionsOfTimeAreChecked(t *testing.T) {
	t.Parallel()
	n := open(t)
	h := cluster.Handle(n, "double", double)
	for want, opts := range map[string][]cluster.SubmitOption{
		"cluster: Delay(-1s): it is negative":                                         {cluster.Delay(-time.Second)},
		"cluster: At with a zero time":                                                {cluster.At(time.Time{})},
		"cluster: Delay(2562047h47m16.854775807s): it is more than 100 years":         {cluster.Delay(math.MaxInt64)},
		"cluster: At(9999-01-01 00:00:00 +0000 UTC): it is more than 100 years ahead": {cluster.At(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))},
		"cluster: a task has both Delay and At":                                       {cluster.Delay(time.Second), cluster.At(time.Now())},
		"cluster: AtLevel(7): levels are High, Normal and Low":                        {cluster.Delay(time.Second), cluster.AtLevel(7)},
	} {
		if _, err := h.Submit(t.Context(), 1, opts...); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAMessageThatIsDueAndNoTaskIsADeadLetter(t *testing.T) {
	t.Parallel()
	_, js := share(t, places(1))
	for _, h := range []nats.Header{nil, {"Filch-Id": {"a.b"}}, {"Filch-Cron": {"job"}}, {"Filch-Cron": {"job"}, "Filch-Id": {"a"}}} {
		if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: "filch.due.double.p1", Header: h}); err != nil {
			t.Fatal("js.PublishMsg:", err)
		}
	}
	untilStream(t, js, "filch_dead", "filch.dead.double.*", func(n int) bool { return n == 4 })
	untilStream(t, js, "filch_later", "filch.>", none)
}

// A task that a node has moved, and could not say so, is moved again, and stored once.
func TestATaskThatIsMovedTwiceIsStoredOnce(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1))
	cluster.Handle(nodes[0], "double", double)
	for range 2 {
		m := &nats.Msg{Subject: "filch.due.double.p1", Data: []byte("4"), Header: nats.Header{"Filch-Version": {"1"}, "Filch-Id": {"a"}, "Filch-Codec": {"json"}, "Filch-From": {"n0"}}}
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal("js.PublishMsg:", err)
		}
	}
	untilStream(t, js, "filch_later", "filch.>", none)
	empty(t, js)
	s, err := js.Stream(t.Context(), "filch_work")
	if err != nil {
		t.Fatal("js.Stream:", err)
	}
	if last := s.CachedInfo().State.LastSeq; last != 1 {
		t.Error("stored:", last)
	}
	f, err := cluster.Attach[int](t.Context(), nodes[0], "a")
	if got, err := wait(t, f, err); got != 8 || err != nil {
		t.Error(got, err)
	}
}

// seen are the IDs of tasks that have run.
type seen struct {
	mu  sync.Mutex
	ids map[string]int
	ran chan struct{}
}

func (s *seen) note(ctx context.Context, _ string) (int, error) {
	info, _ := cluster.TaskOf(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[string]int{}
	}
	s.ids[info.ID]++
	s.ran <- struct{}{}
	return 0, nil
}

func TestACronJobIsOneTaskEachTimeInTheWholeCluster(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(1), places(1), places(0))
	s := &seen{ran: make(chan struct{}, 100)}
	for _, n := range nodes[:2] {
		cluster.Handle(n, "note", s.note)
		if err := n.Cron(t.Context(), "job", "@every 1s", "note", "x"); err != nil {
			t.Fatal("n.Cron:", err)
		}
	}
	jobs, err := nodes[2].CronJobs(t.Context())
	if err != nil || len(jobs) != 1 || jobs[0].Name != "job" || jobs[0].Spec != "@every 1s" || jobs[0].Handler != "note" || jobs[0].Set.IsZero() {
		t.Errorf("%+v %v", jobs, err)
	}
	<-s.ran
	<-s.ran
	if err := nodes[2].RemoveCron(t.Context(), "job"); err != nil {
		t.Fatal("nodes:", err)
	}
	untilStream(t, js, "filch_later", "filch.>", none)
	untilStream(t, js, "filch_work", "filch.>", none)
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, times := range s.ids {
		if times != 1 {
			t.Error(id, "ran", times, "times")
		}
	}
	if len(s.ids) < 2 {
		t.Error(s.ids)
	}
	if jobs, err := nodes[2].CronJobs(t.Context()); len(jobs) > 0 || err != nil {
		t.Error(jobs, err)
	}
}

func TestCronTasksWaitForANode(t *testing.T) {
	t.Parallel()
	nodes, js := share(t, places(0))
	nc := js.Conn()
	if err := nodes[0].Cron(t.Context(), "job", "* * * * * *", "note", "x"); !errors.Is(err, cluster.ErrUnknownHandler) {
		t.Error("a handler that no node ever had:", err)
	}
	worker := func() *cluster.Node {
		n, err := cluster.Open(t.Context(), cluster.WithConn(nc), cluster.WithPlaces(1))
		if err != nil {
			t.Fatal("cluster.Open:", err)
		}
		return n
	}
	s := &seen{ran: make(chan struct{}, 100)}
	n := worker()
	cluster.Handle(n, "note", s.note)
	until(t, js, "note_p1", known)
	closeNode(t, n)
	if err := nodes[0].Cron(t.Context(), "job", "* * * * * *", "note", "x"); err != nil {
		t.Fatal("nodes:", err)
	}
	untilStream(t, js, "filch_later", "filch.due.>", func(n int) bool { return n >= 2 })
	if err := nodes[0].RemoveCron(t.Context(), "job"); err != nil {
		t.Fatal("nodes:", err)
	}
	n = worker()
	defer closeNode(t, n)
	cluster.Handle(n, "note", s.note)
	<-s.ran
	<-s.ran
}

func TestACronJobIsReplacedAndKeptIfItIsTheSame(t *testing.T) {
	t.Parallel()
	nodes, _ := share(t, places(1))
	n := nodes[0]
	cluster.Handle(n, "double", double)
	set := func(spec string, in int, opts ...cluster.SubmitOption) cluster.CronJob {
		if err := n.Cron(t.Context(), "job", spec, "double", in, opts...); err != nil {
			t.Fatal("n.Cron:", err)
		}
		jobs, err := n.CronJobs(t.Context())
		if err != nil || len(jobs) != 1 || jobs[0].Spec != spec {
			t.Fatal(jobs, err)
		}
		return jobs[0]
	}
	last := set("0 3 * * MON-FRI", 1)
	if again := set("0 3 * * MON-FRI", 1); again != last {
		t.Error("the same job was set anew:", last, again)
	}
	for i, change := range []func() cluster.CronJob{
		func() cluster.CronJob { return set("0 3 * * MON-FRI", 2) },
		func() cluster.CronJob { return set("CRON_TZ=Europe/Berlin 0 3 * * MON-FRI", 2) },
		func() cluster.CronJob { return set("@hourly", 2) },
		func() cluster.CronJob { return set("@hourly", 2, cluster.AtLevel(cluster.Low)) },
		func() cluster.CronJob {
			return set("@hourly", 2, cluster.AtLevel(cluster.Low), cluster.Within(time.Minute))
		},
	} {
		if next := change(); !next.Set.After(last.Set) {
			t.Error("change", i, "did nothing")
		} else {
			last = next
		}
	}
}

func TestBadCronJobsAreRefused(t *testing.T) {
	t.Parallel()
	n := open(t)
	cluster.Handle(n, "double", double)
	for _, spec := range []string{"", "x", "@at 2050-01-01T00:00:00Z", "61 * * * *", "* * * *", "@every 10ms", "CRON_TZ=Nowhere * * * * *", "CRON_TZ=UTC", "*\r\nX: y * * * *"} {
		if err := n.Cron(t.Context(), "job", spec, "double", 1); err == nil || !strings.Contains(err.Error(), "want five fields") && !strings.Contains(err.Error(), "do not know the time zone") {
			t.Errorf("the spec %q was taken", spec)
		}
	}
	for _, o := range []cluster.SubmitOption{cluster.ID("a"), cluster.NoResult(), cluster.Delay(1), cluster.At(time.Now()), cluster.Key("a"), nil} {
		if err := n.Cron(t.Context(), "job", "@daily", "double", 1, o); err == nil {
			t.Error("an option was taken that means nothing")
		}
	}
	long := fmt.Sprintf("%0128d", 1)
	for _, name := range []string{"", "a.b", long} {
		if err := n.Cron(t.Context(), name, "@daily", "double", 1); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
	if jobs, err := n.CronJobs(t.Context()); len(jobs) > 0 || err != nil {
		t.Error(jobs, err)
	}
}

func TestWhatFallsDueWhileTheServerIsDownIsOneTask(t *testing.T) {
	t.Parallel()
	long(t)
	server := embedded.Server{Dir: t.TempDir(), NoSync: true}
	s := &seen{ran: make(chan struct{}, 100)}
	run := func(f func(n *cluster.Node)) {
		n, err := cluster.Open(t.Context(), cluster.WithServer(server), cluster.WithPlaces(1))
		if err != nil {
			t.Fatal("cluster.Open:", err)
		}
		defer closeNode(t, n)
		cluster.Handle(n, "note", s.note)
		f(n)
	}
	run(func(n *cluster.Node) {
		if err := n.Cron(t.Context(), "job", "@every 2s", "note", "x"); err != nil {
			t.Fatal("n.Cron:", err)
		}
		<-s.ran
	})
	down := time.Now()
	<-time.After(7 * time.Second) // three times at least are due
	run(func(n *cluster.Node) {
		<-s.ran
		if err := n.RemoveCron(t.Context(), "job"); err != nil {
			t.Fatal("n.RemoveCron:", err)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, times := range s.ids {
		if times != 1 {
			t.Error(id, "ran", times, "times")
		}
	}
	if len(s.ids) > 3 {
		t.Error("after the server was down since", down, ":", s.ids)
	}
}
