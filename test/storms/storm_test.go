package storms

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/poll"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/internal/thorough"
	"github.com/filch-go/filch/par"
)

// A storm is everything that can be done to pools, at random, by many at once. When it is
// over, every account is balanced and nothing is left. What is done follows from the
// seed; which of them is first does not.
//
// The environment may set FILCH_STORM to how long the storms take, FILCH_SEED to
// the seed of each round, and FILCH_STORM_WITHOUT to operations to leave out, as stormOps
// names them, with commas between.
type storm struct {
	t       *testing.T
	seed    uint64
	bubble  bool // in one of synctest
	stray   bool // goroutines that no task runs on do what tasks do; else tasks close their pool
	without []string
	pools   []*stormPool
	left    atomic.Int64 // tasks that may still be made
	loose   crew         // goroutines that the storm has started

	mu    sync.Mutex
	tasks []*stormTask
	kept  []keptContext
}

// A crew is a sync.WaitGroup that may grow while somebody waits for it, or when that is
// over.
type crew struct {
	mu   sync.Mutex
	n    int
	less sync.Cond
}

// Go calls f on a goroutine.
func (c *crew) Go(f func()) {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	go func() {
		defer func() {
			c.mu.Lock()
			c.n--
			c.less.Broadcast()
			c.mu.Unlock()
		}()
		f()
	}()
}

// Wait waits until there is nobody.
func (c *crew) Wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.n > 0 {
		c.less.Wait()
	}
}

func (c *crew) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// A stormPool counts what happens to its tasks.
type stormPool struct {
	*filch.Pool
	order  filch.Order
	opts   []string // their names
	polls  bool     // never rests while it is open
	ran    atomic.Int64
	events [filch.TaskCancelled + 1]atomic.Int64
}

func (p *stormPool) Observe(e filch.Event) { p.events[e.Kind].Add(1) }

// A stormTask remembers what became of a task.
type stormTask struct {
	ran      atomic.Int32
	returned bool                            // its function has, with
	err      error                           // this
	wait     func(ctx context.Context) error // nil if nobody has its Future
}

// A keptContext is one that a task was called with.
type keptContext struct {
	ctx  context.Context
	pool *stormPool
}

// A stormCall is where an operation takes place: in a task, or outside.
type stormCall struct {
	*storm
	rng    *rand.Rand
	ctx    context.Context
	pool   *stormPool // that something is done to
	home   *stormPool // that ctx comes from; nil outside
	depth  int        // of tasks below
	direct bool       // on the goroutine of the task
}

// stormOp is an operation, which has a share of all.
type stormOp struct {
	name  string
	share int
	do    func(c *stormCall)
}

// stormOps are set by init because they lead to one another.
var stormOps []stormOp

func init() {
	stormOps = []stormOp{
		{"go", 6, (*stormCall).goes},
		{"submit", 8, (*stormCall).submit},
		{"group", 3, (*stormCall).group},
		{"results", 2, (*stormCall).results},
		{"forks", 5, (*stormCall).forks},
		{"scopes", 3, (*stormCall).scopes},
		{"later", 2, (*stormCall).later},
		{"help", 3, func(c *stormCall) { c.pool.Help(c.ctx) }},
		{"blocking", 2, func(c *stormCall) { filch.Blocking(c.ctx, c.rest) }},
		{"rest", 3, (*stormCall).rest},
		{"cancel", 3, (*stormCall).cancel},
		{"pause", 2, func(c *stormCall) { c.pool.Pause(); c.rest(); c.pool.Resume() }},
		{"resize", 2, func(c *stormCall) { c.pool.Resize(1 + c.rng.IntN(6)) }},
		{"stats", 2, func(c *stormCall) { c.pool.Stats(); c.pool.Dump(io.Discard); c.pool.Idle(); c.pool.Workers() }},
		{"shutdown", 1, (*stormCall).shutdown},
		{"close", 1, (*stormCall).close},
	}
}

// act does something at random.
func (c *stormCall) act() {
	total := 0
	for _, op := range stormOps {
		total += op.share
	}
	n := c.rng.IntN(total)
	for _, op := range stormOps {
		if n -= op.share; n < 0 {
			if !slices.Contains(c.without, op.name) {
				c.guarded(op.name, func() { op.do(c) })
			}
			return
		}
	}
}

