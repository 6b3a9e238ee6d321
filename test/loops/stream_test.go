package loops

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

var errStream = errors.New("bad value")

// Whatever order they are done in, results come to the sink in the order of Send, one at a time, and
// no more than the limit are under way.
func TestStreamKeepsTheOrder(t *testing.T) {
	seed := rand.Uint64()
	for _, workers := range []int{1, 2, 8} {
		for _, order := range []filch.Order{filch.LIFO, filch.FIFO, filch.ByPriority} {
			for _, n := range []int{0, 1, 2, 7} {
				p := filch.New(filch.WithWorkers(workers), filch.WithOrder(order))
				opts := []par.Option{}
				most := int64(4 * workers)
				if n > 0 {
					opts, most = append(opts, par.InFlight(n)), int64(n)
				}
				var way, inSink atomic.Int64
				var got []int
				s := par.NewStream(context.Background(), p, func(_ context.Context, v int) (string, error) {
					for range v % 5 {
						runtime.Gosched()
					}
					return fmt.Sprint(v), nil
				}, func(_ context.Context, r string) error {
					if inSink.Add(1) != 1 {
						t.Error("two results at a time")
					}
					var v int
					fmt.Sscan(r, &v)
					got = append(got, v)
					inSink.Add(-1)
					way.Add(-1)
					return nil
				}, opts...)
				var want []int
				rng := rand.New(rand.NewPCG(seed, 0))
				for range 300 {
					v := rng.IntN(1000)
					want = append(want, v)
					if err := s.Send(v); err != nil {
						t.Fatal("s.Send(v):", err)
					}
					if w := way.Add(1); w > most {
						t.Errorf("%d are under way, of %d", w, most)
					}
				}
				if err := s.Close(); err != nil || !slices.Equal(got, want) {
					t.Errorf("seed %d, %d workers, %v, InFlight %d: %v; %d results", seed, workers, order, n, err, len(got))
				}
				p.Close()
			}
		}
	}
}

// Senders on several goroutines, tasks of a pool of one worker among them, have all their values
// passed on, each those of its own in order, with a pool that limits its queue as well.
func TestStreamOfManySenders(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for _, opts := range [][]filch.Option{nil, {filch.WithQueueLimit(1, filch.Block)}} {
			p := filch.New(append(opts, filch.WithWorkers(workers), filch.WithStallTimeout(0))...)
			var last [4]int
			s := par.NewStream(context.Background(), p, func(_ context.Context, v [2]int) ([2]int, error) { return v, nil },
				func(_ context.Context, v [2]int) error {
					if last[v[0]]++; v[1] != last[v[0]] {
						t.Errorf("%d, not %d", v[1], last[v[0]])
					}
					return nil
				}, par.InFlight(2))
			var wg sync.WaitGroup
			for k := range 4 {
				send := func(ctx context.Context) {
					defer wg.Done()
					for i := range 100 {
						if err := s.SendFrom(ctx, [2]int{k, i + 1}); err != nil {
							t.Error("s.SendFrom(ctx, …):", err)
						}
					}
				}
				wg.Add(1)
				if k < 2 {
					p.Go(context.Background(), send)
				} else {
					go send(context.Background())
				}
			}
			wg.Wait()
			if err := s.Close(); err != nil || last != [4]int{100, 100, 100, 100} {
				t.Errorf("%d workers: %v, %v", workers, last, err)
			}
			p.Close()
		}
	}
}

// In a task, a Stream of one worker neither stands still nor waits for the watch of stalls.
func TestStreamInsideATask(t *testing.T) {
	p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0))
	defer p.Close()
	sum, err := filch.Submit(context.Background(), p, func(ctx context.Context) (sum int, err error) {
		s := par.NewStream(ctx, p, func(_ context.Context, v int) (int, error) { return v * v, nil },
			func(_ context.Context, r int) error { sum += r; return nil }, par.InFlight(3))
		for i := range 100 {
			if err := s.Send(i); err != nil {
				return 0, err
			}
		}
		err = s.Close()
		return sum, err
	}).Wait(context.Background())
	if sum != 328350 || err != nil {
		t.Error("filch.Submit(context.Background(), p, …).Wait(…):", sum, err)
	}
}

