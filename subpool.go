package filch

import (
	"fmt"
	"reflect"
)

// Subpool returns a view of p that runs at most n tasks at once. Its tasks wait for one another in its own
// queue, and only those n are in the queue of p. So they run on the workers of p, beside its other tasks, and
// their order is that of the Subpool first. It is made of options of [New]: [WithName], [WithOrder], and
// [WithQueueLimit], which limits how many wait. The order is [LIFO] by default: the newest runs first, also of
// tasks that come from outside, which a pool takes oldest first. A task becomes one of the Subpool by passing it:
//
//	db := p.Subpool(4, filch.WithName("db"), filch.WithOrder(filch.FIFO))
//	rows := filch.Submit(ctx, p, query, db)
//
// With n = 1, the end of a task synchronizes before the start of the next.
//
// A Subpool costs nothing when it is not used, and need not be closed. Subpool panics if n < 1, or an option
// is nil or not one of those.
func (p *Pool) Subpool(n int, opts ...Option) *Subpool {
	if !p.made() {
		isNotMade("Subpool", "Pool", "New")
	}
	if n < 1 {
		panic(fmt.Sprintf("filch: Subpool(%d): there must be a slot for a task", n))
	}
	s := &Subpool{pool: p, limit: n}
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("filch: Subpool: option %d is nil", i))
		}
		if !s.set(opt) {
			panic(fmt.Sprintf("filch: Subpool: option %d is not one of a Subpool", i))
		}
	}
	if s.name == "" {
		s.name = fmt.Sprintf("of %d", n)
	}
	return s
}

// set takes over what opt sets of a pool, and reports whether a Subpool has that, and no more.
func (s *Subpool) set(opt Option) bool {
	const noName, noOrder = "\x00", -1
	var p Pool
	p.name, p.tasks.Order = noName, noOrder // what an option sets may be zero
	switch opt(&p); {
	case p.name != noName:
		s.name = p.name
	case p.tasks.Order != noOrder:
		s.waiting.Order = p.tasks.Order
	case p.tasks.Room != nil:
		s.room, s.overflow = p.tasks.Room.With(s.free), p.overflow
	default:
		return false
	}
	p.name, p.tasks.Order, p.tasks.Room, p.overflow = "", 0, nil, 0
	return reflect.ValueOf(&p).Elem().IsZero()
}

// free returns how many slots are free.
func (s *Subpool) free() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limit - s.running
}

// Running returns how many tasks of s run, or are in the queue of the pool.
func (s *Subpool) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// Queued returns how many tasks of s wait in its own queue. Some that were cancelled may
// count as well, but take no room under a limit. Those that [After] holds do not count.
func (s *Subpool) Queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting.Len()
}
