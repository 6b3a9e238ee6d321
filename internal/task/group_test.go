package task

import (
	"context"
	"testing"
)

// What a group drops is dropped once.
func TestAGroupDropsOnce(t *testing.T) {
	p := newPool(1, LIFO)
	p.Pause()
	parent, cancel := context.WithCancel(context.Background())
	g := &Group{Slots: NewRoom(5, nil)}
	g.Begin(parent, p)
	for range 3 {
		g.Submit(parent, func(context.Context) error { t.Error("it runs"); return nil }, &Options{}, false)
	}
	cancel()
	for range 3 {
		g.dropQueued()
	}
	if g.tally.Left() != 0 || g.tally.Queue() || g.Slots.Taken() != 0 {
		t.Errorf("%v, %d slots are taken", &g.tally, g.Slots.Taken())
	}
	if err := g.Wait(); err != context.Canceled {
		t.Error("g.Wait():", err)
	}
	closeNow(p)
}
