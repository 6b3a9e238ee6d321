package main

import (
	"testing"
	"time"

	"github.com/filch-go/filch/cluster"
)

// What is shown of nodes: the rate between two times, and from whom most tasks came.
func TestTablesOfNodesHaveRatesAndSources(t *testing.T) {
	at := time.Unix(1000, 0)
	before := cluster.NodeInfo{Name: "a", Seen: at, Stats: cluster.Stats{Done: 10}}
	now := before
	now.Seen, now.Stats.Done = at.Add(5*time.Second), 60
	now.From = map[string]int64{"a": 30, "b": 5, "c": 20, "": 3, "d": 2}
	if got := rateBetween(before, now); got != "10.0" {
		t.Error(got)
	}
	if got := rateBetween(cluster.NodeInfo{}, now) + rateBetween(before, before); got != "" {
		t.Error(got)
	}
	if got, want := from(now), "itself 30, c 20, b 5, and 2 nodes"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	tp := top{seen: map[string][2]cluster.NodeInfo{}}
	tp.before([]cluster.NodeInfo{before})
	for range 2 { // seen again, it is the same record
		if got := tp.before([]cluster.NodeInfo{now})["a"]; !got.Seen.Equal(at) {
			t.Errorf("%+v", got)
		}
	}
}
