package policy

import "math"

// Stall decides how many places a pool gets beyond its own, for workers that are
// blocked where the pool cannot see it, so that what is queued can start. A worker
// that computes gets none, however long it takes.
//
// The cheap evidence is that fewer goroutines run in the whole program than the pool
// has places taken, at each look since something started: then the others wait. (At
// one look they may wait for a moment only, for a mutex or the garbage collector.) It fails if other goroutines run as well;
// then the goroutines have to be counted, which is dear, so not more often than
// CountEvery. Places go back as soon as tasks start without those that have kept
// theirs since the last look.
type Stall struct {
	After   int64 // for how long nothing must start, ns
	started int64
	since   int64 // when something started, or the look began
	counted int64 // when the goroutines were counted, if they were
	counts  bool  // they were
	begun   bool
	sure    int // the least of atLeast in the looks since
}

// CountEvery is how much time passes between two counts of all goroutines, in
// nanoseconds.
const CountEvery = 1_000_000_000

// Sight is what is known of a pool in which tasks are queued.
type Sight struct {
	Now     int64 // ns
	Started int64 // tasks that have started so far
	Fresh   int   // workers that have started one since the last look
	Active  int   // places taken
	Running int   // goroutines of the program that run, could run, or are in system calls
	Extra   int   // places that were added
}

// Look returns how many places there should be beyond the pool's own, and whether to
// count the goroutines, and ask Counted.
func (s *Stall) Look(o Sight) (extra int, count bool) {
	if !s.begun || o.Started != s.started {
		first := !s.begun
		s.begun, s.started, s.since = true, o.Started, o.Now
		s.sure = math.MaxInt
		if first {
			return o.Extra, false
		}
		extra = min(o.Extra, max(0, o.Active-o.Fresh))
		return extra, extra > o.atLeast() && s.mayCount(o.Now)
	}
	s.sure = min(s.sure, o.atLeast())
	if o.Now-s.since < s.After {
		return o.Extra, false
	}
	if n := s.sure; n > o.Extra {
		return n, false
	}
	return o.Extra, s.mayCount(o.Now)
}

// Counted is Look when the goroutines have been counted: so many places are those of
// workers that wait, or of guests, whose places others get after that time.
func (s *Stall) Counted(o Sight, idle int) (extra int) {
	s.counted, s.counts = o.Now, true
	if s.Stalled(o.Now) {
		return idle
	}
	return min(o.Extra, idle)
}

// Stalled reports whether nothing had started for long at the last look.
func (s *Stall) Stalled(now int64) bool { return now-s.since >= s.After }

// atLeast returns how many of the places are certainly those of workers that wait.
func (o Sight) atLeast() int { return max(0, o.Active-o.Running) }

func (s *Stall) mayCount(now int64) bool {
	return !s.counts || now-s.counted >= CountEvery
}
