package task

import "sync"

// A Subpool limits how many of its tasks run at once. Each task's share of it is a Slot; see README.md for the rule that
// waits keep, and for the states of a Slot.
type Subpool struct {
	Pool     *Pool
	Name     string
	Limit    int
	Room     *Room    // in the line, and for tasks about to ask for a slot; nil without a limit
	Overflow Overflow // if there is no room

	mu      sync.Mutex
	running int     // tasks with a slot; tasks that have waited may take it beyond Limit
	waiting Waiting // tasks that need one
}

// SetOrder sets the order in which tasks get slots.
func (s *Subpool) SetOrder(o Order) { s.waiting.Order = o }

// Order returns the order in which tasks get slots.
func (s *Subpool) Order() Order { return s.waiting.Order }

// A Slot is a task's share of its Subpool. All but Of is under that Subpool's lock.
type Slot struct {
	Of *Subpool // nil if the task is in none; written before it is held

	state slotState
	room  bool  // the task has room in the line
	waits int   // in progress in the name of the task
	on    *Held // the task that this one waits for or runs on top of itself, and that gives its slot to this one at its end; or nil
	by    *Held // the last task whose on this was; or nil
}

type slotState uint8

const (
	slotNone slotState = iota // not asked for yet
	slotInLine
	slotTaken
	slotLent // the task waits
	slotOver // the task has ended, or was dropped
)

// HasRoom notes that h has room, which it returns when it gets a slot or is dropped. No one else knows h yet.
func (h *Held) HasRoom() { h.Slot.room = true }

// Enter asks for a slot for h, and reports whether it got one. If not, h enters the line, unless it was dropped, even without
// room, because no one could wait for that on its behalf.
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

// unlock releases the lock, when h has a slot or has ended, and returns h's room. h may be nil.
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

// take counts h, which has a slot from now on. The caller holds the lock.
func (s *Subpool) take(h *Held) {
	h.Slot.state = slotTaken
	s.running++
}

// Forget ensures that h, which was dropped, gets no slot. If it has one, Leave must follow.
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

// Leave ends the share of h, which has ended. The slot goes to the task that waits for h, if it waits for nothing else: it goes
// on now, without exceeding the limit.
func (s *Subpool) Leave(h *Held) {
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
		s.freed()
	}
}

// Lend gives up the slot of h, if it has one, as a wait begins in its name, for on unless that is nil. If on is in line, and
// no more tasks run than may, on gets that very slot and is queued; otherwise the first in line gets it. Reclaim ends the
// wait. near is the worker of the waiting task.
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
		s.freed()
	}
	return l
}

// Pass is Lend if on is in line and gets the slot, for the caller to run on top of h. Otherwise it does nothing and returns
// false.
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

// lend counts a wait. first reports whether it must give up the slot, because it is the first. The caller holds the lock.
func (s *Subpool) lend(h, on *Held) (l Lent, first bool) {
	switch h.Slot.state {
	case slotTaken:
		h.Slot.state = slotLent
		first = true
	case slotLent:
	default: // it has ended, and a goroutine it has left behind waits
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

// passes reports whether on may have the slot that another task lends. The caller holds the lock.
func (s *Subpool) passes(on *Held) bool {
	return on != nil && on.Slot.Of == s && on.Slot.state == slotInLine && s.running <= s.Limit
}

// pass gives the lent slot to the awaited task, if it may have it. The caller holds the lock.
func (s *Subpool) pass(l Lent) bool {
	if !s.passes(l.on) {
		return false
	}
	s.waiting.Remove(l.on)
	l.on.Slot.state = slotTaken
	return true
}

// Lent is a wait begun by Lend or Pass. The zero Lent is for a task without a slot.
type Lent struct{ h, on *Held }

// Reclaim ends the wait. After the last wait in its name, the task has a slot again: that of the task it has waited for, or
// an additional one, even if none is free.
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

// freed gives free slots to tasks in line. They go to the global queue, behind what others have submitted: near the worker that
// has freed the slot, one Subpool after the other would keep a worker for as long as it has tasks. It does nothing at the end of
// the pool: tasks in line are then dropped where they are, not by one another, which would nest.
func (s *Subpool) freed() {
	for s.Pool.Phase.Load() != Cancelled {
		next := s.next()
		if next == nil {
			return
		}
		next.Body.Admit(nil) // or it was dropped, and whoever did that calls Leave
	}
}

// next gives a free slot, if any, to the first in line, and returns that task.
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

// Waiting returns how many tasks are in line.
func (s *Subpool) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting.Len()
}
