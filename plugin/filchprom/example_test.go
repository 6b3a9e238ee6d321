package filchprom_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/plugin/filchprom"
)

// scraped prints the lines that a scrape of r has about some metrics.
func scraped(r *prometheus.Registry, about ...string) {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		for _, name := range about {
			if strings.HasPrefix(line, name+"{") {
				fmt.Print(line)
			}
		}
	}
}

func square(_ context.Context) (int, error) { return 9 * 9, nil }

func ExampleNew() {
	p := filch.New(filch.WithName("web"), filch.WithWorkers(4))
	registry := prometheus.NewRegistry()
	registry.MustRegister(filchprom.New(p))

	filch.Submit(context.Background(), p, square).Wait(context.Background())
	p.Shutdown(context.Background()) // the figures of a pool at rest are exact
	scraped(registry, "filch_task_done_total", "filch_worker_limit")
	// Output:
	// filch_task_done_total{pool="web"} 1
	// filch_worker_limit{pool="web"} 4
}

func ExampleNewTimes() {
	times := filchprom.NewTimes(filchprom.TimesOptions{ByTask: true})
	p := filch.New(filch.WithName("web"), filch.WithObserver(times))
	defer p.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(filchprom.New(p), times)

	filch.Submit(context.Background(), p, square, filch.Named("square")).Wait(context.Background())
	scraped(registry, "filch_task_run_seconds_count")
	// Output: filch_task_run_seconds_count{pool="web",task="square"} 1
}

func ExampleTimesOptions() {
	o := filchprom.TimesOptions{Buckets: []float64{0.001, 0.01, 0.1, 1}, NativeFactor: 1.1}
	times := filchprom.NewTimes(o)
	p := filch.New(filch.WithName("web"), filch.WithObserver(times))
	defer p.Close()
	filch.Submit(context.Background(), p, square).Wait(context.Background())

	registry := prometheus.NewRegistry()
	registry.MustRegister(times)
	scraped(registry, "filch_task_wait_seconds_count")
	// Output: filch_task_wait_seconds_count{pool="web"} 1
}
