package filch

import (
	"fmt"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/policy"
)

// StealOption is an option of [WithStealing].
type StealOption func(*stealing)

// StealOne makes a worker take one task at a time from another. Without it, a worker takes half of the
// tasks that the other has queued, so that it need not come back soon: 64 at most, and 33 by priority. It concerns tasks alone: forks are
// stolen one at a time.
func StealOne() StealOption { return func(s *stealing) { s.one = true } }

// YieldFirst makes a worker let other goroutines run before each attempt to steal. Where a program has more
// goroutines that can run than processors, those that work then go before those that look for work. It is the
// yield of Arora, Blumofe and Plaxton ("Thread Scheduling for Multiprogrammed Multiprocessors", SPAA 1998), without
// which thieves may keep a worker from the processor that it needs. Here it is seldom of use: workers yield at every
// 16th look in any case, at most half of them look at a time, and those that find nothing leave. An attempt
// costs a call of runtime.Gosched more, and two looks at the clock. Workers that [WithAffinity] has pinned do not yield
// so: it would take two switches of threads.
func YieldFirst() StealOption { return func(s *stealing) { s.yield = true } }

// WithStealing sets from whom the workers of the pool steal, and how. The default is [RandomStart]. The first choice
// seldom matters: docs/stealing.md has what each gains, and where it loses. WithStealing panics if
// from is none of the orders of [Stealing], or an option is nil.
func WithStealing(from Stealing, opts ...StealOption) Option {
	if from < RandomStart || from > Adaptive {
		panic(fmt.Sprintf("filch: WithStealing(%v): from must be RandomStart, RoundRobin, Localized, Nearest or Adaptive", from))
	}
	s := stealing{from: from}
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("filch: WithStealing(%v): option %d is nil", from, i))
		}
		opt(&s)
	}
	return poolOption(func(c *config) { c.stealing, c.engine.Stealing = s, s.engine() })
}

// engine returns s as the engine has it.
func (s stealing) engine() engine.Stealing {
	e := engine.Stealing{Yield: s.yield, One: s.one}
	switch s.from {
	case RandomStart:
		e.Victims = policy.RandomStart
	case RoundRobin:
		e.Victims = func(uint64) policy.Victims { return policy.RoundRobin() }
	case Localized:
		e.Victims = policy.Localized
	case Nearest:
		e.Victims, e.Machine = policy.Nearest, thisMachine()
	case Adaptive:
		e.Victims = policy.Adaptive
	}
	return e
}

// String tells s as Dump does, or "" if it is the default.
func (s stealing) String() string {
	if s == (stealing{}) {
		return ""
	}
	text := "; steals by " + s.from.String()
	if s.one {
		text += ", one task at a time"
	}
	if s.yield {
		text += ", after a yield"
	}
	return text
}
