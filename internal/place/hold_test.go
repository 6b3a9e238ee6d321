package place

import (
	"strings"
	"testing"
)

// Each transition is refused in the states that it is not for.
func TestTransitionsAreRefusedInOtherStates(t *testing.T) {
	var h Hold
	h.Init()
	if !h.Load().HasPlace() || h.RetakePlace() {
		t.Fatalf("a new worker has its place: %v", h.Load())
	}
	round := h.OpenRound()
	if !h.EnterScope(round) || h.EnterScope(round) {
		t.Errorf("one at a time uses a worker as its Scope: %v", h.Load())
	}
	if h.LeaveScope() || !h.EnterScope(round) {
		t.Errorf("a Scope that was left can be entered again: %v", h.Load())
	}
	if lent, ok := h.LendPlace(round); !lent || !ok {
		t.Errorf("a task lends the place: %v", h.Load())
	}
	if lent, ok := h.LendPlace(round); lent || !ok {
		t.Errorf("the place was lent already: %v", h.Load())
	}
	if h.YieldPlace() || !h.ReclaimPlace(round) || h.ReclaimPlace(round) {
		t.Errorf("a place is given and taken once: %v", h.Load())
	}
	if !h.SitDown(round) || h.Load().Seated() != 1 {
		t.Errorf("a task runs in the seat: %v", h.Load())
	}
	before := h.Load()
	if !h.StandUp(round) || !h.SitDown(round) {
		t.Errorf("a task ends in the seat, and another begins: %v", h.Load())
	}
	left, ok := h.EndRound(before)
	if !ok || !left || h.Load().Seated() != 0 || h.Load().In(round) || !h.Load().HasPlace() {
		t.Errorf("a new round begins with the place, and with nobody in the seat: %v", h.Load())
	}
	if h.StandUp(round) || h.SitDown(round) || h.EnterScope(round) || h.ReclaimPlace(round) {
		t.Errorf("what belongs to an earlier round changes nothing: %v", h.Load())
	}
	if lent, ok := h.LendPlace(round); lent || ok {
		t.Errorf("a task of an earlier round lends nothing: %v", h.Load())
	}
	if !h.LeaveScope() || h.Load().scope() != scopeNone {
		t.Errorf("the last user learns that the worker was left to it: %v", h.Load())
	}
	if _, ok := h.EndRound(before); ok {
		t.Errorf("a round does not end twice: %v", h.Load())
	}
}

// The number of the round comes round without touching its neighbours.
func TestHoldRoundWraps(t *testing.T) {
	var h Hold
	h.word.Store(1<<64 - oneRound + holdPlace)
	if s := h.Load(); s.Round() != 1<<32-1 {
		t.Fatal("h.Load():", s)
	}
	h.OpenRound()
	if _, ok := h.EndRound(h.Load()); !ok || h.Load() != holdPlace {
		t.Errorf("after the last round: %v", h.Load())
	}
	h.word.Store(seatedBits | holdPlace)
	if h.SitDown(0) {
		t.Errorf("the seat is full: %v", h.Load())
	}
}

// What must not be is reported at once, with the word.
func TestWhatAHoldMustNotDoIsReportedAtOnce(t *testing.T) {
	for name, f := range map[string]func(h *Hold){
		"openRound":  func(h *Hold) { h.OpenRound(); h.OpenRound() },
		"leaveScope": func(h *Hold) { h.OpenRound(); h.LeaveScope() },
		"standUp":    func(h *Hold) { h.StandUp(h.OpenRound()) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "internal error") || !strings.Contains(s, "round: 0") {
					t.Errorf("panic: %q", s)
				}
			}()
			var h Hold
			h.Init()
			f(&h)
		})
	}
}

// The parts of a worker's word are where they are said to be, and leave one another alone.
func TestPartsOfAHold(t *testing.T) {
	for s, want := range map[Held]string{
		0:         "{place: false, scope: none, seated: 0, round: 0}",
		1:         "{place: true, scope: none, seated: 0, round: 0}",
		1 << 1:    "{place: false, scope: free, seated: 0, round: 0}",
		2 << 1:    "{place: false, scope: used, seated: 0, round: 0}",
		3 << 1:    "{place: false, scope: left, seated: 0, round: 0}",
		1 << 3:    "{place: false, scope: none, seated: 1, round: 0}",
		1 << 31:   "{place: false, scope: none, seated: 268435456, round: 0}",
		1 << 32:   "{place: false, scope: none, seated: 0, round: 1}",
		1 << 63:   "{place: false, scope: none, seated: 0, round: 2147483648}",
		1<<64 - 1: "{place: true, scope: left, seated: 536870911, round: 4294967295}",
	} {
		if got := s.String(); got != want {
			t.Errorf("%#x: %s, not %s", uint64(s), got, want)
		}
	}
	if s := Held(oneRound*3 + oneSeated*5 + scopeUsed + holdPlace); s != 3<<32+5<<3+2<<1+1 || s.Seated() != 5 || s.Round() != 3 {
		t.Errorf("Held(…): %#x", uint64(s))
	}
}
