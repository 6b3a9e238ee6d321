package cluster

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

// deadCounts are what DeadCounts has found, and of which state of the stream.
type deadCounts struct {
	mu                    sync.Mutex
	first, last, messages uint64 // under mu, as what follows
	of                    map[string]int
}

// DeadCounts returns how many dead letters each handler has, by its name, or name@version; those that have none are not
// in it. It costs the servers a look at the stream, and at the subjects of all dead letters if there are others than at
// the call before.
func (n *Node) DeadCounts(ctx context.Context) (map[string]int, error) {
	s, err := n.streamOf(ctx, n.dead())
	if err != nil {
		return nil, err
	}
	c, is := &n.deadCounts, s.CachedInfo().State
	c.mu.Lock()
	known := c.of != nil && c.first == is.FirstSeq && c.last == is.LastSeq && c.messages == is.Msgs
	of := maps.Clone(c.of)
	c.mu.Unlock()
	if known {
		return of, nil
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(n.deadAll()))
	if err != nil {
		return nil, fmt.Errorf("cluster: the dead letters: %w", err)
	}
	of = map[string]int{}
	for subject, letters := range info.State.Subjects {
		of[n.handlerOf(subject)] += int(letters)
	}
	is = info.State
	c.mu.Lock()
	c.of, c.first, c.last, c.messages = maps.Clone(of), is.FirstSeq, is.LastSeq, is.Msgs
	c.mu.Unlock()
	return of, nil
}
