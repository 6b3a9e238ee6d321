package policy

// Counts is what the wake rules go by.
type Counts struct {
	Active    int // places taken, searching ones included
	Searching int // of these, looking for work
	Limit     int // places in all
	Procs     int // goroutines that can run at once: GOMAXPROCS
}

// WakeShare is how many active workers there are for each that may search while one more is woken. If none were woken
// while one searches, P workers would begin in P wake-ups one after the other, and a wake-up takes as long as it takes
// to run a goroutine on a processor that sleeps. So they begin in some log P. Fewer workers than that are woken
// one at a time.
const WakeShare = 4

// Wake reports whether new work is reason to wake a worker: there is a place
// to fill, and few workers that look already and would find it.
func (c Counts) Wake() bool { return c.Searching <= c.Active/WakeShare && c.Active < c.Limit }

// Idle returns how many workers could start on something at once: those that
// search, and those that would if they were woken.
func (c Counts) Idle() int { return c.Searching + max(0, c.Limit-c.Active) }

// MaySearch reports whether one more worker may look for work: at most half of
// those that can run do, since every look costs the busy ones a cache miss.
func (c Counts) MaySearch() bool { return c.Searching < Searchers(c.Limit, c.Procs) }

// Searchers returns how many workers may search at once.
func Searchers(limit, procs int) int { return max(1, min(limit, procs)/2) }
