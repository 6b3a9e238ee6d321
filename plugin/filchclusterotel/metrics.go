// Package filchclusterotel tells OpenTelemetry what nodes of package cluster do, and what waits in its queues.
//
// [Register] makes metrics of what [cluster.Node.Stats] says, for each node. [RegisterQueues] makes them of
// [cluster.Node.Queues], which are those of the whole cluster. docs/metrics.md of the repository has all metrics and what to watch.
//
// It is a module of its own: those who export pools alone need nothing of NATS, and those who run a cluster need
// nothing of OpenTelemetry.
package filchclusterotel

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/filch-go/filch/cluster"
)

// scope is the name of what makes the metrics, as OpenTelemetry wants it.
const scope = "github.com/filch-go/filch/plugin/filchclusterotel"

// Attributes of the metrics.
const (
	clusterName = attribute.Key("filch.cluster.name")
	nodeName    = attribute.Key("filch.cluster.node.name")
	handlerName = attribute.Key("filch.cluster.handler.name")
	laneName    = attribute.Key("filch.cluster.lane.name")
)

// Register makes metrics of what nodes do, with meters of provider, until Unregister of what it returns is called.
// The attributes filch.cluster.name and filch.cluster.node.name of each are the names of both. A collection asks no server. A node that is closed
// keeps its figures until Unregister.
//
// Register returns an error if two of its arguments have the same names, and the errors of the provider. It panics if
// provider or a node is nil.
func Register(provider metric.MeterProvider, nodes ...*cluster.Node) (metric.Registration, error) {
	if provider == nil {
		panic("filchclusterotel: Register: provider is nil")
	}
	var all []node
	named := map[[2]string]bool{}
	for i, n := range nodes {
		if n == nil {
			panic(fmt.Sprintf("filchclusterotel: Register: node %d is nil", i))
		}
		names := [2]string{n.Cluster(), n.Name()}
		if named[names] {
			return nil, fmt.Errorf("filchclusterotel: Register: two nodes of the cluster %s have the name %q", names[0], names[1])
		}
		named[names] = true
		all = append(all, newNode(names[0], names[1], n.Stats))
	}
	return register(provider, all)
}

// node is what is told of a node.
type node struct {
	stats func() cluster.Stats
	about metric.ObserveOption
}

func newNode(cluster, name string, stats func() cluster.Stats) node {
	return node{stats, metric.WithAttributeSet(attribute.NewSet(clusterName.String(cluster), nodeName.String(name)))}
}

func register(provider metric.MeterProvider, nodes []node) (metric.Registration, error) {
	meter := provider.Meter(scope)
	instruments, all, err := instrumentsOf(meter, ofNode)
	if err != nil {
		return nil, fmt.Errorf("filchclusterotel: Register: %w", err)
	}
	r, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, n := range nodes {
			s := n.stats()
			observe(o, instruments, ofNode, &s, n.about)
		}
		return nil
	}, all...)
	if err != nil {
		return nil, fmt.Errorf("filchclusterotel: Register: %w", err)
	}
	return r, nil
}

// RegisterQueues makes metrics of the queues of the cluster that n is a node of, with meters of provider, until
// Unregister of what it returns is called. Each collection asks the servers, as [cluster.Node.Queues] does, within the
// collection's own time; if they do not answer, it has no metrics of queues, and the error is told to OpenTelemetry's
// error handler. Register the queues on one node: all say the same. The attributes are the names of the cluster, the handler and the lane.
//
// RegisterQueues returns the errors of the provider. It panics if provider or n is nil.
func RegisterQueues(provider metric.MeterProvider, n *cluster.Node) (metric.Registration, error) {
	if provider == nil || n == nil {
		panic("filchclusterotel: RegisterQueues: an argument is nil")
	}
	return registerQueues(provider, n.Cluster(), n.Queues)
}

func registerQueues(provider metric.MeterProvider, name string, queues func(context.Context) ([]cluster.Queue, error)) (metric.Registration, error) {
	meter := provider.Meter(scope)
	instruments, all, err := instrumentsOf(meter, ofQueue)
	age, e := meter.Float64ObservableGauge(oldest, metric.WithUnit("s"), metric.WithDescription(oldestText))
	if err := errors.Join(err, e); err != nil {
		return nil, fmt.Errorf("filchclusterotel: RegisterQueues: %w", err)
	}
	r, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		found, err := queues(ctx)
		if err != nil {
			return err
		}
		for _, q := range found {
			about := metric.WithAttributeSet(attribute.NewSet(clusterName.String(name), handlerName.String(q.Handler), laneName.String(q.Lane)))
			observe(o, instruments, ofQueue, &q, about)
			o.ObserveFloat64(age, q.Oldest.Seconds(), about)
		}
		return nil
	}, append(all, age)...)
	if err != nil {
		return nil, fmt.Errorf("filchclusterotel: RegisterQueues: %w", err)
	}
	return r, nil
}

// instrumentsOf returns an instrument for each figure, in two forms.
func instrumentsOf[T any](meter metric.Meter, figures []figure[T]) (byFigure []metric.Int64Observable, all []metric.Observable, err error) {
	for _, f := range figures {
		var in metric.Int64Observable
		var e error
		if f.counts {
			in, e = meter.Int64ObservableCounter(f.name, metric.WithUnit(f.unit), metric.WithDescription(f.text))
		} else {
			in, e = meter.Int64ObservableUpDownCounter(f.name, metric.WithUnit(f.unit), metric.WithDescription(f.text))
		}
		byFigure, all, err = append(byFigure, in), append(all, in), errors.Join(err, e)
	}
	return byFigure, all, err
}

// observe tells the figures of s.
func observe[T any](o metric.Observer, instruments []metric.Int64Observable, figures []figure[T], s *T, about metric.ObserveOption) {
	for i, f := range figures {
		o.ObserveInt64(instruments[i], f.of(s), about)
	}
}
