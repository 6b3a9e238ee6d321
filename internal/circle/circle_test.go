package circle

import "testing"

type name string

func (n name) String() string { return string(n) }

// A wait that closes a circle says what needs what, by way of what runs on top of what waits; one that has ended closes none.
func TestWaitsThatCloseACircle(t *testing.T) {
	a := &Step{What: name("a")}
	onA := &Step{By: a, What: name("on a")}
	b := &Step{What: name("b")}
	c := &Step{What: name("c")}
	var first, second, third Wait
	for _, w := range []struct {
		wait   *Wait
		by, on *Step
	}{{&first, onA, b}, {&second, b, c}} {
		if text := w.wait.Begin(w.by, w.on); text != "" {
			t.Errorf("%v waits for %v: %q", w.by.What, w.on.What, text)
		}
	}
	const want = "a needs on a needs b needs c needs a"
	if text := third.Begin(c, a); text != want {
		t.Errorf("c waits for a: %q, not %q", text, want)
	}
	second.End()
	if text := third.Begin(c, a); text != "" {
		t.Errorf("c waits for a when b does not wait for c any more: %q", text)
	}
	third.End()
	first.End()
}
