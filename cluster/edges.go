package cluster

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/internal/edge"
)

// edges are which tasks of the cluster wait for which, as far as this node has heard.
type edges struct {
	*edge.Graph[token]
	hearing sync.Mutex // of the one that begins to hear
	heard   bool       // under hearing
}

// set notes what was heard of a key of the bucket.
func (g *edges) set(entry jetstream.KeyValueEntry) {
	switch key, stored := strings.Split(entry.Key(), "."), entry.Operation() == jetstream.KeyValuePut; {
	case len(key) == 4 && stored:
		g.setEdge(key, entry.Created())
	case len(key) == 2 && !stored:
		if id, err := parseToken("ID", key[1]); err == nil { // else it is nobody's
			g.Forget(id)
		}
	}
	g.Heard(entry.Revision())
}

// setEdge notes an edge, as keyEdge has written it, unless that is nobody's.
func (g *edges) setEdge(key []string, made time.Time) {
	id, bad := parseToken("ID", key[1])
	dep, worse := parseToken("ID of a dependency", key[3])
	index, err := strconv.Atoi(key[2])
	if bad == nil && worse == nil && err == nil && index >= 0 && index < maxAfter {
		g.Add(id, dep, edge.Edge{Index: index, Made: made})
	}
}

// areHeard reports whether this node hears of edges.
func (g *edges) areHeard() bool {
	g.hearing.Lock()
	defer g.hearing.Unlock()
	return g.heard
}

// hearEdges hears which tasks wait for which from now on, and waits until it knows those of before. Nodes with places
// call it when they are opened, and others before they need it.
func (n *Node) hearEdges(ctx context.Context) error {
	g := &n.edges
	g.hearing.Lock()
	defer g.hearing.Unlock()
	if g.heard {
		return nil
	}
	set := func(entry jetstream.KeyValueEntry) {
		g.set(entry)
		n.hearReleased(entry)
	}
	err := n.follow(ctx, n.after, []string{"edge.>", "task.*"}, set, g.Clear)
	g.heard = err == nil
	return err
}

// sorted returns IDs in order, each once.
func sorted(ids []token) []token {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}
