package filch

import (
	"fmt"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/steal"
)

// StealOption is an option of [WithStealing].
type StealOption func(*stealing)

type stealing engine.Stealing

// StealOne makes a worker take one task at a time from another. Without it, a worker takes half of the
// tasks that the other has queued, so that it need not come back soon: 64 at most, and 33 by priority. It concerns tasks alone: forks are
// stolen one at a time.
func StealOne() StealOption { return func(s *stealing) { s.One = true } }

// YieldFirst makes a worker let other goroutines run before each attempt to steal. Where a program has more
// goroutines that can run than processors, those that work then go before those that look for work. It is the
// yield of Arora, Blumofe and Plaxton ("Thread Scheduling for Multiprogrammed Multiprocessors", SPAA 1998), without
// which thieves may keep a worker from the processor that it needs. Here it is seldom of use: workers yield at every
// 16th look in any case, at most half of them look at a time, and those that find nothing leave. An attempt
// costs a call of runtime.Gosched more, and two looks at the clock. Workers that [WithAffinity] has pinned do not yield
// so: it would take two switches of threads.
func YieldFirst() StealOption { return func(s *stealing) { s.Yield = true } }

// WithStealing sets from whom the workers of the pool steal, and how. The default is [steal.RandomStart]. The first choice
// seldom matters: docs/stealing.md has what each gains, and where it loses. Package steal says how to write another.
// WithStealing asks from for a thief, to see that there is one. It panics if from, that thief or an option is nil.
func WithStealing(from steal.Order, opts ...StealOption) Option {
	if from == nil {
		panic("filch: WithStealing(nil): from must be an order, such as steal.RandomStart")
	}
	if from.Thief(0) == nil {
		panic(fmt.Sprintf("filch: WithStealing(%v): its method Thief returns nil", from))
	}
	s := stealing{Order: from}
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("filch: WithStealing(%v): option %d is nil", from, i))
		}
		opt(&s)
	}
	return poolOption(func(c *config) { c.engine.Stealing = engine.Stealing(s) })
}

// stealing tells how the workers of p steal, as Dump does, or "" if that is the default.
func (p *Pool) stealing() string {
	s := &p.tasks.Engine.Stealing
	if s.Order == steal.RandomStart && !s.One && !s.Yield {
		return ""
	}
	text := "; steals by " + s.Order.String()
	if s.One {
		text += ", one task at a time"
	}
	if s.Yield {
		text += ", after a yield"
	}
	return text
}
