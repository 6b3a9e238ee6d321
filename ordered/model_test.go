package ordered

import (
	"cmp"
	"slices"
)

// model is what a queue should be: entries, the best and oldest first. It has nothing in
// common with package queue.
type model []entry

type entry struct{ priority, id int }

func (m *model) push(e entry) {
	i, _ := slices.BinarySearchFunc(*m, e, func(a, b entry) int {
		if c := cmp.Compare(a.priority, b.priority); c != 0 {
			return c
		}
		return -1 // those of one priority go before
	})
	*m = slices.Insert(*m, i, e)
}

func (m *model) pop() entry {
	e := (*m)[0]
	*m = (*m)[1:]
	return e
}

func (m *model) bests() (n int) {
	for n < len(*m) && (*m)[n].priority == (*m)[0].priority {
		n++
	}
	return n
}

// spill moves the worst k to another.
func (m *model) spill(k int, to *model) {
	for _, e := range (*m)[len(*m)-k:] {
		to.push(e)
	}
	*m = (*m)[:len(*m)-k]
}
