package cluster

import (
	"fmt"
	"testing"
)

func TestPartitionsAreSpreadOverNodes(t *testing.T) {
	const nodes, partitions = 5, 256
	best := map[string]int{}
	for p := range partitions {
		least, name := 10, ""
		for n := range nodes {
			node := fmt.Sprint("machine-", n)
			w := affinity(node, laneOfPartition(p), 0)
			if w < 0 || w >= nearest {
				t.Fatal("a weight of", w)
			}
			if w < least {
				least, name = w, node
			}
		}
		best[name]++
	}
	for n := range nodes {
		if k := best[fmt.Sprint("machine-", n)]; k < partitions/nodes/3 {
			t.Error("partitions of the nodes:", best)
		}
	}
	for tier, want := range map[int]int{1: 7, 2: 8, 3: 9, 9: 9} {
		if got := affinity("a", "k0", tier); got != want {
			t.Error("tier", tier, "has", got)
		}
	}
}
