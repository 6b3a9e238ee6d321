package history

import "testing"

func TestAStealMayMissOnlyWhatIsStillBeingPushed(t *testing.T) {
	// A steal that finds nothing while a value lies there for all to see.
	var h Deque
	h.Add(0, 1, 2, Event{Op: 'u', Value: 7}, Event{})
	h.Add(1, 3, 4, Event{Op: 's'}, Event{})
	h.Add(0, 5, 6, Event{Op: 'o'}, Event{Value: 7, OK: true})
	if h.Check() == nil {
		t.Error("accepted")
	}
	// The same, but the steal began before the push had ended.
	var late Deque
	late.Add(0, 1, 4, Event{Op: 'u', Value: 7}, Event{})
	late.Add(1, 2, 3, Event{Op: 's'}, Event{})
	late.Add(0, 5, 6, Event{Op: 'o'}, Event{Value: 7, OK: true})
	if err := late.Check(); err != nil {
		t.Error("late.Check():", err)
	}
	if h.Key() == late.Key() {
		t.Error("different histories have the same key")
	}
}
