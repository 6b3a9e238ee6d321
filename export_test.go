package filch

import "github.com/filch-go/filch/internal/affinity"

// InQueue returns how many tasks have room in the queue.
func (p *Pool) InQueue() int64 { return p.tasks.Room.Taken() }

// Seats returns how many goroutines of the pool run on each of its processors, and how many are pinned in all.
func (p *Pool) Seats() (load []int, pinned int) {
	if p.pins == nil || p.pins.seats == nil {
		return nil, 0
	}
	return p.pins.seats.(*affinity.Seats).Load()
}

// IsHeld reports whether a timer of p is pending, which wakes workers for forks.
func (p *Pool) IsHeld() bool { return p.tasks.Engine.IsHeld() }

// TakenSlots returns how many tasks have a slot of WithTaskLimit.
func (p *Pool) TakenSlots() int64 { return p.tasks.Slots.Taken() }

// RoomTaken returns how many tasks have room in the queue of s, which has a limit.
func (s *Subpool) RoomTaken() int64 { return s.tasks.Room.Taken() }