// at returns a call like c, with choices of its own.
func (c *stormCall) at(ctx context.Context, depth int) *stormCall {
	next := *c
	next.rng, next.ctx, next.depth = rand.New(rand.NewPCG(c.rng.Uint64(), 0)), ctx, depth
	return &next
}

const stormPanic = "a panic of the storm"

// guarded calls f, which may panic as the storm does, or because a pool is closed.
func (s *storm) guarded(what string, f func()) {
	defer func() {
		if v := recover(); v != nil && !strings.Contains(fmt.Sprint(v), stormPanic) && !strings.Contains(fmt.Sprint(v), "on a closed Pool") {
			buf := make([]byte, 1<<16)
			s.t.Errorf("FILCH_SEED=%d: %s: %v\n%s", s.seed, what, v, buf[:runtime.Stack(buf, false)])
		}
	}()
	f()
}

// expect reports an error that is none of the storm's.
func (s *storm) expect(what string, err error) {
	if !known(err) && !errors.Is(err, filch.ErrInside) && !strings.Contains(err.Error(), "the group was stopped") {
		s.t.Errorf("FILCH_SEED=%d: %s: %v", s.seed, what, err)
	}
}

// rest lets a little time pass, or none.
func (c *stormCall) rest() {
	switch c.rng.IntN(3) {
	case 0:
		runtime.Gosched()
	case 1:
		time.Sleep(time.Duration(c.rng.IntN(1e6)))
	}
}

// newTask returns a function for a task of c's pool, which acts in turn.
func (c *stormCall) newTask(kind string) (*stormTask, func(ctx context.Context) (int, error)) {
	k := &stormTask{}
	c.mu.Lock()
	c.tasks = append(c.tasks, k)
	c.mu.Unlock()
	var later context.Context // when the task runs
	inner := c.at(later, c.depth-1)
	inner.home, inner.direct = c.pool, true
	return k, func(ctx context.Context) (int, error) {
		if k.ran.Add(1) > 1 {
			c.t.Errorf("FILCH_SEED=%d: a task of %s ran twice", c.seed, kind)
			return 0, nil
		}
		inner.home.ran.Add(1)
		inner.ctx = ctx
		n, err := inner.body()
		k.returned, k.err = true, err
		return n, err
	}
}

// stormKey is what every context has the storm by.
type stormKey struct{}

// body is what a task does.
func (c *stormCall) body() (int, error) {
	if c.ctx.Value(stormKey{}) != c.storm || c.ctx.Value(stormPanic) != nil {
		c.t.Errorf("FILCH_SEED=%d: %v has lost its values", c.seed, c.ctx)
	}
	if c.rng.IntN(8) == 0 {
		c.mu.Lock()
		c.kept = append(c.kept, keptContext{c.ctx, c.home})
		c.mu.Unlock()
	}
	for range c.rng.IntN(4) {
		if c.pool = c.home; c.rng.IntN(4) == 0 {
			c.pool = c.pools[c.rng.IntN(len(c.pools))]
		}
		c.act()
	}
	switch c.rng.IntN(20) {
	case 0:
		panic(stormPanic)
	case 1:
		return 0, rig.ErrBoom
	case 2:
		runtime.Goexit()
	case 3:
		<-time.After(time.Duration(c.rng.IntN(1e6)))
	}
	return 1, nil
}

// may reports whether one more task may be made.
func (c *stormCall) may() bool { return c.depth > 0 && c.left.Add(-1) >= 0 }

// options returns options for a task.
func (c *stormCall) options() (opts []filch.TaskOption) {
	if c.pool.order == filch.ByPriority && c.rng.IntN(2) == 0 {
		opts = append(opts, filch.AtPriority(c.rng.IntN(100)-50))
	}
	switch c.rng.IntN(12) {
	case 0:
		opts = append(opts, filch.LongRunning())
	case 1:
		opts = append(opts, filch.Within(time.Duration(1+c.rng.IntN(2e6))))
	case 2:
		opts = append(opts, filch.Named("storm"), filch.Fair())
	case 3:
		opts = append(opts, filch.Fair())
	}
	return opts
}

func (c *stormCall) goes() {
	if !c.may() {
		return
	}
	submit, kind := c.pool.Go, "Go"
	if c.rng.IntN(3) == 0 {
		submit, kind = c.pool.TryGo, "TryGo"
	}
	k, f := c.newTask(kind)
	if err := submit(c.ctx, func(ctx context.Context) { f(ctx) }, c.options()...); err != nil {
		c.expect(kind, err)
		if k.ran.Load() > 0 {
			c.t.Errorf("FILCH_SEED=%d: a task ran that %s has refused: %v", c.seed, kind, err)
		}
	}
}

