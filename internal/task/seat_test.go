package task

import "testing"

// A worker is not forgotten while a goroutine runs a task in the seat of an earlier round: that is counted at the worker.
func TestAWorkerStaysForThoseItHasLeftBehind(t *testing.T) {
	p := newPool(1, LIFO)
	w := of(p.Engine.Hire())
	s := Seat{Worker: w, Round: w.Engine.Hold.OpenRound()}
	if !s.SitDown() {
		t.Fatal("nobody may sit down")
	}
	w.endRound()
	if p.Source().Retire(&w.Engine) {
		t.Error("it is forgotten, and a task runs in its seat")
	}
	if s.StandUp(); !p.Source().Retire(&w.Engine) {
		t.Error("it is kept, and nobody needs it")
	}
}
