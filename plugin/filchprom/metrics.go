package filchprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/filch-go/filch"
)

// metric is a figure of a pool.
type metric struct {
	name, help string
	kind       prometheus.ValueType
	of         func(s *filch.Stats) float64
}

// metrics are all figures of [filch.Stats], in the order of docs/metrics.md.
var metrics = []metric{
	gauge("filch_worker_limit", "Worker slots: goroutines that may run at once, without extra slots.", func(s *filch.Stats) int { return s.Workers }),
	gauge("filch_worker_active", "Worker slots in use, including searching workers.", func(s *filch.Stats) int { return s.Active }),
	gauge("filch_worker_busy", "Worker slots in use by workers that have work.", func(s *filch.Stats) int { return s.Busy }),
	gauge("filch_worker_searching", "Workers searching for work.", func(s *filch.Stats) int { return s.Searching }),
	gauge("filch_worker_idle", "Free worker slots.", func(s *filch.Stats) int { return s.Idle }),
	gauge("filch_worker_blocked", "Goroutines that wait or block without a worker slot, or run a LongRunning task.", func(s *filch.Stats) int { return s.Blocked }),
	gauge("filch_worker_extra", "Extra worker slots, added because workers block where the pool cannot see it.", func(s *filch.Stats) int { return s.Extra }),
	counter("filch_worker_wakes_total", "Goroutines started to fill a worker slot.", func(s *filch.Stats) int64 { return s.Wakes }),
	gauge("filch_pool_paused", "Whether the pool is paused: 1 if so, else 0.", func(s *filch.Stats) int { return oneIf(s.Paused) }),

	counter("filch_fork_published_total", "Forks published to other workers.", func(s *filch.Stats) int64 { return s.Published }),
	counter("filch_fork_taken_back_total", "Published forks joined before another worker took them.", func(s *filch.Stats) int64 { return s.TakenBack }),
	counter("filch_fork_steal_attempts_total", "Attempts to steal a fork.", func(s *filch.Stats) int64 { return s.Attempts }),
	counter("filch_fork_stolen_total", "Forks stolen.", func(s *filch.Stats) int64 { return s.Steals }),
	counter("filch_fork_helped_total", "Forks stolen while waiting for a result, from the worker that computes it.", func(s *filch.Stats) int64 { return s.Helped }),
	counter("filch_join_waits_total", "Waits at a join, and yields to other tasks, that lent the worker slot.", func(s *filch.Stats) int64 { return s.Waits }),

	counter("filch_task_submitted_total", "Tasks accepted.", func(s *filch.Stats) int64 { return s.Tasks.Submitted }),
	counter("filch_task_started_total", "Tasks started.", func(s *filch.Stats) int64 { return s.Tasks.Started }),
	counter("filch_task_done_total", "Tasks ended, in any way.", func(s *filch.Stats) int64 { return s.Tasks.Done }),
	counter("filch_task_failed_total", "Tasks that returned an error, or ended by runtime.Goexit.", func(s *filch.Stats) int64 { return s.Tasks.Failed }),
	counter("filch_task_panicked_total", "Tasks that panicked.", func(s *filch.Stats) int64 { return s.Tasks.Panicked }),
	counter("filch_task_cancelled_total", "Tasks dropped before they started.", func(s *filch.Stats) int64 { return s.Tasks.Cancelled }),
	counter("filch_task_rejected_total", "Tasks refused.", func(s *filch.Stats) int64 { return s.Tasks.Rejected }),
	counter("filch_task_in_place_total", "Tasks started inline by a wait, by their submitter or by Help, or on a goroutine of their own.", func(s *filch.Stats) int64 { return s.Tasks.InPlace }),
	counter("filch_task_helped_total", "Tasks started by Help.", func(s *filch.Stats) int64 { return s.Tasks.Helped }),
	counter("filch_task_steal_attempts_total", "Attempts to steal tasks from a queue that seemed to have some.", func(s *filch.Stats) int64 { return s.Tasks.Attempts }),
	counter("filch_task_stolen_total", "Tasks moved from one worker's queue to another's.", func(s *filch.Stats) int64 { return s.Tasks.Stolen }),
	counter("filch_task_stalls_total", "Times that worker slots were added because tasks were queued and none started.", func(s *filch.Stats) int64 { return s.Tasks.Stalls }),
	gauge("filch_task_queued", "Tasks queued; some may be cancelled.", func(s *filch.Stats) int { return s.Tasks.Queued }),
	gauge("filch_task_queued_globally", "Tasks in the global queue.", func(s *filch.Stats) int { return s.Tasks.Global }),
	gauge("filch_task_held", "Tasks held back by After or a Subpool.", func(s *filch.Stats) int { return s.Tasks.Held }),
	gauge("filch_task_running", "Tasks running.", func(s *filch.Stats) int { return s.Tasks.Running }),
	gauge("filch_task_submitters_waiting", "Goroutines waiting to submit a task.", func(s *filch.Stats) int { return s.Tasks.Waiting }),
	{"filch_task_oldest_seconds", "Time that the oldest queued task has waited; 0 if none is queued.", prometheus.GaugeValue,
		func(s *filch.Stats) float64 { return s.Tasks.Oldest.Seconds() }},
}

func gauge(name, help string, of func(s *filch.Stats) int) metric {
	return metric{name, help, prometheus.GaugeValue, func(s *filch.Stats) float64 { return float64(of(s)) }}
}

func counter(name, help string, of func(s *filch.Stats) int64) metric {
	return metric{name, help, prometheus.CounterValue, func(s *filch.Stats) float64 { return float64(of(s)) }}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
