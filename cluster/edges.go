package cluster

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// edge says that a task waits for another.
type edge struct {
	index int       // of the other among those that the task waits for
	made  time.Time // by the servers' clock
}

// edges are which tasks of the cluster wait for which, as far as this node has heard.
type edges struct {
	mu       sync.Mutex
	tasks    map[string]map[string]edge // by the task that is waited for, and the one that waits
	deps     map[string][]string        // by the task that waits
	revision uint64                     // of the bucket, as far as it was heard
	heard    chan struct{}              // closed and made anew when revision grows
}

func (g *edges) init() {
	g.tasks, g.deps, g.heard = map[string]map[string]edge{}, map[string][]string{}, make(chan struct{})
}

// set notes what was heard of a key of the bucket.
func (g *edges) set(entry jetstream.KeyValueEntry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	on := entry.Operation() == jetstream.KeyValuePut
	kind, rest, _ := strings.Cut(entry.Key(), ".")
	switch task, dep, _ := strings.Cut(rest, "."); {
	case kind == "edge" && on:
		if g.tasks[dep] == nil {
			g.tasks[dep] = map[string]edge{}
		}
		if _, known := g.tasks[dep][task]; !known {
			g.deps[task] = append(g.deps[task], dep)
		}
		index, _ := strconv.Atoi(string(entry.Value()))
		g.tasks[dep][task] = edge{index: index, made: entry.Created()}
	case kind == "task" && !on:
		g.forget(task)
	}
	g.revision = max(g.revision, entry.Revision())
	close(g.heard)
	g.heard = make(chan struct{})
}

// forget removes the edges of a task that waits no longer. g.mu is held.
func (g *edges) forget(task string) {
	for _, dep := range g.deps[task] {
		delete(g.tasks[dep], task)
		if len(g.tasks[dep]) == 0 {
			delete(g.tasks, dep)
		}
	}
	delete(g.deps, task)
}

// until waits until all was heard up to a revision of the bucket.
func (g *edges) until(ctx context.Context, revision uint64) error {
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

// waiting returns the tasks that wait for one.
func (g *edges) waiting(dep string) map[string]edge {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.tasks[dep])
}

// met removes an edge to a task that has ended, which was noted with the task that waits.
func (g *edges) met(dep, task string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.tasks[dep], task)
	if len(g.tasks[dep]) == 0 {
		delete(g.tasks, dep)
	}
}

// older returns tasks that others have waited for since before a time, at most some.
func (g *edges) older(t time.Time, most int) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var deps []string
	for dep, tasks := range g.tasks {
		for _, e := range tasks {
			if e.made.Before(t) {
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

// cycle reports whether a task waits for itself, in the end.
func (g *edges) cycle(task string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := map[string]bool{}
	for next := []string{task}; len(next) > 0; {
		last := next[len(next)-1]
		next = next[:len(next)-1]
		if _, ok := g.tasks[last][task]; ok {
			return true
		}
		for t := range g.tasks[last] {
			if !seen[t] {
				seen[t] = true
				next = append(next, t)
			}
		}
	}
	return false
}

// watchEdges hears which tasks wait for which, and waits until it knows those of before.
func (n *Node) watchEdges(ctx context.Context) error {
	w, err := n.after.WatchFiltered(n.ctx, []string{"edge.>", "task.*"})
	if err != nil {
		return err
	}
	heard := make(chan struct{})
	n.loops.Go(func() {
		defer w.Stop()
		for {
			select {
			case entry, ok := <-w.Updates():
				switch {
				case !ok:
					return
				case entry == nil:
					close(heard)
				default:
					n.edges.set(entry)
				}
			case <-n.ctx.Done():
				return
			}
		}
	})
	select {
	case <-heard:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sorted returns names in order, each once.
func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
