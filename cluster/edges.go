package cluster

import (
	"context"
	"errors"
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
	made  time.Time // by the servers' clock; zero if it is not known
}

// edges are which tasks of the cluster wait for which, as far as this node has heard.
type edges struct {
	mu       sync.Mutex
	tasks    map[string]map[string]edge // by the task that is waited for, and the one that waits
	deps     map[string][]string        // by the task that waits
	stored   map[string]bool            // tasks that are stored
	revision uint64                     // of the bucket, as far as it was heard
	heard    chan struct{}              // closed and made anew when revision grows

	watching sync.Mutex // of the one that begins to watch
	watched  bool       // under watching
}

func (g *edges) init() {
	g.tasks, g.deps, g.stored = map[string]map[string]edge{}, map[string][]string{}, map[string]bool{}
	g.heard = make(chan struct{})
}

// set notes what was heard of a key of the bucket.
func (g *edges) set(entry jetstream.KeyValueEntry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch key := strings.Split(entry.Key(), "."); {
	case len(key) == 4 && entry.Operation() == jetstream.KeyValuePut:
		if index, err := strconv.Atoi(key[2]); err == nil && index >= 0 && index < maxAfter {
			g.add(key[1], key[3], edge{index: index, made: entry.Created()})
		}
	case len(key) == 2 && entry.Operation() == jetstream.KeyValuePut:
		g.stored[key[1]] = true
	case len(key) == 2:
		g.forget(key[1])
	}
	g.revision = max(g.revision, entry.Revision())
	close(g.heard)
	g.heard = make(chan struct{})
}

// add notes an edge. g.mu is held.
func (g *edges) add(task, dep string, e edge) {
	if g.tasks[dep] == nil {
		g.tasks[dep] = map[string]edge{}
	}
	if _, known := g.tasks[dep][task]; !known {
		g.deps[task] = append(g.deps[task], dep)
	}
	g.tasks[dep][task] = e
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
	delete(g.stored, task)
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

// awaited reports whether tasks wait for one.
func (g *edges) awaited(dep string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.tasks[dep]) > 0
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

// isStored reports whether a task is stored, as far as it was heard.
func (g *edges) isStored(task string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stored[task]
}

// areHeard reports whether this node hears of edges.
func (g *edges) areHeard() bool {
	g.watching.Lock()
	defer g.watching.Unlock()
	return g.watched
}

// watchEdges hears which tasks wait for which from now on, and waits until it knows those of before. Nodes with places
// call it when they are opened, and others before they need it.
func (n *Node) watchEdges(ctx context.Context) error {
	g := &n.edges
	g.watching.Lock()
	defer g.watching.Unlock()
	if g.watched {
		return nil
	}
	w, err := n.after.WatchFiltered(n.ctx, []string{"edge.>", "task.*"}, jetstream.MetaOnly())
	if err != nil {
		return n.explain(err, api("CONSUMER.CREATE."+streamOf(n.names.after())+".>"))
	}
	for {
		select {
		case entry, ok := <-w.Updates():
			if !ok {
				return ErrClosed
			}
			if entry == nil {
				n.mu.Lock()
				defer n.mu.Unlock()
				if n.closed {
					return errors.Join(ErrClosed, w.Stop())
				}
				g.watched = true
				n.loops.Go(func() { n.hearEdges(w) })
				return nil
			}
			g.set(entry)
		case <-ctx.Done():
			_ = w.Stop()
			return context.Cause(ctx)
		}
	}
}

// hearEdges notes what is told of edges until the node is closed.
func (n *Node) hearEdges(w jetstream.KeyWatcher) {
	defer w.Stop()
	for {
		select {
		case entry, ok := <-w.Updates():
			if !ok {
				return
			}
			n.edges.set(entry)
		case <-n.ctx.Done():
			return
		}
	}
}

// sorted returns names in order, each once.
func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
