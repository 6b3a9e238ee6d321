package sim

// hierarchical is child stealing by workers in groups, which stand for machines: the groups of the outermost
// level of the topology, or groups of 16 without one. A worker without work asks random workers of its group.
// After Config.Inside attempts in a row that found nothing it makes one at a random worker of another group,
// and there takes half of the deque, rounded up, since the way is long.
//
// The cluster-aware hierarchical stealing of van Nieuwpoort, Kielmann and Bal, "Efficient load balancing for
// wide-area divide-and-conquer applications" (PPoPP 2001), asks inside first as well, along a tree of processors
// instead of at random. Their cluster-aware random stealing, in which a worker goes on to ask inside while a request is under way to
// another machine, is not modelled: a worker makes one attempt at a time.
type hierarchical struct {
	*half
	group  int32
	inside int32
	vain   []int32 // by worker: attempts inside, since it had work or asked outside
}

const (
	defaultGroup  = 16
	defaultInside = 8
	maxInside     = 1 << 20
)

func newHierarchical(m *machine) (scheduler, error) {
	s := &hierarchical{half: newHalfOf(m), group: defaultGroup, inside: defaultInside, vain: make([]int32, m.Workers)}
	if m.Inside > 0 {
		s.inside = int32(m.Inside)
	}
	if len(m.Topology) > 0 {
		s.group = int32(m.Topology.group())
	}
	return s, nil
}

func (s *hierarchical) enabled(w int32, cont, child ID) ID {
	next := s.half.enabled(w, cont, child)
	if next == None {
		s.vain[w] = 0
	}
	return next
}

func (s *hierarchical) seek(w int32) (ID, int64) { return s.look(w, s) }

// members returns the first worker of the group of w, and how many there are.
func (s *hierarchical) members(w int32) (first, n int32) {
	first = w - w%s.group
	return first, min(s.group, int32(len(s.workers))-first)
}

func (s *hierarchical) victim(w int32) int32 {
	first, n := s.members(w)
	outside := int32(len(s.workers)) - n
	if n > 1 && (outside == 0 || s.vain[w] < s.inside) {
		s.vain[w]++
		v := first + int32(s.below(int(n-1)))
		if v >= w {
			v++
		}
		return v
	}
	s.vain[w] = 0
	v := int32(s.below(int(outside)))
	if v >= first {
		v += n
	}
	return v
}

func (s *hierarchical) take(w, v int32) ID {
	if w/s.group != v/s.group {
		return s.half.take(w, v)
	}
	s.rest[w] = s.rest[w][:0]
	return s.steal(v)
}