func (c *stormCall) submit() {
	if !c.may() {
		return
	}
	k, f := c.newTask("Submit")
	future := filch.Submit(c.ctx, c.pool.Pool, f, c.options()...)
	c.mu.Lock()
	k.wait = func(ctx context.Context) error { _, err := future.Wait(ctx); return err }
	c.mu.Unlock()
	switch c.rng.IntN(6) {
	case 0, 1:
		c.expect("Wait", k.wait(c.ctx))
	case 2:
		ctx, cancel := context.WithTimeout(c.ctx, time.Duration(c.rng.IntN(1e6)))
		defer cancel()
		c.expect("Wait", k.wait(ctx))
	case 3:
		future.Cancel()
	case 4:
		filch.Blocking(c.ctx, func() { <-future.Done() })
	}
}

func (c *stormCall) group() {
	var opts []filch.GroupOption
	if c.rng.IntN(2) == 0 {
		opts = append(opts, filch.CollectErrors(1+c.rng.IntN(3)))
	}
	g := c.pool.Group(c.ctx, opts...)
	for range c.rng.IntN(6) {
		if !c.may() {
			break
		}
		_, f := c.newTask("Group.Go")
		g.Go(func(ctx context.Context) error { _, err := f(ctx); return err }, c.options()...)
	}
	end := g.Wait
	if c.rng.IntN(4) == 0 {
		end = g.Stop
	}
	c.expect("Group.Wait", end())
	if g.Context().Err() == nil {
		c.t.Errorf("FILCH_SEED=%d: a group's context goes on after Wait", c.seed)
	}
}

func (c *stormCall) results() {
	g := filch.NewResultGroup[int](c.ctx, c.pool.Pool)
	n := 0
	for range c.rng.IntN(6) {
		if !c.may() {
			break
		}
		_, f := c.newTask("ResultGroup.Go")
		g.Go(f, c.options()...)
		n++
	}
	results, err := g.Wait()
	if c.expect("ResultGroup.Wait", err); len(results) != n || err == nil && c.ctx.Err() == nil && slices.Contains(results, 0) {
		c.t.Errorf("FILCH_SEED=%d: %d tasks have the results %v, %v", c.seed, n, results, err)
	}
}

// forks runs fork-join work on the pool, or in the task.
func (c *stormCall) forks() {
	var scope filch.Scope = c.pool
	if c.home != nil && c.rng.IntN(3) > 0 {
		scope = filch.ScopeOf(c.ctx)
	}
	c.at(c.ctx, c.depth).forkOn(scope)
}

func (c *stormCall) forkOn(scope filch.Scope) {
	n, bad := 1+c.rng.IntN(200), c.rng.IntN(1000) // often beyond n
	leaf := func(i int) {
		switch {
		case i == bad:
			panic(stormPanic)
		case i%64 == 7:
			runtime.Gosched()
		}
	}
	var got, want int
	switch c.rng.IntN(9) {
	case 0:
		got, want = rig.FibFunc.Call(scope, 15), 610
	case 1:
		got, want = rig.FibChain.Call(scope, 15), 610
	case 2:
		scope.Do(func(w *filch.Worker) {
			a, b := filch.Join(w, func(w *filch.Worker) int { leaf(bad - n/2); return 1 }, func(w *filch.Worker) int { return rig.FibFunc.Call(w, 10) })
			w.Join(func(w *filch.Worker) { w.Poll() }, func(w *filch.Worker) { w.Do(func(*filch.Worker) { leaf(n) }) })
			got, want = a+b, 56
		})
	case 3:
		var sum atomic.Int64
		par.For(scope, n, func(i int) { leaf(i); sum.Add(int64(i)) })
		got, want = int(sum.Load()), n*(n-1)/2
	case 4:
		for i, v := range par.Map(scope, make([]int, n), func(v int) int { return v + 1 }) {
			got, want = got+v, i+1
		}
	case 5:
		err := par.ForErr(scope, n, func(i int) error {
			if leaf(i); i == n/2 {
				return rig.ErrBoom
			}
			return nil
		})
		if !errors.Is(err, rig.ErrBoom) && !turnedAway(scope, err) {
			c.t.Errorf("FILCH_SEED=%d: ForErr: %v", c.seed, err)
		}
	case 6:
		p := par.From(slices.Values(make([]int, n)))
		err := par.Stage(p, 2, func(v int) (int, error) { runtime.Gosched(); return v + 1, nil }).
			Run(scope, func(v int) error { got += v; return nil })
		if want = n; err != nil {
			if turnedAway(scope, err) && got == 0 {
				return
			}
			c.t.Errorf("FILCH_SEED=%d: Run: %v", c.seed, err)
		}
	case 7:
		scope.Do(func(w *filch.Worker) { c.rest(); w.Demand(); want = 0 })
	case 8:
		scope.Do(func(w *filch.Worker) {
			w.Join(func(*filch.Worker) { c.rest() }, func(*filch.Worker) {
				if bad < 100 {
					runtime.Goexit()
				}
			})
		})
	}
	if got != want {
		c.t.Errorf("FILCH_SEED=%d: forks come to %d, not %d", c.seed, got, want)
	}
}

