package sssp

// entry is a vertex in a heap, and its distance when it came in.
type entry struct {
	distance uint64
	vertex   uint32
}

// entries are a binary heap: for package container/heap by the methods with a capital,
// and without it, and its interfaces and swaps, by push and pop.
type entries []entry

func (h entries) Len() int           { return len(h) }
func (h entries) Less(i, j int) bool { return h[i].distance < h[j].distance }
func (h entries) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *entries) Push(x any)        { *h = append(*h, x.(entry)) }
func (h *entries) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

func (h *entries) push(e entry) {
	*h = append(*h, e)
	all, i := *h, len(*h)-1
	for i > 0 {
		parent := (i - 1) / 2
		if all[parent].distance <= e.distance {
			break
		}
		all[i] = all[parent]
		i = parent
	}
	all[i] = e
}

func (h *entries) pop() entry {
	all := *h
	top, last := all[0], len(all)-1
	e := all[last]
	all = all[:last]
	*h = all
	if last == 0 {
		return top
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && all[c+1].distance < all[c].distance {
			c++
		}
		if all[c].distance >= e.distance {
			break
		}
		all[i] = all[c]
		i = c
	}
	all[i] = e
	return top
}
