package sim

import (
	"fmt"

	"github.com/filch-go/filch/internal/sim/dag"
)

// MaxCached is the most blocks that all caches of a run together may come to hold, since each takes memory.
const MaxCached = 1 << 25

// checkCaches returns what is wrong with the caches for a program that touches so many blocks.
func (c Config) checkCaches(touched int64) error {
	own := min(int64(c.Workers)*int64(c.Cache), touched)
	if held := own + min(int64(c.SharedCache), touched); held > MaxCached {
		return fmt.Errorf("sim: %d caches of %d blocks, and a shared one of %d, may come to hold %d blocks; there may be %d",
			c.Workers, c.Cache, c.SharedCache, held, MaxCached)
	}
	return nil
}

// touch uses the blocks of n, which begins on w. What misses in the worker's own cache goes on to the shared one.
func (m *machine) touch(w int32, n *dag.Node) {
	if m.caches == nil {
		m.res.Shared += m.shared.Touch(n.Block, n.Blocks)
		return
	}
	for i := range uint64(n.Blocks) {
		if m.caches[w].Use(n.Block+i) == 0 {
			continue
		}
		m.res.Misses++
		m.res.Shared += m.shared.Touch(n.Block+i, 1)
	}
}
