package sim

// What a worker yields is a bound on the kernel. Worker q that has yielded to r in a step in which it had a
// processor has none again before r has had one: in that step, in a later one, or in the same step as q. If the kernel
// wishes q all the same, r has q's processor. So it is in Arora, Blumofe and Plaxton, for yieldToRandom; with yieldToAll,
// each other worker has had a processor before q has one again.
//
// That r has not had a processor since q yielded means that the last step of r is before the last step of q. So
// among workers that wait for each other the last steps fall, and there is no circle of them. The worker whose last step is
// the longest ago waits for none.

// admit gives each processor to the worker that was wished, or to one that has to come first.
func (p *processors) admit() {
	for _, q := range p.wishes {
		proc := &p.procs[q]
		if proc.wished != p.step-1 { // it had lost its processor, and so has its heir
			proc.heir = none
		}
		proc.wished = p.step
	}
	for more := true; more && len(p.given) < len(p.wishes); {
		more = false
		for _, q := range p.wishes {
			if p.procs[q].on {
				continue
			}
			more = true
			p.schedule(p.instead(q), q)
			if len(p.given) == len(p.wishes) {
				break
			}
		}
	}
}

// instead returns which worker has the processor of q, which has none yet.
func (p *processors) instead(q int32) int32 {
	if h := p.procs[q].heir; h != none && !p.procs[h].asleep && !p.procs[h].on && p.procs[h].wished != p.step {
		return h
	}
	for {
		r := p.before(q)
		if r == none {
			return q
		}
		q = r
	}
}

// before returns a worker that has to have a processor before q has one, or none.
func (p *processors) before(q int32) int32 {
	r := p.procs[q].yields
	if r == all {
		r = p.line.first()
	}
	if r == none || r == q || p.procs[r].asleep || p.procs[r].last >= p.procs[q].last {
		return none
	}
	return r
}

// yield lets w, before it goes on, wait for worker r or for all others to have a processor once.
func (m *machine) yield(w, r int32) {
	m.res.Yields++
	m.tell(Yielded, w, r, None, 0)
	if m.procs != nil {
		m.procs.procs[w].yields = r
	}
}

// handOver gives the processor of w to r, until the kernel takes it away.
func (m *machine) handOver(w, r int32) {
	m.res.Yields++
	m.tell(Yielded, w, r, None, 0)
	if m.procs != nil {
		m.procs.procs[m.procs.procs[w].of].heir = r
	}
}

// preempted reports whether w could go on, but for a processor.
func (m *machine) preempted(w int32) bool {
	return m.procs != nil && !m.procs.procs[w].on && !m.procs.procs[w].asleep
}

// line has workers in the order in which they had a processor last. Its last place stands for both of its ends.
type line []struct{ next, prev int32 }

func newLine(workers int) line {
	l := make(line, workers+1)
	l[workers].next, l[workers].prev = int32(workers), int32(workers)
	return l
}

func (l line) first() int32 { return l[len(l)-1].next }

func (l line) append(w int32) {
	end := int32(len(l) - 1)
	last := l[end].prev
	l[w].next, l[w].prev = end, last
	l[last].next, l[end].prev = w, w
}

func (l line) remove(w int32) {
	next, prev := l[w].next, l[w].prev
	l[next].prev, l[prev].next = prev, next
}
