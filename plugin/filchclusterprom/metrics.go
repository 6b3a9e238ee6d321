package filchclusterprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/filch-go/filch/cluster"
)

// metric is a figure of a node or a queue.
type metric[T any] struct {
	name, help string
	kind       prometheus.ValueType
	of         func(s *T) float64
}

// ofNode are all figures of [cluster.Stats], in the order of docs/metrics.md.
var ofNode = []metric[cluster.Stats]{
	counter("filch_cluster_submitted_total", "Tasks that the node has stored in the stream.", func(s *cluster.Stats) int64 { return s.Submitted }),
	counter("filch_cluster_local_total", "Tasks that the node has run, or will run, without the stream.", func(s *cluster.Stats) int64 { return s.Local }),
	counter("filch_cluster_done_total", "Fetched tasks whose handler returned a result.", func(s *cluster.Stats) int64 { return s.Done }),
	counter("filch_cluster_failed_total", "Attempts that ended with an error or a panic.", func(s *cluster.Stats) int64 { return s.Failed }),
	counter("filch_cluster_dead_total", "Tasks that became dead letters on the node.", func(s *cluster.Stats) int64 { return s.Dead }),
	counter("filch_cluster_canceled_total", "Fetched tasks that were canceled.", func(s *cluster.Stats) int64 { return s.Canceled }),
	counter("filch_cluster_late_total", "Fetched tasks past their deadline.", func(s *cluster.Stats) int64 { return s.Late }),
	counter("filch_cluster_refused_total", "Messages that the node could not read.", func(s *cluster.Stats) int64 { return s.Refused }),
	counter("filch_cluster_returned_total", "Fetched tasks that the node has returned to the queue.", func(s *cluster.Stats) int64 { return s.Returned }),
	counter("filch_cluster_duplicates_total", "Fetched tasks that had already ended, or also ended on another node.", func(s *cluster.Stats) int64 { return s.Duplicates }),
	gauge("filch_cluster_running", "Fetched tasks that have no outcome yet.", func(s *cluster.Stats) int { return s.Running }),
	gauge("filch_cluster_waiting", "Futures of tasks in the stream that are not done.", func(s *cluster.Stats) int { return s.Waiting }),
}

// ofQueue are all figures of [cluster.Queue].
var ofQueue = []metric[cluster.Queue]{
	gauge("filch_cluster_queue_waiting", "Tasks that no node has fetched yet.", func(q *cluster.Queue) int { return q.Waiting }),
	gauge("filch_cluster_queue_taken", "Tasks that a node has fetched, or that wait for their next attempt.", func(q *cluster.Queue) int { return q.Taken }),
	gauge("filch_cluster_queue_redelivered", "Taken tasks that were delivered more than once.", func(q *cluster.Queue) int { return q.Redelivered }),
	gauge("filch_cluster_queue_requests", "Requests from nodes waiting for a task.", func(q *cluster.Queue) int { return q.Requests }),
	gauge("filch_cluster_queue_paused", "Whether the queue is paused: 1 if so, else 0.", func(q *cluster.Queue) int { return oneIf(q.Paused) }),
	{"filch_cluster_queue_oldest_seconds", "Age of the oldest task that no node has fetched yet; 0 if there is none.", prometheus.GaugeValue,
		func(q *cluster.Queue) float64 { return q.Oldest.Seconds() }},
}

func gauge[T any](name, help string, of func(*T) int) metric[T] {
	return metric[T]{name, help, prometheus.GaugeValue, func(s *T) float64 { return float64(of(s)) }}
}

func counter[T any](name, help string, of func(*T) int64) metric[T] {
	return metric[T]{name, help, prometheus.CounterValue, func(s *T) float64 { return float64(of(s)) }}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
