package steal

// The orders of this package.
var (
	// RandomStart goes around the circle from a start drawn anew for each pass. It is the default. Every victim is
	// equally likely to be the first, on which the bounds of Blumofe and Leiserson ("Scheduling Multithreaded
	// Computations by Work Stealing", JACM 1999) rest, and each comes once, so a lone victim cannot be missed.
	RandomStart Order = randomStart{}
	// RoundRobin goes around the circle from the next worker on, and draws no random numbers. Two idle neighbours try
	// the same victims, one after the other. With more than [Glance] victims, a pass for forks begins where the one
	// before it ended; otherwise a thief would never see the rest.
	RoundRobin Order = roundRobin{}
	// Localized first tries the worker that last stole from this one, to get back work whose data may still be in this
	// one's cache, and goes on as RandomStart: localized work stealing (Suksompong, Leiserson and Schardl, "On the
	// Efficiency of Localized Work Stealing", IPL 2016). After 16 passes in vain it tries none first.
	Localized Order = localized{}
	// Adaptive first tries the worker that it last stole from, and goes on as RandomStart. After a pass that found
	// nothing it waits, twice as long each time, up to some microseconds. Idle workers disturb busy ones less, but find
	// new work later: after at most twice the time.
	Adaptive Order = adaptive{}
)

type (
	randomStart struct{}
	roundRobin  struct{}
	localized   struct{}
	adaptive    struct{}
)

func (randomStart) String() string { return "RandomStart" }
func (roundRobin) String() string  { return "RoundRobin" }
func (localized) String() string   { return "Localized" }
func (adaptive) String() string    { return "Adaptive" }

func (randomStart) Thief(seed uint64) Thief { r := seeded(seed); return &r }
func (roundRobin) Thief(uint64) Thief       { return new(inCircle) }
func (localized) Thief(seed uint64) Thief   { return &homesick{random: seeded(seed)} }
func (adaptive) Thief(seed uint64) Thief    { return &loyal{random: seeded(seed)} }

// random goes around from a random start. It is the state of the generator, never 0.
type random uint64

func seeded(seed uint64) random {
	// splitmix64's finisher: neighbouring seeds must not start alike.
	seed += 0x9e3779b97f4a7c15
	seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
	seed = (seed ^ seed>>27) * 0x94d049bb133111eb
	return random(seed ^ seed>>31 | 1)
}

// next is xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
func (r *random) next() random {
	*r ^= *r << 13
	*r ^= *r >> 7
	*r ^= *r << 17
	return *r
}

func (r *random) Look(l *Look) {
	if n := l.Len(); n > 1 {
		l.Start(int(r.next() % random(n)))
	}
}

// inCircle is how far around it has come.
type inCircle uint64

func (c *inCircle) Look(l *Look) {
	if n := l.Len(); n > l.Turns() { // else the pass scans all
		l.Start(int(*c % inCircle(n)))
		*c += inCircle(l.Turns())
	}
}

// favourite is the worker to try first, for a while.
type favourite struct {
	worker int // one more than its number, or 0
	misses int // passes in vain since
}

// patience is the number of passes in vain after which none is tried first.
const patience = 16

func (f *favourite) set(worker int) { *f = favourite{worker: worker + 1} }

func (f *favourite) first(l *Look) {
	if f.worker == 0 {
		return
	}
	if i, ok := l.Find(f.worker - 1); ok {
		l.First(i)
	}
}

func (f *favourite) missed() {
	if f.misses++; f.misses >= patience {
		f.worker = 0
	}
}

// homesick first tries the worker that robbed it.
type homesick struct {
	random
	robber favourite
}

func (h *homesick) Look(l *Look)   { h.random.Look(l); h.robber.first(l) }
func (h *homesick) Robbed(by int)  { h.robber.set(by) }
func (h *homesick) Stole(int)      { h.robber.misses = 0 }
func (h *homesick) Missed(int) int { h.robber.missed(); return 0 }

// loyal first tries the worker that it stole from.
type loyal struct {
	random
	victim favourite
}

func (y *loyal) Look(l *Look)   { y.random.Look(l); y.victim.first(l) }
func (y *loyal) Stole(from int) { y.victim.set(from) }

func (y *loyal) Missed(row int) (rest int) {
	y.victim.missed()
	return 1 << min(row-1, 6) // up to MostRest
}
