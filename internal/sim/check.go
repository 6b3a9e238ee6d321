package sim

// check returns what is wrong with a run that has ended.
func (m *machine) check() error {
	f, r, p := m.facts, &m.res, int64(m.Workers)
	if m.churn != nil {
		if err := m.churn.check(); err != nil {
			return err
		}
	} else if err := m.checkNodes(); err != nil {
		return err
	}
	switch {
	case m.onItsWay != 0:
		return m.fail("%d threads are on their way to workers", m.onItsWay)
	case r.Time < max((f.Work+p-1)/p, f.Span):
		return m.fail("it took %d steps, which is less than the work or the span allow", r.Time)
	case r.Scheduled != f.Work+r.Wasted+r.Idle:
		return m.fail("%d worker-steps with a processor are not %d of work, %d in vain and %d idle ones", r.Scheduled, f.Work, r.Wasted, r.Idle)
	case p*r.Time != r.Scheduled+r.Preempted+r.Asleep+r.Absent:
		return m.fail("%d workers for %d steps are not %d worker-steps with a processor, %d without, %d asleep and %d away",
			p, r.Time, r.Scheduled, r.Preempted, r.Asleep, r.Absent)
	case m.procs != nil && m.procs.busy != f.Work:
		return m.fail("the work is %d steps, and workers had processors for %d of them", f.Work, m.procs.busy)
	}
	return nil
}

// checkNodes returns what is wrong if not each node has run once.
func (m *machine) checkNodes() error {
	switch f := m.facts; {
	case m.nodes != f.Nodes:
		return m.fail("%d nodes have run, of %d", m.nodes, f.Nodes)
	case m.sum != f.Sum:
		return m.fail("nodes have run that are not of the program")
	case m.res.busy != f.Work:
		return m.fail("the work is %d steps, and workers were busy for %d", f.Work, m.res.busy)
	}
	if s, ok := m.sched.(checker); ok {
		return s.bounds()
	}
	return nil
}

// A checker is a scheduler that promises more than all do, and checks it when a run has ended.
type checker interface{ bounds() error }
