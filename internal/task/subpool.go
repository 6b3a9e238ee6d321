package task

import "sync"

// A Subpool limits how many of its tasks run at once. What a task has of it is its Slot; see README.md for the
// rule that waits keep, and for the states of a Slot.
type Subpool struct {
	Pool     *Pool
	Name     string
	Limit    int
	Room     *Room    // in the line, and for tasks that are about to ask for a slot; nil without a limit
	Overflow Overflow // if there is none

	mu      sync.Mutex
	running int     // tasks that have a slot; may exceed Limit, by tasks that have waited
	waiting Waiting // tasks that need one
}

// SetOrder sets the order in which tasks get slots.
func (s *Subpool) SetOrder(o Order) { s.waiting.Order = o }

// Order returns the order in which tasks get slots.
func (s *Subpool) Order() Order { return s.waiting.Order }

// A Slot is what a task has of its Subpool. All but Of is under the lock of that.
type Slot struct {
	Of *Subpool // nil if the task is of none; written before it is held

	state slotState
	room  bool  // the task has room in the line
	waits int   // under way in the name of the task
	on    *Held // that the task waits for, or runs on top of itself, and that gives its slot to this task at its end; or nil
	by    *Held // the task whose on this was last; or nil
}

type slotState uint8

const (
	slotNone slotState = iota // not asked for yet
	slotInLine
	slotTaken
	slotLent // the task waits
	slotOver // the task has ended, or was dropped
)

// HasRoom notes that h has room, which it gives back when it has a slot or is dropped. Nobody else knows h yet.
func (h *Held) HasRoom() { h.Slot.room = true }

// Enter asks for a slot for h, and reports whether there is one. If not, h stands in line, unless it was
// dropped: even if there is no room, since nobody could wait for that in its name.
func (s *Subpool) Enter(h *Held, priority int) bool {
	s.mu.Lock()
	if h.Slot.state != slotNone {
		s.mu.Unlock()
		return false
	}
	if s.running < s.Limit {
		s.take(h)
		s.unlock(h)
		return true
	}
	if s.Room != nil && !h.Slot.room && h.Caller == nil {
		s.Room.Enter()
		h.Slot.room = true
	}
	h.Slot.state = slotInLine
	s.waiting.Push(priority, h)
	s.mu.Unlock()
	return false
}

// unlock releases the lock, when h has a slot or has ended, and gives back the room that h has had. h may be nil.
func (s *Subpool) unlock(h *Held) {
	leaves := h != nil && h.Slot.room
	if leaves {
		h.Slot.room = false
	}
	s.mu.Unlock()
	if leaves {
		s.Room.Leave()
	}
}

// take counts h, which has a slot from here on. The caller holds the lock.
func (s *Subpool) take(h *Held) {
	h.Slot.state = slotTaken
	s.running++
}

// Forget makes sure that h, which was dropped, gets no slot. If it has one, Leave must follow.
func (s *Subpool) Forget(h *Held) {
	s.mu.Lock()
	switch h.Slot.state {
	case slotInLine:
		s.waiting.Remove(h)
		h.Slot.state = slotOver
	case slotNone:
		h.Slot.state = slotOver
	}
	s.unlock(h)
}

// Leave ends what h has, which has ended, at the worker near. The slot goes to the task that waits for h, if
// it waits for nothing else: it goes on now, and need not exceed the limit.
func (s *Subpool) Leave(h *Held, near *Worker) {
	s.mu.Lock()
	was := h.Slot.state
	if was == slotInLine {
		s.waiting.Remove(h)
	}
	w := h.Slot.by
	h.Slot.state, h.Slot.by = slotOver, nil
	free := was == slotTaken
	if free && w != nil && w.Slot.on == h && w.Slot.state == slotLent && w.Slot.waits == 1 {
		w.Slot.state = slotTaken
		free = false
	}
	if free {
		s.running--
	}
	s.unlock(h)
	if free {
		s.freed(near)
	}
}

