package sim

// dedicated gives a processor to each worker.
type dedicated struct{ *processors }

func newDedicated(p *processors, _ *Kernel) chooser { return dedicated{p} }

func (d dedicated) wish(to []int32) []int32 { return d.awake(to, 0, len(d.procs)) }

// awake appends those of the n workers from the given one on, in a circle, that do not sleep.
func (p *processors) awake(to []int32, from, n int) []int32 {
	for i := range n {
		w := (from + i) % len(p.procs)
		if !p.procs[w].asleep {
			to = append(to, int32(w))
		}
	}
	return to
}

// benign gives processors to random workers. It is the benign adversary of the paper, which decides how many there
// are, but not which workers have them.
type benign struct {
	*processors
	n     int
	order []int32
}

func newBenign(p *processors, k *Kernel) chooser { return &benign{p, k.Processors, p.all()} }

func (b *benign) wish(to []int32) []int32 { return b.some(to, b.order, b.n) }

// all returns the numbers of all workers.
func (p *processors) all() []int32 {
	order := make([]int32, len(p.procs))
	for w := range order {
		order[w] = int32(w)
	}
	return order
}

// some appends n random workers that do not sleep, or as many as there are. It shuffles the order.
func (p *processors) some(to, order []int32, n int) []int32 {
	n += len(to)
	for i := 0; i < len(order) && len(to) < n; i++ {
		j := i + below(&p.rng, len(order)-i)
		order[i], order[j] = order[j], order[i]
		if w := order[i]; !p.procs[w].asleep {
			to = append(to, w)
		}
	}
	return to
}

// supplied is benign with a number of processors that changes.
type supplied struct {
	*processors
	trace []Supply
	n     int
	order []int32
}

func newSupplied(p *processors, k *Kernel) chooser {
	return &supplied{processors: p, trace: k.Trace, order: p.all()}
}

func (s *supplied) wish(to []int32) []int32 {
	for len(s.trace) > 0 && s.trace[0].From <= s.m.wheel.now {
		s.n, s.trace = s.trace[0].Processors, s.trace[1:]
	}
	return s.some(to, s.order, s.n)
}

// robin gives processors to the workers in turn.
type robin struct {
	*processors
	n     int
	steps int64
}

func newRobin(p *processors, k *Kernel) chooser { return robin{p, k.Processors, k.Steps} }

func (r robin) wish(to []int32) []int32 {
	block, workers := r.m.wheel.now/r.steps, int64(len(r.procs))
	return r.awake(to, int(block%workers*int64(r.n)%workers), r.n)
}

// drawn gives processors to workers that it has drawn by the seed alone, whatever happens in the run.
type drawn struct {
	*processors
	n     int
	steps int64
	order []int32
}

func newDrawn(p *processors, k *Kernel) chooser { return &drawn{p, k.Processors, k.Steps, p.all()} }

func (b *drawn) wish(to []int32) []int32 {
	if b.m.wheel.now%b.steps == 0 {
		for i := range b.n {
			j := i + below(&b.rng, len(b.order)-i)
			b.order[i], b.order[j] = b.order[j], b.order[i]
		}
	}
	for _, w := range b.order[:b.n] {
		if !b.procs[w].asleep {
			to = append(to, w)
		}
	}
	return to
}

// timeShared is a machine that runs two programs, with a processor for each worker of one of them. A worker has its
// processor for so many steps, and then the other program has it for as many. The turns of the processors begin at
// times that the seed says. The processor of a worker that sleeps goes to the other program.
type timeShared struct {
	*processors
	steps int64
	begin []int64 // of the turns of each worker
}

func newTimeShared(p *processors, k *Kernel) chooser {
	s := &timeShared{processors: p, steps: k.Steps, begin: make([]int64, len(p.procs))}
	span := 2 * int(min(k.Steps, 1<<30-1))
	for w := range s.begin {
		s.begin[w] = int64(below(&p.rng, span))
	}
	return s
}

func (s *timeShared) wish(to []int32) []int32 {
	for w := range s.procs {
		if !s.procs[w].asleep && (s.m.wheel.now+s.begin[w])/s.steps%2 == 0 {
			to = append(to, int32(w))
		}
	}
	return to
}

// adversary starves workers that have a thread. It sees all, and gives processors to workers that have nothing to
// do, so that they try to steal in vain. When that has gone on for so many steps, or no worker has nothing to do, it
// lets workers that have a thread go on by one step.
type adversary struct {
	*processors
	n       int
	steps   int64
	starved int64 // steps since one that had a thread went on
}

func newAdversary(p *processors, k *Kernel) chooser {
	return &adversary{processors: p, n: k.Processors, steps: k.Steps}
}

func (a *adversary) wish(to []int32) []int32 {
	if a.starved < a.steps {
		to = a.those(to, false)
	}
	if len(to) == 0 {
		a.starved = 0
		return a.those(to, true)
	}
	a.starved++
	return to
}

// those appends workers, at most n, that have a thread, or that have none.
func (a *adversary) those(to []int32, have bool) []int32 {
	for w := range a.procs {
		if len(to) == a.n {
			break
		}
		has := a.m.has(int32(w)) || a.m.deques[w].size > 0
		if has == have && !a.procs[w].asleep {
			to = append(to, int32(w))
		}
	}
	return to
}
