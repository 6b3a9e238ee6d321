package sim

// Result is what a run has come to. Times are in steps, and sums over the workers in worker-steps.
type Result struct {
	DAG        string `json:"dag"`
	Scheduler  string `json:"scheduler"`
	Workers    int    `json:"workers"`
	Seed       uint64 `json:"seed"`
	Topology   string `json:"topology,omitempty"`
	T1         int64  `json:"t1"`   // the work: the steps of all nodes
	Tinf       int64  `json:"tinf"` // the span: the steps of the longest path
	Time       int64  `json:"time"`
	Idle       int64  `json:"idle"`          // when workers had a processor and ran no node
	Steals     int64  `json:"steals"`        // attempts that found something
	Attempts   int64  `json:"attempts"`      // looks at another worker's queue, or at a common one
	Migrations int64  `json:"migrations"`    // threads that went on on another worker than before
	MaxDeque   int    `json:"max_deque"`     // the most threads in one queue
	MaxLive    int    `json:"max_live"`      // the most threads alive
	Misses     int64  `json:"misses"`        // of the workers' own caches, all together
	M1         int64  `json:"m1"`            // misses of one worker that runs children first
	Shared     int64  `json:"shared_misses"` // of the cache that all share
	Inversions int64  `json:"inversions"`    // threads that began while one with a better priority waited

	PA        float64 `json:"pa"`        // how many workers had a processor, on average: all, if there was no kernel
	Scheduled int64   `json:"scheduled"` // when workers had a processor; the rest of Workers*Time is Preempted, Asleep and Absent
	Preempted int64   `json:"preempted"` // when workers had no processor and did not sleep
	Asleep    int64   `json:"asleep"`    // when workers slept, under a kernel; without one this counts as idle
	Yields    int64   `json:"yields"`    // how often thieves gave way to other workers

	Absent   int64 `json:"absent"`   // when workers were away, see Churn
	Repeated int64 `json:"repeated"` // nodes that ran in vain, since their results were lost
	Wasted   int64 `json:"wasted"`   // the steps of these, and of nodes that were cut short

	busy int64
}

// result closes the books of a run that has ended, and checks them.
func (m *machine) result() (*Result, error) {
	r := &m.res
	r.Scheduler, r.Workers, r.Seed = m.Scheduler, m.Workers, m.Seed
	r.T1, r.Tinf, r.Time = m.facts.Work, m.facts.Span, m.wheel.Now
	r.M1, r.Topology = m.facts.Misses, m.Topology.String()
	m.presence()
	r.PA = float64(r.Scheduled) / float64(max(1, r.Time))
	return r, m.check()
}

// Speedup returns how many times as fast as one worker the run was.
func (r *Result) Speedup() float64 { return float64(r.T1) / float64(r.Time) }

// OfBound returns the time over T1/PA + Tinf*P/PA. That is T1/P + Tinf if all workers had a processor all the time, which
// no greedy schedule exceeds (Graham, 1969; Brent, 1974); and with a kernel no greedy schedule exceeds it either
// (Arora, Blumofe and Plaxton, 1998).
func (r *Result) OfBound() float64 {
	return float64(r.Time) * r.PA / (float64(r.T1) + float64(r.Tinf)*float64(r.Workers))
}

// Spans returns how many spans the run took beyond T1/PA: (T - T1/PA)/Tinf. By Tchiboukdjian, Gast and Trystram (Annals of
// Operations Research, 2013) that is at most 5.5, expected, if workers that steal have a processor all the time.
func (r *Result) Spans() float64 {
	return (float64(r.Time) - float64(r.T1)/r.PA) / float64(max(1, r.Tinf))
}

// Efficiency returns in which part of the worker-steps with a processor the work was done.
func (r *Result) Efficiency() float64 { return float64(r.T1) / float64(max(1, r.Scheduled)) }

// mostMisses is the bound of continuation stealing with caches of so many blocks.
func (r *Result) mostMisses(cache int) int64 { return r.M1 + 2*int64(cache)*r.Steals }

// IdleShare returns in which part of the worker-steps with a processor a worker ran no node.
func (r *Result) IdleShare() float64 { return float64(r.Idle) / float64(max(1, r.Scheduled)) }

// presence adds up when workers had a processor.
func (m *machine) presence() {
	r := &m.res
	if p := m.procs; p != nil {
		r.Idle, r.Scheduled, r.Preempted, r.Asleep = p.idle, p.scheduled, p.preempted, p.asleep
		return
	}
	for w := range m.workers {
		rest := r.Time - m.workers[w].since
		if m.churn != nil && m.churn.away[m.churn.machineOf(int32(w))] {
			m.churn.absent += rest
		} else {
			r.Idle += rest
		}
	}
	r.Scheduled = int64(r.Workers) * r.Time
	if c := m.churn; c != nil {
		r.Scheduled -= c.absent
		r.Absent, r.Repeated, r.Wasted = c.absent, c.vain.nodes, c.vain.steps+c.cut
	}
}
