package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/filch-go/filch/internal/explore/sched"
	filch "github.com/filch-go/filch/internal/explore/subject"
	"github.com/filch-go/filch/internal/explore/subject/strand"
)

// strandProgram is one run of strands on a pool of so many workers.
type strandProgram struct {
	name    string
	workers int
	bound   int // preemptions; where children and parents meet, one goes first without them, in a program of its own
	want    ran
	body    func(s *strand.Strand, n *trial)
	how     strandForm
	meets   bool // as Run.Meets
}

// strandForm is what is not the same in all strandPrograms. Its zero value: all spawns are real, and the run returns.
type strandForm struct {
	lazy bool
	ends string // the panic that the run ends by, or exits
	text string // what is written, in this order
	over bool   // the context may end at any time
	once bool   // meeting it is too large, but for -deep
}

const exits = "runtime.Goexit"

// trial is what the functions of one run share.
type trial struct {
	ran
	text *strand.Reducer[strand.Text]
	over sched.Bool // the context has ended
}

// writes writes to the view of s.
func (n *trial) writes(s filch.Scope, text string) {
	v := n.text.View(s)
	sched.Writes(v)
	_, _ = v.WriteString(text)
}

// trial is a context, each look at which is a step.
func (n *trial) Deadline() (none time.Time, ok bool) { return none, false }
func (n *trial) Done() <-chan struct{}               { return never }
func (n *trial) Value(any) any                       { return nil }
func (n *trial) Err() error {
	if n.over.Load() {
		return context.Canceled
	}
	return nil
}

var never = make(chan struct{})

// counts returns what counts one more.
func counts(n *trial, i int) func(s *strand.Strand) {
	return func(*strand.Strand) { n.did(i) }
}

func (n *ran) did(i int) {
	sched.Writes(&n[i])
	n[i]++
}

// after waits for as many children, which have done one thing each.
func after(s *strand.Strand, n *trial, k int) {
	s.Sync()
	n.read(k)
}

func spawnOne(s *strand.Strand, n *trial) {
	s.Spawn(counts(n, 0))
	after(s, n, 1)
}

func spawnTwo(s *strand.Strand, n *trial) {
	s.Spawn(counts(n, 0))
	s.Spawn(counts(n, 1))
	after(s, n, 2)
}

// One child spawns, and waits for nobody itself: it ends with a Sync.
func spawnDeep(s *strand.Strand, n *trial) {
	s.Spawn(func(s *strand.Strand) {
		s.Spawn(counts(n, 0))
		counts(n, 1)(s)
	})
	after(s, n, 2)
}

// The strand spawns anew after a Sync.
func spawnTwice(s *strand.Strand, n *trial) {
	s.Spawn(counts(n, 0))
	after(s, n, 1)
	s.Spawn(counts(n, 1))
	after(s, n, 2)
}

// The caller is stolen, and waits; the child ends only then, and goes on with it.
func stalls(s *strand.Strand, n *trial) {
	var stolen sched.Bool
	s.Spawn(func(s *strand.Strand) {
		waitFor(s, &stolen)
		counts(n, 0)(s)
	})
	stolen.Store(true)
	after(s, n, 1)
}

// The same, and the child asks nobody.
func stallsAtOnce(s *strand.Strand, n *trial) {
	var stolen sched.Bool
	s.Spawn(func(s *strand.Strand) {
		await(&stolen)
		n.did(0)
	})
	stolen.Store(true)
	after(s, n, 1)
}

// The same after two calls, while the other worker has asked in vain.
func asked(s *strand.Strand, n *trial) {
	s.Spawn(counts(n, 1))
	s.Spawn(counts(n, 2))
	sched.Advance(seldom)
	stallsAtOnce(s, n)
	n.read(3)
}

// The same when the caller has run for long.
func due(s *strand.Strand, n *trial) {
	sched.Advance(price)
	stallsAtOnce(s, n)
}

// The same in a call, below which is the caller of that.
func askedInACall(s *strand.Strand, n *trial) {
	s.Spawn(func(s *strand.Strand) {
		sched.Advance(seldom)
		stallsAtOnce(s, n)
		n.did(1)
	})
	after(s, n, 2)
}

const (
	seldom = 1000 // ns between spawns, of which each may be real
	price  = 4000 // ns that pay for a real spawn
)

