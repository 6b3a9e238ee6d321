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

// WithAffinity pins workers to processors, on Linux: each goroutine that fills a place of the pool is locked to a
// thread, which runs on one processor only. a is the order in which they take processors. They are the
// listed ones, or without a list all that the program may use. The pool reads once, in New, which those are.
//
// Use it for long computations on a machine of several sockets that runs nothing else, and measure:
// the kernel seldom moves a thread that computes. It makes each start, wait and wake-up of a worker many
// times slower, since threads are switched for it. So it is not for pools that often rest, for tasks that
// block, or for short phases.
//
//   - Pinned are goroutines of the pool, with the forks and tasks that they run. Others are not: callers of
//     [Pool.Do], what runs in place on them, [LongRunning] tasks, strands, and goroutines that tasks start.
//   - If there are more workers than processors, as many of them share each, to within one. What takes an extra place, beyond
//     the number of workers, is not pinned. Neither is a worker if 1,000 goroutines of the pool are.
//   - A goroutine that waits keeps its thread, and its processor is for the one that fills its place.
//   - A pool at rest has no pinned threads. Their processors are then those that they had before.
//
// If goroutines cannot be pinned, the pool works as without the option. That is so on other systems, if a listed
// processor is not one that the program may use, or if the kernel refuses. The pool logs the reason once, by the logger
// of [WithLogger] or that of slog.Default, and [Pool.Affinity] returns it. If the kernel refuses later, no more goroutines are pinned.
//
// A task on a pinned goroutine must not call a function of iter.Pull that another goroutine has made, nor hand on one
// that it has made: Go ends the program. It must not call runtime.UnlockOSThread more often than
// runtime.LockOSThread. A command that it starts inherits its processor.
//
// WithAffinity panics if a is none of [Spread], [Compact] and [AsListed], if a processor is
// negative, more than 65,535 or listed twice, and if AsListed has no list.
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

// beginAffinity prepares p to pin its workers, when its options are known. It is linked only into programs with the option.
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

// choose returns the processors, in the order in which workers take them.
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
	machine, _ := topology.System() // what is not known of it makes the order worse, and no more
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

// dumpAffinity is the part of Dump for the processors.
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

// Affinity returns the processors of the pool, in the order in which its workers take them, and why these are not
// pinned to them, or not any more. It returns none, and no error, without [WithAffinity].
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
