package cluster

import (
	"context"
	"sync"
)

// group counts what is under way. Unlike a [sync.WaitGroup] it may grow from zero while it is waited for, and a wait may end before
// the group does. The zero value is ready.
type group struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is 0; nil if nothing waits for that
}

// Add counts n more.
func (g *group) Add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n += n
	if g.n < 0 {
		panic("cluster: a group of less than none")
	}
	if g.n == 0 && g.none != nil {
		close(g.none)
		g.none = nil
	}
}

// Done counts one less.
func (g *group) Done() { g.Add(-1) }

// Go counts a goroutine that calls f.
func (g *group) Go(f func()) {
	g.Add(1)
	go func() {
		defer g.Done()
		f()
	}()
}

// wait waits until there is none. If ctx ends before, it returns the cause; if there is none to wait for, it returns nil in any case.
func (g *group) wait(ctx context.Context) error {
	g.mu.Lock()
	if g.n == 0 {
		g.mu.Unlock()
		return nil
	}
	if g.none == nil {
		g.none = make(chan struct{})
	}
	none := g.none
	g.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-none: // in the same moment
		return nil
	default:
		return context.Cause(ctx)
	}
}
