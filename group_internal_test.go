package filch

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/race/racetest"
)

// Calls that the end of a group's context keeps from queuing a task, or from waiting for a slot, are
// one error with it; an error of a task's own is another, also if it cannot be compared.
func TestCallsAfterTheEndOfAGroup(t *testing.T) {
	for name, opts := range map[string][]TaskOption{"plain": nil, "named": {Named("x")}} {
		for _, limit := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				p := New(WithWorkers(1), WithStallTimeout(0))
				parent, cancel := context.WithCancelCause(context.Background())
				how := []GroupOption{CollectErrors(10)}
				if limit {
					how = append(how, GroupLimit(1))
				}
				g := p.Group(parent, how...)
				gate := make(chan bool)
				g.Go(func(context.Context) error { <-gate; return nil })
				synctest.Wait()
				never := func(context.Context) error { t.Error("a task runs"); return nil }
				if limit {
					for range 2 {
						go g.Go(never, opts...)
					}
					synctest.Wait() // they wait for a slot
				}
				cancel(incomparable{"x"})
				synctest.Wait()
				for range 2 {
					g.Go(never, opts...)
				}
				close(gate)
				if err := g.Wait(); reflect.TypeOf(err) != reflect.TypeOf(incomparable{}) {
					t.Errorf("%s, limit %t: %#v", name, limit, err)
				}
				p.Close()
			})
		}
		synctest.Test(t, func(t *testing.T) {
			p := New(WithWorkers(1), WithStallTimeout(0))
			parent, cancel := context.WithCancelCause(context.Background())
			g := p.Group(parent)
			g.Go(func(context.Context) error { cancel(incomparable{"end"}); return incomparable{"own"} }, opts...)
			if err, ok := g.Wait().(incomparable); !ok || !slices.Equal(err, incomparable{"own"}) {
				t.Errorf("%s: %#v", name, err)
			}
			p.Close()
		})
	}
}

// A task that runs within the slot of another has its options nevertheless, and is observed.
func TestOptionsOfATaskWithinASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := kinds{make(chan EventKind, 9)}
		p := New(WithWorkers(1), WithStallTimeout(0), WithObserver(o))
		g := p.Group(context.Background(), GroupLimit(1), CollectErrors(9))
		g.Go(func(ctx context.Context) error {
			begin := time.Now()
			g.GoFrom(ctx, func(ctx context.Context) error {
				if end, ok := ctx.Deadline(); !ok || !end.Equal(begin.Add(time.Second)) {
					t.Errorf("the time limit is %v, %t", end.Sub(begin), ok)
				}
				time.Sleep(2 * time.Second)
				return ctx.Err()
			}, Within(time.Second), Named("x"))
			return nil
		})
		if err := g.Wait(); !errors.Is(err, context.DeadlineExceeded) {
			t.Error("g.Wait():", err)
		}
		p.Close()
		close(o.seen)
		var got []EventKind
		for k := range o.seen {
			got = append(got, k)
		}
		if want := []EventKind{TaskSubmitted, TaskStarted, TaskSubmitted, TaskStarted, TaskDone, TaskDone}; !slices.Equal(got, want) {
			t.Errorf("%v, not %v", got, want)
		}
	})
}

// Dump tells by its function which task waits for a group.
func TestDumpOfATaskThatWaitsForAGroup(t *testing.T) {
	racetest.Skip(t, "Dump shows no forks")
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(2), WithStallTimeout(0))
		gate := make(chan bool)
		p.Go(context.Background(), func(ctx context.Context) {
			g := p.Group(ctx)
			g.Go(func(context.Context) error { <-gate; return nil }, LongRunning())
			g.Wait()
		})
		synctest.Wait()
		var b strings.Builder
		if p.Dump(&b); !strings.Contains(b.String(), " waits for a group\n") || strings.Contains(b.String(), "without a name waits") {
			t.Error(b.String())
		}
		close(gate)
		p.Close()
	})
}

// An observer sees the end at the last moment of a task that its submitter runs, too.
func TestTheObserverSeesTheEndOnTheCallersGoroutine(t *testing.T) {
	for n := int32(1); n <= 6; n++ {
		synctest.Test(t, func(t *testing.T) {
			o := kinds{make(chan EventKind, 19)}
			p := New(WithWorkers(1), WithTaskLimit(1, CallerRuns), WithObserver(o), WithStallTimeout(0))
			gate := make(chan bool)
			p.Go(context.Background(), func(context.Context) { <-gate })
			synctest.Wait()
			ctx := &lateEnd{Context: context.Background()}
			ctx.left.Store(n)
			ran := false
			p.Go(ctx, func(context.Context) { ran = true })
			close(gate)
			p.Shutdown(context.Background())
			close(o.seen)
			counts := map[EventKind]int{}
			for k := range o.seen {
				counts[k]++
			}
			s := p.Stats().Tasks
			if counts[TaskSubmitted]+counts[TaskRejected] != 2 || counts[TaskDone]+counts[TaskCancelled]+counts[TaskRejected] != 2 || (counts[TaskDone] == 2) != ran ||
				int(s.Done) != counts[TaskDone] || int(s.Cancelled) != counts[TaskCancelled] || int(s.Rejected) != counts[TaskRejected] || p.tasks.Slots.Taken() != 0 {
				t.Errorf("the end at look %d: %v; ran: %t; %+v", n, counts, ran, s)
			}
		})
	}
}
