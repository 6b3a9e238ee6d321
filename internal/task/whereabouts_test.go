package task

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/event"
)

// What a worker is at is packed into a word and told from it.
func TestDoingIsToldFromAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(newPool(1, LIFO), 7)
		upper := engine.EntryOf(strings.ToUpper)
		odd := upper | 1 // inside of the same function
		const ms = time.Millisecond
		for _, c := range []struct {
			at    engine.Doing
			shown bool
			since time.Duration
			want  string
		}{
			{engine.Doing{Kind: engine.AtTasks, Other: -1, Entry: 0}, false, 0, ""},
			{engine.Doing{Kind: engine.AtDo, Other: -1, Entry: 0}, false, 0, "Do"},
			{engine.Doing{Kind: engine.AtDo, Other: -1, Entry: upper}, false, 0, "Do of strings.ToUpper"},
			{engine.Doing{Kind: engine.AtDo, Other: -1, Entry: upper}, true, 0, "Do of strings.ToUpper"},
			{engine.Doing{Kind: engine.AtCall, Other: -1, Entry: upper}, false, 0, "Call of strings.ToUpper"},
			{engine.Doing{Kind: engine.AtCall, Other: -1, Entry: upper}, true, 0, ""},
			{engine.Doing{Kind: engine.AtFork, Other: 0, Entry: upper}, false, 0, "fork of strings.ToUpper from worker 0"},
			{engine.Doing{Kind: engine.AtFork, Other: 0, Entry: upper}, true, 0, "fork from worker 0"},
			{engine.Doing{Kind: engine.AtFork, Other: 0, Entry: odd}, false, 0, "fork of strings.ToUpper from worker 0"},
			{engine.Doing{Kind: engine.AtFork, Other: 1<<21 - 2, Entry: 0}, false, ms - 1, "fork from worker 2097150"},
			{engine.Doing{Kind: engine.AtFork, Other: 1<<21 - 2, Entry: odd}, false, ms, "fork of strings.ToUpper from worker 2097150, for 1ms"},
			{engine.Doing{Kind: engine.AtJoin, Other: -1, Entry: 0}, false, 0, "waits for a fork"},
			{engine.Doing{Kind: engine.AtJoin, Other: 0, Entry: 0}, false, 0, "waits for a fork that worker 0 has"},
			{engine.Doing{Kind: engine.AtSearch, Other: -1, Entry: 0}, false, 0, "searches"},
			{engine.Doing{Kind: engine.AtWay, Other: -1, Entry: 0}, false, 0, "has given way to tasks"},
		} {
			c.at.Since = clock.Now() - int64(c.since)
			if got := w.describeDoing(c.at, c.shown); got != c.want {
				t.Errorf("%+v, %t: %q, not %q", c.at, c.shown, got, c.want)
			}
			w.Engine.Hold.YieldPlace()
			want := strings.TrimPrefix(c.want+", without a slot", ", ")
			if got := w.describeDoing(c.at, c.shown); got != want {
				t.Errorf("%+v, %t: %q, not %q", c.at, c.shown, got, want)
			}
			w.Engine.Hold.RetakePlace()
		}
	})
}

// A look at a worker tells what it is at and was shown, unless it is about to leave.
func TestLookAtAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(newPool(1, LIFO), 7)
		w.Engine.Note(engine.AtTasks, nil, 0)
		check := func(unused bool, want event.WorkerLook, used bool) {
			t.Helper()
			if got, is := w.look(unused, nil); got != want || is != used {
				t.Errorf("w.look(%t, nil): %+v, in use: %t; not %+v, %t", unused, got, is, want, used)
			}
		}
		check(true, event.WorkerLook{Worker: 7}, false)
		check(false, event.WorkerLook{Worker: 7}, true)
		w.Pool.Users = shows{what: "sum"}
		check(false, event.WorkerLook{Worker: 7, Doing: "sum"}, true)
		w.Engine.Note(engine.AtSearch, nil, 0)
		check(false, event.WorkerLook{Worker: 7, Doing: "searches; sum"}, true)
		w.Engine.Hold.YieldPlace() // without one, it is about to leave
		check(false, event.WorkerLook{Worker: 7}, false)
		if got := Describe(Plain(nil)); got != "a task without a name" {
			t.Error("Describe(Plain(nil)):", got)
		}
	})
}

// shows is what stands above a pool whose workers show something.
type shows struct {
	users
	what string
}

func (s shows) Shown(*Worker) (string, bool) { return s.what, true }
