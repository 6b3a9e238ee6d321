package cluster

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/internal/edge"
)

// edges are which tasks of the cluster wait for which, as far as this node has heard.
type edges struct{ *edge.Graph[token] }

// set notes what was heard of a key of the bucket.
func (g *edges) set(entry jetstream.KeyValueEntry) {
	switch key, stored := strings.Split(entry.Key(), "."), entry.Operation() == jetstream.KeyValuePut; {
	case len(key) == 4 && stored:
		g.setEdge(key, entry.Created())
	case len(key) == 2 && !stored: // a node of the version before has its marker in the place of the task
		if id, err := parseToken("ID", key[1]); err == nil { // else it is nobody's
			g.Forget(id)
		}
	}
	g.Heard(entry.Revision())
}

// setEdge notes an edge, unless that is nobody's.
func (g *edges) setEdge(key []string, made time.Time) {
	if id, index, dep, ok := cutEdge(key); ok {
		g.Add(id, dep, edge.Edge{Index: index, Made: made})
	}
}

// cutEdge reads the parts of a key as keyEdge has written it.
func cutEdge(key []string) (id token, index int, dep token, ok bool) {
	if len(key) != 4 {
		return "", 0, "", false
	}
	id, bad := parseToken("ID", key[1])
	dep, worse := parseToken("ID of a dependency", key[3])
	index, err := strconv.Atoi(key[2])
	return id, index, dep, bad == nil && worse == nil && err == nil && index >= 0 && index < maxAfter
}

// hearEdges hears which tasks wait for which from now on, and waits until it knows those of before.
func (n *Node) hearEdges(ctx context.Context) error {
	set := func(entry jetstream.KeyValueEntry) {
		n.edges.set(entry)
		n.hearReleased(entry)
	}
	return n.follow(ctx, n.after, []string{"edge.>", keyGone(anyToken), keyTask(anyToken)}, set, n.edges.Clear)
}

// sorted returns IDs in order, each once.
func sorted(ids []token) []token {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}
