package limits

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
)

// slotsCase is a tree of tasks under limits. Each task submits two others, and waits for them.
type slotsCase struct {
	limit    string // which one there is beside the slots of the Subpool
	n        int    // of it
	overflow filch.Overflow
	slots    int // of the Subpool
	shape    string
	depth    int
	workers  int
	outside  bool // every other level is of no Subpool
	seed     uint64
}

func (c slotsCase) String() string {
	return fmt.Sprintf("%s=%d,%v,slots=%d,%s,depth=%d,workers=%d,outside=%t,seed=%d", c.limit, c.n, c.overflow, c.slots, c.shape, c.depth, c.workers, c.outside, c.seed)
}

// allSlotsCases returns one of each.
func allSlotsCases() (all []slotsCase) {
	for _, limit := range []string{"pool's tasks", "pool's queue", "Subpool's queue", "group's tasks", "all"} {
		for _, overflow := range rig.Overflows {
			for _, shape := range []string{"Submit", "Group", "one Group", "After", "Memo", "Promise"} {
				for depth := 1; depth <= 7; depth++ {
					for workers := 1; workers <= 8; workers++ {
						seed := uint64(len(all))
						rng := rand.New(rand.NewPCG(seed, 0))
						all = append(all, slotsCase{limit, 1 + rng.IntN(4), overflow, 1 + rng.IntN(3), shape, depth, workers, rng.IntN(2) == 0, seed})
					}
				}
			}
		}
	}
	return all
}

// Whatever limits there are, and however tasks wait for those that they submit, all of them end, and nothing is left over.
// Some cases are run, or those of FILCH_SEED; in the long form, all.
func TestNestedTasksEndUnderAnyLimits(t *testing.T) {
	all := allSlotsCases()
	if !rig.LongForm() {
		seed := uint64(time.Now().UnixNano())
		if s := os.Getenv("FILCH_SEED"); s != "" {
			seed, _ = strconv.ParseUint(s, 10, 64)
		}
		t.Logf("FILCH_SEED=%d", seed)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		n := 200
		if thorough.Sampled() {
			n = 40
		}
		all = all[:n]
	}
	for _, c := range all {
		t.Run(c.String(), func(t *testing.T) { synctest.Test(t, c.run) })
	}
}

// slotsTree is a run of a case.
type slotsTree struct {
	slotsCase
	t    *testing.T
	p    *filch.Pool
	sub  *filch.Subpool
	memo *filch.Memo[int, int]
	one  *filch.Group

	begun, leaves atomic.Int64
}

func (c slotsCase) run(t *testing.T) {
	s := &slotsTree{slotsCase: c, t: t}
	opts := []filch.Option{filch.WithWorkers(c.workers), filch.WithStallTimeout(0)}
	if c.limit == "pool's tasks" || c.limit == "all" {
		opts = append(opts, filch.WithTaskLimit(c.n, c.overflow))
	}
	if c.limit == "pool's queue" || c.limit == "all" {
		opts = append(opts, filch.WithQueueLimit(c.n, c.overflow))
	}
	s.p = filch.New(opts...)
	opts = []filch.Option{filch.WithOrder([]filch.Order{filch.LIFO, filch.FIFO}[c.seed%2])}
	if c.limit == "Subpool's queue" || c.limit == "all" {
		opts = append(opts, filch.WithQueueLimit(c.n, c.overflow))
	}
	s.sub = s.p.Subpool(c.slots, opts...)
	s.memo = filch.NewMemo(s.p, func(ctx context.Context, depth int) (int, error) { return s.both(ctx, depth) })
	s.one = s.p.Group(context.Background(), s.groupOptions()...)

	got, err := filch.Submit(context.Background(), s.p, func(ctx context.Context) (int, error) { return s.node(ctx, c.depth) }, s.sub).Wait(context.Background())
	want := 1 << c.depth
	if c.shape == "one Group" {
		err = errors.Join(err, s.one.Wait())
		got = int(s.leaves.Load())
	}
	if got != want || err != nil {
		t.Errorf("a tree of %d leaves came to %d, %v", want, got, err)
	}
	s.p.Close()
	if st := s.p.Stats().Tasks; s.sub.Running() != 0 || s.sub.Queued() != 0 || st.Submitted != st.Done+st.Cancelled || st.Held != 0 || st.Waiting != 0 {
		t.Errorf("in the end %d run in the Subpool and %d wait, and the pool has %+v", s.sub.Running(), s.sub.Queued(), st)
	}
	if c.limit == "pool's tasks" || c.limit == "all" {
		if n := rig.Inside(s.p).Slots.Taken(); n != 0 {
			t.Errorf("in the end %d tasks have a slot of the pool, not 0", n)
		}
	}
	if c.limit == "Subpool's queue" || c.limit == "all" {
		if n := rig.InsideSubpool(s.sub).Room.Taken(); n != 0 {
			t.Errorf("in the end %d tasks have room in the Subpool, not 0", n)
		}
	}
}

