package tasks

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/race"
	"github.com/filch-go/filch/internal/rig"
)

// binomials is a recursion by a Memo: each value needs two others. calls counts those of the function.
func binomials(p *filch.Pool, calls *atomic.Int64) *filch.Memo[[2]int, int] {
	var m *filch.Memo[[2]int, int]
	m = filch.NewMemo(p, func(ctx context.Context, k [2]int) (int, error) {
		calls.Add(1)
		if k[1] == 0 || k[1] == k[0] {
			return 1, nil
		}
		a, err := m.Get(ctx, [2]int{k[0] - 1, k[1] - 1})
		if err != nil {
			return 0, err
		}
		b, err := m.Get(ctx, [2]int{k[0] - 1, k[1]})
		return a + b, err
	})
	return m
}

// However it is asked for, from tasks or from outside, on any number of workers: each key is computed once, and
// all get what a plain program computes.
func TestMemoComputesOnce(t *testing.T) {
	const n = 40
	want := [n + 1][n + 1]int{}
	keys := int64(0)
	for i := range n + 1 {
		want[i][0], want[i][i] = 1, 1
		for j := 1; j < i; j++ {
			want[i][j] = want[i-1][j-1] + want[i-1][j]
		}
		keys += int64(i + 1)
	}
	seed := rand.Uint64()
	for _, workers := range []int{1, 2, 8} {
		for range 5 {
			p := filch.New(filch.WithWorkers(workers))
			var calls atomic.Int64
			m := binomials(p, &calls)
			var wg sync.WaitGroup
			for k := range 12 {
				rng := rand.New(rand.NewPCG(seed, uint64(k)))
				ask := func(ctx context.Context) {
					defer wg.Done()
					for range 100 {
						i := rng.IntN(n + 1)
						j := rng.IntN(i + 1)
						if v, err := m.Get(ctx, [2]int{i, j}); v != want[i][j] || err != nil {
							t.Errorf("seed %d: %d of %d: %d, %v", seed, j, i, v, err)
						}
					}
					for j := range n + 1 {
						m.Get(ctx, [2]int{n, j})
					}
					for i := range n + 1 {
						m.Get(ctx, [2]int{i, 0})
						m.Get(ctx, [2]int{i, i})
					}
				}
				wg.Add(1)
				if k%3 == 0 {
					go ask(context.Background())
				} else {
					p.Go(context.Background(), ask)
				}
			}
			wg.Wait()
			if c := calls.Load(); c != keys {
				t.Errorf("seed %d, %d workers: %d calls for %d keys", seed, workers, c, keys)
			}
			p.Close()
			if k := p.Stats().Tasks; k.Running != 0 || k.Done != k.Started || k.Failed != 0 {
				t.Errorf("p.Stats().Tasks: %+v", k)
			}
		}
	}
}

// An error goes to those that wait, and is not kept; nor is a panic, or Goexit.
func TestMemoKeepsNoErrors(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error":  func() error { return rig.ErrBoom },
		"panic":  func() error { panic(rig.ErrBoom) },
		"Goexit": func() error { runtime.Goexit(); return nil },
	} {
		want := rig.ErrBoom
		if name == "Goexit" {
			want = filch.ErrGoexit
		}
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(2))
			defer p.Close()
			gate := make(chan bool)
			calls := 0
			m := filch.NewMemo(p, func(_ context.Context, k string) (int, error) {
				calls++
				if calls == 1 {
					<-gate
					return 7, fail()
				}
				return 8, nil
			})
			for range 4 { // of which one computes
				go func() {
					err := filch.ErrGoexit // for the one that does not return
					defer func() {
						if !errors.Is(err, want) {
							t.Errorf("%s: %v", name, err)
						}
					}()
					_, err = m.Get(context.Background(), "k")
				}()
			}
			synctest.Wait()
			close(gate)
			synctest.Wait()
			for range 2 {
				if v, err := m.Get(context.Background(), "k"); v != 8 || err != nil || calls != 2 {
					t.Errorf("%s: %d, %v after %d calls", name, v, err, calls)
				}
			}
		})
	}
}

