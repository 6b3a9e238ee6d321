package storms

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
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
)

// mix is a pool in the hands of people who do all that there is to do with it,
// at random.
type mix struct {
	p    *filch.Pool
	seed uint64
	t    *testing.T

	byPriority bool

	ids            atomic.Uint64
	submitted, ran atomic.Int64
}

func (m *mix) rng() *rand.Rand { return rand.New(rand.NewPCG(m.seed, m.ids.Add(1))) }

// task returns what a task does: a bit of everything, less the deeper it is.
func (m *mix) task(depth int) func(ctx context.Context) (int, error) {
	rng := m.rng()
	var once atomic.Bool
	return func(ctx context.Context) (int, error) {
		if once.Swap(true) {
			m.t.Errorf("seed %d: a task ran twice", m.seed)
		}
		m.ran.Add(1)
		for range rng.IntN(3) {
			if depth == 0 {
				break
			}
			switch rng.IntN(8) {
			case 0:
				m.submit(ctx, depth-1, rng).Wait(ctx)
			case 1:
				g := m.p.Group(ctx)
				for range rng.IntN(4) {
					m.submitted.Add(1)
					f := m.task(depth - 1)
					g.Go(func(ctx context.Context) error { _, err := f(ctx); return err })
				}
				g.Wait()
			case 2:
				m.submit(ctx, depth-1, rng)
			case 3:
				filch.Blocking(ctx, runtime.Gosched)
			case 4:
				rig.FibFunc.Call(filch.ScopeOf(ctx), 8)
			case 5:
				m.submit(ctx, depth-1, rng).Cancel()
			case 6:
				m.goes(ctx, m.p.Go, depth-1, rng)
			case 7:
				m.goes(ctx, m.p.TryGo, depth-1, rng)
			}
		}
		switch rng.IntN(16) {
		case 0:
			panic("at random")
		case 1:
			return 0, rig.ErrBoom
		case 2:
			runtime.Gosched()
		case 3:
			runtime.Goexit()
		}
		return 1, nil
	}
}

// goes submits a task by Go or TryGo.
func (m *mix) goes(ctx context.Context, submit func(context.Context, func(context.Context), ...filch.TaskOption) error, depth int, rng *rand.Rand) {
	f := m.task(depth)
	m.submitted.Add(1)
	if err := submit(ctx, func(ctx context.Context) { f(ctx) }); !known(err) {
		m.t.Errorf("seed %d: %v", m.seed, err)
	}
}

func (m *mix) submit(ctx context.Context, depth int, rng *rand.Rand) *filch.Future[int] {
	m.submitted.Add(1)
	var opts []filch.TaskOption
	switch rng.IntN(10) {
	case 0:
		opts = append(opts, filch.Fair())
	case 1:
		opts = append(opts, filch.LongRunning())
	case 2:
		opts = append(opts, filch.Named("x"), filch.Within(time.Duration(1+rng.IntN(1e6))))
	}
	if m.byPriority && rng.IntN(2) == 0 {
		opts = append(opts, filch.AtPriority(rng.IntN(1000)-500))
	}
	return filch.Submit(ctx, m.p, m.task(depth), opts...)
}

// known reports whether err is one that a Future of the mix may have.
func known(err error) bool {
	var panicked *filch.PanicError
	return err == nil || errors.As(err, &panicked) || errors.Is(err, rig.ErrBoom) || errors.Is(err, filch.ErrClosed) || errors.Is(err, filch.ErrGoexit) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, filch.ErrQueueFull)
}

// Whatever is done to a pool, and by how many goroutines: every Future is
// resolved, no task runs twice, and nothing is left.
func TestRandomMixOfTasks(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for start, round := time.Now(), 0; time.Since(start) < rig.StressTime(); round++ {
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		opts, order, callersRun := mixOptions(rng)
		m := &mix{p: filch.New(opts...), seed: seed, t: t, byPriority: order == filch.ByPriority}
		watchdog := time.AfterFunc(time.Minute, func() {
			var b strings.Builder
			m.p.Dump(&b)
			buf := make([]byte, 1<<20)
			panic(fmt.Sprintf("seed %d, round %d hangs: %s\n%s", seed, round, b.String(), buf[:runtime.Stack(buf, true)]))
		})
		var futures sync.WaitGroup
		var users sync.WaitGroup
		for range 4 {
			rng := m.rng()
			users.Go(func() { m.use(rng, &futures, callersRun) })
		}
		end := rng.IntN(3)
		if end == 0 {
			users.Wait()
		}
		if rng.IntN(2) == 0 {
			go m.p.Pause() // Shutdown and Close undo it, even if they come first
		}
		if end == 1 {
			m.p.Close()
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(10))*time.Millisecond)
		if end == 0 {
			ctx = context.Background()
		}
		err := m.p.Shutdown(ctx)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("seed %d: Shutdown: %v", seed, err)
		}
		users.Wait()
		futures.Wait()
		m.check(round)
		watchdog.Stop()
		if t.Failed() {
			return
		}
	}
}

