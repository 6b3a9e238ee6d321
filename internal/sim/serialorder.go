package sim

// serialOrder keeps threads in the order in which one worker would run their next nodes, children first: a
// thread that is spawned comes right before its parent. Each has a label, and a smaller one the earlier it
// comes, so that two threads are compared in one step.
//
// When there is no label left between two, those around are spread evenly over the smallest range of labels
// that they do not crowd: the simplified list labeling of Bender, Cole, Demaine, Farach-Colton and Zito, "Two
// simplified algorithms for maintaining order in a list" (ESA 2002), after Dietz and Sleator (STOC 1987). A
// thread that is added costs O(log n) changes of labels, amortized.
type serialOrder struct {
	links []link // by ID; that of None is before the first and after the last
}

type link struct {
	next, prev ID
	label      uint64
}

// labelBits is how many bits a label has. None has the label 0, and counts as behind all labels when it comes last.
const labelBits = 62

func (o *serialOrder) has(id ID) bool { return int(id) < len(o.links) && o.links[id].label > 0 }

// before reports whether a comes before b. Both are there.
func (o *serialOrder) before(a, b ID) bool { return o.links[a].label < o.links[b].label }

// remove removes id.
func (o *serialOrder) remove(id ID) {
	l := o.links[id]
	o.links[l.prev].next, o.links[l.next].prev = l.next, l.prev
	o.links[id] = link{}
}

// add adds id right before another, or as the last before None.
func (o *serialOrder) add(id, before ID) {
	for len(o.links) <= int(max(id, before)) {
		o.links = append(o.links, link{})
	}
	prev := o.links[before].prev
	if o.end(before)-o.links[prev].label < 2 {
		around := before
		if around == None {
			around = prev
		}
		o.spread(around)
	}
	low := o.links[prev].label
	o.links[id] = link{next: before, prev: prev, label: low + (o.end(before)-low)/2}
	o.links[prev].next, o.links[before].prev = id, id
}

// end returns the label of what comes before another, at most.
func (o *serialOrder) end(id ID) uint64 {
	if id == None {
		return 1 << labelBits
	}
	return o.links[id].label
}

// spread makes room around id. The range doubles until those in it are few: of 2^i labels (20/13)^i, and a
// quarter at most.
func (o *serialOrder) spread(id ID) {
	first, last, n := id, id, uint64(1)
	few := uint64(1 << 16) // in units of 2^-16
	for i := 1; ; i++ {
		size := uint64(1) << i
		few = few / 13 * 20
		low := o.links[id].label &^ (size - 1)
		for p := o.links[first].prev; p != None && o.links[p].label >= low; p = o.links[p].prev {
			first, n = p, n+1
		}
		for q := o.links[last].next; q != None && o.links[q].label-low < size; q = o.links[q].next {
			last, n = q, n+1
		}
		if i < labelBits && (n<<16 > few || 4*n > size) {
			continue
		}
		gap := size / n
		for at := low + gap/2; ; at += gap {
			o.links[first].label = at
			if first == last {
				return
			}
			first = o.links[first].next
		}
	}
}
