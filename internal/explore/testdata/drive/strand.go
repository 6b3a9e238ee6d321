package main

import (
	"fmt"

	"github.com/filch-go/filch/internal/explore/sched"
	filch "github.com/filch-go/filch/internal/explore/subject"
	"github.com/filch-go/filch/internal/explore/subject/strand"
)

// strandProgram is one run of strands, whose spawns are all real, on a pool of so many workers.
type strandProgram struct {
	name    string
	workers int
	bound   int // preemptions; where children and parents meet, one goes first without them, in a program of its own
	want    ran
	body    func(s *strand.Strand, n *ran)
	meets   bool // as Run.Meets
}

// counts returns what counts one more.
func counts(n *ran, i int) func(s *strand.Strand) {
	return func(*strand.Strand) {
		sched.Writes(&n[i])
		n[i]++
	}
}

// after waits for as many children, which have done one thing each.
func after(s *strand.Strand, n *ran, k int) {
	s.Sync()
	n.read(k)
}

func spawnOne(s *strand.Strand, n *ran) {
	s.Spawn(counts(n, 0))
	after(s, n, 1)
}

func spawnTwo(s *strand.Strand, n *ran) {
	s.Spawn(counts(n, 0))
	s.Spawn(counts(n, 1))
	after(s, n, 2)
}

// One child spawns, and waits for nobody itself: it ends with a Sync.
func spawnDeep(s *strand.Strand, n *ran) {
	s.Spawn(func(s *strand.Strand) {
		s.Spawn(counts(n, 0))
		counts(n, 1)(s)
	})
	after(s, n, 2)
}

// The strand spawns anew after a Sync.
func spawnTwice(s *strand.Strand, n *ran) {
	s.Spawn(counts(n, 0))
	after(s, n, 1)
	s.Spawn(counts(n, 1))
	after(s, n, 2)
}

// The caller is stolen, and waits; the child ends only then, and goes on with it.
func stalls(s *strand.Strand, n *ran) {
	var stolen sched.Bool
	s.Spawn(func(s *strand.Strand) {
		waitFor(s, &stolen)
		counts(n, 0)(s)
	})
	stolen.Store(true)
	after(s, n, 1)
}

// The caller is stolen from each of two children.
func stallsForTwo(s *strand.Strand, n *ran) {
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

func spawnValue(s *strand.Strand, n *ran) {
	v := strand.SpawnCall(s, func(s *strand.Strand, i int) int {
		counts(n, i)(s)
		return i + 7
	}, 0)
	s.Sync()
	if got := v.Get(); got != 7 {
		panic(fmt.Sprintf("wrong result: %d", got))
	}
}

func runInside(s *strand.Strand, n *ran) {
	s.Spawn(func(s *strand.Strand) {
		strand.Run(s, func(s *strand.Strand) { spawnOne(s, n) }, strand.Eager())
		n.read(1)
	})
	after(s, n, 1)
}

// A child fails, and the caller is told.
func fails(s *strand.Strand, n *ran) {
	defer func() {
		if recover() == nil {
			panic("the failure of a child was lost")
		}
		counts(n, 0)(s)
	}()
	s.Spawn(func(*strand.Strand) { panic("fails") })
	s.Sync()
}

var strandPrograms = []strandProgram{
	{"a child, one worker", 1, 2, ran{1}, spawnOne, false},
	{"nested, one worker", 1, 2, ran{1, 1}, spawnDeep, false},
	{"a child", 2, 1, ran{1}, spawnOne, false},
	{"two children", 2, 1, ran{1, 1}, spawnTwo, false},
	{"nested", 2, 1, ran{1, 1}, spawnDeep, false},
	{"one after the other", 2, 0, ran{1, 1}, spawnTwice, false},
	{"stalls", 2, 1, ran{1}, stalls, false},
	{"stalls for two", 2, 0, ran{1, 1}, stallsForTwo, false},
	{"a result", 2, 0, ran{1}, spawnValue, false},
	{"a failure", 2, 0, ran{1}, fails, false},
	{"a run inside", 2, 0, ran{1}, runInside, false},
}

func init() {
	parts = append(parts, func(deep, _ bool) (all []program) {
		for _, p := range strandPrograms {
			more := 0
			if deep {
				more = 1
			}
			all = append(all, program{"strand/" + p.name, p.explored, p.bound + more})
			if p.workers > 1 && p.name != "a run inside" {
				p.meets = true
				all = append(all, program{"strand/" + p.name + ", meeting", p.explored, more})
			}
		}
		return all
	})
}

func (q strandProgram) explored(r *sched.Run) func() error {
	p := filch.New(filch.WithWorkers(q.workers), filch.WithStallTimeout(0))
	n := &ran{}
	r.Meets = q.meets
	r.Go(func() {
		strand.Run(p, func(s *strand.Strand) { q.body(s, n) }, strand.Eager())
		if *n != q.want {
			r.Fail("not done exactly once: %v, not %v", *n, q.want)
		}
		if left := r.Coroutines(); left != 0 {
			r.Fail("left over after the run: %d carriers", left)
		}
	})
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