func (s *slotsTree) groupOptions() (all []filch.GroupOption) {
	if s.limit == "group's tasks" || s.limit == "all" {
		all = append(all, filch.GroupLimit(s.n))
	}
	return all
}

// options returns those of a task that is depth above the leaves.
func (s *slotsTree) options(depth int, more ...filch.TaskOption) []filch.TaskOption {
	if s.outside && depth%2 == 1 {
		return more
	}
	return append(more, s.sub)
}

// node is what each task does.
func (s *slotsTree) node(ctx context.Context, depth int) (int, error) {
	s.begun.Add(1)
	if s.seed%3 > 0 { // so that others run in between
		time.Sleep(time.Duration(1+(s.seed+uint64(s.begun.Load()))%3) * time.Microsecond)
	}
	switch {
	case depth == 0:
		s.leaves.Add(1)
		return 1, nil
	case s.shape == "Memo":
		return s.memo.Get(ctx, depth)
	}
	return s.both(ctx, depth)
}

// both has two tasks that are depth-1 above the leaves run, and returns the sum of what they return.
func (s *slotsTree) both(ctx context.Context, depth int) (int, error) {
	child := func(ctx context.Context) (int, error) { return s.node(ctx, depth-1) }
	submit := func(opts ...filch.TaskOption) *filch.Future[int] {
		return filch.Submit(ctx, s.p, child, s.options(depth-1, opts...)...)
	}
	// wait returns the result of f, which is computed here if f was refused.
	wait := func(f *filch.Future[int]) (int, error) {
		v, err := f.Wait(ctx)
		if errors.Is(err, filch.ErrQueueFull) {
			return child(ctx)
		}
		return v, err
	}
	switch s.shape {
	case "Group":
		var sum atomic.Int64
		return s.inGroup(ctx, s.p.Group(ctx, s.groupOptions()...), &sum, depth)
	case "one Group":
		for range 2 {
			s.goFrom(ctx, s.one, func(ctx context.Context) error { _, err := child(ctx); return err }, depth)
		}
		return 0, nil
	case "After":
		a := submit()
		b := submit(filch.After(a))
		y, errY := wait(b)
		x, errX := wait(a)
		return x + y, errors.Join(errX, errY)
	case "Promise":
		var all [2]*filch.Promise[int]
		for i := range all {
			promise := filch.NewPromise[int](s.p)
			all[i] = promise
			err := s.p.Go(ctx, func(ctx context.Context) { promise.Complete(child(ctx)) }, s.options(depth-1)...)
			if err != nil {
				promise.Complete(child(ctx))
			}
		}
		x, errX := wait(all[0].Future())
		y, errY := wait(all[1].Future())
		return x + y, errors.Join(errX, errY)
	}
	a, b := submit(), submit()
	x, errX := wait(a)
	y, errY := wait(b)
	return x + y, errors.Join(errX, errY)
}

// inGroup does what both does, by tasks of g, whose results are in sum.
func (s *slotsTree) inGroup(ctx context.Context, g *filch.Group, sum *atomic.Int64, depth int) (int, error) {
	for range 2 {
		s.goFrom(ctx, g, func(ctx context.Context) error {
			v, err := s.node(ctx, depth-1)
			sum.Add(int64(v))
			return err
		}, depth)
	}
	err := g.Wait()
	return int(sum.Load()), err
}

// goFrom has f run in g, or here if it is refused.
func (s *slotsTree) goFrom(ctx context.Context, g *filch.Group, f func(ctx context.Context) error, depth int) {
	opts := s.options(depth - 1)
	if s.overflow != filch.Reject {
		g.GoFrom(ctx, f, opts...)
	} else if !g.TryGo(f, opts...) {
		f(ctx)
	}
}
