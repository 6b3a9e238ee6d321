package filch

import (
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/internal/tell"
	"github.com/filch-go/filch/internal/topology"
)

// WithAffinity pins the pool's workers to processors on Linux: each goroutine that takes a worker slot is locked to a
// thread that runs on one processor only. Workers take the listed processors in the order a; without a list, they
// take all that the program may use. New determines them once.
//
// Use it for long computations on an otherwise idle multi-socket machine, and measure: the kernel seldom moves a
// computing thread anyway. Each start, wait and wake-up of a worker becomes many times slower, because it switches
// threads. Avoid it for pools that are often idle, tasks that block, and short phases.
//
//   - Only the pool's goroutines are pinned, with the forks and tasks they run. Callers of [Pool.Do], work inline on
//     them, [LongRunning] tasks, strands and goroutines started by tasks are not.
//   - If workers outnumber processors, they are spread evenly, to within one. Extra slots beyond the number of
//     workers are not pinned, nor are further workers once 1,000 goroutines are.
//   - A waiting goroutine keeps its thread and leaves its processor to the goroutine that takes its slot.
//   - An idle pool has no pinned threads; they get back the processors they had before.
//
// If pinning fails, the pool works as without the option: on other systems, if the program may not use a listed
// processor, or if the kernel refuses. The pool logs the reason once, to the logger of [WithLogger] or slog.Default,
// and [Pool.Affinity] returns it. If the kernel refuses later, no more goroutines are pinned.
//
// A task on a pinned goroutine must not call an iter.Pull function that another goroutine has made, nor hand over its
// own: Go ends the program. It must not call runtime.UnlockOSThread more often than runtime.LockOSThread. A command
// that it starts inherits its processor.
//
// WithAffinity panics if a is not [Spread], [Compact] or [AsListed], if a processor is negative, more than 65,535 or
// listed twice, and if AsListed has no list.
func WithAffinity(a Affinity, processors ...int) Option {
	if a < Spread || a > AsListed {
		panic(fmt.Sprintf("filch: WithAffinity(%v): the order must be Spread, Compact or AsListed", a))
	}
	if a == AsListed && len(processors) == 0 {
		panic("filch: WithAffinity(AsListed): no processor is listed")
	}
	listed := make(map[int]bool, len(processors))
	for _, n := range processors {
		if n < 0 || n > topology.MaxID {
			panic(fmt.Sprintf("filch: WithAffinity(%v): processor %d: the number must be from 0 to %d", a, n, topology.MaxID))
		}
		if listed[n] {
			panic(fmt.Sprintf("filch: WithAffinity(%v): processor %d is listed twice", a, n))
		}
		listed[n] = true
	}
	processors = slices.Clone(processors)
	return poolOption(func(c *config) {
		c.pins = &pins{order: a, listed: processors, kernel: affinity.System, begin: (*Pool).beginAffinity}
	})
}

// beginAffinity prepares p to pin its workers, once its options are known. Only programs with the option link it.
func (p *Pool) beginAffinity() {
	processors, err := p.pins.choose()
	if err != nil {
		p.pins.err = fmt.Errorf("filch: WithAffinity: %w", err)
		p.notPinned(p.pins.err)
		return
	}
	p.pins.seats = affinity.New(p.pins.kernel, processors, func(err error) {
		p.notPinned(fmt.Errorf("filch: WithAffinity: %w", err))
	})
	p.tasks.Engine.Seats = p.pins.seats
}

// choose returns the processors in the order in which workers take them.
func (a *pins) choose() ([]int, error) {
	allowed, err := affinity.Allowed(a.kernel)
	if err != nil {
		return nil, err
	}
	processors := a.listed
	if len(processors) == 0 {
		processors = allowed
	}
	for _, n := range processors {
		if !slices.Contains(allowed, n) {
			return nil, fmt.Errorf("the program may not use processor %d: it may use %s", n, topology.FormatList(allowed))
		}
	}
	if a.order == AsListed {
		return processors, nil
	}
	machine, _ := topology.System() // an unknown topology only makes the order worse
	if a.order == Compact {
		return machine.Compact(processors), nil
	}
	return machine.Spread(processors), nil
}

// notPinned logs why workers are not pinned.
func (p *Pool) notPinned(err error) {
	logger := p.tasks.Logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.Warn("filch: workers are not pinned to processors", "pool", p.tasks.Name, "error", err)
}

// dumpAffinity writes Dump's part about the processors.
func (p *Pool) dumpAffinity(out io.Writer) {
	if p.pins == nil {
		return
	}
	if processors, err := p.Affinity(); err != nil {
		fmt.Fprintf(out, "not pinned to processors: %v\n", err)
	} else {
		_, pinned := p.pins.seats.(*affinity.Seats).Load()
		fmt.Fprintf(out, "processors: %v, %v; %s pinned\n", p.pins.order, processors, tell.Count(pinned, "goroutine"))
	}
}

// Affinity returns the pool's processors, in the order in which its workers take them, and the reason if workers are
// not pinned to them, or no longer. Without [WithAffinity] it returns nil and no error.
func (p *Pool) Affinity() (processors []int, err error) {
	p.mustBeMade("Affinity")
	if p.pins == nil {
		return nil, nil
	}
	seats, ok := p.pins.seats.(*affinity.Seats)
	if !ok {
		return nil, p.pins.err
	}
	if err = seats.Err(); err != nil {
		err = fmt.Errorf("filch: WithAffinity: %w", err)
	}
	return slices.Clone(seats.Processors()), err
}
