package task

import "github.com/filch-go/filch/internal/queue"

// Waiting is a queue of held tasks with its own order. Its users must lock it.
//
// Removing a task that is not the next one would need a link in each kind of queue. Instead, a removed task stays as a dead
// entry until its turn, or until half of the entries are dead.
type Waiting struct {
	Order  Order
	levels queue.Levels[*Held]
	line   queue.Deque[*Held]
	gone   int // entries of removed tasks
}

// Push adds h, at most once.
func (q *Waiting) Push(priority int, h *Held) {
	h.inLine = true
	q.push(priority, h)
}

func (q *Waiting) push(priority int, h *Held) {
	if q.Order == ByPriority {
		q.levels.Push(priority, h)
	} else {
		q.line.PushBack(h)
	}
}

// Pop takes out the next task.
func (q *Waiting) Pop() (h *Held, ok bool) {
	for {
		if h, ok = q.pop(); !ok {
			return nil, false
		}
		if h.inLine {
			h.inLine = false
			return h, true
		}
		q.gone--
	}
}

func (q *Waiting) pop() (h *Held, ok bool) {
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

// Remove takes out h, which must be there.
func (q *Waiting) Remove(h *Held) {
	h.inLine = false
	if q.gone++; q.gone == q.entries() || q.gone >= 64 && 2*q.gone >= q.entries() {
		q.sweep()
	}
}

// sweep deletes dead entries. The others keep their order.
func (q *Waiting) sweep() {
	q.gone = 0
	for range q.line.Len() {
		if h, _ := q.line.PopFront(); h.inLine {
			q.line.PushBack(h)
		}
	}
	type level struct {
		priority int
		h        *Held
	}
	var kept []level
	for range q.levels.Len() {
		if priority, h := q.levels.Pop(); h.inLine {
			kept = append(kept, level{priority, h})
		}
	}
	for _, l := range kept {
		q.levels.Push(l.priority, l.h)
	}
}

// Len returns how many tasks there are.
func (q *Waiting) Len() int { return q.entries() - q.gone }

func (q *Waiting) entries() int { return q.levels.Len() + q.line.Len() }
