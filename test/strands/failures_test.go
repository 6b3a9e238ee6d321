package strands

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/par"
	"github.com/filch-go/filch/strand"
)

// deed is what a faulty program does at a step.
type deed int

const (
	spawns deed = iota
	spawnsValue
	syncs
	polls
	does     // in a Do
	blocks   // in a Blocking
	nests    // spawns in a run of its own
	loops    // calls in a loop of par
	recovers // spawns and syncs, and goes on
	panics
	exits
	deeds
)

// faulty is a random program whose functions panic and exit. Each end has a name.
type faulty struct {
	name  string
	steps []faultyStep
	late  bool // spawns in a deferred call
}

type faultyStep struct {
	deed  deed
	child *faulty
}

// randomFaulty returns a program whose functions fail in so many of a hundred places where they may. Either some
// exit or some recover: what exits in a plain call ends those above it where they are.
func randomFaulty(rng *rand.Rand, ids *int, depth, risk int) *faulty {
	return randomBelow(rng, ids, depth, risk, rng.IntN(2) == 0)
}

func randomBelow(rng *rand.Rand, ids *int, depth, risk int, exit bool) *faulty {
	p := &faulty{name: fmt.Sprint("end ", *ids), late: rng.IntN(8) == 0}
	*ids++
	for range rng.IntN(8) {
		a := deed(rng.IntN(int(deeds)))
		if a >= panics && rng.IntN(100) >= risk {
			a = spawns
		}
		if a == exits && !exit {
			a = panics
		}
		if a == recovers && exit {
			a = spawns
		}
		st := faultyStep{deed: a}
		switch a {
		case spawns, spawnsValue, nests, recovers:
			if depth == 0 {
				continue
			}
			st.child = randomBelow(rng, ids, depth-1, risk, exit)
		}
		p.steps = append(p.steps, st)
	}
	return p
}

const exited = "exited"

// outcome returns how p ends: "" if it returns, the name of a panic, or exited.
func (p *faulty) outcome() (first string) {
	for _, st := range p.steps {
		switch st.deed {
		case spawns, spawnsValue:
			if first == "" {
				first = st.child.outcome()
			}
		case syncs:
			if first != "" {
				return first
			}
		case nests:
			if end := st.child.outcome(); end != "" {
				return or(first, end)
			}
		case recovers:
			first = "" // whatever the child has come to
		case panics:
			return or(first, p.name)
		case exits:
			return or(first, exited)
		}
	}
	return first
}

func or(first, end string) string {
	if first != "" {
		return first
	}
	return end
}

// faults are what the functions of one run share.
type faults struct {
	begun, ended atomic.Int64
	late         atomic.Int64 // functions that were spawned in deferred calls
	opts         []strand.Option
	log          *strand.Reducer[[]string] // nil: nothing is noted
	wrong        atomic.Int64              // results that were not there after a Sync
}

func (all *faults) note(s *strand.Strand, name string) {
	if all.log != nil {
		v := all.log.View(s)
		*v = append(*v, name)
	}
}

func (p *faulty) run(s *strand.Strand, all *faults) {
	all.begun.Add(1)
	defer all.ended.Add(1)
	if p.late {
		defer s.Spawn(func(*strand.Strand) { all.late.Add(1) })
	}
	all.note(s, p.name)
	var results []func() bool // of children, whether they are there
	for _, st := range p.steps {
		if is := p.step(st, s, all); is != nil {
			results = append(results, is)
		}
		for ; st.deed == syncs && len(results) > 0; results = results[1:] {
			if !results[0]() {
				all.wrong.Add(1)
			}
		}
	}
	all.note(s, p.name)
}

func (p *faulty) step(st faultyStep, s *strand.Strand, all *faults) (result func() bool) {
	child := func(s *strand.Strand) { st.child.run(s, all) }
	switch st.deed {
	case spawns:
		s.Spawn(child)
	case spawnsValue:
		v := strand.SpawnCall(s, func(s *strand.Strand, p *faulty) int { p.run(s, all); return len(p.name) }, st.child)
		return func() bool { return v.Get() == len(st.child.name) }
	case syncs:
		s.Sync()
	case polls:
		runtime.Gosched()
		s.Poll()
	case does:
		s.Do(func(w *filch.Worker) {
			w.Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) { runtime.Gosched() }, func(*filch.Worker) {}) })
		})
	case blocks:
		s.Blocking(runtime.Gosched)
	case nests:
		strand.Run(s, child, all.opts...)
	case loops:
		par.For(s, 20, func(int) {})
	case recovers:
		func() {
			defer func() { recover() }()
			s.Spawn(child)
			s.Sync()
		}()
	case panics:
		panic(p.name)
	case exits:
		runtime.Goexit()
	}
	return nil
}

// ends calls f on a goroutine, and returns how that ends, as outcome does.
func ends(f func()) (how string) {
	var wg sync.WaitGroup
	wg.Go(func() {
		how = exited
		if err := caught(func() { f(); how = "" }); err != nil {
			how = err.Error()
		}
	})
	wg.Wait()
	return how
}

func isOutcome(how, want string) bool {
	switch want {
	case "", exited:
		return how == want
	}
	line, _, _ := strings.Cut(how, "\n")
	return strings.HasSuffix(line, want)
}

