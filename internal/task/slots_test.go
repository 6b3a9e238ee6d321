package task

import (
	"context"
	"testing"
)

// A task that its group has counted as over does not run.
func TestATaskOfAGroupBeginsOnce(t *testing.T) {
	p := newPool(1, LIFO, taskLimit(2, Reject))
	g := &Group{Slots: NewRoom(2, nil)}
	g.Begin(context.Background(), p)
	p.Slots.Take()
	over := &groupTask{group: g, f: func(context.Context) error { t.Error("it runs"); return nil }, begun: true}
	if over.Start(p, Seat{}, context.Background(), false) {
		t.Error("it has run")
	}
	if n := p.Outcomes.Cancelled.Load(); n != 1 || p.Slots.Taken() != 0 || g.tally.Left() != 0 {
		t.Errorf("%d are cancelled, %d have a slot, %d are left", n, p.Slots.Taken(), g.tally.Left())
	}
}

// A task that runs on the goroutine that submits it has a slot if there is one, and gives it back;
// if the pool has ended, or the submitter's context, it is refused.
func TestSlotsOfTasksThatRunAtOnce(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	for name, c := range map[string]struct {
		before      func(p *Pool)
		ctx         context.Context
		err         error
		during      int64 // slots taken then
		after       int64
		ranRejected [2]int64
	}{
		"a free slot":   {func(*Pool) {}, context.Background(), nil, 1, 0, [2]int64{1, 0}},
		"no free slot":  {func(p *Pool) { p.Slots.Take() }, context.Background(), nil, 1, 1, [2]int64{1, 0}},
		"the end":       {func(*Pool) {}, ended, context.Canceled, 0, 0, [2]int64{0, 1}},
		"closed":        {func(p *Pool) { closeNow(p) }, context.Background(), ErrClosed, 0, 0, [2]int64{0, 1}},
		"closed by now": {func(p *Pool) { closeNow(p); p.Phase.Store(Open) }, context.Background(), ErrClosed, 0, 0, [2]int64{0, 1}},
		"closed, no slot": {func(p *Pool) { p.Slots.Take(); closeNow(p); p.Phase.Store(Open) }, context.Background(), ErrClosed,
			0, 1, [2]int64{0, 1}},
	} {
		p := newPool(1, LIFO, taskLimit(1, CallerRuns))
		c.before(p)
		ran, begun := int64(0), int64(0)
		err := p.runNow(c.ctx, Task{Ctx: context.Background(), Body: Plain(func(context.Context) {
			ran++
			if n := p.Slots.Taken(); n != c.during {
				t.Errorf("%s: %d slots are taken", name, n)
			}
		})}, 0, func() { begun++ })
		if err != c.err || ran != c.ranRejected[0] || begun != ran || p.Outcomes.Rejected.Load() != c.ranRejected[1] || p.Slots.Taken() != c.after {
			t.Errorf("%s: %v; %d ran, %d began, %d were refused, %d slots are taken", name, err, ran, begun, p.Outcomes.Rejected.Load(), p.Slots.Taken())
		}
	}
	p := newPool(1, LIFO) // without a limit
	if err := p.runNow(context.Background(), Task{Ctx: context.Background(), Body: Plain(func(context.Context) {})}, 0, func() {}); err != nil {
		t.Error("p.runNow(context.Background(), …, 0, …):", err)
	}
	p = newPool(1, LIFO, taskLimit(1, CallerRuns))
	p.Slots.Take()
	closeNow(p)
	ran, err := p.takeSlot(context.Background(), Task{Ctx: context.Background(), Body: Plain(func(context.Context) { t.Error("it runs") })}, false)
	if ran || err != ErrClosed || p.Outcomes.Rejected.Load() != 1 || p.Slots.Taken() != 1 {
		t.Errorf("no slot in a closed pool: %t, %v; %d refused", ran, err, p.Outcomes.Rejected.Load())
	}
}

// taskLimit is what the option of that name of package filch does.
func taskLimit(n int, o Overflow) func(p *Pool) {
	return func(p *Pool) { p.Slots, p.SlotOverflow = NewRoom(n, nil), o }
}

// closeNow closes p.
func closeNow(p *Pool) {
	p.Cancel()
	<-p.Close()
}
