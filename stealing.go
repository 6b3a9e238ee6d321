package filch

import (
	"fmt"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/steal"
)

// StealOption is an option of [WithStealing].
type StealOption func(*stealing)

type stealing engine.Stealing

// StealOne makes a worker steal one task at a time. Without it, a thief takes half of the tasks that its victim has queued,
// at most 64, or 33 by priority, so that it need not return soon. Forks are always stolen one at a time.
func StealOne() StealOption { return func(s *stealing) { s.One = true } }

// YieldFirst makes a worker yield to other goroutines before each attempt to steal. If a program has more runnable goroutines
// than processors, working goroutines then go before searching ones. It is the yield of Arora, Blumofe and Plaxton ("Thread
// Scheduling for Multiprogrammed Multiprocessors", SPAA 1998), without which thieves may keep a worker from the processor
// that it needs. It rarely helps: workers yield at every 16th scan in any case, at most half of them search at a time, and
// those that find nothing leave. An attempt costs a call of runtime.Gosched and two clock readings more. Workers pinned by
// [WithAffinity] do not yield this way, because that would take two thread switches.
func YieldFirst() StealOption { return func(s *stealing) { s.Yield = true } }

// WithStealing sets the order in which an idle worker tries its victims, and how it steals. The default is
// [steal.RandomStart]. The choice rarely matters: docs/stealing.md shows what each order gains and where it loses. Package
// steal says how to write another. WithStealing asks from for a thief, to check that it returns one. It panics if from, that
// thief or an option is nil.
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

// stealing describes how the workers of p steal, for Dump, or returns "" for the default.
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
