// Package checks looks for mistakes of the program that uses a pool. See README.md.
package checks

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/goroutine"
)

// Checks are those of one pool. They are the engine's Checks too. Make them with New.
type Checks struct {
	Nested  Seldom // calls of Do inside the pool's own work
	Foreign Seldom // waits with a context of the pool's that is not the task's

	strict bool
	pool   *engine.Pool
	name   string
	logger *slog.Logger
	lent   func(w *engine.Worker) *Lent

	mu       sync.Mutex
	running  map[uintptr][]any // tasks, by goroutine, the newest last
	told     map[string]bool   // where forks blocked that were told of
	watching bool              // for them
}

// New returns the checks of a pool, which has the given name. If they are strict, the pool has WithChecks, and a logger. lent is
// where the handouts of a worker are noted.
func New(strict bool, pool *engine.Pool, name string, logger *slog.Logger, lent func(w *engine.Worker) *Lent) *Checks {
	return &Checks{strict: strict, pool: pool, name: name, logger: logger, lent: lent}
}

// Strict reports whether the pool was made with checks: that of the engine's Checks. c may be nil.
func (c *Checks) Strict() bool { return c != nil && c.strict }

// Runs notes that the calling goroutine runs a task, until what it returns is called.
func (c *Checks) Runs(task any) (ends func()) {
	me := goroutine.ID()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[uintptr][]any{}
	}
	c.running[me] = append(c.running[me], task)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if n := len(c.running[me]) - 1; n > 0 {
			c.running[me] = c.running[me][:n]
		} else {
			delete(c.running, me)
		}
	}
}

// Here returns the tasks that the calling goroutine runs, the newest last.
func (c *Checks) Here() []any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running[goroutine.ID()]
}

// Seldom is a look that costs too much to be taken each time, for something that is told once.
type Seldom struct {
	told atomic.Bool
	seen atomic.Int64
}

// alwaysLooks is how many times it is looked each time; then only one in as many.
const alwaysLooks = 100

// Over reports whether all was told.
func (s *Seldom) Over() bool { return s.told.Load() }

// Due counts one time, and reports whether to look.
func (s *Seldom) Due() bool {
	n := s.seen.Add(1)
	return n <= alwaysLooks || n%alwaysLooks == 0
}

// Tell reports whether the caller is the one to tell.
func (s *Seldom) Tell() bool { return !s.told.Swap(true) }
