package filch

import "context"

// moreRoom lets those try that wait for room, since there may be more.
func (p *Pool) moreRoom() {
	if p.room != nil {
		p.room.next()
	}
}

// takeSlot takes one of the slots of [WithTaskLimit] for t. It reports whether it has
// run t instead.
func (p *Pool) takeSlot(ctx context.Context, t task, try bool) (ran bool, err error) {
	switch {
	case p.slots.take():
		return false, nil
	case try || p.slotOverflow == Reject:
		err = ErrQueueFull
	case p.slotOverflow == CallerRuns || p.runsTaskOf(ctx):
		if p.runBody(ctx, t, poolSlot, func() {}) {
			return true, nil
		}
		err = ErrClosed
	default:
		err = p.slots.wait(ctx, p.life)
	}
	if err != nil {
		err = p.refuse(t.body, err)
	}
	return false, err
}

// runNow runs t, which one of p's tasks submits, on the caller's goroutine. It calls
// begins just before.
func (p *Pool) runNow(ctx context.Context, t task, without slots, begins func()) error {
	if err := p.admits(ctx); err != nil {
		return p.refuse(t.body, err)
	}
	taken := p.slots != nil && p.slots.take()
	if p.slots != nil && !taken {
		without |= poolSlot
	}
	defer func() {
		if taken { // and t has not begun
			p.slots.leave()
		}
	}()
	if p.runBody(ctx, t, without, func() { taken = false; begins() }) {
		return nil
	}
	return p.refuse(t.body, ErrClosed)
}

// runsTaskOf reports whether ctx comes from a task of p that has not ended.
func (p *Pool) runsTaskOf(ctx context.Context) bool {
	c := taskOf(ctx)
	switch {
	case c == nil || c.pool != p:
		return false
	case !c.isShared():
		return c.state.load().isRunning()
	}
	return c.worker == nil || c.seated()
}

// takeRoom takes room in the queue for t, which has a slot. It reports whether it has
// run t instead.
func (p *Pool) takeRoom(ctx context.Context, t task, try bool) (ran bool, err error) {
	if p.room.take() {
		return false, nil
	}
	keeps := false // t its slot
	defer func() { // deferred, since a method of ctx may panic
		if !keeps {
			p.leaveSlot(seat{})
		}
	}()
	switch {
	case try || p.overflow == Reject:
		err = ErrQueueFull
	case p.overflow == CallerRuns:
		if p.runBody(ctx, t, 0, func() { keeps = true }) {
			return true, nil
		}
		err = ErrClosed
	default:
		err = p.room.wait(ctx, p.life)
	}
	if err != nil {
		return false, p.refuse(t.body, err)
	}
	keeps = true
	return false, nil
}
