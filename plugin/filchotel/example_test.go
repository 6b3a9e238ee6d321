package filchotel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/plugin/filchotel"
)

func square(context.Context) (int, error) { return 9 * 9, nil }

// collected returns the metrics that a reader finds.
func collected(r metric.Reader) (all []metricdata.Metrics) {
	var rm metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &rm); err != nil {
		fmt.Println(err)
	}
	for _, s := range rm.ScopeMetrics {
		all = append(all, s.Metrics...)
	}
	return all
}

func ExampleRegister() {
	reader := metric.NewManualReader() // a program has one that exports
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	p := filch.New(filch.WithName("web"))
	metrics, err := filchotel.Register(provider, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer metrics.Unregister()

	filch.Submit(context.Background(), p, square).Wait(context.Background())
	p.Shutdown(context.Background()) // the figures of a pool at rest are exact
	for _, m := range collected(reader) {
		if m.Name == "filch.task.done" {
			fmt.Println(m.Name, m.Data.(metricdata.Sum[int64]).DataPoints[0].Value, m.Unit)
		}
	}
	// Output: filch.task.done 1 {task}
}

func ExampleNewTimes() {
	reader := metric.NewManualReader()
	times, err := filchotel.NewTimes(metric.NewMeterProvider(metric.WithReader(reader)))
	if err != nil {
		fmt.Println(err)
		return
	}
	p := filch.New(filch.WithName("web"), filch.WithObserver(times))
	defer p.Close()

	filch.Submit(context.Background(), p, square).Wait(context.Background())
	for _, m := range collected(reader) {
		fmt.Println(m.Name, m.Data.(metricdata.Histogram[float64]).DataPoints[0].Count)
	}
	// Output:
	// filch.task.wait 1
	// filch.task.run 1
}

func ExampleNewTracer() {
	spans := tracetest.NewSpanRecorder() // a program has a processor that exports
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
	p := filch.New(filch.WithName("web"), filch.WithObserver(filchotel.NewTracer(provider)))
	defer p.Close()

	ctx, request := provider.Tracer("example").Start(context.Background(), "request")
	filch.Submit(ctx, p, square, filch.Named("square")).Wait(ctx)
	request.End()
	task := spans.Ended()[0]
	fmt.Println(task.Name(), task.Links()[0].SpanContext.SpanID() == request.SpanContext().SpanID())
	// Output: square true
}

func ExampleAsChildren() {
	spans := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
	p := filch.New(filch.WithObserver(filchotel.NewTracer(provider, filchotel.AsChildren())))
	defer p.Close()

	ctx, request := provider.Tracer("example").Start(context.Background(), "request")
	filch.Submit(ctx, p, square).Wait(ctx)
	request.End()
	fmt.Println(spans.Ended()[0].Parent().SpanID() == request.SpanContext().SpanID())
	// Output: true
}

func ExampleTracer_Context() {
	spans := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
	tracer := filchotel.NewTracer(provider)
	p := filch.New(filch.WithObserver(tracer))
	defer p.Close()

	filch.Submit(context.Background(), p, func(ctx context.Context) (int, error) {
		ctx = tracer.Context(ctx)
		_, step := provider.Tracer("example").Start(ctx, "step")
		defer step.End()
		return 81, nil
	}).Wait(context.Background())
	step, task := spans.Ended()[0], spans.Ended()[1]
	fmt.Println(step.Parent().SpanID() == task.SpanContext().SpanID())
	// Output: true
}
