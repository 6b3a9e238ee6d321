package sim

import "math/bits"

// priorities is how many priorities there are. Lower ones go first.
const priorities = 64 * 64

// tally counts the threads that wait, by priority.
type tally struct {
	count [priorities]int
	words uint64     // a bit for each word of sets that is not 0
	sets  [64]uint64 // a bit for each priority that has threads
}

func (t *tally) add(priority int) {
	t.count[priority]++
	t.sets[priority/64] |= 1 << (priority % 64)
	t.words |= 1 << (priority / 64)
}

func (t *tally) remove(priority int) {
	if t.count[priority]--; t.count[priority] > 0 {
		return
	}
	if t.sets[priority/64] &^= 1 << (priority % 64); t.sets[priority/64] == 0 {
		t.words &^= 1 << (priority / 64)
	}
}

// best returns the best priority that waits, or priorities if none does.
func (t *tally) best() int {
	if t.words == 0 {
		return priorities
	}
	word := bits.TrailingZeros64(t.words)
	return word*64 + bits.TrailingZeros64(t.sets[word])
}
