package cluster

import (
	"hash/fnv"

	"github.com/filch-go/filch/cluster/internal/pull"
)

// newPuller returns what asks for the tasks of the lane.
func (l *lane) newPuller() (*pull.Puller, error) {
	n := l.node
	form := pull.Request{Group: pull.Group}
	switch {
	case l.handler.stealAbove > 0 && n.tier > 0:
		form.MinPending = l.handler.stealAbove*n.tier + 1
	case l.handler.stealAbove > 0:
	case l.partition:
		form.Priority = affinity(n.node, l.name, n.tier)
	default:
		form.Priority = n.tier
	}
	p, err := pull.New(n.nc, n.work(), consumer(l.handler.name, l.name), form, 2*n.config.places+16)
	if err == nil {
		p.Again = l.again
	}
	return p, err
}

// nearest is how many priorities near nodes have for partitions; the other three are those of tiers 1, 2 and above.
const nearest = 7

// affinity returns the priority of a node for a partition. The server serves the least of those that wait, so a partition
// goes to the same node as long as that one waits, and no node needs to know the others: rendezvous hashing (Thaler and
// Ravishankar, IEEE/ACM Transactions on Networking, 1998), by seven weights.
func affinity(node, lane string, tier int) int {
	if tier > 0 {
		return nearest - 1 + min(tier, 3)
	}
	f := fnv.New32a()
	f.Write([]byte(node + " " + lane))
	return int(f.Sum32()>>16) % nearest
}