// The caller is stolen from each of two children.
func stallsForTwo(s *strand.Strand, n *trial) {
	var stolen [2]sched.Bool
	for i := range stolen {
		s.Spawn(func(s *strand.Strand) {
			waitFor(s, &stolen[i])
			counts(n, i)(s)
		})
		stolen[i].Store(true)
	}
	after(s, n, 2)
}

func waitFor(s *strand.Strand, b *sched.Bool) {
	for seen := sched.Seen(); !b.Load(); seen = sched.Seen() {
		s.Poll()
		sched.Await(seen)
	}
}

func await(b *sched.Bool) {
	for seen := sched.Seen(); !b.Load(); seen = sched.Seen() {
		sched.Await(seen)
	}
}

// Two results of one type: what is stolen spawns the second while the first may not have begun.
func spawnValue(s *strand.Strand, n *trial) {
	count := func(s *strand.Strand, i int) int {
		counts(n, i)(s)
		return i + 7
	}
	a := strand.SpawnCall(s, count, 0)
	b := strand.SpawnCall(s, count, 1)
	s.Sync()
	if a, b := a.Get(), b.Get(); a != 7 || b != 8 {
		panic(fmt.Sprintf("wrong results: %d, %d", a, b))
	}
}

func runInside(s *strand.Strand, n *trial) {
	s.Spawn(func(s *strand.Strand) {
		strand.Run(s, func(s *strand.Strand) { spawnOne(s, n) }, strand.Eager())
		n.read(1)
	})
	after(s, n, 1)
}

// A child fails, and the caller is told.
func fails(s *strand.Strand, n *trial) {
	defer func() {
		if recover() == nil {
			panic("the failure of a child was lost")
		}
		n.did(0)
	}()
	s.Spawn(func(*strand.Strand) { panic("fails") })
	s.Sync()
}

// The child of a child fails, and nobody minds before the run does.
func failsDeep(s *strand.Strand, n *trial) {
	s.Spawn(func(s *strand.Strand) {
		s.Spawn(func(*strand.Strand) { panic("deep") })
		n.did(0)
	})
	n.did(1)
}

// Both fail, a child that is not at its end when the caller is stolen, and then one that is a call. The first in the
// serial order counts.
func bothFail(s *strand.Strand, n *trial) {
	var stolen sched.Bool
	sched.Advance(price)
	s.Spawn(func(s *strand.Strand) {
		waitFor(s, &stolen)
		n.did(0)
		panic("first")
	})
	stolen.Store(true)
	s.Spawn(func(*strand.Strand) { panic("second") })
}

// The caller ends by what fails, when it was stolen: not before its child has ended.
func endsBy(fails func(s *strand.Strand)) func(s *strand.Strand, n *trial) {
	return func(s *strand.Strand, n *trial) {
		var stolen sched.Bool
		s.Spawn(func(s *strand.Strand) {
			waitFor(s, &stolen)
			n.did(0)
		})
		stolen.Store(true)
		fails(s)
	}
}

// A child of the caller does.
func childEndsBy(fails func(s *strand.Strand)) func(s *strand.Strand, n *trial) {
	return func(s *strand.Strand, n *trial) {
		s.Spawn(func(s *strand.Strand) {
			n.did(0)
			fails(s)
		})
		n.did(1)
	}
}

// A child does, and has one itself that it waits for.
func childEndsLate(fails func(s *strand.Strand)) func(s *strand.Strand, n *trial) {
	return func(s *strand.Strand, n *trial) {
		s.Spawn(func(s *strand.Strand) { endsBy(fails)(s, n) })
		n.did(1)
	}
}

func failsHere(*strand.Strand)    { panic("here") }
func failsInDo(s *strand.Strand)  { s.Do(func(*filch.Worker) { panic("in Do") }) }
func failsInRun(s *strand.Strand) { strand.Run(s, func(*strand.Strand) { panic("in Run") }) }
func failsInBlocking(s *strand.Strand) {
	s.Blocking(func() { panic("in Blocking") })
}

func exitsHere(*strand.Strand) { runtime.Goexit() }

// A plain call exits, and with it the caller, which is on the same stack.
func callExits(s *strand.Strand, n *trial) {
	s.Spawn(func(s *strand.Strand) {
		sched.Advance(seldom)
		endsBy(exitsHere)(s, n)
	})
	n.did(1) // not done
}

