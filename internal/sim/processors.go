package sim

import (
	"github.com/filch-go/filch/internal/sim/kernel"
	"github.com/filch-go/filch/internal/sim/random"
	"github.com/filch-go/filch/internal/sim/wheel"
)

// processors is the part of a run that a kernel decides. A run under a kernel goes from step to step: threads that
// ended their nodes go on or end, the kernel gives processors, and those that have one do a step. The wheel says when
// a worker is done if it has a processor all the time; the steps it had none are added when that time comes.
type processors struct {
	m      *machine
	kernel kernel.Chooser
	rng    uint64 // of the kernel alone
	procs  []process
	step   int64   // the last one for which processors have been given
	wishes []int32 // of the kernel, for that step
	given  []int32 // the workers that have a processor in it
	taken  []int32 // those that had one in the step before
	line   line    // of the workers that do not sleep
	slept  int     // how many workers sleep
	hold   bool    // a worker has a thread

	scheduled, busy, idle, preempted, asleep int64 // worker-steps
}

// process is a worker as the kernel sees it.
type process struct {
	on, had bool // it has a processor in this step, and it had one in the step before
	asleep  bool
	late    int64 // steps without a processor since its entry in the wheel was made
	last    int64 // the last step with a processor, or when it woke
	wished  int64 // the last step for which the kernel has wished it
	yields  int32 // to which worker, or all or none
	heir    int32 // which worker has its processor as long as the kernel wishes it, or none
	of      int32 // the worker whose processor it has
}

// What a process yields to if it is not a worker.
const (
	none int32 = -1 - iota
	all
)

func newProcessors(m *machine) *processors {
	p := &processors{m: m, rng: random.Mix(m.Seed ^ 0x6b65726e656c), step: -1}
	p.procs = make([]process, len(m.workers))
	p.line = newLine(len(m.workers))
	for w := range p.procs {
		p.procs[w] = process{last: -1, wished: -2, yields: none, heir: none}
		p.line.append(int32(w))
	}
	p.kernel = m.Kernel.Start(p)
	return p
}

// These are what the kernel sees of the run.
func (p *processors) Workers() int         { return len(p.procs) }
func (p *processors) Now() int64           { return p.m.wheel.Now }
func (p *processors) Sleeps(w int32) bool  { return p.procs[w].asleep }
func (p *processors) HasWork(w int32) bool { return p.m.has(w) || p.m.deques[w].size > 0 }
func (p *processors) Random(n int) int     { return random.Below(&p.rng, n) }

func (p *processors) run() {
	m := p.m
	step := &m.wheel.Steps[0]
	for {
		p.end(step)
		if m.err != nil || m.live == 0 {
			return
		}
		if p.step < m.wheel.Now {
			p.give()
		}
		p.look(step)
		if !step.Empty() { // nodes of no steps have begun
			continue
		}
		p.count()
		m.watch()
		if _, more := m.wheel.When(); p.slept == len(p.procs) && !more { // no timer either
			m.fail("a ready thread is lost: no worker looks for it")
		}
		step = m.wheel.Tick()
	}
}

// end ends the nodes of the workers that are done with them.
func (p *processors) end(s *wheel.Step) {
	for p.m.err == nil {
		w, ok := p.m.wheel.Take(&s.Ending)
		if !ok {
			return
		}
		if !p.put(w, true) {
			p.m.ends(w)
		}
	}
}

// look lets those of the workers that are about to look for work do so which have a processor.
func (p *processors) look(s *wheel.Step) {
	for p.m.err == nil {
		w, ok := p.m.wheel.Take(&s.Looking)
		if !ok {
			return
		}
		if !p.put(w, false) {
			p.m.looks(w)
		}
	}
}

// put puts the entry of w off by the steps that w had no processor, if there are any. The timer needs none.
func (p *processors) put(w int32, ends bool) (off bool) {
	if int(w) == len(p.procs) {
		return false
	}
	late := p.procs[w].late
	if late == 0 {
		return false
	}
	p.procs[w].late = 0
	p.m.wheel.Add(p.m.wheel.Now+late, w, ends)
	return true
}

// give gives the processors for this step.
func (p *processors) give() {
	p.step = p.m.wheel.Now
	p.wishes = p.kernel.Wish(p.wishes[:0])
	p.taken, p.given = p.given, p.taken[:0]
	for _, w := range p.taken {
		p.procs[w].on, p.procs[w].had = false, true
	}
	p.admit()
	for w := range p.procs {
		if q := &p.procs[w]; q.asleep {
			q.late = 1 // if it wakes in this step, it looks in the next one
		} else if !q.on {
			q.late++
		}
	}
	p.tell()
	for _, w := range p.taken {
		p.procs[w].had = false
	}
}

// schedule gives w the processor that was for a worker, mostly itself.
func (p *processors) schedule(w, of int32) {
	q := &p.procs[w]
	q.on, q.of, q.last, q.yields = true, of, p.step, none
	p.line.remove(w)
	p.line.append(w)
	p.given = append(p.given, w)
}

// tell tells which workers have got a processor, and which have lost theirs.
func (p *processors) tell() {
	if p.m.Tell == nil {
		return
	}
	for _, w := range p.taken {
		if !p.procs[w].on && !p.procs[w].asleep {
			p.m.tell(Preempted, w, none, None, 0)
		}
	}
	for _, w := range p.given {
		if !p.procs[w].had {
			p.m.tell(Scheduled, w, p.procs[w].of, None, 0)
		}
	}
}

// count counts what the workers have done in this step.
func (p *processors) count() {
	p.hold = false
	for w := range p.procs {
		q, wk := &p.procs[w], &p.m.workers[w]
		p.hold = p.hold || p.m.has(int32(w))
		switch {
		case q.on && wk.runs != None && !p.m.begins[w]:
			p.busy++
		case q.on:
			p.idle++
		case q.asleep:
			p.asleep++
		default:
			p.preempted++
		}
	}
	p.scheduled += int64(len(p.given))
}

// sleep is called when w does not look for work any more until it is woken.
func (p *processors) sleep(w int32) {
	p.procs[w].asleep = true
	p.slept++
	p.line.remove(w)
}

// wake is called when a worker that sleeps is to look for work again: in this step if it gets a processor.
func (p *processors) wake(w int32) {
	q := &p.procs[w]
	q.asleep, q.last, q.yields, q.late = false, p.m.wheel.Now, none, 0
	if p.step == p.m.wheel.Now {
		q.late = 1 // the processors have been given
	}
	p.slept--
	p.line.append(w)
}
