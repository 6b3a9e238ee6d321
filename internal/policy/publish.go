package policy

// Credit bounds what it may cost to publish forks before anyone asks for them.
// A worker earns one publication for every Price nanoseconds it runs, so that a
// worker with long leaves publishes every fork at once, where any worker that
// falls idle later finds it, and one with forks of a nanosecond hardly any.
type Credit struct {
	last int64 // when it was last counted, ns
	left int
	keep int // forks to keep public, as long as more than Last is left
}

const (
	// Price is the running time, in nanoseconds, that pays for publishing one
	// fork, which costs about a fortieth of it.
	Price = 4000
	// MaxCredit is what can be saved up.
	MaxCredit = 1 << 12
	// Reserve is the credit that is not spent on more forks than other workers could take at
	// once: it keeps as many public, so that each of these workers finds one if coarse forks
	// follow on fine-grained ones.
	Reserve = 48
	// Last is the part of the reserve that keeps one fork public. It is about how often a
	// fork must be published for that all through a fine-grained recursion, its depth.
	Last = 16
)

// Start sets and returns the credit with which a computation begins at time
// now. Time since the last computation counts, but not for more than the reserve
// and two publications for each other worker, so that they have something to
// take now and again when that is done, before the owner looks up from its leaf.
func (c *Credit) Start(now int64, limit int) int {
	c.left = min(c.Earn(now), 2*(limit-1)+Reserve)
	return c.left
}

// Keep makes n the number of forks to keep public, one for each other worker.
func (c *Credit) Keep(n int) { c.keep = n }

// Keeps returns how many forks to keep public, as far as the credit was counted.
func (c *Credit) Keeps() int {
	if c.left > Last {
		return max(1, c.keep)
	}
	return 1
}

// Worth returns how many forks to publish now, if no worker waits for them and so many are
// public.
func (c *Credit) Worth(public int) int {
	return max(min(c.left, 1), min(c.left-Last, c.keep-public), c.left-Reserve)
}

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

// Left returns the credit as it was last counted.
func (c *Credit) Left() int { return c.left }

// Spend takes n, if it is positive, from the credit, which does not go below
// zero.
func (c *Credit) Spend(n int) { c.left = max(0, c.left-max(0, n)) }

// isVirtual reports whether the time is that of a bubble of testing/synctest, which is less than that of
// any program. What a publication costs is time, and there it takes none: it is free.
func (c *Credit) isVirtual() bool { return c.last < 0 }

// Demand is how much the others want a worker's forks.
type Demand = uint32

const (
	// NoDemand is that of a worker that has been asked for nothing.
	NoDemand Demand = iota
	// Supply says that no worker waits, but that nothing is public either.
	Supply
	// Hunger says that a worker searches, or a place is free.
	Hunger
	// GiveWay says that the worker's place is wanted, too.
	GiveWay
)

// An Answer is what a worker does about the demand for its forks.
type Answer struct {
	Asked int // forks that are published whatever it costs
	Most  int // forks that are published, if there are so many
}

// Answer returns how a worker meets the demand d, if it owes that many forks from before,
// has that many public, and that many workers are idle. What it publishes beyond what
// is asked for, its credit pays.
func (c *Credit) Answer(d Demand, owed, public, idle int) Answer {
	asked := owed
	if d == Hunger {
		asked = max(asked, idle-public, 1)
	}
	return Answer{Asked: asked, Most: max(asked, c.Worth(public))}
}

// Answered charges the credit for what was published, and returns what the worker owes
// then, and the demand that stays.
func (c *Credit) Answered(d Demand, a Answer, published int) (owed int, left Demand) {
	if !c.isVirtual() {
		c.Spend(published - a.Asked)
	}
	switch {
	case published < a.Asked:
		left = d
	case published < a.Most:
		left = Supply
	}
	return max(0, a.Asked-published), left
}

// Coarse reports whether forks are coarse: as long as this, in nanoseconds, has passed since
// a thief's last steal. Then it asks its victim for more if fewer are left than there are
// workers.
func Coarse(sinceLast int64) bool { return sinceLast >= Price }
