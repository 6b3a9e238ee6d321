package filchotel

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/filch-go/filch"
)

func tracing(o ...TracerOption) (*Tracer, *tracetest.SpanRecorder, api.Tracer) {
	r := tracetest.NewSpanRecorder()
	tp := trace.NewTracerProvider(trace.WithSpanProcessor(r))
	return NewTracer(tp, o...), r, tp.Tracer("the program")
}

// named returns the one span that has ended with a name.
func named(t *testing.T, r *tracetest.SpanRecorder, name string) trace.ReadOnlySpan {
	t.Helper()
	var found []trace.ReadOnlySpan
	for _, s := range r.Ended() {
		if s.Name() == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans %q of %d", len(found), name, len(r.Ended()))
	}
	return found[0]
}

func attributeOf(s trace.ReadOnlySpan, k attribute.Key) attribute.Value {
	for _, a := range s.Attributes() {
		if a.Key == k {
			return a.Value
		}
	}
	return attribute.Value{}
}

func empty(tr *Tracer) bool {
	n := 0
	count := func(any, any) bool { n++; return true }
	tr.tasks.Range(count)
	tr.contexts.Range(count)
	return n == 0
}

// A task has a span from start to end, a trace of its own, and a link to the span that it was submitted in.
func TestTasksHaveSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, r, program := tracing()
		p := filch.New(filch.WithName("kitchen"), filch.WithWorkers(1), filch.WithOrder(filch.ByPriority), filch.WithObserver(tr))
		defer p.Close()
		ctx, request := program.Start(background, "request")
		p.Pause()
		cook := filch.Submit(ctx, p, func(context.Context) (int, error) { time.Sleep(2 * time.Second); return 0, nil }, filch.Named("cook"), filch.AtPriority(7))
		time.Sleep(time.Second)
		p.Resume()
		cook.Wait(background)
		request.End()

		s, in := named(t, r, "cook"), request.SpanContext()
		if d := s.EndTime().Sub(s.StartTime()); d != 2*time.Second {
			t.Errorf("it lasts %v", d)
		}
		if s.SpanContext().TraceID() == in.TraceID() || s.Parent().IsValid() || len(s.Links()) != 1 || !s.Links()[0].SpanContext.Equal(in) {
			t.Errorf("links %v, parent %v", s.Links(), s.Parent())
		}
		if s.Status().Code != codes.Unset || s.InstrumentationScope().Name != scope || s.SpanKind() != api.SpanKindInternal {
			t.Errorf(`named(t, r, "cook"): %v, %v, %v`, s.Status(), s.InstrumentationScope(), s.SpanKind())
		}
		for _, want := range []attribute.KeyValue{
			poolName.String("kitchen"), taskName.String("cook"), taskID.Int64(1), taskPriority.Int(7), taskWait.Float64(1), taskOutcome.String("done"), workerID.Int(0),
		} {
			if !slices.Contains(s.Attributes(), want) {
				t.Errorf("no %v in %v", want, s.Attributes())
			}
		}
		if !empty(tr) {
			t.Error("something is kept of a task that has ended")
		}
	})
}

// With AsChildren, the span is in the submitter's trace.
func TestSpansOfChildren(t *testing.T) {
	tr, r, program := tracing(AsChildren())
	p := filch.New(filch.WithObserver(tr))
	defer p.Close()
	ctx, request := program.Start(background, "request")
	filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
		return filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil }, filch.Named("inner")).Wait(ctx)
	}, filch.Named("outer")).Wait(background)
	request.End()
	outer, inner := named(t, r, "outer"), named(t, r, "inner")
	if !outer.Parent().Equal(request.SpanContext()) || len(outer.Links()) != 0 {
		t.Errorf("the parent is %v", outer.Parent())
	}
	if !inner.Parent().Equal(outer.SpanContext()) || len(inner.Links()) != 0 {
		t.Errorf("the parent of the inner task is %v", inner.Parent())
	}
}

