package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// listEvery is how often a node tells of itself.
	listEvery = 5 * time.Second
	// listedFor is how long a node that tells nothing more is listed.
	listedFor = 15 * time.Second
)

// NodeInfo is what a node tells of itself every 5 s.
type NodeInfo struct {
	Name     string           `json:"name"`
	Host     string           `json:"host"` // name of its machine
	PID      int              `json:"pid"`
	Version  string           `json:"version"` // of the main module of its program, as the build says
	Tier     int              `json:"tier"`
	Places   int              `json:"places"`
	Handlers []string         `json:"handlers"` // sorted; name@version for one with a version
	Stats    Stats            `json:"stats"`
	From     map[string]int64 `json:"from"`   // how many tasks it has fetched, by the node that had submitted them
	Opened   time.Time        `json:"opened"` // by the servers' clock
	Seen     time.Time        `json:"seen"`   // when it told this, by the servers' clock
}

// Nodes returns the nodes of the cluster, sorted by name: those that have told of themselves in the last 15 s. A node
// is listed as soon as it has a handler, and within 5 s after it has submitted its first task. One that was closed is
// not listed any more.
func (n *Node) Nodes(ctx context.Context) ([]NodeInfo, error) {
	if n.ctx.Err() != nil {
		return nil, ErrClosed
	}
	w, err := n.nodes.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("cluster: the list of nodes: %w", n.explain(err, toWatch(n.names.nodes())[0]))
	}
	defer w.Stop()
	var all []NodeInfo
	for {
		select {
		case entry, ok := <-w.Updates():
			if !ok || entry == nil { // nil: these are all
				slices.SortFunc(all, func(a, b NodeInfo) int { return cmp.Compare(a.Name, b.Name) })
				return all, nil
			}
			info := NodeInfo{}
			if json.Unmarshal(entry.Value(), &info) == nil {
				info.Name, info.Seen = entry.Key(), entry.Created()
				all = append(all, info)
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// info is what the node tells of itself.
func (n *Node) info() NodeInfo {
	i := NodeInfo{Name: n.node, Version: buildVersion(), PID: os.Getpid(), Tier: n.tier, Places: n.config.places, Stats: n.Stats(), From: n.fetched.copy(), Opened: n.opened}
	i.Host, _ = os.Hostname()
	n.mu.RLock()
	defer n.mu.RUnlock()
	for name := range n.handlers {
		i.Handlers = append(i.Handlers, name)
	}
	slices.Sort(i.Handlers)
	return i
}

// buildVersion returns the version of the program.
func buildVersion() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		return b.Main.Version
	}
	return ""
}

// list tells of the node until it is closed.
func (n *Node) list() {
	for {
		select {
		case <-n.fresh:
		case <-time.After(listEvery):
		case <-n.ctx.Done():
			return
		}
		i := n.info()
		if len(i.Handlers) == 0 && i.Stats.Submitted+i.Stats.Local == 0 {
			continue
		}
		data, err := json.Marshal(i)
		if err == nil {
			ctx, cancel := context.WithTimeout(n.ctx, serverWait)
			_, err = n.nodes.Put(ctx, n.node, data)
			cancel()
		}
		if err != nil && n.ctx.Err() == nil {
			n.log.Debug("filch cluster: the node is not listed", "node", n.node, "error", err)
		}
	}
}

// unlist removes the node from the list. list has ended. If the servers do not hear it, the record ends by itself.
func (n *Node) unlist() {
	if !n.nc.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leavePatience)
	defer cancel()
	if err := n.nodes.Delete(ctx, n.node); err != nil {
		n.log.Debug("filch cluster: a node that has left stays listed for a while", "node", n.node, "error", err)
	}
}

// fetched is how many tasks a node has fetched, by the node that had submitted them.
type fetched struct {
	mu   sync.Mutex
	from map[string]int64
}

// fetchedMost is of how many nodes the tasks are counted apart. Programs that submit one task and end are many.
const fetchedMost = 100

// add counts a task. If there are too many nodes, those of the node with the fewest go to the nameless.
func (f *fetched) add(node string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.from[node]; !ok && len(f.from) >= fetchedMost {
		least := ""
		for name, tasks := range f.from {
			if name != "" && (least == "" || tasks < f.from[least]) {
				least = name
			}
		}
		f.from[""] += f.from[least]
		delete(f.from, least)
	}
	f.from[node]++
}

func (f *fetched) copy() map[string]int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.from)
}
