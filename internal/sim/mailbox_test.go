package sim

import (
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// From round to round blocks come back to the workers that have them in their caches.
func TestMailboxesSaveMisses(t *testing.T) {
	for _, workers := range []int{4, 8, 16} {
		var guided, random int64
		for seed := range uint64(10) {
			c := Config{Program: dag.Iterative{Rounds: 20, Blocks: 256}, Workers: workers, Seed: seed, Cache: 512 / workers}
			c.Scheduler = "mailbox"
			guided += run(t, c).Misses
			c.Scheduler = "child"
			random += run(t, c).Misses
		}
		t.Logf("%d workers: %d misses with mailboxes, %d without", workers, guided, random)
		if guided*4 > random*3 {
			t.Errorf("%d workers: %d misses with mailboxes, %d without", workers, guided, random)
		}
	}
}

// A thread with two copies runs once, and its ticket is used again: as many threads wait at a time, as many
// tickets are there.
func TestMailboxesForgetWhatHasRun(t *testing.T) {
	c := Config{Program: dag.Iterative{Rounds: 200, Blocks: 64}, Scheduler: "mailbox", Workers: 8, Seed: 4}
	m, err := newMachine(c)
	if err != nil {
		t.Fatal("newMachine(c):", err)
	}
	m.start()
	r, err := m.run()
	if err != nil {
		t.Fatal("m.run():", err)
	}
	s := m.sched.(*mailbox)
	if len(s.tickets) > 4*r.MaxLive {
		t.Errorf("%d tickets, for %d threads at a time", len(s.tickets), r.MaxLive)
	}
	for w := range s.mail {
		s.sweep(int32(w))
		if s.mail[w].size > 0 {
			t.Errorf("the mailbox of worker %d has a thread that has not run", w)
		}
	}
}

// Mail is as long under way as any message. A thread that a worker begins without having stolen or spawned it
// has come by mail.
func TestMailTakesItsTime(t *testing.T) {
	const latency = 9
	type spawn struct {
		worker int32
		at     int64
	}
	spawned := map[uint64]spawn{}
	stolen := map[uint64]bool{}
	mail := 0
	run(t, Config{
		Program: dag.Iterative{Rounds: 30, Blocks: 64}, Scheduler: "mailbox", Workers: 8, Seed: 3, Topology: Topology{{Groups: 8, Latency: latency}},
		Tell: func(e Event) {
			switch e.Kind {
			case Spawned:
				spawned[e.Thread] = spawn{e.Worker, e.Time}
			case Stole:
				stolen[e.Thread] = true
			case Began:
				s, first := spawned[e.Thread]
				delete(spawned, e.Thread)
				if !first || stolen[e.Thread] || s.worker == e.Worker {
					return
				}
				if mail++; e.Time < s.at+latency {
					t.Errorf("worker %d spawns a thread at step %d, and %d begins it at step %d", s.worker, s.at, e.Worker, e.Time)
				}
			}
		},
	})
	if mail == 0 {
		t.Error("no thread has come by mail")
	}
}
