package strands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/strand"
)

// A storm is many runs of random programs at once, see faulty, on a pool that is resized meanwhile, and in
// some rounds closed. What is done follows from the seed; which of them is first does not.
//
// The environment may set FILCH_STORM to how long it takes, and FILCH_SEED to the seed of each round.
type storm struct {
	t       *testing.T
	seed    uint64
	pool    *filch.Pool
	closing atomic.Bool // Close has been called, or will be at once
	running atomic.Int64
}

// Each run ends as its program does in the serial order, with all functions ended, all results
// there and its list in that order; nothing is left when the pool has ended.
func TestEachRunEndsAsInTheSerialOrder(t *testing.T) {
	span := 2 * time.Second
	switch {
	case thorough.Sampled():
		span = 300 * time.Millisecond
	case os.Getenv("FILCH_LONG") != "":
		span = time.Minute
	}
	if v, ok := os.LookupEnv("FILCH_STORM"); ok {
		var err error
		if span, err = time.ParseDuration(v); err != nil {
			t.Fatal("FILCH_STORM: ", err)
		}
	}
	first, fixed := rand.Uint64(), false
	if v, ok := os.LookupEnv("FILCH_SEED"); ok {
		var err error
		if first, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatal("FILCH_SEED: ", err)
		}
		fixed = true
	}
	rounds := uint64(0)
	for start := time.Now(); time.Since(start) < span && !t.Failed(); rounds++ {
		s := &storm{t: t, seed: first}
		if !fixed {
			s.seed += rounds
		}
		s.round()
	}
	t.Logf("%d rounds", rounds)
}

func (s *storm) errorf(format string, args ...any) {
	s.t.Errorf("FILCH_SEED=%d: %s", s.seed, fmt.Sprintf(format, args...))
}

func (s *storm) round() {
	defer time.AfterFunc(time.Minute, func() {
		var stacks bytes.Buffer
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
		panic(fmt.Sprintf("FILCH_SEED=%d hangs\n%s", s.seed, stacks.String()))
	}).Stop()
	before := runtime.NumGoroutine()
	rng := rand.New(rand.NewPCG(s.seed, 8))
	opts := []filch.Option{filch.WithWorkers(1 + rng.IntN(8))}
	if rng.IntN(4) == 0 {
		opts = append(opts, filch.WithChecks())
	}
	if rng.IntN(4) == 0 && runtime.GOOS == "linux" {
		opts = append(opts, filch.WithAffinity(filch.Spread))
	}
	s.pool = filch.New(opts...)
	closes := rng.IntN(4) == 0

	var runs, others sync.WaitGroup
	for range 1 + rng.IntN(5) {
		seed := rng.Uint64()
		s.running.Add(1)
		runs.Go(func() {
			defer s.running.Add(-1)
			rng := rand.New(rand.NewPCG(seed, 9))
			for range 1 + rng.IntN(6) {
				s.run(rng)
			}
		})
	}
	others.Go(func() { s.disturb(rng, closes) })
	runs.Wait()
	others.Wait()
	s.pool.Close()
	s.isBalanced(before)
}

// disturb resizes the pool as long as something runs, and closes it if it is told so.
func (s *storm) disturb(rng *rand.Rand, closes bool) {
	resizes := rng.IntN(2) == 0
	for n := rng.IntN(200); s.running.Load() > 0 && (!closes || n > 0); n-- {
		if resizes {
			s.pool.Resize(1 + rng.IntN(8))
		}
		runtime.Gosched()
	}
	if closes {
		s.closing.Store(true)
		s.pool.Close() // waits for what has begun
	}
}

// isBalanced checks the accounts of the pool, which has ended, and that its goroutines have.
func (s *storm) isBalanced(before int) {
	if st := s.pool.Stats(); st.Active != 0 || st.Blocked != 0 || st.Published != st.TakenBack+st.Steals {
		s.errorf("left over: %+v", st)
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			var stacks bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			s.errorf("%d goroutines, and %d before\n%s", runtime.NumGoroutine(), before, stacks.String())
			return
		}
	}
}

// run runs a program once.
func (s *storm) run(rng *rand.Rand) {
	ids, risk := 0, 0
	if rng.IntN(2) == 0 {
		risk = rng.IntN(50)
	}
	program := randomFaulty(rng, &ids, 1+rng.IntN(5), risk)
	all := &faults{log: strand.NewAppend[string]()}
	if rng.IntN(2) == 0 {
		all.opts = append(all.opts, strand.Eager())
	}
	ctx, ended := context.Background(), func() {}
	if rng.IntN(3) == 0 {
		ctx, ended = s.endsAtAnyTime(rng.IntN(30))
	}
	var err error
	how := ends(func() {
		s.scope(rng, func(in filch.Scope) {
			err = strand.RunContext(ctx, in, func(s *strand.Strand) { program.run(s, all) }, all.opts...)
		})
	})
	closed := s.closing.Load()
	ended()
	if closed && all.begun.Load() == 0 && (strings.Contains(how, "closed") || errors.Is(err, filch.ErrClosed)) {
		return
	}
	s.check(program, all, how, err, ctx)
}

var errEnough = errors.New("enough")

// endsAtAnyTime returns a context, and what waits until it has ended.
func (s *storm) endsAtAnyTime(yields int) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for range yields {
			runtime.Gosched()
		}
		cancel(errEnough)
	})
	return ctx, wg.Wait
}

// scope calls f with one of the scopes that a run may be in.
func (s *storm) scope(rng *rand.Rand, f func(in filch.Scope)) {
	switch rng.IntN(3) {
	case 0:
		f(s.pool)
	case 1:
		s.pool.Do(func(w *filch.Worker) { f(w) })
	default: // on the worker that has taken it, or the caller's
		s.pool.Do(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) { runtime.Gosched() }, func(w *filch.Worker) { f(w) })
		})
	}
}

// check compares what a run has come to with the program.
func (s *storm) check(program *faulty, all *faults, how string, err error, ctx context.Context) {
	if b, e := all.begun.Load(), all.ended.Load(); b != e {
		s.errorf("%d functions have begun, and %d ended", b, e)
	}
	want := program.outcome()
	switch {
	case err != nil: // a function was not called, so that nothing else is known
		if !errors.Is(err, errEnough) {
			s.errorf("RunContext: %v", err)
		}
	case !isOutcome(how, want) && (ctx.Done() == nil || !program.fails()): // else what fails may not have been called
		s.errorf("the end is %q, not %q", how, want)
	case how == "" && !program.fails():
		if n := all.wrong.Load(); n != 0 {
			s.errorf("%d results are wrong", n)
		}
		var serial []string
		program.elision(func(name string) { serial = append(serial, name) })
		if list := all.log.Value(); !slices.Equal(list, serial) {
			s.errorf("not in serial order:\n%v\nbut\n%v", list, serial)
		}
	}
}

// fails reports whether a function of p may fail, also if that is recovered.
func (p *faulty) fails() bool {
	return slices.ContainsFunc(p.steps, func(st faultyStep) bool {
		return st.deed == panics || st.deed == exits || st.child != nil && st.child.fails()
	})
}

// elision is what p notes in the serial order.
func (p *faulty) elision(note func(name string)) {
	note(p.name)
	for _, st := range p.steps {
		if st.child != nil {
			st.child.elision(note)
		}
	}
	note(p.name)
}
