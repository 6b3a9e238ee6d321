package filchotel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/filch-go/filch"
)

// What spans of tasks have, beside filch.pool.name.
const (
	taskName     = attribute.Key("filch.task.name")     // that of filch.Named, if it has one
	taskID       = attribute.Key("filch.task.id")       // Event.ID
	taskParent   = attribute.Key("filch.task.parent")   // Event.Parent, if not 0
	taskPriority = attribute.Key("filch.task.priority") // Event.Priority
	taskWait     = attribute.Key("filch.task.wait")     // seconds from submission to start, or to cancellation
	taskOutcome  = attribute.Key("filch.task.outcome")  // done, cancelled or rejected
	workerID     = attribute.Key("filch.worker.id")     // Event.Worker, if it ran on one

	errorType           = attribute.Key("error.type")
	exceptionType       = attribute.Key("exception.type")
	exceptionMessage    = attribute.Key("exception.message")
	exceptionStacktrace = attribute.Key("exception.stacktrace")
)

// Tracer is a [filch.Observer] that makes a span of each task. Make one with [NewTracer]. Its methods may be called
// from any goroutine.
type Tracer struct {
	tracer trace.Tracer
	child  bool

	tasks    sync.Map // of task to *span: those that were accepted, and have not ended
	contexts sync.Map // of context.Context to *span: those that run, by the context that they were called with
}

var _ filch.Observer = (*Tracer)(nil)

// task tells tasks apart.
type task struct {
	pool string
	id   uint64
}

// span is what a Tracer has of a task. The first three are written before it is in tasks, and not after.
type span struct {
	by      context.Context   // has the span that the new one comes after
	from    trace.SpanContext // of that span
	outside trace.SpanContext // of the span in the context that the task was submitted with

	mu    sync.Mutex
	begun trace.Span // under mu; nil until the task starts
}

// A TracerOption is an option of [NewTracer].
type TracerOption func(*Tracer)

// AsChildren makes the span of a task a child of the submitter's, in the same trace. It is for programs whose
// submitters wait for their tasks. Without it, each span begins a trace of its own, with a link to the span of the
// submitter, since a task may outlive its submitter.
func AsChildren() TracerOption { return func(t *Tracer) { t.child = true } }

// NewTracer returns an observer that makes a span of each task. Pass it to [filch.WithObserver], of one pool or of several
// with different names:
//
//	p := filch.New(filch.WithName("web"), filch.WithObserver(filchotel.NewTracer(otel.GetTracerProvider())))
//
// A span lasts from the start of the task to its end, and is named by [filch.Named], or "task" without that. It has a
// link to the span of the submitter: the one in the context that the task was submitted with, or the span of
// the task that submitted it, if that began no other. The attributes are filch.pool.name, filch.task.name, .id, .parent,
// .priority, .wait (in seconds), .outcome, and filch.worker.id.
//
// A task that fails has the status Error, the attribute error.type, and an event for the exception, which has the
// stack of a panic. A task that is cancelled has a span from its submission to that moment, and one that
// is rejected a span without length; both have the status Error.
// Forks have no spans: they take less time than the clock.
//
// The context that a task is called with does not hold its span, as package filch does not let observers change it.
// Call [Tracer.Context] in the task, if spans that it begins should be within it.
//
// A task costs what an observer costs, and what a span does: some microseconds. NewTracer panics if provider or an option
// is nil.
func NewTracer(provider trace.TracerProvider, options ...TracerOption) *Tracer {
	if provider == nil {
		panic("filchotel: NewTracer: provider is nil")
	}
	t := &Tracer{tracer: provider.Tracer(scope)}
	for i, o := range options {
		if o == nil {
			panic(fmt.Sprintf("filchotel: NewTracer: option %d is nil", i))
		}
		o(t)
	}
	return t
}

// Context returns ctx with the span of the task that was called with ctx. If that is no task that t has been told of,
// or one that has ended, it returns ctx. It panics if ctx is nil.
//
//	p.Go(ctx, func(ctx context.Context) {
//		ctx = tracer.Context(ctx)
//		...
//	})
func (t *Tracer) Context(ctx context.Context) context.Context {
	if ctx == nil {
		panic("filchotel: Context: ctx is nil")
	}
	if !reflect.TypeOf(ctx).Comparable() { // those of filch are
		return ctx
	}
	if s, ok := t.contexts.Load(ctx); ok {
		return trace.ContextWithSpan(ctx, s.(*span).started())
	}
	return ctx
}

