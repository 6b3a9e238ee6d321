package filchclusterprom_test

import (
	"context"
	"log"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/filch-go/filch/cluster"
	"github.com/filch-go/filch/plugin/filchclusterprom"
)

func ExampleNew() {
	n, err := cluster.Open(context.Background(), cluster.WithURL("nats://nats.example:4222"))
	if err != nil {
		log.Fatal(err)
	}
	prometheus.MustRegister(filchclusterprom.New(n))
	http.Handle("/metrics", promhttp.Handler())
}

func ExampleNewQueues() {
	n, err := cluster.Open(context.Background(), cluster.WithURL("nats://nats.example:4222"), cluster.WithPlaces(0))
	if err != nil {
		log.Fatal(err)
	}
	prometheus.MustRegister(filchclusterprom.NewQueues(n, 2*time.Second))
	http.Handle("/metrics", promhttp.Handler())
}
