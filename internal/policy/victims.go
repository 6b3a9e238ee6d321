package policy

// Victims decides in which order a thief looks at the others. The zero value
// is RoundRobin.
type Victims struct {
	random bool
	state  uint64 // of the generator, never 0 if random
}

// RoundRobin looks at the workers after the thief in a circle: (i+j+1) mod n,
// itself excluded. Thieves that look at the same time start apart.
func RoundRobin() Victims { return Victims{} }

// RandomStart looks at the workers in a circle from a start drawn anew for
// each pass. Every victim is as likely as another to be the first, which is
// what the bounds of Blumofe and Leiserson (JACM 1999) rest on, and each is
// seen once a pass, so that a lone victim cannot be missed.
func RandomStart(seed uint64) Victims {
	// splitmix64's finisher: neighbouring seeds must not start alike.
	seed += 0x9e3779b97f4a7c15
	seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
	seed = (seed ^ seed>>27) * 0x94d049bb133111eb
	return Victims{random: true, state: seed ^ seed>>31 | 1}
}

// Pass returns the order of one pass for thief self of n workers, 0 <= self <
// n: its i-th victim, for i from 0 to n-2, is p.At(i).
func (v *Victims) Pass(self, n int) Pass {
	p := Pass{self: self, n: n}
	if v.random && n > 2 {
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

// Pass is the order of one look at all the victims.
type Pass struct{ self, n, start int }

// At returns the i-th victim, 0 <= i < n-1. It is never the thief itself, and
// no victim comes twice in a pass.
func (p Pass) At(i int) int {
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
