package filch

import (
	"strings"
	"testing"
)

// Each transition is refused in the states that it is not for.
func TestHoldTransitions(t *testing.T) {
	var h hold
	h.init()
	if !h.load().hasPlace() || h.retakePlace() {
		t.Fatalf("a new worker has its place: %v", h.load())
	}
	round := h.openRound()
	if !h.enterScope(round) || h.enterScope(round) {
		t.Errorf("one at a time uses a worker as its Scope: %v", h.load())
	}
	if h.leaveScope() || !h.enterScope(round) {
		t.Errorf("a Scope that was left can be entered again: %v", h.load())
	}
	if lent, ok := h.lendPlace(round); !lent || !ok {
		t.Errorf("a task lends the place: %v", h.load())
	}
	if lent, ok := h.lendPlace(round); lent || !ok {
		t.Errorf("the place was lent already: %v", h.load())
	}
	if h.yieldPlace() || !h.reclaimPlace(round) || h.reclaimPlace(round) {
		t.Errorf("a place is given and taken once: %v", h.load())
	}
	if !h.sitDown(round) || h.load().seated() != 1 {
		t.Errorf("a task runs in the seat: %v", h.load())
	}
	before := h.load()
	if !h.standUp(round) || !h.sitDown(round) {
		t.Errorf("a task ends in the seat, and another begins: %v", h.load())
	}
	left, ok := h.endRound(before)
	if !ok || !left || h.load().seated() != 0 || h.load().in(round) || !h.load().hasPlace() {
		t.Errorf("a new round begins with the place, and with nobody in the seat: %v", h.load())
	}
	if h.standUp(round) || h.sitDown(round) || h.enterScope(round) || h.reclaimPlace(round) {
		t.Errorf("what belongs to an earlier round changes nothing: %v", h.load())
	}
	if lent, ok := h.lendPlace(round); lent || ok {
		t.Errorf("a task of an earlier round lends nothing: %v", h.load())
	}
	if !h.leaveScope() || h.load().scope() != scopeNone {
		t.Errorf("the last user learns that the worker was left to it: %v", h.load())
	}
	if _, ok := h.endRound(before); ok {
		t.Errorf("a round does not end twice: %v", h.load())
	}
}

// The number of the round comes round without touching its neighbours.
func TestHoldRoundWraps(t *testing.T) {
	var h hold
	h.word.Store(1<<64 - oneRound + holdPlace)
	if s := h.load(); s.round() != 1<<32-1 {
		t.Fatal(s)
	}
	h.openRound()
	if _, ok := h.endRound(h.load()); !ok || h.load() != holdPlace {
		t.Errorf("after the last round: %v", h.load())
	}
	h.word.Store(seatedBits | holdPlace)
	if h.sitDown(0) {
		t.Errorf("the seat is full: %v", h.load())
	}
}

// What must not be is reported at once, with the word.
func TestHoldMisuse(t *testing.T) {
	for name, f := range map[string]func(h *hold){
		"openRound":  func(h *hold) { h.openRound(); h.openRound() },
		"leaveScope": func(h *hold) { h.openRound(); h.leaveScope() },
		"standUp":    func(h *hold) { h.standUp(h.openRound()) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "internal error") || !strings.Contains(s, "round: 0") {
					t.Errorf("panic: %q", s)
				}
			}()
			var h hold
			h.init()
			f(&h)
		})
	}
}
