package sim

import (
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// What a View shows are threads that are ready and that no worker runs, each in one queue.
func TestViewShowsReadyThreads(t *testing.T) {
	for _, name := range Schedulers() {
		c := Config{Program: dag.Fib(12), Scheduler: name, Workers: 4, Seed: 3}
		shown := 0
		c.Watch = func(v View) {
			seen := map[uint64]bool{}
			for w := range int32(5) {
				for i := range v.Queued(w - 1) {
					path, ok := v.Waiting(w-1, i)
					if !ok && name == "mailbox" {
						continue
					}
					if !ok || seen[path] {
						t.Fatalf("%s, step %d: a thread is in two queues, or gone", name, v.Time())
					}
					seen[path] = true
				}
			}
			for _, th := range v.m.threads {
				if seen[th.Path] && th.state != gone {
					delete(seen, th.Path)
					shown++
					if th.state != ready {
						t.Fatalf("%s, step %d: a queue has a thread that is %v", name, v.Time(), th.state)
					}
				}
			}
			if len(seen) > 0 {
				t.Fatalf("%s, step %d: queues have %d threads that there are not", name, v.Time(), len(seen))
			}
		}
		run(t, c)
		if shown == 0 {
			t.Errorf("%s: all queues were empty", name)
		}
	}
}

// Forks of the pool are private until they are asked for, and those that are not are what thieves find.
func TestViewShowsWhatIsPrivate(t *testing.T) {
	private, public := 0, 0
	c := Config{Program: dag.Fib(12), Scheduler: "pool", Workers: 4, Seed: 3}
	c.Watch = func(v View) {
		for w := range int32(4) {
			n := v.Private(w)
			private += n
			public += v.Queued(w) - n
			if in := int(v.m.deques[w].size); v.Queued(w)-n != in {
				t.Fatalf("step %d: thieves find %d threads, and the view has %d", v.Time(), in, v.Queued(w)-n)
			}
		}
	}
	run(t, c)
	if private == 0 || public == 0 {
		t.Errorf("%d places were private, and %d were not", private, public)
	}
}

// At each time the queues of child stealing have all that is ready, but for what a thief has in its hands.
func TestViewShowsAll(t *testing.T) {
	for _, name := range []string{"child", "continuation", "abp"} {
		c := Config{Program: dag.Fib(10), Scheduler: name, Workers: 3, Seed: 2}
		c.Watch = func(v View) {
			all, in := 0, 0
			for _, th := range v.m.threads {
				if th.state == ready {
					all++
				}
			}
			for w := range v.m.workers {
				in += v.Queued(int32(w))
				if v.m.begins[w] {
					in++
				}
			}
			if in != all {
				t.Fatalf("%s, step %d: %d threads are ready, and %d are shown", name, v.Time(), all, in)
			}
		}
		run(t, c)
	}
}