// The first error in the order of the values is that of Send and Close, as in a serial loop, and
// the sink has had all before it and nothing else.
func TestStreamEndsWithTheFirstError(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for _, bad := range []int{0, 1, 5, 49} {
			for name, c := range map[string]struct{ f, sink func(v int) error }{
				"f":    {func(v int) error { return badFrom(v, bad) }, nil},
				"sink": {nil, func(v int) error { return badFrom(v, bad) }},
				"both": {func(v int) error { return badFrom(v, bad+1) }, func(v int) error { return badFrom(v, bad) }},
			} {
				p := filch.New(filch.WithWorkers(workers))
				var got []int
				s := par.NewStream(context.Background(), p, func(_ context.Context, v int) (int, error) {
					if v == bad {
						runtime.Gosched() // so that later ones come first
					}
					if c.f != nil {
						return v, c.f(v)
					}
					return v, nil
				}, func(_ context.Context, v int) error {
					if c.sink != nil {
						if err := c.sink(v); err != nil {
							return err
						}
					}
					got = append(got, v)
					return nil
				}, par.InFlight(4))
				var err error
				sent := 0
				for ; sent < 50 && err == nil; sent++ {
					err = s.Send(sent)
				}
				want := fmt.Sprintf("bad value: %d", bad)
				if err != nil && err.Error() != want || sent > bad+6 {
					t.Errorf("%s, %d: Send %d: %v", name, bad, sent, err)
				}
				for range 2 {
					if err := s.Close(); err == nil || err.Error() != want || !errors.Is(err, errStream) {
						t.Errorf("%s, %d: Close: %v", name, bad, err)
					}
				}
				if len(got) != bad {
					t.Errorf("%s, %d: the sink has had %v", name, bad, got)
				}
				if s.Send(1) == nil {
					t.Error("it takes a value after Close")
				}
				p.Close()
			}
		}
	}
}

func badFrom(v, bad int) error {
	if v >= bad {
		return fmt.Errorf("%w: %d", errStream, v)
	}
	return nil
}

// A panic or Goexit, in f or in the sink, is an error and leaves nobody waiting.
func TestStreamThatPanics(t *testing.T) {
	for name, c := range map[string]struct {
		end  func()
		want error
	}{"panic": {func() { panic(errStream) }, errStream}, "Goexit": {runtime.Goexit, filch.ErrGoexit}} {
		for _, inSink := range []bool{false, true} {
			for _, workers := range []int{1, 2, 8} {
				p := filch.New(filch.WithWorkers(workers))
				next := 0
				s := par.NewStream(context.Background(), p, func(_ context.Context, v int) (int, error) {
					if v == 20 && !inSink {
						c.end()
					}
					return v, nil
				}, func(_ context.Context, v int) error {
					if v != next || v > 20 {
						t.Errorf("%d after %d", v, next-1)
					}
					if next++; v == 20 {
						c.end()
					}
					return nil
				}, par.InFlight(3))
				var err error
				for i := 0; i < 1000 && err == nil; i++ {
					err = s.Send(i)
				}
				closed := s.Close()
				if !errors.Is(err, c.want) || !errors.Is(closed, c.want) {
					t.Errorf("%s, in the sink: %v, %d workers: %v, %v", name, inSink, workers, err, closed)
				}
				p.Close()
				if k := p.Stats().Tasks; k.Running != 0 || k.Queued != 0 {
					t.Errorf("p.Stats().Tasks: %+v", k)
				}
			}
		}
	}
}

// Send blocks while the Stream is full, until there is room, a context ends, or the pool is closed.
func TestStreamBlocksWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filch.New(filch.WithWorkers(8))
		ctx, cancel := context.WithCancelCause(context.Background())
		gate := make(chan bool)
		got := 0
		s := par.NewStream(ctx, p, func(ctx context.Context, v int) (int, error) {
			if v == 0 {
				<-gate // all others wait for it in the ring
			}
			return v, nil
		}, func(context.Context, int) error { got++; return nil }, par.InFlight(3))
		var sent atomic.Int64
		errs := make(chan error, 1)
		go func() {
			var err error
			for i := 0; err == nil; i++ {
				if err = s.Send(i); err == nil {
					sent.Add(1)
				}
			}
			errs <- err
		}()
		synctest.Wait()
		if n := sent.Load(); n != 3 || got != 0 {
			t.Errorf("%d are under way, %d are through", n, got)
		}
		short, stop := context.WithTimeoutCause(context.Background(), time.Second, errStream)
		defer stop()
		if err := s.SendFrom(short, 100); err != errStream {
			t.Error("s.SendFrom(short, 100):", err)
		}
		cause := errors.New("enough")
		cancel(cause)
		if err := <-errs; err != cause {
			t.Errorf("Send: %v", err)
		}
		close(gate)
		if err := s.Close(); err != cause || got != 3 {
			t.Errorf("Close: %v after %d", err, got)
		}

		s = par.NewStream(context.Background(), p, func(_ context.Context, v int) (int, error) { return v, nil },
			func(context.Context, int) error { return nil }, par.InFlight(1))
		p.Close()
		var err error
		for i := 0; i < 3 && err == nil; i++ {
			err = s.Send(i)
		}
		if closed := s.Close(); err != filch.ErrClosed || closed != filch.ErrClosed {
			t.Errorf("a closed pool: %v, %v", err, closed)
		}
	})
}