// Lend gives up the slot of h, if it has one, since a wait begins in its name: for on, unless that is nil. If on
// stands in line, and no more tasks run than may, it gets that very slot, and is queued. Otherwise the first in line
// gets it. Reclaim ends the wait. near is the worker of the waiting task.
func (s *Subpool) Lend(h, on *Held, near *Worker) Lent {
	s.mu.Lock()
	l, ok := s.lend(h, on)
	switch {
	case !ok:
		s.mu.Unlock()
	case s.pass(l):
		s.unlock(on)
		on.Body.Admit(near) // or it was dropped
	default:
		s.running--
		s.mu.Unlock()
		s.freed(near)
	}
	return l
}

// Pass is Lend if on stands in line and gets the slot, which the caller runs on top of h. It does nothing otherwise, and
// reports false.
func (s *Subpool) Pass(h, on *Held) (Lent, bool) {
	s.mu.Lock()
	if h.Slot.state != slotTaken || !s.passes(on) {
		s.mu.Unlock()
		return Lent{}, false
	}
	l, _ := s.lend(h, on)
	s.pass(l)
	s.unlock(on)
	return l, true
}

// lend counts a wait, and reports whether it is to give up the slot: whether it is the first. The caller holds the lock.
func (s *Subpool) lend(h, on *Held) (l Lent, first bool) {
	switch h.Slot.state {
	case slotTaken:
		h.Slot.state = slotLent
		first = true
	case slotLent:
	default: // it has ended, and a goroutine that it has left waits
		return Lent{}, false
	}
	h.Slot.waits++
	l.h = h
	if first && on != nil && on.Slot.Of == s {
		h.Slot.on, on.Slot.by = on, h
		l.on = on
	}
	return l, first
}

// passes reports whether on may have the slot that another lends. The caller holds the lock.
func (s *Subpool) passes(on *Held) bool {
	return on != nil && on.Slot.Of == s && on.Slot.state == slotInLine && s.running <= s.Limit
}

// pass gives the slot that was lent to the task that the other waits for, if it may have it. The caller holds the lock.
func (s *Subpool) pass(l Lent) bool {
	if !s.passes(l.on) {
		return false
	}
	s.waiting.Remove(l.on)
	l.on.Slot.state = slotTaken
	return true
}

// Lent is a wait that Lend or Pass has begun. The zero Lent is that of a task that had no slot.
type Lent struct{ h, on *Held }

// Reclaim ends the wait. If it was the last in the name of its task, that has a slot again: the one of the task that
// it has waited for, or one more, even if none is free.
func (l Lent) Reclaim() {
	if l.h == nil {
		return
	}
	slot := &l.h.Slot
	s := slot.Of
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.on != nil && slot.on == l.on {
		slot.on = nil
	}
	if slot.waits--; slot.waits == 0 && slot.state == slotLent {
		s.take(l.h)
	}
}

// freed gives free slots to those in line, at the worker near. At the end of the pool it does not: those in line are
// dropped where they are, and not by one another, one deeper each.
func (s *Subpool) freed(near *Worker) {
	for s.Pool.Phase.Load() != Cancelled {
		next := s.next()
		if next == nil {
			return
		}
		next.Body.Admit(near) // or it was dropped, and what has done that calls Leave
	}
}

// next gives a slot to the first in line, if there is one for it, and returns that task.
func (s *Subpool) next() *Held {
	s.mu.Lock()
	if s.running >= s.Limit {
		s.mu.Unlock()
		return nil
	}
	h, ok := s.waiting.Pop()
	if ok {
		s.take(h)
	}
	s.unlock(h)
	return h
}

// Free returns how many slots are free.
func (s *Subpool) Free() int { return max(0, s.Limit-s.Running()) }

// Running returns how many tasks have a slot.
func (s *Subpool) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// Waiting returns how many tasks stand in line.
func (s *Subpool) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting.Len()
}