// Each child is spawned before the context ends, or not at all.
func spawnUnlessOver(s *strand.Strand, n *trial) {
	for i := range 2 {
		over := n.over.Load()
		s.Spawn(func(s *strand.Strand) {
			if n.did(i); over {
				panic("spawned after the end")
			}
		})
	}
}

// A child blocks until the caller has gone on, on another worker.
func blocks(s *strand.Strand, n *trial) {
	var there sched.Bool
	s.Spawn(func(s *strand.Strand) {
		s.Blocking(func() { await(&there) })
		n.did(0)
	})
	there.Store(true)
	after(s, n, 1)
}

// What is written is in the serial order: before, by the child, by the caller meanwhile, and after.
func writes(s *strand.Strand, n *trial) {
	n.writes(s, "a")
	s.Spawn(func(s *strand.Strand) { n.writes(s, "b") })
	n.writes(s, "c")
	s.Sync()
	n.writes(s, "d")
}

// The same for two children.
func writeTwo(s *strand.Strand, n *trial) {
	writes := func(text string) func(s *strand.Strand) {
		return func(s *strand.Strand) { n.writes(s, text) }
	}
	s.Spawn(writes("a"))
	n.writes(s, "b")
	s.Spawn(writes("c"))
	n.writes(s, "d")
}

// The caller was stolen, and waits; so did its child.
func writeDeep(s *strand.Strand, n *trial) {
	var stolen [2]sched.Bool
	s.Spawn(func(s *strand.Strand) {
		n.writes(s, "a")
		s.Spawn(func(s *strand.Strand) {
			waitFor(s, &stolen[0])
			n.writes(s, "b")
		})
		stolen[0].Store(true)
		n.writes(s, "c")
		s.Sync()
		n.writes(s, "d")
	})
	n.writes(s, "e")
	s.Sync()
	n.writes(s, "f")
}

// The caller waits, and its child goes on with it.
func writeAndStall(s *strand.Strand, n *trial) {
	var stolen sched.Bool
	n.writes(s, "a")
	s.Spawn(func(s *strand.Strand) {
		n.writes(s, "b")
		waitFor(s, &stolen)
		n.writes(s, "c")
	})
	stolen.Store(true)
	n.writes(s, "d")
	s.Sync()
	n.writes(s, "e")
}

var strandPrograms = []strandProgram{
	{"a child, one worker", 1, 2, ran{1}, spawnOne, strandForm{}, false},
	{"nested, one worker", 1, 2, ran{1, 1}, spawnDeep, strandForm{}, false},
	{"a child", 2, 1, ran{1}, spawnOne, strandForm{}, false},
	{"two children", 2, 1, ran{1, 1}, spawnTwo, strandForm{}, false},
	{"nested", 2, 1, ran{1, 1}, spawnDeep, strandForm{}, false},
	{"one after the other", 2, 0, ran{1, 1}, spawnTwice, strandForm{}, false},
	{"stalls", 2, 1, ran{1}, stalls, strandForm{}, false},
	{"stalls for two", 2, 0, ran{1, 1}, stallsForTwo, strandForm{}, false},
	{"two results", 2, 1, ran{1, 1}, spawnValue, strandForm{}, false},
	{"a run inside", 2, 0, ran{1}, runInside, strandForm{}, false},
	{"blocking, one worker", 1, 1, ran{1}, blocks, strandForm{}, false},

	{"lazy/asked", 2, 0, ran{1, 1, 1}, asked, strandForm{lazy: true}, false},
	{"lazy/credit", 2, 0, ran{1}, due, strandForm{lazy: true}, false},
	{"lazy/in a call", 2, 0, ran{1, 1}, askedInACall, strandForm{lazy: true}, false},

	{"failure/recovered", 2, 0, ran{1}, fails, strandForm{}, false},
	{"failure/deep", 2, 0, ran{1, 1}, failsDeep, strandForm{ends: "deep"}, false},
	{"failure/of two", 2, 0, ran{1}, bothFail, strandForm{lazy: true, ends: "first"}, false},
	{"failure/of the caller", 2, 0, ran{1}, endsBy(failsHere), strandForm{ends: "here"}, false},
	{"failure/of a call", 2, 0, ran{1, 1}, childEndsBy(failsHere), strandForm{lazy: true, ends: "here"}, false},
	{"failure/of a child that waits", 2, 0, ran{1, 1}, childEndsLate(failsHere), strandForm{ends: "here", once: true}, false},
	{"failure/in Do", 2, 0, ran{1}, endsBy(failsInDo), strandForm{ends: "in Do"}, false},
	{"failure/in Blocking", 2, 0, ran{1}, endsBy(failsInBlocking), strandForm{ends: "in Blocking"}, false},
	{"failure/in a run inside, one worker", 1, 1, ran{1, 1}, childEndsBy(failsInRun), strandForm{ends: "in Run"}, false},

	{"exit/a child, one worker", 1, 1, ran{1, 1}, childEndsBy(exitsHere), strandForm{ends: exits}, false},
	{"exit/a child", 2, 0, ran{1, 1}, childEndsBy(exitsHere), strandForm{ends: exits}, false},
	{"exit/the caller", 2, 0, ran{1}, endsBy(exitsHere), strandForm{ends: exits}, false},
	{"exit/a child that waits", 2, 0, ran{1, 1}, childEndsLate(exitsHere), strandForm{ends: exits, once: true}, false},
	{"exit/a call", 2, 0, ran{1}, callExits, strandForm{lazy: true, ends: exits}, false},

	{"context", 2, 0, ran{1, 1}, spawnUnlessOver, strandForm{over: true, once: true}, false},
	{"context, lazy", 2, 1, ran{1, 1}, spawnUnlessOver, strandForm{over: true, lazy: true, once: true}, false},

	{"views/a child", 2, 0, ran{}, writes, strandForm{text: "abcd"}, false},
	{"views/two children", 2, 0, ran{}, writeTwo, strandForm{text: "abcd"}, false},
	{"views/stalls", 2, 0, ran{}, writeAndStall, strandForm{text: "abcde"}, false},
	{"views/both stall", 2, 0, ran{}, writeDeep, strandForm{text: "abcdef", once: true}, false},
}