// A task that a task submits is linked to that, or to a span that it has begun. So are the tasks of those. A task without
// any has no link.
func TestLinksOfTasksThatTasksSubmit(t *testing.T) {
	tr, r, program := tracing()
	p := filch.New(filch.WithWorkers(2), filch.WithObserver(tr))
	defer p.Close()
	submit := func(ctx context.Context, name string, f func(ctx context.Context)) {
		filch.Submit(ctx, p, func(ctx context.Context) (int, error) { f(ctx); return 0, nil }, filch.Named(name)).Wait(ctx)
	}
	nothing := func(context.Context) {}
	ctx, request := program.Start(background, "request")
	submit(ctx, "outer", func(ctx context.Context) {
		submit(ctx, "inner", func(ctx context.Context) { submit(ctx, "innermost", nothing) })
		own, step := program.Start(ctx, "step")
		submit(own, "in step", nothing)
		step.End()
		with, within := program.Start(tr.Context(ctx), "within")
		submit(with, "in within", nothing)
		within.End()
		g := p.Group(ctx)
		g.Go(func(context.Context) error { return nil }, filch.Named("of a group"))
		g.Wait()
	})
	request.End()
	submit(background, "alone", nothing)
	for name, by := range map[string]string{
		"outer": "request", "inner": "outer", "innermost": "inner", "in step": "step", "in within": "within", "of a group": "outer",
	} {
		if links := named(t, r, name).Links(); len(links) != 1 || !links[0].SpanContext.Equal(named(t, r, by).SpanContext()) {
			t.Errorf("%s is linked to %v, not to %s", name, links, by)
		}
	}
	if links := named(t, r, "alone").Links(); len(links) != 0 {
		t.Errorf("links %v", links)
	}
	if s := named(t, r, "step"); !s.Parent().Equal(request.SpanContext()) {
		t.Errorf("without Context, the parent is %v", s.Parent())
	}
	if s := named(t, r, "within"); !s.Parent().Equal(named(t, r, "outer").SpanContext()) {
		t.Errorf("with Context, the parent is %v", s.Parent())
	}
	if !empty(tr) {
		t.Error("something is kept of tasks that have ended")
	}
}

// slices are no keys.
type incomparable struct {
	context.Context
	_ []int
}

// Context leaves contexts alone that are not of a running task.
func TestContextOfNoTask(t *testing.T) {
	tr, _, _ := tracing()
	p := filch.New(filch.WithObserver(tr))
	defer p.Close()
	var kept context.Context
	filch.Submit(background, p, func(ctx context.Context) (int, error) { kept = ctx; return 0, nil }).Wait(background)
	for _, ctx := range []context.Context{background, kept} {
		if tr.Context(ctx) != ctx {
			t.Error("another context")
		}
	}
	if c := tr.Context(incomparable{Context: background}); c.(incomparable).Context != background {
		t.Error("another context")
	}
	var none context.Context
	expectPanic(t, "filchotel: Context: ctx is nil", func() { tr.Context(none) })
}

// Each end of a task but the usual one is an error, with what is known of it.
func TestErrorsOfTasks(t *testing.T) {
	for name, c := range map[string]struct {
		f                            func(context.Context) (int, error)
		typ, message, stack, outcome string
	}{
		"error":    {func(context.Context) (int, error) { return 0, errors.New("burnt") }, "*errors.errorString", "burnt", "", "done"},
		"panic":    {func(context.Context) (int, error) { panic("fire") }, "panic", "fire", "TestErrorsOfTasks", "done"},
		"Goexit":   {func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }, "goexit", filch.ErrGoexit.Error(), "", "done"},
		"canceled": {func(context.Context) (int, error) { return 0, context.Canceled }, "canceled", "context canceled", "", "done"},
	} {
		t.Run(name, func(t *testing.T) {
			tr, r, _ := tracing()
			p := filch.New(filch.WithObserver(tr))
			defer p.Close()
			filch.Submit(background, p, c.f).Wait(background)
			checkError(t, named(t, r, "task"), c.typ, c.message, c.stack, c.outcome)
		})
	}
}

func checkError(t *testing.T, s trace.ReadOnlySpan, typ, message, stack, outcome string) {
	t.Helper()
	if s.Status().Code != codes.Error || s.Status().Description != message {
		t.Errorf("the status is %v", s.Status())
	}
	if got := attributeOf(s, errorType).AsString(); got != typ {
		t.Errorf("error.type is %q", got)
	}
	if got := attributeOf(s, taskOutcome).AsString(); got != outcome {
		t.Errorf("filch.task.outcome is %q", got)
	}
	if len(s.Events()) != 1 || s.Events()[0].Name != "exception" {
		t.Fatalf("the events are %v", s.Events())
	}
	about := attribute.NewSet(s.Events()[0].Attributes...)
	for k, want := range map[attribute.Key]string{exceptionType: typ, exceptionMessage: message} {
		if v, _ := about.Value(k); v.AsString() != want {
			t.Errorf("%s is %q", k, v.AsString())
		}
	}
	if v, ok := about.Value(exceptionStacktrace); ok != (stack != "") || !strings.Contains(v.AsString(), stack) {
		t.Errorf("exception.stacktrace is %q", v.AsString())
	}
}

