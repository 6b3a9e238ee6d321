package filchclusterotel

import (
	"github.com/filch-go/filch/cluster"
)

// figure is a figure of a node or a queue.
type figure[T any] struct {
	name, unit, text string
	counts           bool // it never falls
	of               func(s *T) int64
}

// ofNode are all figures of [cluster.Stats], in the order of docs/metrics.md.
var ofNode = []figure[cluster.Stats]{
	sum("filch.cluster.submitted", "{task}", "Tasks that the node has stored in the stream.", func(s *cluster.Stats) int64 { return s.Submitted }),
	sum("filch.cluster.local", "{task}", "Tasks that the node has run, or will run, without the stream.", func(s *cluster.Stats) int64 { return s.Local }),
	sum("filch.cluster.done", "{task}", "Fetched tasks whose handler returned a result.", func(s *cluster.Stats) int64 { return s.Done }),
	sum("filch.cluster.failed", "{attempt}", "Attempts that ended with an error or a panic.", func(s *cluster.Stats) int64 { return s.Failed }),
	sum("filch.cluster.dead", "{task}", "Tasks that became dead letters on the node.", func(s *cluster.Stats) int64 { return s.Dead }),
	sum("filch.cluster.canceled", "{task}", "Fetched tasks that were canceled.", func(s *cluster.Stats) int64 { return s.Canceled }),
	sum("filch.cluster.late", "{task}", "Fetched tasks past their deadline.", func(s *cluster.Stats) int64 { return s.Late }),
	sum("filch.cluster.refused", "{message}", "Messages that the node could not read.", func(s *cluster.Stats) int64 { return s.Refused }),
	sum("filch.cluster.returned", "{task}", "Fetched tasks that the node has returned to the queue.", func(s *cluster.Stats) int64 { return s.Returned }),
	sum("filch.cluster.duplicates", "{task}", "Fetched tasks that had already ended, or also ended on another node.", func(s *cluster.Stats) int64 { return s.Duplicates }),
	now("filch.cluster.running", "{task}", "Fetched tasks that have no outcome yet.", func(s *cluster.Stats) int { return s.Running }),
	now("filch.cluster.waiting", "{task}", "Futures of tasks in the stream that are not done.", func(s *cluster.Stats) int { return s.Waiting }),
}

// ofQueue are all figures of [cluster.Queue] that are numbers.
var ofQueue = []figure[cluster.Queue]{
	now("filch.cluster.queue.waiting", "{task}", "Tasks that no node has fetched yet.", func(q *cluster.Queue) int { return q.Waiting }),
	now("filch.cluster.queue.taken", "{task}", "Tasks that a node has fetched, or that wait for their next attempt.", func(q *cluster.Queue) int { return q.Taken }),
	now("filch.cluster.queue.redelivered", "{task}", "Taken tasks that were delivered more than once.", func(q *cluster.Queue) int { return q.Redelivered }),
	now("filch.cluster.queue.requests", "{request}", "Requests from nodes waiting for a task.", func(q *cluster.Queue) int { return q.Requests }),
	now("filch.cluster.queue.paused", "{queue}", "Whether the queue is paused: 1 if so, else 0.", func(q *cluster.Queue) int { return oneIf(q.Paused) }),
}

// The figure that is a time.
const (
	oldest     = "filch.cluster.queue.oldest"
	oldestText = "Age of the oldest task that no node has fetched yet; 0 if there is none."
)

func now[T any](name, unit, text string, of func(*T) int) figure[T] {
	return figure[T]{name, unit, text, false, func(s *T) int64 { return int64(of(s)) }}
}

func sum[T any](name, unit, text string, of func(*T) int64) figure[T] {
	return figure[T]{name, unit, text, true, of}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