func init() {
	parts = append(parts, func(deep, _ bool) (all []program) {
		for _, p := range strandPrograms {
			more := 0
			if deep {
				more = 1
			}
			all = append(all, program{"strand/" + p.name, p.explored, p.bound + more})
			if p.workers > 1 && p.name != "a run inside" && (deep || !p.how.once) {
				p.meets = true
				all = append(all, program{"strand/" + p.name + ", meeting", p.explored, more})
			}
		}
		return all
	})
}

func (q strandProgram) explored(r *sched.Run) func() error {
	p := filch.New(filch.WithWorkers(q.workers), filch.WithStallTimeout(0))
	n := &trial{text: strand.NewText()}
	r.Meets = q.meets
	r.Go(func() { q.run(r, p, n) })
	if q.how.over {
		r.Go(func() { n.over.Store(true) })
	}
	return func() error {
		if s := p.Stats(); s.Active != 0 || s.Searching != 0 || s.Blocked != 0 || s.Tasks.Queued != 0 {
			return fmt.Errorf("left over at rest: %+v", s)
		}
		if forks := p.Stats(); forks.Published != forks.TakenBack+forks.Steals {
			return fmt.Errorf("left over at rest: of %d published, %d were taken back and %d stolen", forks.Published, forks.TakenBack, forks.Steals)
		}
		return nil
	}
}

// run runs the strands, and looks at what they have come to.
func (q strandProgram) run(r *sched.Run, p *filch.Pool, n *trial) {
	var opts []strand.Option
	if !q.how.lazy {
		opts = append(opts, strand.Eager())
	}
	ctx := context.Background()
	if q.how.over {
		ctx = n
	}
	var err error
	ends := exits
	defer func() {
		if v := recover(); v != nil {
			failure, ok := v.(*filch.PanicError)
			if !ok {
				panic(v)
			}
			ends = fmt.Sprint(failure.Value)
		}
		n.read(len(n.ran))
		if all := n.ran == q.want; all != (err == nil) {
			r.Fail("not done exactly once: %v, not %v; %v", n.ran, q.want, err)
		}
		if ends != q.how.ends {
			r.Fail("wrong end: %q, not %q", ends, q.how.ends)
		}
		if text := n.text.Value().String(); ends == "" && text != q.how.text {
			r.Fail("not in serial order: %q, not %q", text, q.how.text)
		}
		if left := r.Coroutines(); left != 0 {
			r.Fail("left over after the run: %d carriers", left)
		}
	}()
	err = strand.RunContext(ctx, p, func(s *strand.Strand) { q.body(s, n) }, opts...)
	ends = ""
}