// The end of an asker's context ends its own wait, and nothing else.
func TestMemoAndTheEndsOfContexts(t *testing.T) {
	type key struct{}
	for _, inTask := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := filch.New(filch.WithWorkers(4))
			defer p.Close()
			gate := make(chan bool)
			m := filch.NewMemo(p, func(ctx context.Context, k int) (any, error) {
				<-gate
				if _, limited := ctx.Deadline(); limited || ctx.Err() != nil || context.Cause(ctx) != nil {
					t.Errorf("the context has an end: %v", context.Cause(ctx))
				}
				child, cancel := context.WithCancel(ctx)
				defer cancel()
				return ctx.Value(key{}), child.Err()
			})
			get := func(ctx context.Context, k int) (v any, err error) {
				if !inTask {
					return m.Get(ctx, k)
				}
				f := filch.Submit(ctx, p, func(ctx context.Context) (any, error) { return m.Get(ctx, k) })
				return f.Wait(context.Background())
			}
			ctx, cancel := context.WithTimeoutCause(context.WithValue(context.Background(), key{}, "of the first"), time.Minute, rig.ErrBoom)
			defer cancel()
			first := make(chan error, 1)
			go func() {
				v, err := get(ctx, 1)
				if v != "of the first" {
					t.Error("get(ctx, 1):", v)
				}
				first <- err
			}()
			synctest.Wait()
			short, cancel := context.WithTimeoutCause(context.Background(), time.Second, rig.ErrBoom)
			defer cancel()
			if _, err := get(short, 1); err != rig.ErrBoom {
				t.Errorf("one that waits: %v", err)
			}
			other := make(chan error, 1)
			go func() { _, err := get(context.Background(), 1); other <- err }()
			time.Sleep(time.Hour) // the context of the first ends
			if len(first)+len(other) > 0 {
				t.Error("nothing is done")
			}
			if _, err := m.Get(ctx, 2); err != rig.ErrBoom {
				t.Errorf("one whose context has ended: %v", err)
			}
			close(gate)
			if err := <-first; err != nil {
				t.Error("<-first:", err)
			}
			if err := <-other; err != nil {
				t.Error("<-other:", err)
			}
			if v, err := m.Get(ctx, 1); v != "of the first" || err != nil {
				t.Errorf("it is there: %v, %v", v, err)
			}
		})
	}
}

// A task that waits for a key gives up its place, and one that computes does not queue.
func TestMemoWaitsWithoutAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
		defer p.Close()
		gate := make(chan bool)
		m := filch.NewMemo(p, func(_ context.Context, k int) (int, error) { <-gate; return k, nil })
		go m.Get(context.Background(), 1)
		synctest.Wait()
		got := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) { return m.Get(ctx, 1) })
		synctest.Wait()
		if v, err := filch.Submit(context.Background(), p, rig.One).Wait(context.Background()); v != 1 || err != nil { // on the only worker
			t.Error("filch.Submit(background, p, one).Wait(background):", v, err)
		}
		close(gate)
		if v, err := got.Wait(context.Background()); v != 1 || err != nil {
			t.Error("got.Wait(background):", v, err)
		}
		p.Pause()
		if v, err := m.Get(context.Background(), 2); v != 2 || err != nil { // a pause is for queues
			t.Error("m.Get(background, 2):", v, err)
		}
		p.Resume()
	})
}

