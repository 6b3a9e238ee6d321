package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/filch-go/filch/cluster/internal/place"
)

// Queue is what waits in a lane of a handler, which is a level or a partition, by the servers' count.
type Queue struct {
	Handler     string        `json:"handler"`     // name@version for one with a version
	Lane        string        `json:"lane"`        // high, normal or low; or the number of a partition of keys
	Waiting     int           `json:"waiting"`     // tasks that no node was given yet
	Taken       int           `json:"taken"`       // tasks that a node was given, or that are to be tried again later
	Redelivered int           `json:"redelivered"` // those of Taken that were given away more than once
	Requests    int           `json:"requests"`    // of nodes that wait for a task
	Oldest      time.Duration `json:"oldest"`      // age of the oldest that was given to no node yet, in ns; 0 if there is none
	Paused      bool          `json:"paused"`
}

// Queues returns the queues of all handlers that a node of the cluster has ever had, sorted by handler and lane. It
// costs the servers a look at each lane, and a read of the oldest task of each lane in which some wait.
func (n *Node) Queues(ctx context.Context) ([]Queue, error) {
	s, err := n.streamOf(ctx, n.work())
	if err != nil {
		return nil, err
	}
	var all []Queue
	lister := s.ListConsumers(ctx)
	for c := range lister.Info() {
		handler, lane, ok := cutConsumer(c.Name)
		if !ok {
			continue // nobody's lane
		}
		q := Queue{
			Handler: handler, Lane: laneTitle(lane), Waiting: int(c.NumPending), Taken: c.NumAckPending,
			Redelivered: c.NumRedelivered, Requests: c.NumWaiting, Paused: c.Paused,
		}
		if q.Waiting > 0 {
			if q.Oldest, err = n.age(ctx, s, c); err != nil {
				return nil, err
			}
		}
		all = append(all, q)
	}
	if err := lister.Err(); err != nil {
		return nil, fmt.Errorf("cluster: the queues: %w", n.explain(err, api("CONSUMER.LIST."+n.work())))
	}
	slices.SortFunc(all, func(a, b Queue) int {
		return cmp.Or(cmp.Compare(a.Handler, b.Handler), cmp.Compare(laneRank(a.Lane), laneRank(b.Lane)))
	})
	return all, nil
}

// age returns how long the oldest task of a lane has waited that no node was given yet.
func (n *Node) age(ctx context.Context, s jetstream.Stream, c *jetstream.ConsumerInfo) (time.Duration, error) {
	m, err := s.GetMsg(ctx, c.Delivered.Stream+1, jetstream.WithGetMsgSubject(c.Config.FilterSubject))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil // a node has taken it
	}
	if err != nil {
		return 0, fmt.Errorf("cluster: the oldest task of %s: %w", c.Name, n.explain(err, api("STREAM.MSG.GET."+n.work()), api("DIRECT.GET."+n.work())))
	}
	return max(0, n.clock.at(n.now()).Sub(m.Time)), nil
}

// streamOf returns a stream of the cluster.
func (n *Node) streamOf(ctx context.Context, name string) (jetstream.Stream, error) {
	if n.ctx.Err() != nil {
		return nil, ErrClosed
	}
	s, err := n.js.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("cluster: the stream %s: %w", name, err)
	}
	return s, nil
}

// cutConsumer is the inverse of consumer.
func cutConsumer(name string) (handler, lane string, ok bool) {
	i := strings.LastIndexByte(name, '_')
	if i < 1 {
		return "", "", false
	}
	handler, lane = name[:i], name[i+1:]
	return handler, lane, laneTitle(lane) != ""
}

// laneTitle returns what users read of a lane, or "" if it is none.
func laneTitle(lane string) string {
	for level, title := range levelTitles {
		if lane == laneOfLevel(level) {
			return title
		}
	}
	number, ok := strings.CutPrefix(lane, "k")
	if p, err := strconv.Atoi(number); !ok || err != nil || laneOfPartition(p) != lane {
		return ""
	}
	return number
}

// levelTitles are what users read of levels.
var levelTitles = [place.Levels]string{High: "high", Normal: "normal", Low: "low"}

// laneRank returns the place of a lane among those of its handler, by its title.
func laneRank(title string) int {
	if i := slices.Index(levelTitles[:], title); i >= 0 {
		return i
	}
	p, _ := strconv.Atoi(title)
	return place.Levels + p
}
