package place

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/filch-go/filch/internal/race"
)

// counts is a Word without bits.
type counts struct {
	active, searching, blocked int
	closed, ended              bool
}

func (c counts) String() string {
	return fmt.Sprintf("{active: %d, searching: %d, blocked: %d, closed: %t, ended: %t}", c.active, c.searching, c.blocked, c.closed, c.ended)
}

// step does something that is allowed, to both, and reports whether they agree on the answer.
func (c *counts) step(w *Word, rng *rand.Rand) bool {
	switch rng.IntN(13) {
	case 0:
		w.Enter()
		c.active++
	case 1:
		limit := rng.IntN(10)
		free := c.active < limit && !c.ended
		if free {
			c.active++
		}
		return w.TryEnter(limit) == free
	case 2:
		c.active++
		c.searching++
		return w.TryWake(w.Load()) && !w.TryWake(0)
	case 3:
		if c.active > c.searching {
			c.searching++
			return w.TrySearch(w.Load())
		}
	case 4:
		if c.searching > 0 {
			w.Found()
			c.searching--
		}
	case 5:
		if c.active > c.searching {
			w.Leave()
			c.active--
		}
	case 6:
		if c.searching > 0 {
			w.LeaveSearching()
			c.active--
			c.searching--
		}
	case 7:
		n := rng.IntN(5)
		w.EnterBlocked(n)
		c.blocked += n
	case 8:
		n := rng.IntN(c.blocked + 1)
		w.LeaveBlocked(n)
		c.blocked -= n
	case 9:
		if c.active > c.searching {
			w.Block()
			c.active--
			c.blocked++
		}
	case 10:
		if c.blocked > 0 {
			w.Unblock()
			c.active++
			c.blocked--
		}
	case 11:
		w.Close()
		c.closed = true
	case 12:
		ends := c.closed && !c.ended && c.active+c.blocked == 0
		if ends {
			c.ended = true
		}
		return w.TryEnd() == ends
	}
	return true
}

// Every step does to the word what it does to plain counts.
func TestWordAgainstCounts(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		var w Word
		var c counts
		for range 100 {
			ok := c.step(&w, rng)
			s := w.Load()
			if !ok || s.String() != c.String() {
				t.Fatalf("seed %d: %v, not %v; the answers agree: %t", seed, s, c, ok)
			}
			if s.AtRest() != (c.active+c.blocked == 0) || s.Closed() != c.closed || s.Ended() != c.ended {
				t.Fatalf("seed %d: at rest %t, closed %t, ended %t: %v", seed, s.AtRest(), s.Closed(), s.Ended(), c)
			}
		}
	}
}

// The greatest counts that are let in carry into no other field, even if as many more come
// as may come at once before they are refused.
func TestTheGreatestCountsCarryIntoNoOtherField(t *testing.T) {
	const more = 1 << 22
	for _, s := range []State{
		MaxCrowd * oneActive,
		MaxCrowd * oneBlocked,
		MaxCrowd/2*oneActive + (MaxCrowd-MaxCrowd/2)*oneBlocked,
		MaxCrowd*oneActive + MaxSearching*oneSearching,
	} {
		if s.Crowded() {
			t.Errorf("%v is refused", s)
		}
		for _, s := range []State{s + oneActive, s + oneBlocked} {
			if !s.Crowded() {
				t.Errorf("%v is not refused", s)
			}
		}
		for _, one := range []State{oneActive, oneBlocked} {
			full := s + one*more
			if full.Closed() || full.Ended() || full.Searching() != s.Searching() || full.Active()+full.Blocked() != MaxCrowd+more {
				t.Errorf("%v, with %d more", full, more)
			}
		}
	}
	if s := State(closed | ended); s.Active() != 0 || s.Searching() != 0 || s.Blocked() != 0 || !s.AtRest() {
		t.Errorf("State(closed | ended): %v", s)
	}
}

