package sim

import (
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/sim/dag"
)

// mistaken is child stealing with a mistake.
type mistaken struct {
	*stealing
	calls   *int
	mistake func(s mistaken, w int32, cont, child ID) (ID, bool)
	look    func(s mistaken, w, v int32) ID
}

func (s mistaken) enabled(w int32, cont, child ID) ID {
	if *s.calls++; s.mistake != nil {
		if id, made := s.mistake(s, w, cont, child); made {
			return id
		}
	}
	return s.stealing.enabled(w, cont, child)
}

func (s mistaken) seek(w int32) (ID, int64) {
	if s.look == nil {
		return s.stealing.seek(w)
	}
	v := s.other(w)
	return s.attempt(w, v, s.look(s, w, v)), 1
}

// Every run is checked. So a scheduler that makes a mistake is caught, whatever the mistake.
func TestMistakesAreCaught(t *testing.T) {
	late := func(s mistaken) bool { return *s.calls == 500 }
	for name, c := range map[string]struct {
		mistaken
		want string
	}{
		"none": {},
		"a thread is lost": {mistaken{mistake: func(s mistaken, w int32, cont, child ID) (ID, bool) {
			return cont, child != None && cont != None && *s.calls > 500
		}}, "is lost"},
		"a thread is lost that another waits for": {mistaken{mistake: func(s mistaken, w int32, cont, child ID) (ID, bool) {
			return None, s.over && cont != None && *s.calls > 500
		}}, "is lost"},
		"a thread goes on before its children have ended": {mistaken{mistake: func(s mistaken, w int32, cont, child ID) (ID, bool) {
			return s.from, !s.over && cont == None && child != None && *s.calls > 500
		}}, "waiting"},
		"a thread is run twice by its worker": {mistaken{mistake: func(s mistaken, w int32, cont, child ID) (ID, bool) {
			if child != None && cont != None {
				s.push(w, child)
			}
			return None, false
		}}, "begins thread"},
		"a thread that has ended goes on": {mistaken{mistake: func(s mistaken, w int32, cont, child ID) (ID, bool) {
			return s.from, s.over && cont == None && *s.calls > 500
		}}, "gone"},
		"a steal leaves a copy": {mistaken{look: func(s mistaken, w, v int32) ID {
			d := s.deques[v]
			return d.steal()
		}}, "begins thread"},
		"a worker with work looks for more": {mistaken{mistake: func(s mistaken, w int32, cont, child ID) (ID, bool) {
			s.busy++ // it is counted while it looks
			s.attempt(w, 0, None)
			s.busy--
			return None, false
		}}, "while all are busy"},
		"a node takes less time than it should": {mistaken{mistake: func(s mistaken, w int32, cont, child ID) (ID, bool) {
			if late(s) {
				s.res.busy--
			}
			return None, false
		}}, "busy for"},
		"idle time is not counted": {mistaken{mistake: func(s mistaken, w int32, cont, child ID) (ID, bool) {
			if late(s) {
				s.res.Idle -= 3
			}
			return None, false
		}}, "are not"},
		"another program is run": {mistaken{mistake: func(s mistaken, w int32, cont, child ID) (ID, bool) {
			if late(s) && child != None {
				s.threads[child].Path++
			} else if late(s) {
				*s.calls--
			}
			return None, false
		}}, "not of the program"},
	} {
		for _, workers := range []int{2, 3, 16} {
			config := Config{Program: dag.Fib(15), Scheduler: "child", Workers: workers, Seed: 1}
			config.instead = func(m *machine) scheduler {
				s := c.mistaken
				s.stealing, s.calls = &stealing{raids: newRaids(m), parentFirst: true}, new(int)
				return s
			}
			_, err := Run(config)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, with %d workers: %v", name, workers, err)
			}
		}
	}
}

// Child stealing that is told to be continuation stealing breaks the bound of its space.
func TestTooManyLiveThreadsAreCaught(t *testing.T) {
	config := Config{Program: dag.Loop(100), Scheduler: "continuation", Workers: 2, Seed: 1}
	config.instead = func(m *machine) scheduler {
		return childCheckedAsContinuation{&stealing{raids: newRaids(m), parentFirst: true}}
	}
	if _, err := Run(config); err == nil || !strings.Contains(err.Error(), "threads were alive") {
		t.Errorf("it is not caught: %v", err)
	}
}

type childCheckedAsContinuation struct{ *stealing }

func (s childCheckedAsContinuation) bounds() error { return (&stealing{raids: s.raids}).bounds() }

// Continuation stealing in which no steal is counted breaks the bound of its misses.
func TestTooManyMissesAreCaught(t *testing.T) {
	config := Config{Program: dag.Iterative{Rounds: 20, Blocks: 64}, Scheduler: "continuation", Workers: 4, Seed: 1, Cache: 64}
	if _, err := Run(config); err != nil {
		t.Fatal("Run(config):", err)
	}
	config.instead = func(m *machine) scheduler { return &thievesInSecret{stealing: &stealing{raids: newRaids(m)}} }
	if _, err := Run(config); err == nil || !strings.Contains(err.Error(), "the caches missed") {
		t.Errorf("it is not caught: %v", err)
	}
}

// thievesInSecret steal, and count no steal.
type thievesInSecret struct{ *stealing }

func (s *thievesInSecret) seek(w int32) (ID, int64) { return s.take(w, s.other(w)), 1 }
