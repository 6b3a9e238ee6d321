// Package filchclusterprom exports what nodes of package cluster do, and what waits in its queues, to Prometheus.
//
// [New] makes a collector of what [cluster.Node.Stats] says, for each node. [NewQueues] makes one of
// [cluster.Node.Queues], which are those of the whole cluster. docs/metrics.md of the repository has all metrics and what to watch; grafana.json
// and alerts.yaml, beside this package, are a dashboard and alerts of them.
//
// It is a module of its own: those who export pools alone need nothing of NATS, and those who run a cluster need
// nothing of Prometheus.
package filchclusterprom

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/filch-go/filch/cluster"
)

// Collector is a [prometheus.Collector] of the figures of nodes. Make one with [New]. Its methods may be called from
// any goroutine.
type Collector struct{ nodes []*node }

var _ prometheus.Collector = (*Collector)(nil)

// node is what a Collector has of a node.
type node struct {
	stats func() cluster.Stats
	descs []*prometheus.Desc // of ofNode
}

// New returns a collector of what nodes do. Register it once. The labels cluster and node of each metric are the
// names of both. A collection asks no server. A node that is closed keeps its figures. New panics if a node is nil, or if two have the
// same names.
func New(nodes ...*cluster.Node) *Collector {
	c := &Collector{}
	named := map[[2]string]bool{}
	for i, n := range nodes {
		if n == nil {
			panic(fmt.Sprintf("filchclusterprom: New: node %d is nil", i))
		}
		names := [2]string{n.Cluster(), n.Name()}
		if named[names] {
			panic(fmt.Sprintf("filchclusterprom: New: two nodes of the cluster %s have the name %q", names[0], names[1]))
		}
		named[names] = true
		c.nodes = append(c.nodes, newNode(names[0], names[1], n.Stats))
	}
	return c
}

func newNode(cluster, name string, stats func() cluster.Stats) *node {
	n := &node{stats: stats}
	for _, m := range ofNode {
		n.descs = append(n.descs, prometheus.NewDesc(m.name, m.help, nil, prometheus.Labels{"cluster": cluster, "node": name}))
	}
	return n
}

// Describe tells what metrics there are. Package prometheus calls it.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, n := range c.nodes {
		for _, d := range n.descs {
			ch <- d
		}
	}
}

// Collect tells what the metrics are now. Package prometheus calls it.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, n := range c.nodes {
		s := n.stats()
		for i, m := range ofNode {
			ch <- prometheus.MustNewConstMetric(n.descs[i], m.kind, m.of(&s))
		}
	}
}

// Queues is a [prometheus.Collector] of the queues of a cluster. Make one with [NewQueues]. Its methods may be called
// from any goroutine.
type Queues struct {
	queues  func(context.Context) ([]cluster.Queue, error)
	trouble func() error
	timeout time.Duration
	up      *prometheus.Desc
	descs   []*prometheus.Desc // of ofQueue
}

var _ prometheus.Collector = (*Queues)(nil)

// NewQueues returns a collector of the queues of the cluster that n is a node of. Each collection asks the servers, as
// [cluster.Node.Queues] does, and waits for them for at most timeout; 0 stands for 5 s. Register it on one or two nodes: all say the same.
// The labels are the names of the cluster and the handler, and the lane.
//
// The metric filch_cluster_up is 1 if the servers have answered, and [cluster.Node.Trouble] knows of none: register the node that has the
// server in its process. Else it is 0. There are no metrics of queues if the servers have not answered.
// NewQueues panics if n is nil or timeout is negative.
func NewQueues(n *cluster.Node, timeout time.Duration) *Queues {
	if n == nil {
		panic("filchclusterprom: NewQueues: the node is nil")
	}
	if timeout < 0 {
		panic(fmt.Sprintf("filchclusterprom: NewQueues: the timeout %v is negative", timeout))
	}
	if timeout == 0 {
		timeout = 5 * time.Second
	}
	return newQueues(n.Cluster(), n.Queues, n.Trouble, timeout)
}

func newQueues(cluster string, queues func(context.Context) ([]cluster.Queue, error), trouble func() error, timeout time.Duration) *Queues {
	of := prometheus.Labels{"cluster": cluster}
	q := &Queues{queues: queues, trouble: trouble, timeout: timeout, up: prometheus.NewDesc("filch_cluster_up", "Whether the servers report their queues and can store: 1 if so, else 0.", nil, of)}
	for _, m := range ofQueue {
		q.descs = append(q.descs, prometheus.NewDesc(m.name, m.help, []string{"handler", "lane"}, of))
	}
	return q
}

// Describe tells what metrics there are. Package prometheus calls it.
func (q *Queues) Describe(ch chan<- *prometheus.Desc) {
	ch <- q.up
	for _, d := range q.descs {
		ch <- d
	}
}

// Collect tells what the metrics are now. Package prometheus calls it.
func (q *Queues) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), q.timeout)
	defer cancel()
	all, err := q.queues(ctx)
	ch <- prometheus.MustNewConstMetric(q.up, prometheus.GaugeValue, float64(oneIf(err == nil && q.trouble() == nil)))
	if err != nil {
		return
	}
	for _, queue := range all {
		for i, m := range ofQueue {
			ch <- prometheus.MustNewConstMetric(q.descs[i], m.kind, m.of(&queue), queue.Handler, queue.Lane)
		}
	}
}
