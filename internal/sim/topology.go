package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Topology says how far workers are from each other: groups in groups, the outermost first. The zero
// Topology has all workers at no distance.
type Topology []Level

// A Level is the groups that each group of the level before is made of. Those of the last level are workers.
type Level struct {
	Groups  int
	Latency int64 // of a message between two of these groups, in steps
}

const (
	maxGroups  = MaxWorkers
	maxLatency = 1 << 40
)

// ParseTopology reads a topology as String writes it: how many groups, after an @ the latency between them if
// there is one, and the same for what these groups are made of after an x. So 8@100x16 is eight machines, 100
// steps apart, of 16 workers.
func ParseTopology(s string) (Topology, error) {
	var t Topology
	for part := range strings.SplitSeq(s, "x") {
		groups, latency, hasLatency := strings.Cut(part, "@")
		n, err := strconv.Atoi(groups)
		if err != nil {
			return nil, fmt.Errorf("sim: topology %q: %q is not a number of groups", s, groups)
		}
		var l int64
		if hasLatency {
			if l, err = strconv.ParseInt(latency, 10, 64); err != nil {
				return nil, fmt.Errorf("sim: topology %q: %q is not a number of steps", s, latency)
			}
		}
		t = append(t, Level{n, l})
	}
	return t, t.check(1)
}

func (t Topology) String() string {
	var parts []string
	for _, l := range t {
		part := strconv.Itoa(l.Groups)
		if l.Latency != 0 {
			part += "@" + strconv.FormatInt(l.Latency, 10)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "x")
}

// check returns what is wrong with a topology for so many workers.
func (t Topology) check(workers int) error {
	room := 1
	for _, l := range t {
		if l.Groups < 1 || l.Groups > maxGroups/room {
			return fmt.Errorf("sim: topology %v: %d groups; there must be at least 1, and room for %d workers at most", t, l.Groups, maxGroups)
		}
		if l.Latency < 0 || l.Latency > maxLatency {
			return fmt.Errorf("sim: topology %v: a latency of %d steps; it must be from 0 to %d", t, l.Latency, int64(maxLatency))
		}
		room *= l.Groups
	}
	if len(t) > 0 && workers > room {
		return fmt.Errorf("sim: topology %v has room for %d workers, not for %d", t, room, workers)
	}
	return nil
}

// group is how many workers a group of the outermost level has room for.
func (t Topology) group() int {
	n := 1
	for _, l := range t[1:] {
		n *= l.Groups
	}
	return n
}

// distances is a topology as it is asked for: by level, how many workers its groups have room for, and their
// latency.
type distances []distance

type distance struct {
	room    int32
	latency int64
}

// distances returns nil if no level has a latency.
func (t Topology) distances() distances {
	if !slices.ContainsFunc(t, func(l Level) bool { return l.Latency > 0 }) {
		return nil
	}
	return t.levels()
}

func (t Topology) levels() distances {
	var d distances
	room := 1
	for _, l := range slices.Backward(t) {
		d = append(d, distance{int32(room), l.Latency})
		room *= l.Groups
	}
	slices.Reverse(d)
	return d
}

// latency is how long a message takes from w to v.
func (d distances) latency(w, v int32) int64 {
	for _, l := range d {
		if w/l.room != v/l.room {
			return l.latency
		}
	}
	return 0
}

// apart returns how many levels up the groups are that w and v share: 0 if they are in all the same ones.
func (d distances) apart(w, v int32) int {
	for i, l := range d {
		if w/l.room != v/l.room {
			return len(d) - i
		}
	}
	return 0
}