// turnedAway reports whether err is that of a scope whose pool is closed.
func turnedAway(scope filch.Scope, err error) bool {
	s, ok := scope.(interface{ Closed() bool })
	return err == filch.ErrClosed && ok && s.Closed()
}

// scopes lets goroutines work on the task's worker, and go on when the task is over.
func (c *stormCall) scopes() {
	if c.home == nil {
		return
	}
	scope := filch.ScopeOf(c.ctx)
	for range 1 + c.rng.IntN(3) {
		own := c.at(c.ctx, 0)
		c.loose.Go(func() {
			for range 1 + own.rng.IntN(10) {
				own.guarded("scopes", func() { own.forkOn(scope) })
			}
		})
	}
	c.rest()
}

// later uses the context on another goroutine, when the task may be over.
func (c *stormCall) later() {
	if !c.stray {
		return
	}
	own := c.at(c.ctx, c.depth)
	own.direct = false
	c.loose.Go(func() {
		own.rest()
		own.act()
	})
}

// cancel acts with a context that ends some time.
func (c *stormCall) cancel() {
	ctx, cancel := context.WithCancel(c.ctx)
	if c.rng.IntN(3) == 0 {
		ctx, cancel = context.WithTimeout(c.ctx, time.Duration(c.rng.IntN(1e6)))
	}
	inner, own := c.at(ctx, c.depth), c.at(ctx, 0)
	c.loose.Go(func() { own.rest(); cancel() })
	inner.act()
}

func (c *stormCall) shutdown() {
	if c.home == nil && c.rng.IntN(2) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, time.Duration(c.rng.IntN(2e6)))
	defer cancel()
	c.expect("Shutdown", c.pool.Shutdown(ctx))
}

// close closes a pool. A task closes none but its own, which does not wait: the other's
// tasks may wait for this one. Nor does a goroutine that only has the context of a task: it
// does not count as inside, and the pool would wait for it.
func (c *stormCall) close() {
	if c.rng.IntN(3) > 0 || c.home != nil && (c.pool != c.home || !c.direct) {
		return
	}
	if err := c.pool.Close(); c.home != nil && !errors.Is(err, filch.ErrInside) || c.home == nil && err != nil {
		c.t.Errorf("FILCH_SEED=%d: Close: %v", c.seed, err)
	}
}

// newPool returns a pool of any kind.
func (s *storm) newPool(rng *rand.Rand) *stormPool {
	p := &stormPool{order: rig.Any(rng, rig.Orders)}
	opts := []filch.Option{filch.WithOrder(p.order), filch.WithPanicHandler(func(*filch.PanicError) {}), filch.WithObserver(p)}
	maybe := func(n int, name string, opt filch.Option) {
		if rng.IntN(n) == 0 {
			opts = append(opts, opt)
			p.opts = append(p.opts, name)
		}
	}
	if p.order == filch.ByPriority {
		maybe(2, "Ageing", filch.WithAgeing(time.Duration(1+rng.IntN(1e6))))
	}
	workers := 1 + rng.IntN(5)
	if rng.IntN(20) == 0 {
		workers = 200
	}
	maybe(1, "Workers", filch.WithWorkers(workers))
	maybe(2, "QueueLimit", filch.WithQueueLimit(1+rng.IntN(10), rig.Any(rng, rig.Overflows)))
	maybe(2, "StallTimeout", filch.WithStallTimeout(time.Duration(1+rng.IntN(5e6))))
	maybe(4, "IdleTimeout", filch.WithIdleTimeout(time.Duration(rng.IntN(2e6))))
	maybe(8, "Labels", filch.WithLabels())
	if runtime.GOOS == "linux" {
		maybe(4, "Affinity", filch.WithAffinity(filch.Affinity(rng.IntN(2))))
	}
	from := rig.Any(rng, rig.Stealings)
	maybe(2, fmt.Sprint("Stealing ", from), filch.WithStealing(from, rig.StealOptions(rng.IntN(4))...))
	if p.polls = rng.IntN(16) == 0 && !s.bubble; p.polls { // in a bubble no time would pass
		maybe(1, "BusyPoll", filch.WithBusyPoll())
	}
	p.Pool = filch.New(opts...)
	return p
}