// Keys that need themselves get an error with all names, on one goroutine and on several, with
// workers and without, of one Memo and of two, also below a deep recursion.
func TestMemoFindsCircles(t *testing.T) {
	p := filch.New(filch.WithWorkers(8))
	defer p.Close()
	var m *filch.Memo[int, int]
	var texts *filch.Memo[string, int]
	var barrier func()
	m = filch.NewMemo(p, func(ctx context.Context, k int) (int, error) {
		switch {
		case k == 0:
			return m.Get(ctx, 0)
		case k == 10: // 10 needs a, which needs 12, which needs 10
			return texts.Get(ctx, "a")
		case k == 12:
			return m.Get(ctx, 10)
		case k > 1000: // down to 1000
			return m.Get(ctx, k-1)
		case k == 1000:
			return m.Get(ctx, 2000)
		}
		barrier()
		return m.Get(ctx, 100+(k-100+1)%3)
	})
	texts = filch.NewMemo(p, func(ctx context.Context, k string) (int, error) { return m.Get(ctx, 12) })
	want := func(err error, text string) {
		t.Helper()
		if err == nil || !errors.Is(err, filch.ErrInside) || !strings.HasSuffix(err.Error(), text) || !strings.HasPrefix(err.Error(), "filch: Memo.Get: ") {
			t.Errorf("%v; want %s", err, text)
		}
	}
	_, err := m.Get(context.Background(), 0)
	want(err, ": 0 needs 0")
	_, err = m.Get(context.Background(), 10)
	want(err, ": 10 needs a needs 12 needs 10")
	_, err = m.Get(context.Background(), 2000)
	if want(err, " needs 1001 needs 1000 needs 2000"); strings.Count(err.Error(), "needs") != 1001 {
		t.Error("some keys are missing")
	}
	for _, inTasks := range []bool{false, true} {
		var in sync.WaitGroup
		in.Add(3)
		var once [3]sync.Once
		var turn atomic.Int64
		barrier = func() { // all three are being computed before any goes on
			if i := turn.Add(1) - 1; i < 3 {
				once[i].Do(in.Done)
				in.Wait()
			}
		}
		errs := make(chan error, 3)
		for k := 100; k < 103; k++ {
			ask := func(ctx context.Context) { _, err := m.Get(ctx, k); errs <- err }
			if inTasks {
				p.Go(context.Background(), ask)
			} else {
				go ask(context.Background())
			}
		}
		for range 3 {
			err := <-errs
			if err == nil || !errors.Is(err, filch.ErrInside) || strings.Count(err.Error(), "needs") != 3 {
				t.Errorf("in tasks %v: %v", inTasks, err)
			}
		}
	}
	if err := p.Shutdown(context.Background()); err != nil { // the tasks above have told, but not all have ended
		t.Error("p.Shutdown(background):", err)
	}
	if n := p.Stats().Tasks.Running; n != 0 {
		t.Errorf("%d run", n)
	}
}

// Waits that form no circle are not taken for one: keys that share what they need.
func TestMemoFindsNoCirclesWhereThereAreNone(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		var m *filch.Memo[int, int]
		m = filch.NewMemo(p, func(ctx context.Context, k int) (sum int, err error) {
			var fs []*filch.Future[int]
			for d := 1; d <= k; d *= 2 { // in tasks of their own, which wait for the same keys
				fs = append(fs, filch.Submit(ctx, p, func(ctx context.Context) (int, error) { return m.Get(ctx, k-d) }))
			}
			for _, f := range fs {
				v, e := f.Wait(ctx)
				sum, err = sum+v, errors.Join(err, e)
			}
			return sum + 1, err
		})
		want := []int{}
		for k := range 30 {
			sum := 1
			for d := 1; d <= k; d *= 2 {
				sum += want[k-d]
			}
			want = append(want, sum)
		}
		if v, err := m.Get(context.Background(), 29); v != want[29] || err != nil {
			t.Errorf("%d workers: %d, %v; want %d", workers, v, err, want[29])
		}
		p.Close()
	}
}

// A key that is forgotten is computed anew, and what was under way does not come back.
func TestAKeyThatIsForgottenIsComputedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(2))
		defer p.Close()
		gate := make(chan bool)
		var calls atomic.Int64
		m := filch.NewMemo(p, func(context.Context, string) (int64, error) {
			n := calls.Add(1)
			if n == 1 {
				<-gate
			}
			return n, nil
		})
		m.Forget("k")
		old := make(chan int64, 2)
		for range 2 {
			go func() { v, _ := m.Get(context.Background(), "k"); old <- v }()
		}
		synctest.Wait()
		m.Forget("k")
		if v, _ := m.Get(context.Background(), "k"); v != 2 {
			t.Errorf("%d, not the second", v)
		}
		close(gate)
		if a, b := <-old, <-old; a != 1 || b != 1 {
			t.Errorf("%d and %d, not the first", a, b)
		}
		if v, _ := m.Get(context.Background(), "k"); v != 2 {
			t.Errorf("%d, not the second", v)
		}
		m.Forget("k")
		if v, _ := m.Get(context.Background(), "k"); v != 3 {
			t.Errorf("%d, not the third", v)
		}
	})
}

