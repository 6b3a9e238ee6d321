package policy

// Victims decides in which order a thief looks at the others, and how often. Workers have
// numbers. The zero value is RoundRobin.
type Victims struct {
	order    order
	misses   uint8  // looks in a row that found nothing, since there is somebody to look at first
	pause    uint8  // adaptive: turns to sit out after the next miss, or 0 before the first
	rest     uint8  // adaptive: turns that are still to be sat out
	favoured uint32 // one more than the number of the worker to look at first, or 0
	state    uint64 // of the generator, never 0; inCircle: how many were glanced at
}

// order is what a thief chooses its victims by.
type order uint8

const (
	inCircle order = iota
	atRandom
	localized
	nearest
	adaptive
)

const (
	// patience is after how many passes in a row that found nothing a thief looks at nobody
	// first any more.
	patience = 16
	// mostPause is how many turns an adaptive thief sits out at most. A turn takes about a tenth
	// of a microsecond.
	mostPause = 64
)

// RoundRobin looks at the workers after the thief in a circle: (i+j+1) mod n,
// itself excluded. Thieves that look at the same time start apart. Where there are more than Glance others,
// a glance begins where the one before it has ended: else a thief would never see the rest.
func RoundRobin() Victims { return Victims{} }

// RandomStart looks at the workers in a circle from a start drawn anew for
// each pass. Every victim is as likely as another to be the first, which is
// what the bounds of Blumofe and Leiserson (JACM 1999) rest on, and each is
// seen once a pass, so that a lone victim cannot be missed.
func RandomStart(seed uint64) Victims { return seeded(atRandom, seed) }

// Localized looks first at the worker that robbed the thief last, to get back what it had, and then at
// the others as RandomStart does: localized work stealing (Suksompong, Leiserson and Schardl, "On the
// Efficiency of Localized Work Stealing", IPL 2016).
func Localized(seed uint64) Victims { return seeded(localized, seed) }

// Nearest looks at the others as RandomStart does, but at those that are near before those that are
// far. Its passes are to be sorted, by Pass.Sort.
func Nearest(seed uint64) Victims { return seeded(nearest, seed) }

// Adaptive looks first at the worker that it has stolen from last, and then at the others as
// RandomStart does. After each pass that found nothing, it sits out twice as many turns as before, up to
// a bound. So what it waits for is found after at most twice the time.
func Adaptive(seed uint64) Victims { return seeded(adaptive, seed) }

func seeded(by order, seed uint64) Victims {
	// splitmix64's finisher: neighbouring seeds must not start alike.
	seed += 0x9e3779b97f4a7c15
	seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
	seed = (seed ^ seed>>27) * 0x94d049bb133111eb
	return Victims{order: by, state: seed ^ seed>>31 | 1}
}

// StealsBack reports whether the thief is to be told who robs it.
func (v *Victims) StealsBack() bool { return v.order == localized }

// GoesByDistance reports whether passes are to be sorted.
func (v *Victims) GoesByDistance() bool { return v.order == nearest }

// Begin is called when a search begins.
func (v *Victims) Begin() { v.pause, v.rest = 0, 0 }

// Rests reports whether the thief sits this turn out, and counts it.
func (v *Victims) Rests() bool {
	if v.rest == 0 {
		return false
	}
	v.rest--
	return true
}

// Took is called when the thief has stolen from a worker.
func (v *Victims) Took(from int) {
	v.misses, v.pause, v.rest = 0, 0, 0
	if v.order == adaptive {
		v.favoured = uint32(from) + 1
	}
}

// RobbedBy is called when a worker has stolen from the thief.
func (v *Victims) RobbedBy(worker int) {
	if v.order == localized {
		v.misses, v.favoured = 0, uint32(worker)+1
	}
}

// Missed is called when the thief has looked, and found nothing.
func (v *Victims) Missed() {
	if v.order == adaptive {
		v.pause = min(max(2*v.pause, 1), mostPause)
		v.rest = v.pause
	}
	if v.favoured == 0 {
		return
	}
	if v.misses++; v.misses == patience {
		v.misses, v.favoured = 0, 0
	}
}

// Favourite returns the number of the worker to look at first, if there is one.
func (v *Victims) Favourite() (worker int, ok bool) { return int(v.favoured) - 1, v.favoured != 0 }

// Pass returns the order of one pass for thief self of n workers, 0 <= self <
// n, whose numbers are their places: its i-th victim, for i from 0 to n-2, is p.At(i).
func (v *Victims) Pass(self, n int) Pass {
	p := v.Circle(self, n)
	if worker, ok := v.Favourite(); ok {
		p.First(worker)
	}
	return p
}

// Circle is Pass for workers whose numbers are not their places. It puts no favourite first.
func (v *Victims) Circle(self, n int) Pass {
	p := v.WholeCircle(self, n)
	if v.order == inCircle && n-1 > Glance { // else all are looked at
		p.start = int(v.state % uint64(n-1))
		v.state += Glance
	}
	return p
}

// WholeCircle is Circle for a thief that looks at all of them. It does not change where the next glance begins: a
// thief may look at all of one list and glance at another in turn.
func (v *Victims) WholeCircle(self, n int) Pass {
	p := Pass{self: self, n: n}
	if v.order != inCircle && n > 2 {
		p.start = int(v.next() % uint64(n-1))
	}
	return p
}

// next is xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
func (v *Victims) next() uint64 {
	v.state ^= v.state << 13
	v.state ^= v.state >> 7
	v.state ^= v.state << 17
	return v.state
}

// Pass is the order of one look at all the victims: a circle from a start, of which a front part may be
// in an order of its own.
type Pass struct {
	self, n, start int
	front          int           // how many victims of the circle stand at other places
	by             [Glance]uint8 // which of the circle comes at which place of the front, if that is sorted
	sorted         bool          // else the last of the front comes first
}

// At returns the i-th victim, 0 <= i < n-1. It is never the thief itself, and
// no victim comes twice in a pass.
func (p *Pass) At(i int) int {
	if i < p.front {
		i = p.moved(i)
	}
	return p.inCircle(i)
}

// inCircle returns the i-th of the circle.
func (p *Pass) inCircle(i int) int {
	k := p.start + i
	if k >= p.n-1 {
		k -= p.n - 1
	}
	k += p.self + 1
	if k >= p.n {
		k -= p.n
	}
	return k
}

// moved returns which of the circle comes at place i of the front.
func (p *Pass) moved(i int) int {
	switch {
	case p.sorted:
		return int(p.by[i])
	case i == 0:
		return p.front - 1
	default:
		return i - 1
	}
}

// First has the pass begin with a victim, if there is such a one: it is another worker than the thief.
func (p *Pass) First(victim int) {
	if victim < 0 || victim >= p.n || victim == p.self {
		return
	}
	i := victim - p.self - 1
	if i < 0 {
		i += p.n
	}
	if i -= p.start; i < 0 {
		i += p.n - 1
	}
	p.front, p.sorted = i+1, false
}

// Sort has the pass look at those that are near first: at the first Glance of its circle in the order
// of their distance, and then at the others. In a pool of more workers than that, each pass has others at its front.
func (p *Pass) Sort(distance func(victim int) int) {
	var far [Glance]int
	p.front, p.sorted = max(0, min(p.n-1, Glance)), true
	for i := range p.front {
		d := distance(p.inCircle(i))
		at := i
		for ; at > 0 && far[at-1] > d; at-- {
			far[at], p.by[at] = far[at-1], p.by[at-1]
		}
		far[at], p.by[at] = d, uint8(i)
	}
}