// blow is one round.
func (s *storm) blow() {
	rng := rand.New(rand.NewPCG(s.seed, 0))
	s.loose.less.L = &s.loose.mu
	s.stray = rng.IntN(2) == 0
	s.left.Store(int64(50 + rng.IntN(500)))
	for range 1 + rng.IntN(3) {
		s.pools = append(s.pools, s.newPool(rng))
	}
	outside := &stormCall{storm: s, rng: rng, ctx: context.WithValue(context.Background(), stormKey{}, s)}
	for range 1 + rng.IntN(6) {
		actor := outside.at(outside.ctx, 4)
		s.loose.Go(func() {
			for range 1 + actor.rng.IntN(20) {
				c := actor.at(actor.ctx, actor.depth)
				c.pool = s.pools[c.rng.IntN(len(s.pools))]
				alone := make(chan bool) // what it does may end the goroutine
				s.loose.Go(func() {
					defer close(alone)
					c.act()
				})
				<-alone
			}
		})
	}
	s.loose.Wait()
	for i := 0; ; i++ {
		s.mu.Lock()
		if i == len(s.tasks) {
			s.mu.Unlock()
			break
		}
		k := s.tasks[i]
		wait := k.wait
		s.mu.Unlock()
		if wait != nil {
			s.settled(k, wait(context.Background()))
		}
	}
	s.eventually("a pool at rest", s.rest)
	for _, i := range rng.Perm(len(s.pools)) {
		if rng.IntN(2) == 0 {
			s.expect("Shutdown", s.pools[i].Shutdown(context.Background()))
		}
		s.expect("Close", s.pools[i].Close())
	}
	for _, p := range s.pools {
		s.expect("Shutdown", p.Shutdown(context.Background()))
		if err := p.Go(context.Background(), func(context.Context) {}); !errors.Is(err, filch.ErrClosed) {
			s.t.Errorf("FILCH_SEED=%d: a closed pool takes tasks: %v", s.seed, err)
		}
	}
	for _, k := range s.kept {
		if err := k.pool.Go(context.WithoutCancel(k.ctx), func(context.Context) {}); !errors.Is(err, filch.ErrClosed) {
			s.t.Errorf("FILCH_SEED=%d: a closed pool takes tasks of its own tasks: %v", s.seed, err)
		}
	}
	s.eventually("a closed pool", s.gone)
}

// settled checks what a Future says against what became of the task.
func (s *storm) settled(k *stormTask, err error) {
	var panicked *filch.PanicError
	right := err != nil // its context may have ended for any reason
	switch {
	case k.ran.Load() == 0:
	case k.returned:
		right = err == k.err
	default:
		right = errors.Is(err, filch.ErrGoexit) || errors.As(err, &panicked)
	}
	if !right {
		s.t.Errorf("FILCH_SEED=%d: a task ran %d times and returned %t, %v; its Future says %v", s.seed, k.ran.Load(), k.returned, k.err, err)
	}
	s.expect("a Future", err)
}

// eventually waits until check has no objection.
func (s *storm) eventually(what string, check func() error) {
	for start := time.Now(); ; time.Sleep(100 * time.Microsecond) {
		err := check()
		if err == nil {
			return
		}
		if s.bubble && time.Since(start) > 10*time.Second || !s.bubble && poll.Late(s.t) { // in a bubble, time is virtual
			s.t.Errorf("FILCH_SEED=%d: %s: %v", s.seed, what, err)
			return
		}
	}
}