// mixOptions returns options at random, the order among them, and whether the callers run what has no room in the queue.
func mixOptions(rng *rand.Rand) (opts []filch.Option, order filch.Order, callersRun bool) {
	// Nothing blocks out of sight, so no worker need ever be added; but with
	// CallerRuns the caller of a blocked task does.
	order = rig.Any(rng, rig.Orders)
	opts = []filch.Option{filch.WithWorkers(1 + rng.IntN(4)), filch.WithOrder(order), filch.WithPanicHandler(func(*filch.PanicError) {})}
	if order == filch.ByPriority && rng.IntN(2) == 0 {
		opts = append(opts, filch.WithAgeing(time.Duration(1+rng.IntN(1e6))))
	}
	overflow := rig.Any(rng, rig.Overflows)
	limited := rng.IntN(3) == 0
	if limited {
		opts = append(opts, filch.WithQueueLimit(1+rng.IntN(20), overflow))
	}
	if rng.IntN(3) == 0 {
		opts = append(opts, filch.WithTaskLimit(1+rng.IntN(20), filch.Overflow(rng.IntN(2))))
	}
	if !limited || overflow != filch.CallerRuns {
		opts = append(opts, filch.WithStallTimeout(0))
	}
	if rng.IntN(4) == 0 {
		opts = append(opts, filch.WithIdleTimeout(time.Millisecond))
	}
	return opts, order, limited && overflow == filch.CallerRuns
}

// use submits tasks, and does to the pool what may be done to it at any time. A task that runs here may end the goroutine if mayEnd.
func (m *mix) use(rng *rand.Rand, futures *sync.WaitGroup, mayEnd bool) {
	n := 0
	// A task that runs here may end the goroutine.
	defer func() {
		if n < 25 && !mayEnd {
			m.t.Errorf("seed %d: the submitter's goroutine ended", m.seed)
		}
	}()
	for ; n < 25; n++ {
		ctx, cancel := context.WithCancel(context.Background())
		f := m.submit(ctx, 3, rng)
		futures.Go(func() {
			if _, err := f.Wait(context.Background()); !known(err) {
				m.t.Errorf("seed %d: %v", m.seed, err)
			}
			cancel()
		})
		switch rng.IntN(14) {
		case 4:
			m.goes(ctx, m.p.Go, 2, rng)
		case 5:
			m.goes(ctx, m.p.TryGo, 2, rng)
		case 0:
			m.p.Resize(1 + rng.IntN(4))
		case 1:
			m.p.Pause()
			runtime.Gosched()
			m.p.Resume()
		case 2:
			cancel()
		case 3:
			m.p.Stats()
		}
	}
}

// check closes the pool, and checks that every task was refused, or has run or been dropped, and is counted.
func (m *mix) check(round int) {
	m.p.Close()
	for m.p.Stats().Active > 0 { // one that was submitting when it closed may have woken a worker
		runtime.Gosched()
	}
	// Every task was refused, or has run or been dropped, and is counted.
	s := m.p.Stats()
	if submitted, ran := m.submitted.Load(), m.ran.Load(); s.Active != 0 || s.Blocked != 0 || s.Tasks.Queued != 0 ||
		submitted != s.Tasks.Submitted+s.Tasks.Rejected || s.Tasks.Submitted != s.Tasks.Done+s.Tasks.Cancelled || s.Tasks.Started != s.Tasks.Done || s.Tasks.Done != ran {
		m.t.Errorf("seed %d, round %d: %d submitted, %d ran, %+v", m.seed, round, submitted, ran, s)
	}
}
