package engine

import (
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/race"
)

// Each step of a job's word leads from the states that it is for to the one that it is said
// to, tells what it has to, and leaves the other states alone.
func TestTransitionsOfAJob(t *testing.T) {
	type step = func(s *jobState) bool
	await, finish, renew := (*jobState).await, (*jobState).finish, (*jobState).renew
	handOn := func(s *jobState) bool { s.handOn(); return false }
	takeOut := func(s *jobState) bool { s.takeOut(); return false }
	for _, c := range []struct {
		name     string
		step     step
		from, to uint32
		says     bool
	}{
		{"await", await, jobOpen, jobAwaited, true},
		{"await", await, jobReturned, jobReturned, false},
		{"await", await, jobAwaited, jobAwaited, false},
		{"await", await, jobDone, jobDone, false},
		{"finish", finish, jobOpen, jobDone, false},
		{"finish", finish, jobAwaited, jobDone, true},
		{"handOn", handOn, jobOpen, jobReturned, false},
		{"handOn", handOn, jobReturned, jobReturned, false},
		{"handOn", handOn, jobAwaited, jobAwaited, false},
		{"handOn", handOn, jobDone, jobDone, false},
		{"takeOut", takeOut, jobOpen, jobOpen, false},
		{"takeOut", takeOut, jobReturned, jobOpen, false},
		{"takeOut", takeOut, jobAwaited, jobAwaited, false},
		{"takeOut", takeOut, jobDone, jobDone, false},
		{"renew", renew, jobOpen, jobOpen, false},
		{"renew", renew, jobDone, jobOpen, true},
	} {
		var s jobState
		s.word.Store(c.from)
		if says := c.step(&s); says != c.says || s.word.Load() != c.to {
			t.Errorf("%s of a job that was %s: %t, not %t; it is %v, not %s", c.name, jobStateName(c.from), says, c.says, &s, jobStateName(c.to))
		}
		if s.isDone() != (c.to == jobDone) || s.isReturned() != (c.to == jobReturned) {
			t.Errorf("%v: done: %t, returned: %t", &s, s.isDone(), s.isReturned())
		}
	}
}

// A new job is open, and each state has a name.
func TestNamesOfJobStates(t *testing.T) {
	var s jobState
	for word, want := range []string{"open", "returned", "awaited", "done", "jobState(4)"} {
		if s.String() != want {
			t.Errorf("%d is named %v, not %s", word, &s, want)
		}
		s.word.Add(1)
	}
}

// Under the race detector, a job is not finished twice or in the global queue, and not used
// again before it is done.
func TestAJobIsFinishedOnce(t *testing.T) {
	for _, c := range []struct {
		step func(s *jobState) bool
		from uint32
		want string
	}{
		{(*jobState).finish, jobReturned, "a job was finished that was returned"},
		{(*jobState).finish, jobDone, "a job was finished that was done"},
		{(*jobState).renew, jobReturned, "a job was used again that was returned"},
		{(*jobState).renew, jobAwaited, "a job was used again that was awaited"},
	} {
		var s jobState
		s.word.Store(c.from)
		got := recoveredFrom(func() { c.step(&s) })
		if race.Enabled && !strings.HasSuffix(got, "internal error: "+c.want) || !race.Enabled && got != "" {
			t.Errorf("%s: panic %q", c.want, got)
		}
	}
}
