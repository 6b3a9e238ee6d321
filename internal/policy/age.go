package policy

import "math"

// agePart is how finely ages are compared: to a part of the time in which a task gains a
// level.
const agePart = 64

// Aged returns what a task of the given priority is queued by, if it is submitted at the
// time at and gains a level in each step: a level, in parts, and the time, in as many parts
// of step. As all grow older at the same pace, their order stays.
func Aged(priority int, at, step int64) int {
	const most = math.MaxInt / 128
	by := int64(min(max(priority, -most), most))*agePart + at/step*agePart + at%step*agePart/step
	return int(min(max(by, math.MinInt), math.MaxInt))
}

// Unaged returns the priority of which Aged makes by. Those that are beyond its range are
// lost.
func Unaged(by int, at, step int64) int {
	return int((int64(by) - at/step*agePart - at%step*agePart/step) / agePart)
}
