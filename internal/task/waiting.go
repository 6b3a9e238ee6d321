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

// Len returns how many there are.
func (q *Waiting) Len() int { return q.levels.Len() + q.line.Len() }