// A closed pool computes nothing, and what is there stays; one that drains computes for its tasks.
func TestMemoOfAClosedPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1), filch.WithTaskLimit(1, filch.Block))
		m := filch.NewMemo(p, func(_ context.Context, k int) (int, error) { return -k, nil })
		m.Get(context.Background(), 1)
		gate := make(chan bool)
		p.Go(context.Background(), func(ctx context.Context) {
			<-gate
			if v, err := m.Get(ctx, 2); v != -2 || err != nil {
				t.Errorf("a task: %d, %v", v, err)
			}
		})
		synctest.Wait()
		p.Drain()
		if _, err := m.Get(context.Background(), 2); err != filch.ErrClosed {
			t.Errorf("from outside: %v", err)
		}
		close(gate)
		<-p.Done()
		for k, want := range map[int]error{1: nil, 2: nil, 3: filch.ErrClosed} {
			if _, err := m.Get(context.Background(), k); err != want {
				t.Errorf("m.Get(background, k): %d: %v", k, err)
			}
		}
		if k := p.Stats().Tasks; k.Done != 3 || k.Running != 0 || k.Rejected != 2 {
			t.Errorf("p.Stats().Tasks: %+v", k)
		}
	})
}

// Keys that equal nothing are computed each time, and leave nothing behind; those that cannot be
// compared panic, and the next call is none the worse for it.
func TestMemoOfStrangeKeys(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	calls := 0
	m := filch.NewMemo(p, func(context.Context, any) (int, error) { calls++; return calls, nil })
	for range 3 {
		m.Get(context.Background(), math.NaN())
		m.Get(context.Background(), math.Copysign(0, -1))
		m.Get(context.Background(), 0.0)
	}
	if calls != 4 {
		t.Errorf("%d calls", calls)
	}
	for _, f := range []func(){func() { m.Get(context.Background(), []int{}) }, func() { m.Forget([]int{}) }} {
		if s := rig.Recovered(f); !strings.Contains(s, "unhashable") {
			t.Error("recovered(f):", s)
		}
	}
	m.Get(context.Background(), 1)
	for want, f := range map[string]func(){
		"filch: Memo.Get: ctx is nil": func() { m.Get(rig.NoContext, 1) },
		"filch: NewMemo: p is nil":    func() { filch.NewMemo(nil, func(context.Context, int) (int, error) { return 0, nil }) },
		"filch: NewMemo: f is nil":    func() { filch.NewMemo[int, int](p, nil) },
	} {
		if s := rig.Recovered(f); s != want {
			t.Errorf("%s; want %s", s, want)
		}
	}
}

// Close waits for a computation that was asked for from outside, and knows that it is inside of one.
func TestMemoComputesInsideThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(1))
		gate := make(chan bool)
		m := filch.NewMemo(p, func(context.Context, int) (int, error) {
			err := p.Close()
			<-gate
			return 0, err
		})
		got, closed := make(chan error, 1), make(chan bool)
		go func() { _, err := m.Get(context.Background(), 1); got <- err }()
		synctest.Wait()
		go func() { p.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close does not wait")
		default:
		}
		close(gate)
		if err := <-got; !errors.Is(err, filch.ErrInside) {
			t.Error("<-got:", err)
		}
		<-closed
	})
}

// A hit allocates nothing, a computation once.
func TestAHitOfAMemoAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	m := filch.NewMemo(p, func(_ context.Context, k int) (int, error) { return k, nil })
	m.Get(context.Background(), 5)
	if n := testing.AllocsPerRun(100, func() { m.Get(context.Background(), 5) }); n != 0 {
		t.Errorf("a hit: %v allocations", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for what, c := range map[string]struct {
		ctx  context.Context
		most float64
	}{"a context without an end": {context.Background(), 1}, "one with an end": {ctx, 2}} {
		if n := testing.AllocsPerRun(100, func() { m.Get(c.ctx, 6); m.Forget(6) }); n > c.most {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
	p.Go(context.Background(), func(ctx context.Context) {
		if n := testing.AllocsPerRun(100, func() { m.Get(ctx, 6); m.Forget(6) }); n > 1 {
			t.Errorf("in a task: %v allocations", n)
		}
	})
	p.Shutdown(context.Background())

	p = filch.New(filch.WithWorkers(1))
	var deep *filch.Memo[int, int]
	deep = filch.NewMemo(p, func(ctx context.Context, k int) (int, error) {
		if k == 0 {
			return 0, nil
		}
		v, err := deep.Get(ctx, k-1)
		return v + 1, err
	})
	const n = 1000
	deep.Get(ctx, n)
	per := testing.AllocsPerRun(10, func() {
		for k := range n + 1 {
			deep.Forget(k)
		}
		deep.Get(ctx, n)
	}) / n
	if per > 1.01 {
		t.Errorf("in a recursion: %v allocations a key", per)
	}
	p.Close()
}
