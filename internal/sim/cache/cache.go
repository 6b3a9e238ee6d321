// Package cache simulates what memory is near a worker.
package cache

// Cache is a cache of fixed size that drops the block which was used the longest time ago. The nil Cache
// holds nothing and misses nothing.
type Cache struct {
	Size int
	in   map[uint64]int32 // the entry of a block
	list []entry          // entry 0 is the end of the circle; its next is the newest
}

type entry struct {
	block      uint64
	next, prev int32
}

// New returns an empty cache of so many blocks, or nil for none.
func New(blocks int) *Cache {
	if blocks <= 0 {
		return nil
	}
	return &Cache{Size: blocks, in: make(map[uint64]int32), list: make([]entry, 1)}
}

// Touch uses n blocks from the first one on, and returns how many of them were not there.
func (c *Cache) Touch(first uint64, n int32) (misses int64) {
	if c == nil {
		return 0
	}
	for i := range uint64(n) {
		misses += c.Use(first + i)
	}
	return misses
}

// Use uses a block, and returns 1 if it was not there.
func (c *Cache) Use(block uint64) (misses int64) {
	at, ok := c.in[block]
	switch {
	case ok:
		c.unlink(at)
	case len(c.list) <= c.Size:
		at = int32(len(c.list))
		c.list = append(c.list, entry{})
	default: // the oldest makes room
		at = c.list[0].prev
		delete(c.in, c.list[at].block)
		c.unlink(at)
	}
	if !ok {
		misses = 1
		c.in[block] = at
	}
	newest := c.list[0].next
	c.list[at] = entry{block: block, next: newest}
	c.list[newest].prev = at
	c.list[0].next = at
	return misses
}

func (c *Cache) unlink(at int32) {
	e := c.list[at]
	c.list[e.prev].next = e.next
	c.list[e.next].prev = e.prev
}
