package flow

// The ready nodes of a run are a stack, or a heap if nodes have ranks. The caller holds the lock of the state.

// push adds node i.
func (st *state) push(i int32) {
	st.ready = append(st.ready, i)
	if st.rank != nil {
		st.up(len(st.ready) - 1)
	}
}

// pop removes and returns the newest node, or the one of the highest rank, or none.
func (st *state) pop() int32 {
	last := len(st.ready) - 1
	if last < 0 {
		return none
	}
	if st.rank != nil {
		st.ready[0], st.ready[last] = st.ready[last], st.ready[0]
	}
	i := st.ready[last]
	st.ready = st.ready[:last]
	if st.rank != nil {
		st.down(0)
	}
	return i
}

// heap makes st.ready a heap, after nodes were stored there.
func (st *state) heap() {
	if st.rank == nil {
		return
	}
	for at := len(st.ready)/2 - 1; at >= 0; at-- {
		st.down(at)
	}
}

// before reports whether the node at a comes before the node at b. Among equal ranks, the node added first does.
func (st *state) before(a, b int) bool {
	i, j := st.ready[a], st.ready[b]
	return st.rank[i] > st.rank[j] || st.rank[i] == st.rank[j] && i < j
}

func (st *state) up(at int) {
	for at > 0 {
		above := (at - 1) / 2
		if !st.before(at, above) {
			return
		}
		st.ready[at], st.ready[above] = st.ready[above], st.ready[at]
		at = above
	}
}

func (st *state) down(at int) {
	for {
		best := at
		for _, below := range []int{2*at + 1, 2*at + 2} {
			if below < len(st.ready) && st.before(below, best) {
				best = below
			}
		}
		if best == at {
			return
		}
		st.ready[best], st.ready[at] = st.ready[at], st.ready[best]
		at = best
	}
}

// rankNodes sets the rank of each node: the time from its beginning to the end of the graph if nothing waits for a
// worker, by took, or in nodes if no times are known.
func (p *plan) rankNodes(nodes []*node, took, rank []int64) {
	clear(rank)
	for at := len(p.order) - 1; at >= 0; at-- {
		i := p.order[at]
		var longest int64
		for _, j := range p.after(i) {
			longest = max(longest, rank[j])
		}
		for _, to := range nodes[i].to {
			longest = max(longest, rank[to.index]) // 0 if the edge leads back
		}
		if rank[i] = longest + 1; took != nil {
			rank[i] = longest + max(1, took[i])
		}
	}
}