// A run ends as the first of its functions has that has failed, in the serial order, whatever is stolen: by a panic or
// runtime.Goexit anywhere, under way in spawns, nested runs, deferred calls. All functions have ended then.
func TestTheFirstFailureCounts(t *testing.T) {
	seeds := uint64(300)
	if thorough.Sampled() || race.Enabled {
		seeds = 60
	}
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for seed := range seeds {
			ids := 0
			program := randomFaulty(rand.New(rand.NewPCG(seed, 5)), &ids, 5, int(seed)%50)
			all := &faults{opts: opts}
			how := ends(func() { strand.Run(p, func(s *strand.Strand) { program.run(s, all) }, opts...) })
			if want := program.outcome(); !isOutcome(how, want) {
				t.Fatalf("seed %d: %q and not %q", seed, how, want)
			}
			if b, e := all.begun.Load(), all.ended.Load(); b != e {
				t.Fatalf("seed %d: %d functions have begun, and %d ended", seed, b, e)
			}
		}
	})
}

// A context may end at any time. Then no function is left under way, and there is an error if and only if one was not called.
func TestAContextEndsMeanwhile(t *testing.T) {
	why := errors.New("enough")
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		for seed := range uint64(60) {
			ids := 0
			rng := rand.New(rand.NewPCG(seed, 6))
			program := randomFaulty(rng, &ids, 5, 0)
			all, whole := &faults{opts: opts}, &faults{opts: opts}
			strand.Run(p, func(s *strand.Strand) { program.run(s, whole) }, opts...)
			ctx, cancel := context.WithCancelCause(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() {
				for range rng.IntN(20) {
					runtime.Gosched()
				}
				cancel(why)
			})
			var err error
			how := ends(func() {
				err = strand.RunContext(ctx, p, func(s *strand.Strand) { program.run(s, all) }, opts...)
			})
			wg.Wait()
			b, e := all.begun.Load(), all.ended.Load()
			called, of := b+all.late.Load(), whole.begun.Load()+whole.late.Load()
			if how != "" || b != e || called < of && !errors.Is(err, why) || called == of && err != nil {
				t.Fatalf("seed %d: %q, %v, %d begun, %d ended; %d of %d were called", seed, how, err, b, e, called, of)
			}
		}
	})
}

// Close waits for a run, and in a strand it is an error, as in all that a pool runs.
func TestCloseWaitsForARunAndIsAnErrorInside(t *testing.T) {
	for way, opts := range ways {
		p := filch.New(filch.WithWorkers(2))
		var wg sync.WaitGroup
		begun := make(chan bool)
		var over atomic.Bool
		wg.Go(func() {
			strand.Run(p, func(s *strand.Strand) {
				s.Spawn(func(s *strand.Strand) {
					close(begun)
					fib(s, 15)
					if p.Close() == nil {
						t.Errorf("%s: Close inside returns no error", way)
					}
					over.Store(true)
				})
			}, opts...)
		})
		<-begun
		if err := p.Close(); err != nil || !over.Load() {
			t.Errorf("%s: %v, over %t", way, err, over.Load())
		}
		wg.Wait()
	}
}

// Strands fail in a bubble as elsewhere, and leave no goroutine there.
func TestFailuresInABubble(t *testing.T) {
	for way, opts := range ways {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(3))
			defer p.Close()
			for seed := range uint64(20) {
				ids := 0
				program := randomFaulty(rand.New(rand.NewPCG(seed, 7)), &ids, 4, 60)
				all := &faults{opts: opts}
				how := ends(func() { strand.Run(p, func(s *strand.Strand) { program.run(s, all) }, opts...) })
				if want := program.outcome(); !isOutcome(how, want) {
					t.Errorf("%s, seed %d: %q and not %q", way, seed, how, want)
				}
			}
		})
	}
}

// The context of a task may be used in a strand, on whichever worker that is.
func TestAStrandUsesTheContextOfATask(t *testing.T) {
	onPools(t, []int{1, 2, 8}, func(t *testing.T, p *filch.Pool, opts []strand.Option) {
		var sum atomic.Int64
		g := p.Group(t.Context())
		for range 10 {
			g.Go(func(ctx context.Context) error {
				strand.Run(filch.ScopeOf(ctx), func(s *strand.Strand) {
					for range 5 {
						s.Spawn(func(s *strand.Strand) {
							v, err := filch.Submit(ctx, p, func(context.Context) (int64, error) { return 1, nil }).Wait(ctx)
							if err != nil {
								t.Error("filch.Submit(ctx, p, …).Wait(ctx):", err)
							}
							sum.Add(v)
							filch.Blocking(ctx, runtime.Gosched)
						})
					}
				}, opts...)
				return nil
			})
		}
		if err := g.Wait(); err != nil || sum.Load() != 50 {
			t.Errorf("g.Wait(): %v, %d", err, sum.Load())
		}
	})
}

// A plain call that fails comes after a child that was really spawned before it and fails later.
func TestAPlainCallIsLaterThanARealSpawn(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var down func(s *strand.Strand, depth int)
	down = func(s *strand.Strand, depth int) {
		if depth > 0 {
			s.Spawn(func(s *strand.Strand) { down(s, depth-1) })
			return
		}
		for range 200 {
			var second atomic.Bool
			err := caught(func() {
				s.Spawn(func(*strand.Strand) {
					for n := 0; n < 50 && !second.Load(); n++ {
						runtime.Gosched()
					}
					panic("first")
				})
				s.Spawn(func(*strand.Strand) { panic("second") })
				second.Store(true)
				s.Sync()
			})
			if err == nil || !isOutcome(err.Error(), "first") {
				t.Errorf("caught(…): %v", err)
			}
		}
	}
	strand.Run(p, func(s *strand.Strand) { down(s, 30) })
}
