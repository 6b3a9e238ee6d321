package live

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/event"
)

// state returns what a pool of that many workers says of itself, of which some are busy.
func state(workers, busy, queued, running int, done int64) filch.Stats {
	return filch.Stats{Workers: workers, Busy: busy, Tasks: filch.TaskStats{Queued: queued, Running: running, Started: done + int64(running), Done: done}}
}

// at returns a look in which each worker runs a task for that long, at the given places.
func at(since time.Duration, places ...string) (l event.Look) {
	for i, p := range places {
		l.Workers = append(l.Workers, event.WorkerLook{Worker: i, Task: "task t" + string(rune('0'+i)), For: since, At: p})
	}
	return l
}

func TestVerdicts(t *testing.T) {
	const receives, computes = "chan receive for 2 minutes at main.channel.func1 channel.go:11", "at main.leaf.func1 leaf.go:17"
	circle := at(time.Minute, "Group.Wait at main.circle.func1 circle.go:21", "Future.Wait at main.circle.func1.1 circle.go:17")
	circle.Circles = []string{"task t0 waits for a group waits for task t1 waits for task t0"}
	alone := at(time.Minute, "Future.Wait at main.f f.go:1")
	alone.Circles = []string{"task t0 waits for task t0"}
	room := state(2, 2, 0, 2, 0)
	room.Tasks.Waiting = 2
	extra := state(1, 2, 0, 3, 0)
	forks := state(2, 2, 0, 0, 0)
	forks.Published = 30_000
	paused := state(2, 0, 3, 0, 7)
	paused.Paused = true
	held := state(2, 0, 0, 1, 7)
	held.Tasks.Held = 4
	failing := func(n int64) filch.Stats {
		s := state(2, 1, 0, 1, n)
		s.Tasks.Failed = n / 2
		return s
	}
	sees := at(40*time.Second, "sleep at main.f f.go:9", "Future.Wait at main.g g.go:1")
	for i := range sees.Workers {
		sees.Workers[i].Lent = true
	}
	many := at(time.Minute, receives, receives, receives)
	awaits := event.Look{Held: []event.HeldLook{{Task: "task serves", Why: "comes after task cooks"}}}
	panicking := state(2, 1, 0, 1, 50)
	panicking.Tasks.Panicked = 50
	calls := func(wakes int64) filch.Stats {
		s := state(2, 2, 1, 1, 0)
		s.Wakes = wakes
		return s
	}
	for _, c := range []struct {
		kind, text string
		look       event.Look
		said       []filch.Stats // one a second
	}{
		{"stuck", "2 tasks wait for each other: t0 at circle.go:21 → t1 at circle.go:17", circle, []filch.Stats{state(2, 0, 0, 2, 0)}},
		{"stuck", "a task waits for itself: t0 at f.go:1", alone, []filch.Stats{state(2, 0, 0, 1, 0)}},
		{"stuck", "1 of 1 worker busy, 4 queued, nothing has finished for at least 20s: chan receive, channel.go:11", at(20*time.Second, receives), []filch.Stats{state(1, 1, 4, 1, 0)}},
		{"stuck", "1 of 1 worker busy, 4 queued, nothing has finished for at least 4s: chan receive, channel.go:11", at(0, receives), repeat(5, state(1, 1, 4, 1, 0))},
		{"idle", "watching", at(0, receives), repeat(4, state(1, 1, 4, 1, 0))},
		{"stuck", "3 of 3 workers busy, 1 queued, nothing has finished for at least 20s: chan receive, channel.go:11 and 1 other place", at(20*time.Second, "sync.Mutex.Lock at main.f a.go:1", receives, receives), []filch.Stats{state(3, 3, 1, 3, 0)}},
		{"slow", "1 of 1 worker busy, 1 queued, nothing has finished for at least 20s: computing, leaf.go:17", at(20*time.Second, computes), []filch.Stats{state(1, 1, 1, 1, 0)}},
		{"stuck", "1 of 1 worker busy, 1 queued, nothing has finished for at least 20s", at(20*time.Second, ""), []filch.Stats{state(1, 1, 1, 1, 0)}},
		{"stuck", "2 of 2 workers busy, 2 tasks begun, 2 submitters waiting for room, nothing has finished for at least 20s: Group.Go, limit.go:18", at(20*time.Second, "Group.Go at main.limit.func1 limit.go:18", "Group.Go at main.limit.func1 limit.go:18"), []filch.Stats{room}},
		{"stuck", "2 workers busy (1 extra, because workers are blocked), 3 tasks begun, nothing has finished for at least 20s: sync.Mutex.Lock, mutex.go:13", at(20*time.Second, "sync.Mutex.Lock at main.mutex.func1 mutex.go:13"), []filch.Stats{extra}},
		{"stuck", "2 workers busy (1 extra, because workers are blocked), 3 tasks begun, nothing has finished for at least 20s", at(20*time.Second, "", ""), []filch.Stats{extra}},
		{"slow", "1 of 2 workers busy, 1 task begun, nothing has finished for at least 20s: sleep, f.go:9", at(20*time.Second, "sleep at main.f f.go:9"), []filch.Stats{state(2, 1, 0, 1, 0)}},
		{"slow", "2 tasks begun, nothing has finished for at least 40s: Future.Wait, g.go:1 and 1 other place", sees, []filch.Stats{state(2, 0, 0, 2, 0)}},
		{"slow", "3 of 4 workers wait for at least 4s: chan receive, channel.go:11", many, []filch.Stats{state(4, 4, 0, 4, 0), state(4, 4, 0, 4, 1)}},
		{"busy", "busy, 1.0 tasks/s", at(0, receives), []filch.Stats{state(1, 1, 4, 1, 0), state(1, 1, 4, 1, 1)}},
		{"busy", "busy", at(time.Hour, computes), []filch.Stats{state(2, 1, 0, 1, 0)}},
		{"busy", "busy", at(0, computes), []filch.Stats{calls(0), calls(1), calls(2), calls(3), calls(4), calls(5)}},
		{"busy", "busy", event.Look{Long: []event.TaskLook{{Task: "task serves"}}}, repeat(5, state(2, 1, 0, 1, 0))},
		{"slow", "1 task held, and nothing runs: task serves comes after task cooks", awaits, repeat(5, filch.Stats{Workers: 2, Tasks: filch.TaskStats{Held: 1}})},
		{"slow", "paused, 3 tasks queued", event.Look{}, []filch.Stats{paused}},
		{"slow", "8 of 8 workers busy, backlog of 6,040 grows by 1,200/s", at(0, computes), []filch.Stats{state(8, 8, 40, 8, 10), state(8, 8, 1240, 8, 1010), state(8, 8, 2440, 8, 2010), state(8, 8, 3640, 8, 3010), state(8, 8, 4840, 8, 4010), state(8, 8, 6040, 8, 5010)}},
		{"busy", "busy, 1,000 tasks/s", at(0, computes), []filch.Stats{state(8, 8, 40, 8, 0), state(8, 8, 5, 8, 1000), state(8, 8, 45, 8, 2000), state(8, 8, 40, 8, 3000), state(8, 8, 60, 8, 4000), state(8, 8, 40, 8, 5000)}},
		{"busy", "busy, 500 tasks/s", at(0, computes), []filch.Stats{state(8, 8, 0, 8, 0), state(8, 8, 9000, 8, 500), state(8, 8, 8500, 8, 1000), state(8, 8, 8000, 8, 1500), state(8, 8, 7500, 8, 2000), state(8, 8, 7000, 8, 2500)}},
		{"busy", "busy, 30,000 forks published/s", event.Look{}, []filch.Stats{state(2, 2, 0, 0, 0), forks}},
		{"slow", "busy, 50 tasks/s, 50% fail", at(0, computes), []filch.Stats{failing(0), failing(50)}},
		{"busy", "busy, 100 tasks/s, 2% fail", at(0, computes), []filch.Stats{state(2, 1, 0, 1, 0), func() filch.Stats { s := state(2, 1, 0, 1, 100); s.Tasks.Failed = 2; return s }()}},
		{"slow", "busy, 50 tasks/s, 50 panic each second", at(0, computes), []filch.Stats{state(2, 1, 0, 1, 0), panicking}},
		{"busy", "busy, 1,200 tasks/s", event.Look{}, []filch.Stats{state(2, 1, 0, 0, 0), state(2, 2, 12, 0, 1200)}},
		{"busy", "busy, 1.0 tasks/s, 4 held", event.Look{}, []filch.Stats{state(2, 0, 0, 1, 6), held}},
		{"idle", "idle", event.Look{}, []filch.Stats{state(2, 0, 0, 0, 7)}},
		{"idle", "idle", event.Look{}, []filch.Stats{state(2, 2, 3, 2, 0), state(2, 0, 0, 0, 5), state(2, 0, 0, 0, 5)}},
	} {
		if v := verdictOf(c.look, c.said); v.Kind != c.kind || v.Text != c.text || len(v.Reasons) == 0 {
			t.Errorf("%s: %s (%q)\nnot %s: %s", v.Kind, v.Text, v.Reasons, c.kind, c.text)
		}
	}
}