// What is wrong with the arguments is told; a Stream without values ends well, and takes none then.
func TestMisuseOfStreamsIsTold(t *testing.T) {
	p := filch.New(filch.WithWorkers(1))
	defer p.Close()
	f := func(context.Context, int) (int, error) { return 0, nil }
	sink := func(context.Context, int) error { return nil }
	for want, do := range map[string]func(){
		"par: NewStream: ctx is nil":                                       func() { par.NewStream(noContext, p, f, sink) },
		"par: NewStream: p is nil":                                         func() { par.NewStream(context.Background(), nil, f, sink) },
		"par: NewStream: the function is nil":                              func() { par.NewStream(context.Background(), p, f, nil) },
		"par: NewStream: there is nothing for WithGrain to do":             func() { par.NewStream(context.Background(), p, f, sink, par.WithGrain(1)) },
		"par: Stream.SendFrom: ctx is nil":                                 func() { par.NewStream(context.Background(), p, f, sink).SendFrom(noContext, 1) },
		"par: InFlight(0): the number of values must be from 1 to 1000000": func() { par.InFlight(0) },
	} {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); v != want {
					t.Errorf("%s; want %s", v, want)
				}
			}()
			do()
		}()
	}
	s := par.NewStream(context.Background(), p, f, sink)
	if err := s.Close(); err != nil {
		t.Error("s.Close():", err)
	}
	if err := s.Send(1); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error("s.Send(1):", err)
	}
	if err := s.Close(); err != nil {
		t.Error("s.Close():", err)
	}
}

// Close may come while others send: each value is taken and passed on, or refused.
func TestStreamClosedWhileOthersSend(t *testing.T) {
	for range 20 {
		p := filch.New(filch.WithWorkers(2))
		var through atomic.Int64
		s := par.NewStream(context.Background(), p, func(_ context.Context, v int) (int, error) { return v, nil },
			func(context.Context, int) error { through.Add(1); return nil }, par.InFlight(2))
		var wg sync.WaitGroup
		var taken atomic.Int64
		begun := make(chan bool, 3)
		for range 3 {
			wg.Go(func() {
				for i := range 50 {
					if s.Send(i) == nil {
						taken.Add(1)
					}
					if i == 5 {
						begun <- true
					}
				}
			})
		}
		<-begun
		if err := s.Close(); err != nil {
			t.Error("s.Close():", err)
		}
		wg.Wait()
		if taken.Load() != through.Load() {
			t.Errorf("%d were taken, %d are through", taken.Load(), through.Load())
		}
		p.Close()
	}
}

// noContext is nil.
var noContext context.Context

// A task that waits for room in a Stream, or for its end, has no slot of its Subpool meanwhile: the function of the Stream may need it.
func TestASenderInATaskNeedsNoSlot(t *testing.T) {
	for workers := 1; workers <= 3; workers++ {
		for way, send := range map[string]func(ctx context.Context, s *par.Stream[int], v int) error{
			"Send":     func(_ context.Context, s *par.Stream[int], v int) error { return s.Send(v) },
			"SendFrom": func(ctx context.Context, s *par.Stream[int], v int) error { return s.SendFrom(ctx, v) },
		} {
			synctest.Test(t, func(t *testing.T) {
				p := filch.New(filch.WithWorkers(workers), filch.WithStallTimeout(0))
				sub := p.Subpool(1)
				got := 0
				f := filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
					s := par.NewStream(ctx, p, func(ctx context.Context, v int) (int, error) {
						return filch.Submit(ctx, p, func(context.Context) (int, error) { return v, nil }, sub).Wait(ctx)
					}, func(_ context.Context, v int) error { got += v; return nil }, par.InFlight(1))
					for v := range 5 {
						if err := send(ctx, s, v); err != nil {
							return 0, err
						}
					}
					return got, s.Close()
				}, sub)
				ctx, stop := context.WithTimeout(context.Background(), time.Hour)
				defer stop()
				if _, err := f.Wait(ctx); err != nil || got != 0+1+2+3+4 {
					t.Errorf("%d workers, %s: the task of Subpool(1) ends with %v after %d; %d run, %d wait", workers, way, err, got, sub.Running(), sub.Queued())
				}
				p.Close()
			})
		}
	}
}
