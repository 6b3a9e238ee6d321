// Package edge has the graph of which tasks wait for which.
package edge

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Edge says that a task waits for another.
type Edge struct {
	Index int       // of the other among those that the task waits for
	Made  time.Time // by the servers' clock; zero if it is not known
}

// Graph has the edges of a cluster, as far as its owner has heard of them, with IDs of the type ID. Its methods may be called
// from any goroutine.
type Graph[ID comparable] struct {
	mu       sync.Mutex
	edges    map[ID]map[ID]Edge // by the task that is waited for, and the one that waits
	deps     map[ID][]ID        // by the task that waits
	revision uint64             // up to which all was heard
	heard    chan struct{}      // closed and made anew when revision grows
}

// New returns a graph without edges.
func New[ID comparable]() *Graph[ID] {
	return &Graph[ID]{edges: map[ID]map[ID]Edge{}, deps: map[ID][]ID{}, heard: make(chan struct{})}
}

// Clear forgets all, which is to be heard anew.
func (g *Graph[ID]) Clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.edges)
	clear(g.deps)
	g.revision = 0
}

// Add notes that a task waits for another.
func (g *Graph[ID]) Add(task, dep ID, e Edge) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.edges[dep] == nil {
		g.edges[dep] = map[ID]Edge{}
	}
	if _, known := g.edges[dep][task]; !known {
		g.deps[task] = append(g.deps[task], dep)
	}
	g.edges[dep][task] = e
}

// Met removes the edge to a task that has ended, which was noted with the task that waits.
func (g *Graph[ID]) Met(task, dep ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(task, dep)
}

// remove removes an edge. g.mu is held.
func (g *Graph[ID]) remove(task, dep ID) {
	delete(g.edges[dep], task)
	if len(g.edges[dep]) == 0 {
		delete(g.edges, dep)
	}
}

// Forget removes a task that waits no longer, and its edges.
func (g *Graph[ID]) Forget(task ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, dep := range g.deps[task] {
		g.remove(task, dep)
	}
	delete(g.deps, task)
}

// Heard says that all was noted up to a revision.
func (g *Graph[ID]) Heard(revision uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.revision = max(g.revision, revision)
	close(g.heard)
	g.heard = make(chan struct{})
}

// Until waits until all was heard up to a revision, or ctx ends.
func (g *Graph[ID]) Until(ctx context.Context, revision uint64) error {
	for {
		g.mu.Lock()
		heard, now := g.heard, g.revision
		g.mu.Unlock()
		if now >= revision {
			return nil
		}
		select {
		case <-heard:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Waiting returns the tasks that wait for one.
func (g *Graph[ID]) Waiting(dep ID) map[ID]Edge {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.edges[dep])
}

// Awaited reports whether tasks wait for one.
func (g *Graph[ID]) Awaited(dep ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.edges[dep]) > 0
}

// Older returns tasks that others have waited for since before a time, at most some.
func (g *Graph[ID]) Older(t time.Time, most int) []ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	var deps []ID
	for dep, edges := range g.edges {
		for _, e := range edges {
			if e.Made.Before(t) {
				deps = append(deps, dep)
				break
			}
		}
		if len(deps) == most {
			break
		}
	}
	return deps
}
