package filch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/task"
)

// oddKernel is a kernel of two processors, 4 and 6, that fails as it is told.
type oddKernel struct{ asks, sets error }

func (k *oddKernel) Thread() int { return affinity.System.Thread() }

func (k *oddKernel) Mask(int) (affinity.Mask, error) {
	if k.asks != nil {
		return nil, k.asks
	}
	return affinity.Mask{1<<4 | 1<<6}, nil
}

func (k *oddKernel) SetMask(int, affinity.Mask) error { return k.sets }

// If goroutines cannot be pinned, the pool works, and says why, once, in its log and by Affinity.
func TestAPoolSaysWhyItsWorkersAreNotPinned(t *testing.T) {
	refused := errors.New("as it likes")
	for _, c := range []struct {
		name   string
		kernel oddKernel
		listed []int
		why    string
		later  bool
	}{
		{"it does not tell", oddKernel{asks: refused}, nil, "as it likes", false},
		{"not allowed", oddKernel{}, []int{6, 5}, "the program may not use processor 5: it may use 4,6", false},
		{"refused later", oddKernel{sets: refused}, nil, "the kernel refuses to place a thread on processor 4: as it likes", true},
		{"nothing is wrong", oddKernel{}, []int{6}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			p := New(WithWorkers(2), WithName("odd"), WithLogger(slog.New(slog.NewTextHandler(&log, nil))), WithAffinity(Compact, c.listed...), poolOption(func(o *config) { o.pins.kernel = &c.kernel }))
			for i := range 10 {
				if v, err := Submit(context.Background(), p, func(context.Context) (int, error) { return i, nil }).Wait(context.Background()); v != i || err != nil {
					t.Error("Submit(context.Background(), p, …).Wait(…):", v, err)
				}
			}
			if err := p.Close(); err != nil {
				t.Error("p.Close():", err)
			}
			var dump strings.Builder
			if err := p.Dump(&dump); err != nil {
				t.Error("p.Dump(&dump):", err)
			}
			line := "\nprocessors: Compact, [6]; 0 goroutines pinned\n"
			if c.why != "" {
				line = "\nnot pinned to processors: filch: WithAffinity: " + c.why + "\n"
			}
			if !strings.Contains(dump.String(), line) {
				t.Errorf("Dump has no %q:\n%s", line, &dump)
			}
			processors, err := p.Affinity()
			if c.later != (len(processors) > 0) {
				t.Errorf("the processors are %v", processors)
			}
			if c.why == "" {
				if err != nil || log.Len() > 0 {
					t.Errorf("%v; logged\n%s", err, &log)
				}
				return
			}
			if want := "filch: WithAffinity: " + c.why; fmt.Sprint(err) != want {
				t.Errorf("%v, and not %s", err, want)
			}
			if n := strings.Count(log.String(), "not pinned"); n != 1 || !strings.Contains(log.String(), c.why) || !strings.Contains(log.String(), "pool=odd") {
				t.Errorf("logged %d times\n%s", n, &log)
			}
		})
	}
}

func TestAPoolWithoutAffinityHasNone(t *testing.T) {
	p := New()
	defer p.Close()
	if processors, err := p.Affinity(); processors != nil || err != nil {
		t.Error("p.Affinity():", processors, err)
	}
}

// What cannot be meant panics where the option is made, and names the argument.
func TestMisuseOfWithAffinityPanics(t *testing.T) {
	for want, option := range map[string]func() Option{
		"filch: WithAffinity(Affinity(-1)): the order must be Spread, Compact or AsListed":  func() Option { return WithAffinity(-1) },
		"filch: WithAffinity(Affinity(3)): the order must be Spread, Compact or AsListed":   func() Option { return WithAffinity(3) },
		"filch: WithAffinity(AsListed): no processor is listed":                             func() Option { return WithAffinity(AsListed) },
		"filch: WithAffinity(Spread): processor -1: the number must be from 0 to 65535":     func() Option { return WithAffinity(Spread, 0, -1) },
		"filch: WithAffinity(Compact): processor 65536: the number must be from 0 to 65535": func() Option { return WithAffinity(Compact, 65536) },
		"filch: WithAffinity(AsListed): processor 3 is listed twice":                        func() Option { return WithAffinity(AsListed, 3, 1, 3) },
		"filch: Affinity: the Pool is nil or zero: make one with New":                       nil,
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("%s\nnot\n%s", got, want)
				}
			}()
			if option == nil {
				_, _ = (&Pool{}).Affinity()
				return
			}
			option()
		}()
	}
}

// passes looks where workers are pinned that pass their place on.
type passes struct {
	t    *testing.T
	p    *Pool
	seen atomic.Int32
}

func (s *passes) Event(e event.Event) {
	if e.Kind != event.PassedOn {
		return
	}
	s.seen.Add(1)
	for _, w := range *s.p.tasks.Engine.Workers.Load() {
		if n := w.Processor(); w.ID == e.Worker && n >= 0 {
			s.t.Errorf("a worker passes its slot on, and has processor %d", n)
		}
	}
}

// A worker that passes its slot on has given up its processor before. What goes on after a wait has one: at a join, and
// after a wait for a Future that another worker has resolved.
func TestAPlaceThatIsPassedOnLeavesItsProcessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &passes{t: t}
		s.p = New(WithWorkers(2), WithAffinity(Spread), withHook(s), poolOption(func(c *config) { c.pins.kernel = &oddKernel{} }))
		p := s.p
		_, err := Submit(t.Context(), p, func(ctx context.Context) (int, error) {
			mine := &task.Of(ctx).Worker.Engine
			isPinned := func(after string) {
				if mine.Processor() < 0 {
					t.Errorf("after %s, the worker has no processor", after)
				}
			}
			isPinned("the beginning")
			ScopeOf(ctx).Do(func(w *Worker) {
				var both sync.WaitGroup
				both.Add(2)
				half := func(on *Worker) {
					both.Done()
					both.Wait()
					if on != w {
						time.Sleep(time.Second)
					}
				}
				w.Join(half, half)
				isPinned("a join")
			})
			f := Submit(ctx, p, func(context.Context) (int, error) { time.Sleep(time.Second); return 0, nil })
			time.Sleep(time.Millisecond)
			_, err := f.Wait(ctx)
			isPinned("a wait")
			return 0, err
		}).Wait(t.Context())
		if err != nil || s.seen.Load() == 0 {
			t.Errorf("%v; places were passed on %d times", err, s.seen.Load())
		}
		if err := p.Close(); err != nil {
			t.Error("p.Close():", err)
		}
		synctest.Wait()
		if load, pinned := p.Seats(); pinned != 0 || load[0]+load[1] != 0 {
			t.Errorf("%d goroutines are pinned, %v", pinned, load)
		}
	})
}

// Seats returns how many goroutines of the pool run on each of its processors, and how many are pinned in all.
func (p *Pool) Seats() (load []int, pinned int) {
	if p.pins == nil || p.pins.seats == nil {
		return nil, 0
	}
	return p.pins.seats.(*affinity.Seats).Load()
}
