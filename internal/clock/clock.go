// Package clock is the clock that all decisions ask.
package clock

import "time"

// epoch is what times are counted from. So a time is an int64, and the clock is read on its
// monotonic path.
var epoch = time.Now()

// Now returns the time in nanoseconds since the program began. In a bubble of
// testing/synctest it is the bubble's, and less than that of the program.
func Now() int64 { return int64(time.Since(epoch)) }

// InBubble reports whether the caller is in a bubble of testing/synctest: the time has no
// monotonic part there.
func InBubble() bool {
	t := time.Now()
	return t == t.Round(0)
}
