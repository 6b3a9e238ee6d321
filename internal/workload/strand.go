package workload

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/strand"
)

// Strands are the programs that package strand is measured by. They are measured on OnStrands if
// nothing else is asked for. Peak memory counts most in spawns: it comes first, before others have
// left anything.
var Strands = []*Workload{spawns, fib, nqueens, uts, mergesort}

// OnStrands are the executors for Strands. A pool keeps memory for as many forks as there ever
// were, and the runtime for as many goroutines, which is in the peaks of what runs later. So these come last.
var OnStrands = []string{"serial", "strand", "strand-closure", "strand-eager", "filch", "goroutine"}

var errNoStrands = errors.New("not run: not written with strands")

func inStrand(j *Job) (func(s filch.Scope) string, error) { return inRun(j.Strand) }

func inStrandClosure(j *Job) (func(s filch.Scope) string, error) { return inRun(j.StrandClosure) }

func inStrandEager(j *Job) (func(s filch.Scope) string, error) {
	return inRun(j.Strand, strand.Eager())
}

func inRun(form func(s *strand.Strand) string, opts ...strand.Option) (func(s filch.Scope) string, error) {
	if form == nil {
		return nil, errNoStrands
	}
	return func(s filch.Scope) (answer string) {
		strand.Run(s, func(s *strand.Strand) { answer = form(s) }, opts...)
		return answer
	}, nil
}

// spawns is a loop that gets ahead of its children, if it is let.
var spawns = &Workload{
	Name:    "spawns",
	About:   "a loop that spawns children which do next to nothing: how many are open at a time",
	Sizes:   []string{"100000", "1000000"},
	Default: []Default{{Size: "100000"}},
	Strand:  "1000000",
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("spawns", size, 1, 1e8)
		if err != nil {
			return nil, err
		}
		var most atomic.Int64 // of the last run
		run := func(form func(l *spawnLoop)) string {
			l := &spawnLoop{n: n}
			form(l)
			most.Store(l.most)
			return l.answer()
		}
		return &Job{
			Want:  fmt.Sprintf("%d children", n),
			Forks: int64(n),
			Open:  most.Load,
			Serial: func() string {
				return run(func(l *spawnLoop) {
					for range l.spawns {
						l.child()
					}
				})
			},
			Func: func(p filch.Scope) string { return run(func(l *spawnLoop) { p.Do(l.fork) }) },
			Goroutines: func(int) string {
				return run(func(l *spawnLoop) {
					var wg sync.WaitGroup
					for range l.spawns {
						wg.Go(l.child)
					}
					wg.Wait()
				})
			},
			Loops: func(each Each) string {
				return run(func(l *spawnLoop) { each(l.n, func(int) { l.child() }) })
			},
			Strand: func(s *strand.Strand) string {
				return run(func(l *spawnLoop) {
					for range l.spawns {
						strand.SpawnCall(s, strandChild, l)
					}
					s.Sync()
				})
			},
			StrandClosure: func(s *strand.Strand) string {
				return run(func(l *spawnLoop) {
					for range l.spawns {
						s.Spawn(func(*strand.Strand) { l.child() })
					}
					s.Sync()
				})
			},
		}, nil
	},
}

// spawnLoop is a loop of n spawns under way.
type spawnLoop struct {
	n    int
	most int64        // children that were open at a time: spawned, and not ended; the loop writes
	_    [48]byte     // so that the loop's line is its own
	done atomic.Int64 // children that have ended; they add, the loop loads
}

// spawns yields before each spawn.
func (l *spawnLoop) spawns(yield func() bool) {
	for i := range int64(l.n) {
		l.most = max(l.most, i+1-l.done.Load())
		if !yield() {
			return
		}
	}
}

func (l *spawnLoop) child() { l.done.Add(1) }

func (l *spawnLoop) answer() string { return fmt.Sprintf("%d children", l.done.Load()) }

func strandChild(_ *strand.Strand, l *spawnLoop) struct{} {
	l.child()
	return struct{}{}
}

var childFunc = filch.NewFunc(func(_ *filch.Frame[*spawnLoop, struct{}], l *spawnLoop) struct{} {
	l.child()
	return struct{}{}
})

func (l *spawnLoop) fork(w *filch.Worker) {
	childFunc.On(w, func(f *filch.Frame[*spawnLoop, struct{}]) {
		m := f.Mark()
		for range l.spawns {
			f.Fork(l)
		}
		for range m.JoinAll {
		}
	})
}
