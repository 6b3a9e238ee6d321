// Package plugintest tests the plugins with what reads their output.
package plugintest

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/plugin/filchprom"
)

var background = context.Background()

func nothing(context.Context) (int, error) { return 0, nil }

// exported returns the names of all metrics that filchprom has.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	times := filchprom.NewTimes(filchprom.TimesOptions{})
	p := filch.New(filch.WithObserver(times))
	defer p.Close()
	filch.Submit(background, p, nothing).Wait(background)
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(filchprom.New(p), times)
	families, err := r.Gather()
	if err != nil {
		t.Fatal("r.Gather:", err)
	}
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
	}
	return names
}