// Under the race detector, what was not taken cannot be given up.
func TestOneReleaseTooMany(t *testing.T) {
	if !race.Enabled {
		t.Skip("checked under the race detector only")
	}
	for name, f := range map[string]func(w *Word){
		"Leave":          func(w *Word) { w.Leave() },
		"LeaveSearching": func(w *Word) { w.Enter(); w.LeaveSearching() },
		"Found":          func(w *Word) { w.Enter(); w.Found() },
		"Leave of a searching one": func(w *Word) {
			w.TryWake(w.Load())
			w.Leave()
		},
		"LeaveBlocked": func(w *Word) { w.EnterBlocked(1); w.LeaveBlocked(2) },
		"Block":        func(w *Word) { w.EnterBlocked(1); w.Block() },
		"Unblock":      func(w *Word) { w.Enter(); w.Unblock() },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "internal error: places went from {active: ") {
					t.Errorf("%s: panic %q", name, s)
				}
			}()
			f(&Word{})
			t.Errorf("%s was not noticed", name)
		}()
	}
}

// Of several goroutines that try, only as many get a place as there are.
func TestTryEnterFromSeveral(t *testing.T) {
	var w Word
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				if w.TryEnter(3) {
					if n := w.Load().Active(); n > 3 {
						t.Errorf("%d places", n)
					}
					w.Leave()
				}
			}
		})
	}
	all.Wait()
	if s := w.Load(); s != 0 {
		t.Errorf("%v at the end", s)
	}
}

// A pool that has ended has no places, so that nothing counts as active in it later.
func TestNoPlaceAfterTheEnd(t *testing.T) {
	var w Word
	w.Close()
	if !w.TryEnter(1) {
		t.Error("a closed pool that has not ended has no place")
	}
	w.Leave()
	if !w.TryEnd() || w.TryEnter(1) || w.Load().Active() != 0 {
		t.Errorf("a place was taken after the end: %v", w.Load())
	}
}

// The fields are where they are said to be, and leave room for a crowd.
func TestFieldsAreWhereTheyAreSaidToBe(t *testing.T) {
	for name, c := range map[string][2]uint64{
		"active":     {oneActive, 1},
		"all active": {activeBits, 1<<25 - 1},
		"searching":  {oneSearching, 1 << 25},
		"all search": {MaxSearching, 1<<12 - 1},
		"blocked":    {oneBlocked, 1 << 37},
		"all block":  {blockedBits / oneBlocked, 1<<25 - 1},
		"ended":      {ended, 1 << 62},
		"closed":     {closed, 1 << 63},
		"a crowd":    {MaxCrowd, 1<<25 - 1 - 1<<22},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %#x, not %#x", name, c[0], c[1])
		}
	}
}

// Each count is looked at on its own: a step needs what it takes, no more, and leaves no more searching than active.
func TestStepsThatAreNotAllowed(t *testing.T) {
	state := func(active, searching, blocked int) State {
		return State(active)*oneActive + State(searching)*oneSearching + State(blocked)*oneBlocked
	}
	for _, c := range []struct {
		before State
		step   uint64
		have   State
		told   bool
	}{
		{state(2, 1, 1), 0, state(2, 1, 1), false},
		{state(1, 1, 1), 0, state(2, 0, 0), true},
		{state(2, 0, 2), 0, state(0, 1, 0), true},
		{state(2, 1, 0), 0, state(0, 2, 0), true},
		{state(2, 1, 1), 0, state(0, 0, 2), true},
		{state(2, 1, 0), minus(oneActive), state(1, 0, 0), false},
		{state(1, 1, 0), minus(oneActive), state(1, 0, 0), true},
		{state(2, 1, 0), oneSearching, 0, false},
		{state(2, 2, 0), oneSearching, 0, true},
	} {
		after := c.before + State(c.step)
		told := func() (told bool) {
			defer func() { told = recover() != nil }()
			after.check(c.step, c.have)
			return false
		}()
		if told != c.told {
			t.Errorf("from %v to %v, with %v needed: it panics: %t; should be %t", c.before, after, c.have, told, c.told)
		}
	}
}