// started returns the span, or nil if the task has not started.
func (s *span) started() trace.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// Observe is told of the events of tasks. Package filch calls it.
func (t *Tracer) Observe(e filch.Event) {
	k := task{e.Pool, e.ID}
	switch e.Kind {
	case filch.TaskSubmitted:
		t.tasks.Store(k, t.submitted(&e))
	case filch.TaskRejected:
		t.end(&e, t.begin(&e, t.submitted(&e), e.Ended))
	case filch.TaskStarted:
		if s, ok := t.tasks.Load(k); ok {
			t.start(&e, s.(*span))
		}
	case filch.TaskDone, filch.TaskCancelled:
		if s, ok := t.tasks.LoadAndDelete(k); ok {
			t.over(&e, s.(*span))
		}
	}
}

// submitted returns what is kept of a task that is submitted just now.
func (t *Tracer) submitted(e *filch.Event) *span {
	outside := trace.SpanContextFromContext(e.Context)
	s := &span{by: e.Context, from: outside, outside: outside}
	if e.Parent == 0 {
		return s
	}
	if p, ok := t.tasks.Load(task{e.Pool, e.Parent}); ok {
		p := p.(*span)
		if own := p.started(); own != nil && p.outside.Equal(outside) { // else the parent has begun a span itself
			s.by, s.from = trace.ContextWithSpan(e.Context, own), own.SpanContext()
		}
	}
	return s
}

func (t *Tracer) start(e *filch.Event, s *span) {
	begun := t.begin(e, s, e.Started)
	s.mu.Lock()
	s.begun = begun
	s.mu.Unlock()
	t.contexts.Store(e.Context, s)
}

func (t *Tracer) over(e *filch.Event, s *span) {
	begun := s.started()
	if begun == nil { // it was cancelled, and its context is that of its submitter
		begun = t.begin(e, s, e.Submitted)
	} else {
		t.contexts.Delete(e.Context)
	}
	t.end(e, begun)
}

// begin returns a span that began at a time.
func (t *Tracer) begin(e *filch.Event, s *span, at time.Time) trace.Span {
	name := valid(e.Task)
	if name == "" {
		name = "task"
	}
	about := append(make([]attribute.KeyValue, 0, 8), poolName.String(valid(e.Pool)), taskID.Int64(int64(e.ID)), taskPriority.Int(e.Priority))
	if e.Task != "" {
		about = append(about, taskName.String(name))
	}
	if e.Parent != 0 {
		about = append(about, taskParent.Int64(int64(e.Parent)))
	}
	if e.Kind == filch.TaskStarted {
		about = append(about, taskWait.Float64(e.Started.Sub(e.Submitted).Seconds()))
		if e.Worker >= 0 {
			about = append(about, workerID.Int(e.Worker))
		}
	}
	options := append(make([]trace.SpanStartOption, 0, 4), trace.WithTimestamp(at), trace.WithAttributes(about...))
	if !t.child {
		options = append(options, trace.WithNewRoot())
		if s.from.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: s.from}))
		}
	}
	_, begun := t.tracer.Start(s.by, name, options...)
	return begun
}

// end ends the span of a task.
func (t *Tracer) end(e *filch.Event, s trace.Span) {
	switch e.Kind {
	case filch.TaskDone:
		s.SetAttributes(taskOutcome.String("done"))
	case filch.TaskCancelled:
		s.SetAttributes(taskOutcome.String("cancelled"), taskWait.Float64(e.Ended.Sub(e.Submitted).Seconds()))
	case filch.TaskRejected:
		s.SetAttributes(taskOutcome.String("rejected"))
	}
	if e.Err != nil {
		tellError(s, e.Err, e.Ended)
	}
	s.End(trace.WithTimestamp(e.Ended))
}

func tellError(s trace.Span, err error, at time.Time) {
	typ, message := fmt.Sprintf("%T", err), valid(err.Error())
	about := []attribute.KeyValue{}
	if p := (*filch.PanicError)(nil); errors.As(err, &p) {
		typ, message = "panic", valid(fmt.Sprint(p.Value))
		about = append(about, exceptionStacktrace.String(valid(string(p.Stack))))
	}
	if known := knownError(err); known != "" {
		typ = known
	}
	s.SetAttributes(errorType.String(typ))
	s.SetStatus(codes.Error, message)
	s.AddEvent("exception", trace.WithTimestamp(at), trace.WithAttributes(append(about, exceptionType.String(typ), exceptionMessage.String(message))...))
}

// knownError returns a name for an error that does not depend on its type.
func knownError(err error) string {
	for _, known := range []struct {
		err  error
		name string
	}{
		{filch.ErrGoexit, "goexit"},
		{filch.ErrQueueFull, "queue_full"},
		{filch.ErrClosed, "pool_closed"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "deadline_exceeded"},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return ""
}
