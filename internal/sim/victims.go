package sim

import (
	"strings"

	"github.com/filch-go/filch/steal"
)

// Stealings returns the names that Tuning.Stealing may have: those of the orders of package steal, spelled as flags are. The
// first is the default.
func Stealings() []string {
	var names []string
	for _, o := range steal.Orders() {
		names = append(names, flagged(o.String()))
	}
	return names
}

// flagged spells a name as flags are: RandomStart as random-start.
func flagged(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c < 'a' {
			b.WriteByte('-')
		}
		b.WriteString(strings.ToLower(string(c)))
	}
	return b.String()
}

// stealing returns the order of that name on a machine whose workers are so far apart, or the default.
func (t Tuning) stealing(far distances) steal.Order {
	for _, o := range steal.Orders() {
		switch {
		case flagged(o.String()) != t.Stealing:
		case o == steal.Nearest:
			return steal.NearestOn(apart{far})
		default:
			return o
		}
	}
	return steal.Orders()[0]
}

// apart is how far workers are from one another: each has a processor of its own number.
type apart struct{ distances }

func (apart) Processor() int          { return -1 } // it is not asked: Processor of forkers tells
func (a apart) Distance(w, v int) int { return a.apart(int32(w), int32(v)) }

// forkers are the workers that a worker may look at, as the engine's otherForkers.
type forkers struct {
	*pool
	w int32
}

func (f forkers) Len() int                { return len(f.forkers) }
func (f forkers) Place(worker int) int    { return int(f.at[worker].forker) - 1 }
func (f forkers) Processor(place int) int { return f.Number(place) }

func (f forkers) Number(place int) int {
	if place < 0 {
		return int(f.w)
	}
	return int(f.forkers[place])
}

// others returns a look of w at the forkers.
func (s *pool) others(w int32) *steal.Look {
	x := &s.at[w]
	if x.victims.HearsOfRobbers() && x.robber != 0 {
		x.victims.Robbed(int(x.robber) - 1)
		x.robber = 0
	}
	return x.victims.Look(forkers{s, w}, int(x.forker)-1, s.Tuning.glance())
}

// robbed notes that w has stolen from v.
func (s *pool) robbed(w, v int32) {
	x := &s.at[w]
	x.victims.Stole(int(v))
	if x.victims.HearsOfRobbers() {
		s.at[v].robber = w + 1
	}
}

// yields reports whether w lets others go first before it looks again. The engine calls runtime.Gosched for it, which
// puts the worker behind all that can run. Without a kernel each worker has a processor, and a yield changes nothing.
func (s *pool) yields(w int32) bool {
	free := s.at[w].spin.Turn()
	return s.procs != nil && s.Workers > 1 && (!free || s.Tuning.YieldFirst)
}
