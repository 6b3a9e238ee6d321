package policy

// Spin bounds how long a worker looks for work before it leaves, and a waiting one for its
// result before it blocks. The zero Spin has just begun.
type Spin struct {
	turns int
	until int64
}

const (
	// SpinTime is the bound, in nanoseconds: about what it takes to wake another worker,
	// so that neither costs more than twice what foresight would.
	SpinTime = 100_000
	// maxTurns is the bound for when the clock stands still, as in testing/synctest. It is
	// not reached before the time is up elsewhere: a turn takes 40 ns and more.
	maxTurns = 1 << 12
	// yieldEvery is after how many turns other goroutines have the processor.
	yieldEvery = 16
)

// Turn counts a turn. It reports whether the next one comes at once; else the caller lets
// other goroutines have the processor, and asks Goes.
func (s *Spin) Turn() (free bool) {
	s.turns++
	return s.turns%yieldEvery != 0
}

// Timed reports whether Begin was called.
func (s *Spin) Timed() bool { return s.until != 0 }

// Begin begins the time, of which there is no more than most. That is before the first yield: what
// others do then takes of it.
func (s *Spin) Begin(now, most int64) { s.until = now + min(SpinTime, most) }

// Goes reports whether to go on at the time now.
func (s *Spin) Goes(now int64) bool { return s.turns < maxTurns && now < s.until }
