// Package model holds a queue with priorities as plain as can be, to compare others with
// in tests. It has nothing in common with them.
package model

import (
	"cmp"
	"slices"
)

// Entry is a priority and a value.
type Entry [2]int

func (e Entry) Priority() int { return e[0] }
func (e Entry) Value() int    { return e[1] }

// Queue holds entries, the best and oldest first.
type Queue []Entry

// Push adds e as the newest of its priority.
func (q *Queue) Push(e Entry) { q.insert(e, -1) }

// PushOldest adds e as the oldest of its priority.
func (q *Queue) PushOldest(e Entry) { q.insert(e, 0) }

// insert puts e where those of its priority are found, or behind them if equal is -1.
func (q *Queue) insert(e Entry, equal int) {
	i, _ := slices.BinarySearchFunc(*q, e.Priority(), func(a Entry, p int) int {
		return cmp.Or(cmp.Compare(a.Priority(), p), equal)
	})
	*q = slices.Insert(*q, i, e)
}

// Pop removes and returns the first. There must be one.
func (q *Queue) Pop() Entry {
	e := (*q)[0]
	*q = (*q)[1:]
	return e
}

// Bests returns how many have the best priority.
func (q Queue) Bests() (n int) {
	for n < len(q) && q[n].Priority() == q[0].Priority() {
		n++
	}
	return n
}

// Spill removes the last k and returns them.
func (q *Queue) Spill(k int) Queue {
	left := len(*q) - k
	spilt := slices.Clone((*q)[left:])
	*q = (*q)[:left]
	return spilt
}
