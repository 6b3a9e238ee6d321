package kernel

// dedicated gives a processor to each worker.
type dedicated struct{ Machine }

func newDedicated(p Machine, _ *Kernel) Chooser { return dedicated{p} }

func (d dedicated) Wish(to []int32) []int32 { return awake(d, to, 0, d.Workers()) }

// awake appends those of the n workers from the given one on, in a circle, that do not sleep.
func awake(p Machine, to []int32, from, n int) []int32 {
	for i := range n {
		w := (from + i) % p.Workers()
		if !p.Sleeps(int32(w)) {
			to = append(to, int32(w))
		}
	}
	return to
}

// benign gives processors to random workers. It is the benign adversary of the paper, which decides how many there
// are, but not which workers have them.
type benign struct {
	Machine
	n     int
	order []int32
}

func newBenign(p Machine, k *Kernel) Chooser { return &benign{p, k.Processors, everyone(p)} }

func (b *benign) Wish(to []int32) []int32 { return some(b, to, b.order, b.n) }

// everyone returns the numbers of all workers.
func everyone(p Machine) []int32 {
	order := make([]int32, p.Workers())
	for w := range order {
		order[w] = int32(w)
	}
	return order
}

// some appends n random workers that do not sleep, or as many as there are. It shuffles the order.
func some(p Machine, to, order []int32, n int) []int32 {
	n += len(to)
	for i := 0; i < len(order) && len(to) < n; i++ {
		j := i + p.Random(len(order)-i)
		order[i], order[j] = order[j], order[i]
		if w := order[i]; !p.Sleeps(w) {
			to = append(to, w)
		}
	}
	return to
}

// supplied is benign with a number of processors that changes.
type supplied struct {
	Machine
	trace []Supply
	n     int
	order []int32
}

func newSupplied(p Machine, k *Kernel) Chooser {
	return &supplied{Machine: p, trace: k.Trace, order: everyone(p)}
}

func (s *supplied) Wish(to []int32) []int32 {
	for len(s.trace) > 0 && s.trace[0].From <= s.Now() {
		s.n, s.trace = s.trace[0].Processors, s.trace[1:]
	}
	return some(s, to, s.order, s.n)
}

// robin gives processors to the workers in turn.
type robin struct {
	Machine
	n     int
	steps int64
}

func newRobin(p Machine, k *Kernel) Chooser { return robin{p, k.Processors, k.Steps} }

func (r robin) Wish(to []int32) []int32 {
	block, workers := r.Now()/r.steps, int64(r.Workers())
	return awake(r, to, int(block%workers*int64(r.n)%workers), r.n)
}

// drawn gives processors to workers that it has drawn by the seed alone, whatever happens in the run.
type drawn struct {
	Machine
	n     int
	steps int64
	order []int32
}

func newDrawn(p Machine, k *Kernel) Chooser { return &drawn{p, k.Processors, k.Steps, everyone(p)} }

func (b *drawn) Wish(to []int32) []int32 {
	if b.Now()%b.steps == 0 {
		for i := range b.n {
			j := i + b.Random(len(b.order)-i)
			b.order[i], b.order[j] = b.order[j], b.order[i]
		}
	}
	for _, w := range b.order[:b.n] {
		if !b.Sleeps(w) {
			to = append(to, w)
		}
	}
	return to
}

// timeShared is a machine that runs two programs, with a processor for each worker of one of them. A worker has its
// processor for so many steps, and then the other program has it for as many. The turns of the processors begin at
// times that the seed says. The processor of a worker that sleeps goes to the other program.
type timeShared struct {
	Machine
	steps int64
	begin []int64 // of the turns of each worker
}

func newTimeShared(p Machine, k *Kernel) Chooser {
	s := &timeShared{Machine: p, steps: k.Steps, begin: make([]int64, p.Workers())}
	span := 2 * int(min(k.Steps, 1<<30-1))
	for w := range s.begin {
		s.begin[w] = int64(p.Random(span))
	}
	return s
}

func (s *timeShared) Wish(to []int32) []int32 {
	for w := range s.begin {
		if !s.Sleeps(int32(w)) && (s.Now()+s.begin[w])/s.steps%2 == 0 {
			to = append(to, int32(w))
		}
	}
	return to
}

// adversary starves workers that have a thread. It sees all, and gives processors to workers that have nothing to
// do, so that they try to steal in vain. When that has gone on for so many steps, or no worker has nothing to do, it
// lets workers that have a thread go on by one step.
type adversary struct {
	Machine
	n       int
	steps   int64
	starved int64 // steps since one that had a thread went on
}

func newAdversary(p Machine, k *Kernel) Chooser {
	return &adversary{Machine: p, n: k.Processors, steps: k.Steps}
}

func (a *adversary) Wish(to []int32) []int32 {
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
	for w := range int32(a.Workers()) {
		if len(to) == a.n {
			break
		}
		if a.HasWork(w) == have && !a.Sleeps(w) {
			to = append(to, w)
		}
	}
	return to
}