// A task that never starts has a span as well: from its submission if it was accepted. That it was submitted with the
// context of a task leaves that task's span alone.
func TestTasksThatNeverStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, r, program := tracing()
		p := filch.New(filch.WithWorkers(1), filch.WithStallTimeout(0), filch.WithObserver(tr), filch.WithQueueLimit(1, filch.Reject))
		defer p.Close()
		ctx, request := program.Start(background, "request")
		filch.Submit(ctx, p, func(ctx context.Context) (int, error) {
			dropped := filch.Submit(ctx, p, func(context.Context) (int, error) { return 0, nil }, filch.Named("dropped"))
			time.Sleep(time.Millisecond) // so that it waits
			if err := p.Go(ctx, func(context.Context) {}, filch.Named("refused")); !errors.Is(err, filch.ErrQueueFull) {
				t.Error(`p.Go(ctx, …, filch.Named("refused")):`, err)
			}
			time.Sleep(time.Second)
			dropped.Cancel()
			if !api.SpanContextFromContext(tr.Context(ctx)).IsValid() || tr.Context(ctx) == ctx {
				t.Error("the running task has lost its span")
			}
			return 0, nil
		}, filch.Named("outer")).Wait(background)
		request.End()

		dropped, refused := named(t, r, "dropped"), named(t, r, "refused")
		checkError(t, dropped, "canceled", dropped.Status().Description, "", "cancelled")
		checkError(t, refused, "queue_full", refused.Status().Description, "", "rejected")
		if d := dropped.EndTime().Sub(dropped.StartTime()); d != time.Second+time.Millisecond {
			t.Errorf("it waited %v", d)
		}
		if got := attributeOf(dropped, taskWait).AsFloat64(); got != 1.001 {
			t.Errorf("filch.task.wait is %v", got)
		}
		if !refused.EndTime().Equal(refused.StartTime()) {
			t.Error("a task that was refused takes time")
		}
		for _, s := range []trace.ReadOnlySpan{dropped, refused} {
			if len(s.Links()) != 1 || !s.Links()[0].SpanContext.Equal(named(t, r, "outer").SpanContext()) {
				t.Errorf("%s has the links %v", s.Name(), s.Links())
			}
			for _, a := range s.Attributes() {
				if a.Key == workerID {
					t.Errorf("%s ran on worker %v", s.Name(), a.Value)
				}
			}
		}
		if !empty(tr) {
			t.Error("something is kept")
		}
	})
}

// Every task of a random load has its span, and nothing is kept of any.
func TestEachOfManyTasksHasItsSpan(t *testing.T) {
	tr, r, program := tracing()
	p := filch.New(filch.WithWorkers(4), filch.WithObserver(tr), filch.WithQueueLimit(50, filch.Reject))
	ctx, request := program.Start(background, "request")
	var submitters sync.WaitGroup
	for range 4 {
		submitters.Go(func() {
			for i := range 200 {
				inner, end := context.WithCancel(ctx)
				if i%3 == 0 {
					end()
				}
				p.Go(inner, func(ctx context.Context) {
					_, s := program.Start(tr.Context(ctx), "step")
					s.End()
				})
				if i%3 == 1 {
					end()
				}
				defer end()
			}
		})
	}
	submitters.Wait()
	if err := p.Shutdown(background); err != nil {
		t.Fatal("p.Shutdown(background):", err)
	}
	request.End()
	n := 0
	for _, s := range r.Ended() {
		if s.Name() == "task" {
			n++
		}
	}
	st := p.Stats().Tasks
	if want := st.Submitted + st.Rejected; int64(n) != want || n != 800 {
		t.Errorf("%d spans, %d tasks", n, want)
	}
	if !empty(tr) {
		t.Error("something is kept of tasks that have ended")
	}
}

// Forks have no spans.
func TestForksHaveNoSpans(t *testing.T) {
	tr, r, _ := tracing()
	p := filch.New(filch.WithWorkers(2), filch.WithObserver(tr))
	defer p.Close()
	p.Do(func(w *filch.Worker) { w.Join(func(*filch.Worker) {}, func(*filch.Worker) {}) })
	if n := len(r.Started()); n != 0 {
		t.Errorf("%d spans", n)
	}
}

func TestBadArgumentsOfTracer(t *testing.T) {
	expectPanic(t, "filchotel: NewTracer: provider is nil", func() { NewTracer(nil) })
	expectPanic(t, "filchotel: NewTracer: option 0 is nil", func() { NewTracer(noop.NewTracerProvider(), nil) })
}

// A task with a span, by a provider that keeps none, and by one that does.
func BenchmarkTask(b *testing.B) {
	for name, o := range map[string][]filch.Option{
		"without":  nil,
		"dropped":  {filch.WithObserver(NewTracer(noop.NewTracerProvider()))},
		"recorded": {filch.WithObserver(NewTracer(trace.NewTracerProvider()))},
	} {
		b.Run(name, func(b *testing.B) {
			p := filch.New(o...)
			defer p.Close()
			g := p.Group(background)
			b.ReportAllocs()
			for b.Loop() {
				g.Go(func(context.Context) error { return nil })
			}
			g.Wait()
		})
	}
}
