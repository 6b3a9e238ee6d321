package cluster

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/internal/edge"
)

// closesCycle reports whether a task waits for itself, whose edges are stored. It asks the leader of the bucket, by the names of keys, which
// say all of an edge: a submitter may not make a consumer, and a node that hears of edges may not yet have heard of all. Mostly nobody
// waits yet for a task that is being submitted, and it asks once.
func (n *Node) closesCycle(ctx context.Context, id token) (bool, error) {
	if keys, err := n.edgesTo(ctx, string(id)); err != nil || len(keys) == 0 {
		return false, err
	}
	all, err := n.edgesTo(ctx, ">")
	if err != nil {
		return false, err
	}
	waiting, keys := map[token][]token{}, map[[2]token][]string{}
	for _, key := range all {
		if task, _, dep, ok := cutEdge(strings.Split(key, ".")); ok {
			waiting[dep] = append(waiting[dep], task)
			keys[[2]token{task, dep}] = append(keys[[2]token{task, dep}], key)
		}
	}
	return edge.Cycle(id, waiting, func(task, dep token) (bool, error) { return n.anyStored(ctx, keys[[2]token{task, dep}]) })
}

// edgesTo returns the keys of the edges to a task, or to all for ">".
func (n *Node) edgesTo(ctx context.Context, dep string) (keys []string, err error) {
	prefix := keyOf(n.names.after(), "")
	subjects, err := n.namesIn(ctx, prefix+"edge.*.*."+dep)
	for subject := range subjects {
		keys = append(keys, strings.TrimPrefix(subject, prefix))
	}
	return keys, err
}

// namesIn returns the subjects in the bucket of tasks that wait, as its leader has them. A marker has one as well.
func (n *Node) namesIn(ctx context.Context, filter string) (subjects map[string]uint64, err error) {
	err = n.ask(ctx, func(ctx context.Context) error {
		info, err := n.afterStream.Info(ctx, jetstream.WithSubjectFilter(filter))
		if err == nil {
			subjects = info.State.Subjects
		}
		return err
	}, api("STREAM.INFO."+streamOf(n.names.after())))
	return subjects, err
}

// anyStored reports whether one of the keys is there, and not only its marker.
func (n *Node) anyStored(ctx context.Context, keys []string) (bool, error) {
	for _, key := range keys {
		if _, _, err := n.surely(ctx, n.after, key); !isNotFound(err) {
			return err == nil, err
		}
	}
	return false, nil
}
