package policy

import "testing"

// What a worker publishes, owes and is asked for, by what was asked of it.
func TestWhatAWorkerPublishesAndOwesFollowsWhatIsAsked(t *testing.T) {
	const dear = Reserve // the credit is not spent beyond that, but for one
	for _, c := range []struct {
		name               string
		credit             int
		demand             Demand
		owed, public, idle int
		want               Answer
		published          int
		owes               int
		left               Demand
		credits            int
	}{
		{"nothing is asked, no credit", 0, Supply, 0, 0, 0, Answer{0, 0}, 0, 0, NoDemand, 0},
		{"one for the credit", dear, Supply, 0, 0, 0, Answer{0, 1}, 1, 0, NoDemand, dear - 1},
		{"as many as the credit is worth", dear + 9, Supply, 0, 0, 0, Answer{0, 9}, 9, 0, NoDemand, dear},
		{"fewer forks than credit", dear + 9, Supply, 0, 0, 0, Answer{0, 9}, 4, 0, Supply, dear + 5},
		{"hunger without credit", 0, Hunger, 0, 0, 3, Answer{3, 3}, 3, 0, NoDemand, 0},
		{"hunger that public forks meet", 0, Hunger, 0, 5, 3, Answer{1, 1}, 1, 0, NoDemand, 0},
		{"hunger, and nothing to publish", 7, Hunger, 0, 0, 2, Answer{2, 2}, 0, 2, Hunger, 7},
		{"what is owed comes first", 5, Supply, 4, 0, 0, Answer{4, 4}, 3, 1, Supply, 5},
		{"owed, and hunger", 5, Hunger, 1, 0, 4, Answer{4, 4}, 4, 0, NoDemand, 5},
	} {
		credit := Credit{left: c.credit}
		got := credit.Answer(c.demand, c.owed, c.public, c.idle)
		if got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
		owes, left := credit.Answered(c.demand, got, c.published)
		if owes != c.owes || left != c.left || credit.left != c.credits {
			t.Errorf("%s: owes %d, not %d; asked for %d, not %d; credit %d, not %d", c.name, owes, c.owes, left, c.left, credit.left, c.credits)
		}
	}
}

// Forks are coarse if a steal would pay for publishing one.
func TestForksAreCoarseFromThePriceOn(t *testing.T) {
	if Coarse(Price-1) || !Coarse(Price) {
		t.Error("not from the price on")
	}
}

// A spin ends with its time, or, if the clock stands still, with its turns.
func TestASpinEndsWithItsTimeOrItsTurns(t *testing.T) {
	turns := func(tick int64) (n, looks int) {
		var s Spin
		for now := int64(1); ; now += tick {
			n++
			if s.Turn() {
				continue
			}
			looks++
			if !s.Timed() {
				s.Begin(now, SpinTime)
			}
			if !s.Goes(now) {
				return n, looks
			}
		}
	}
	if n, looks := turns(0); n != maxTurns || looks != maxTurns/yieldEvery {
		t.Errorf("with a clock that stands still: %d turns, %d looks at it", n, looks)
	}
	// The time begins with the first look at the clock, after 16 turns.
	if n, looks := turns(100); n != yieldEvery*(looks) || n < SpinTime/100 || n > SpinTime/100+2*yieldEvery {
		t.Errorf("with turns of 100 ns: %d, %d looks at the clock", n, looks)
	}
}

// After 60 tasks of its own a worker looks at the global queue.
func TestAfterSixtyOwnTasksTheGlobalQueueIsDue(t *testing.T) {
	var f Fairness
	for range 3 {
		for i := range Every {
			if f.Due() {
				t.Fatalf("due after %d", i)
			}
			f.Own()
		}
		if !f.Due() {
			t.Fatal("not due")
		}
		f.Own() // as a thief counts what it has stolen
		if !f.Due() {
			t.Fatal("not due any more")
		}
		f.Outside()
	}
}

// One in every so many moves along with the one that is taken.
func TestOneInSoManyMovesAlong(t *testing.T) {
	for _, c := range []struct{ n, every, want int }{
		{0, 2, 0}, {1, 2, 0}, {2, 2, 0}, {3, 2, 1}, {10, 2, 4}, {10, 1, 9}, {10, 4, 2}, {10, 0, 0}, {0, 0, 0},
	} {
		if got := Share(c.n, c.every); got != c.want {
			t.Errorf("Share(c.n, c.every): %+v: %d", c, got)
		}
	}
}

// When a worker that is asked gives its place away.
func TestWhenAWorkerGivesItsPlaceAway(t *testing.T) {
	const none = 1<<63 - 1
	for _, c := range []struct {
		name string
		way  Way
		want GivesWay
	}{
		{"something more urgent", Way{ByPriority: true, Best: 1, Level: 2}, IfMany},
		{"something more urgent, and somebody is idle", Way{ByPriority: true, Best: 1, Level: 2, Idle: 1}, IfMany},
		{"something as urgent", Way{ByPriority: true, Best: 2, Level: 2}, IfStalled},
		{"something less urgent", Way{ByPriority: true, Best: 3, Level: 2}, Never},
		{"nothing queued", Way{ByPriority: true, Best: none, Level: 2}, Never},
		{"something in another queue", Way{ByPriority: true, Best: none, Level: 2, Elsewhere: true}, IfStalled},
		{"in another order", Way{Best: none}, IfStalled},
		{"in another order, and somebody is idle", Way{Best: none, Idle: 1}, Never},
	} {
		if got := c.way.GivesWay(); got != c.want {
			t.Errorf("%s: %d, not %d", c.name, got, c.want)
		}
	}
}
