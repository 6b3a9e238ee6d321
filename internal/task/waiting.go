package task

import "github.com/filch-go/filch/internal/queue"

// Waiting is a queue of held tasks, in an order of its own. It needs a lock of those that use it.
// A task that is held no more stays until its turn.
type Waiting struct {
	Order  Order
	levels queue.Levels[*Held]
	line   queue.Deque[*Held]
}

// Push adds h.
func (q *Waiting) Push(priority int, h *Held) {
	if q.Order == ByPriority {
		q.levels.Push(priority, h)
	} else {
		q.line.PushBack(h)
	}
}

// Pop takes out the one that is next in the order.
func (q *Waiting) Pop() (h *Held, ok bool) {
	switch {
	case q.Order == LIFO:
		return q.line.PopBack()
	case q.Order == FIFO:
		return q.line.PopFront()
	case q.levels.Len() == 0:
		return nil, false
	}
	_, h = q.levels.Pop()
	return h, true
}

// Keep takes out those for which keep returns false. The others stay in their order.
func (q *Waiting) Keep(keep func(h *Held) bool) {
	for range q.line.Len() {
		if h, _ := q.line.PopFront(); keep(h) {
			q.line.PushBack(h)
		}
	}
	type level struct {
		priority int
		h        *Held
	}
	var kept []level
	for range q.levels.Len() {
		if priority, h := q.levels.Pop(); keep(h) {
			kept = append(kept, level{priority, h})
		}
	}
	for _, l := range kept {
		q.levels.Push(l.priority, l.h)
	}
}

// Len returns how many there are.
func (q *Waiting) Len() int { return q.levels.Len() + q.line.Len() }