// rest checks that nothing happens any more though the pools are open, or were when they
// had work to do.
func (s *storm) rest() error {
	if n := s.loose.size(); n > 0 {
		return fmt.Errorf("%d of the storm's goroutines go on", n)
	}
	for i, p := range s.pools {
		st, t := p.Stats(), p.Stats().Tasks
		if p.polls {
			st.Active, st.Searching = 0, 0
		}
		if st.Active != 0 || st.Searching != 0 || st.Blocked != 0 || st.Extra != 0 || t.Queued != 0 ||
			t.Started != t.Done || t.Submitted != t.Done+t.Cancelled || t.Done != p.ran.Load() {
			return fmt.Errorf("pool %d of %d: %d tasks ran; %+v", i, len(s.pools), p.ran.Load(), st)
		}
		if load, pinned := rig.Seats(p.Pool); pinned != 0 && !p.polls {
			return fmt.Errorf("pool %d of %d: %d goroutines are pinned, %v", i, len(s.pools), pinned, load)
		}
		for kind, want := range []int64{t.Submitted, t.Rejected, t.Started, t.Done, t.Cancelled} {
			if got := p.events[kind].Load(); got != want {
				return fmt.Errorf("pool %d: the event %v came %d times, not %d", i, filch.EventKind(kind), got, want)
			}
		}
	}
	return nil
}

// gone checks that nothing is left of closed pools.
func (s *storm) gone() error {
	for _, k := range s.kept {
		select {
		case <-k.ctx.Done():
		default:
			return fmt.Errorf("%v goes on: %v", k.ctx, k.ctx.Err())
		}
		if k.ctx.Err() == nil || context.Cause(k.ctx) == nil {
			return fmt.Errorf("%v has ended without an error", k.ctx)
		}
	}
	for _, p := range s.pools {
		p.polls = false
	}
	return s.rest()
}

// watched calls f, and ends the program if that takes too long.
func watched(s *storm, f func()) {
	dog := time.AfterFunc(time.Minute, func() {
		var stacks bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		for _, p := range s.pools {
			fmt.Fprintf(&stacks, "%v %+v\n", p.opts, p.Stats())
			p.Dump(&stacks)
		}
		panic(fmt.Sprintf("FILCH_SEED=%d hangs\n%s", s.seed, stacks.String()))
	})
	defer dog.Stop()
	defer func() {
		if v := recover(); v != nil {
			panic(fmt.Sprintf("FILCH_SEED=%d: %v", s.seed, v))
		}
	}()
	f()
}

// storms calls round again and again, for its part of the time that all storms may take.
func storms(t *testing.T, round func(s *storm)) {
	span := time.Second
	switch {
	case thorough.Sampled():
		span = 300 * time.Millisecond
	case rig.LongForm():
		span = 2500 * time.Millisecond
	}
	if v, ok := os.LookupEnv("FILCH_STORM"); ok {
		d, err := time.ParseDuration(v)
		if err != nil {
			t.Fatal("FILCH_STORM: ", err)
		}
		span = d / 2
	}
	first, fixed := rand.Uint64(), false
	if v, ok := os.LookupEnv("FILCH_SEED"); ok {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatal("FILCH_SEED: ", err)
		}
		first, fixed = n, true
	}
	without := strings.Split(os.Getenv("FILCH_STORM_WITHOUT"), ",")
	rounds := uint64(0)
	for start := time.Now(); time.Since(start) < span && !t.Failed(); rounds++ {
		s := &storm{t: t, seed: first, without: without}
		if !fixed {
			s.seed += rounds
		}
		watched(s, func() { round(s) })
	}
	t.Logf("%d rounds", rounds)
}

// In real time, on as many threads as there are.
func TestStormInRealTime(t *testing.T) {
	storms(t, func(s *storm) {
		before := runtime.NumGoroutine()
		s.blow()
		s.eventually("goroutines", func() error {
			if n := runtime.NumGoroutine(); n > before {
				var stacks bytes.Buffer
				pprof.Lookup("goroutine").WriteTo(&stacks, 1)
				return fmt.Errorf("%d, and %d before\n%s", n, before, stacks.String())
			}
			return nil
		})
	})
}

// In a bubble, where a deadlock is reported at once, and time passes only when nothing else
// can happen: a goroutine that waits for what never comes is not saved by a timer for long.
func TestStormInABubble(t *testing.T) {
	storms(t, func(s *storm) {
		synctest.Test(t, func(t *testing.T) {
			s.t, s.bubble = t, true
			s.blow()
		})
	})
}