// verdictOf returns the second verdict of a look, after what a pool has said once a second.
func verdictOf(l event.Look, said []filch.Stats) verdict {
	var j judge
	for i, s := range said {
		j.note(time.Unix(int64(i), 0), s)
	}
	j.judge(l)
	return j.judge(l)
}

// repeat returns s so many times.
func repeat(n int, s filch.Stats) (all []filch.Stats) {
	for range n {
		all = append(all, s)
	}
	return all
}

// A queue that lets one task through now and then is not stuck: what counts is the longest time that nothing was done.
func TestVerdictsKnowHowLongTasksTake(t *testing.T) {
	var j judge
	blocks := at(0, "sleep at main.f f.go:9")
	for i := range 100 {
		j.note(time.Unix(int64(i), 0), state(1, 1, 40, 1, int64(i/6)))
		if v := j.judge(blocks); i > 14 && v.Kind != "busy" {
			t.Fatalf("%d s: %s %s", i, v.Kind, v.Text)
		}
	}
	for i := range 25 {
		j.note(time.Unix(int64(100+i), 0), state(1, 1, 40, 1, 16))
		j.judge(blocks)
	}
	if v := j.judge(blocks); v.Kind != "stuck" {
		t.Error(v.Kind, v.Text)
	}
}

// A verdict is about the last seconds: what has moved since is not stuck.
func TestVerdictsForget(t *testing.T) {
	var j judge
	for i := range 100 {
		j.note(time.Unix(int64(i), 0), state(1, 1, 4, 1, int64(i/50)))
	}
	if v := j.judge(at(0, "at main.f f.go:1")); v.Text != "1 of 1 worker busy, 4 queued, nothing has finished for at least 49s: computing, f.go:1" || len(j.past) > 12 {
		t.Errorf("%s, of %d moments", v.Text, len(j.past))
	}
	j.note(time.Unix(100, 0), state(1, 1, 4, 1, 2))
	if v := j.judge(at(0, "at main.f f.go:1")); v.Kind != "busy" {
		t.Error(v.Kind, v.Text)
	}
}

// With 100,000 goroutines stacks are not looked at, and there is a verdict all the same.
func TestVerdictWithManyGoroutines(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	defer p.Close()
	release := make(chan struct{})
	defer close(release)
	for range 100_000 {
		go func() { <-release }()
	}
	begun := make(chan struct{})
	p.Go(t.Context(), func(context.Context) { close(begun); <-release }, filch.Named("eats"))
	p.Go(t.Context(), func(context.Context) {}, filch.Named("cooks"))
	<-begun
	w := newWatch(&handler{pools: []*filch.Pool{p}}, 0)
	var j judge
	now := time.Now()
	for i := range 5 {
		j.note(now.Add(time.Duration(i)*time.Second), p.Stats())
	}
	j.judge(w.source.Look())
	v := j.judge(w.source.Look())
	if !strings.HasPrefix(v.Text, "1 of 1 worker busy, 1 queued, nothing has finished for at least 4s") || v.Kind != "stuck" || strings.Contains(v.Text, ".go") {
		t.Errorf("%s: %s", v.Kind, v.Text)
	}
}
