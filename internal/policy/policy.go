// Package policy holds the decisions of the scheduler as pure values: whom to
// steal from, when to wake a worker, how much to publish ahead of demand. They
// start no goroutine, read no clock and draw from no random source but their
// own seed, so that the scheduler and a simulator can share them and a test
// can replay them.
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

// Counts is what the wake rules go by.
type Counts struct {
	Active    int // places taken, searching ones included
	Searching int // of these, looking for work
	Limit     int // places in all
	Procs     int // goroutines that can run at once: GOMAXPROCS
}

// Wake reports whether new work is reason to wake a worker: there is a place
// to fill, and nobody who looks already and would find it.
func (c Counts) Wake() bool { return c.Searching == 0 && c.Active < c.Limit }

// Idle returns how many workers could start on something at once: those that
// search, and those that would if they were woken.
func (c Counts) Idle() int { return c.Searching + max(0, c.Limit-c.Active) }

// MaySearch reports whether one more worker may look for work: at most half of
// those that can run do, since every look costs the busy ones a cache miss.
func (c Counts) MaySearch() bool {
	return c.Searching < max(1, min(c.Limit, c.Procs)/2)
}

// Credit bounds what it may cost to publish forks before anyone asks for them.
// A worker earns one publication for every Price nanoseconds it runs, so that a
// worker with long leaves publishes every fork at once, where any worker that
// falls idle later finds it, and one with forks of a nanosecond hardly any.
type Credit struct {
	last int64 // when it was last counted, ns
	left int
}

const (
	// Price is the running time, in nanoseconds, that pays for publishing one
	// fork, which costs about a fortieth of it.
	Price = 4000
	// MaxCredit is what can be saved up.
	MaxCredit = 1 << 12
	// reserve is the credit that is not spent on more than one publication at a
	// time. It is about how often a fork must be published to keep one public all
	// through a fine-grained recursion, its depth, so that one is public
	// at its end as well, where coarse forks may follow.
	reserve = 48
)

// Start sets and returns the credit with which a computation begins at time
// now. Time since the last computation counts, but not for more than the reserve
// and two publications for each other worker, so that they have something to
// take now and again when that is done, before the owner looks up from its leaf.
func (c *Credit) Start(now int64, limit int) int {
	c.left = min(c.Earn(now), 2*(limit-1)+reserve)
	return c.left
}

// Worth returns how many forks to publish now, if nobody waits for them.
func (c *Credit) Worth() int { return max(min(c.left, 1), c.left-reserve) }

// Earn counts the time up to now and returns the credit.
func (c *Credit) Earn(now int64) int {
	n := (now - c.last) / Price
	if n < 0 || n >= MaxCredit { // the zero Credit has earned all
		c.left, c.last = MaxCredit, now
		return c.left
	}
	c.left = min(c.left+int(n), MaxCredit)
	c.last += n * Price
	return c.left
}

// Spend takes n, if it is positive, from the credit, which does not go below
// zero.
func (c *Credit) Spend(n int) { c.left = max(0, c.left-max(0, n)) }
