package filchclusterotel_test

import (
	"context"
	"log"

	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/plugin/filchclusterotel"
)

func ExampleRegister() {
	provider := metric.NewMeterProvider(metric.WithReader(metric.NewManualReader())) // a program has one that exports
	n, err := cluster.Open(context.Background(), cluster.WithURL("nats://nats.example:4222"))
	if err != nil {
		log.Fatal(err)
	}
	metrics, err := filchclusterotel.Register(provider, n)
	if err != nil {
		log.Fatal(err)
	}
	defer metrics.Unregister()
}

func ExampleRegisterQueues() {
	provider := metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
	n, err := cluster.Open(context.Background(), cluster.WithURL("nats://nats.example:4222"), cluster.WithPlaces(0))
	if err != nil {
		log.Fatal(err)
	}
	metrics, err := filchclusterotel.RegisterQueues(provider, n)
	if err != nil {
		log.Fatal(err)
	}
	defer metrics.Unregister()
}
