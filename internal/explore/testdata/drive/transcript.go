package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/explore/sched"
	filch "github.com/filch-go/filch/internal/explore/subject"
)

// A transcript is what happens in a small program at one schedule: the first, in which a thread
// goes on until it waits or ends.
type transcript struct {
	name    string
	about   string // what happens, and what has a part in it
	words   string // which words are shown: those that begin with one of these
	workers int
	opts    []filch.Option
	start   func(s *stage)
}

// A stage is where a transcript is written. It is the hook of the pool.
type stage struct {
	run   *sched.Run
	pool  *filch.Pool
	shows []string
	lines []string
	words map[string]string  // as they were shown last
	seen  map[event.Kind]int // how many events of the kind there were
}

// Event writes the line of an event.
func (s *stage) Event(e event.Event) {
	s.seen[e.Kind]++
	s.lines = append(s.lines, e.String())
}

// remark writes what the program does, in parentheses as on a stage.
func (s *stage) remark(text string) { s.lines = append(s.lines, "("+text+")") }

// watch writes the words that the last step has changed, each in a line of its own.
func (s *stage) watch() {
	s.pool.Words(func(what, word string) {
		before, known := s.words[what]
		if word == before {
			return
		}
		s.words[what] = word
		for _, begin := range s.shows {
			// A worker is made with its place, a fork open.
			if strings.HasPrefix(what, begin) && (known || begin == "places") {
				s.lines = append(s.lines, fmt.Sprintf("%*s%s %s", indent, "", what, word))
			}
		}
	})
}

// indent is where the words are: below what workers do.
const indent = 11

// until waits until there were n events of the kind.
func (s *stage) until(k event.Kind, n int) {
	for seen := sched.Seen(); s.seen[k] < n; seen = sched.Seen() {
		sched.Await(seen)
	}
}

// text returns the transcript as its file has it.
func (t *transcript) text() (string, error) {
	s := &stage{words: map[string]string{}, seen: map[event.Kind]int{}}
	if t.words != "" {
		s.shows = strings.Split(t.words, ", ")
	}
	r := sched.Explore(func(r *sched.Run) func() error {
		s.run = r
		s.pool = filch.New(append(t.opts, filch.WithWorkers(t.workers), filch.WithStallTimeout(0), filch.WithHook(s))...)
		s.watch()
		s.lines = nil
		r.Watch = s.watch
		t.start(s)
		return func() error {
			s.run, r.Watch = nil, nil
			return nil
		}
	}, sched.Options{Preemptions: -1, Max: 1})
	if r.Failure != nil {
		return "", fmt.Errorf("%s: %w\n%s", t.name, r.Failure, strings.Join(s.lines, "\n"))
	}
	var b strings.Builder
	for line := range strings.Lines(t.about) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	b.WriteString("\n")
	b.WriteString(strings.Join(s.lines, "\n"))
	b.WriteString("\n")
	return b.String(), nil
}

func init() { writeTranscripts = writeAll }

// writeAll writes all into dir.
func writeAll(dir string) (err error) {
	for _, t := range transcripts {
		text, e := t.text()
		if e == nil {
			e = os.WriteFile(filepath.Join(dir, t.name+".txt"), []byte(text), 0o666)
		}
		err = errors.Join(err, e)
	}
	return err
}

// forkAndCall returns a function that forks its first part, calls its second, and joins.
func forkAndCall(first, second func()) *filch.Func[int, int] {
	return filch.NewFunc(func(f *filch.Frame[int, int], part int) int {
		switch part {
		case 0:
			h := f.Fork(1)
			f.Call(2)
			f.Join(h)
		case 1:
			first()
		case 2:
			second()
		}
		return 0
	})
}

// nothingToDo is a task.
func nothingToDo(context.Context) {}

// waiting is a task that waits until it may end.
func (s *stage) waiting(k event.Kind, n int) func(context.Context) {
	return func(context.Context) { s.until(k, n) }
}

var transcripts = []transcript{
	{"taken-back", `A fork is taken back.

worker 0   the caller, which forks, and joins soon
worker 1   is woken for the fork, and comes too late

The other place is free when the call begins, so the first fork is published at once.`,
		"places, fork", 2, nil, func(s *stage) {
			f := forkAndCall(func() {}, func() {})
			s.run.Go(func() {
				s.remark("somebody calls the function")
				f.Call(s.pool, 0)
				s.remark("the call returns")
			})
		}},
	{"stolen", `A fork is stolen, and its owner waits for it.

worker 0   the caller, which forks, and joins when the fork was stolen
worker 1   the thief

The owner looks for something to help with and finds nothing. So it gives up its place and blocks.
When the fork is done, the thief passes its own place on to the owner. The owner's old place is free
still: the thief takes that, looks for work and finds none.`,
		"places, fork", 2, nil, func(s *stage) {
			f := forkAndCall(func() { s.until(event.Blocked, 1) }, func() { s.until(event.Stolen, 1) })
			s.run.Go(func() { f.Call(s.pool, 0) })
		}},
	{"helps", `A worker that waits helps its thief.

worker 0   the caller, which forks 0.1 and joins it
worker 1   the thief of 0.1, which forks 1.1 and joins it

While worker 0 waits for 0.1, it steals 1.1 from the thief, and from no other. Then worker 1 waits for
that, and has the place of worker 0 when it is done.

What lies in the thief's deque descends from the fork that is awaited. So worker 0 runs nothing that
the serial program would not run before its join returns.`,
		"fork", 2, nil, func(s *stage) {
			f := filch.NewFunc(func(f *filch.Frame[int, int], depth int) int {
				if depth == 2 {
					s.until(event.Blocked, 1)
					return 0
				}
				h := f.Fork(depth + 1)
				for seen := sched.Seen(); s.seen[event.Stolen] <= depth; seen = sched.Seen() {
					f.Worker().Poll()
					sched.Await(seen)
				}
				f.Join(h)
				return 0
			})
			s.run.Go(func() { f.Call(s.pool, 0) })
		}},
	{"wake-up", `A burst of tasks wakes the workers one by one.

pool       accepts three tasks, and wakes one worker
worker 0   finds a task, and wakes the next, since nobody searches any more
worker 1   does the same
worker 2   finds the last task, and wakes nobody: no place is free

Each task waits until all have begun.`,
		"places", 3, nil, func(s *stage) {
			s.run.Go(func() {
				for _, name := range []string{"a", "b", "c"} {
					s.pool.Go(background, s.waiting(event.Started, 3), filch.Named(name))
				}
			})
		}},
	{"gives-way", `A worker gives way to a task that is more urgent.

worker 0   runs a loop of priority 1, which looks whether it should give way
worker 1   is woken when worker 0 has given up its place, runs the task of priority 0, and passes
           the place on

There is one place.`,
		"places, worker", 1, byPriority, func(s *stage) {
			s.run.Go(func() {
				s.pool.Go(background, func(ctx context.Context) {
					filch.ScopeOf(ctx).Do(func(w *filch.Worker) {
						for seen := sched.Seen(); s.seen[event.Done] == 0; seen = sched.Seen() {
							w.Demand()
							sched.Await(seen)
						}
					})
				}, filch.AtPriority(1), filch.Named("loop"))
				s.until(event.Started, 1)
				s.pool.Go(background, nothingToDo, filch.Named("urgent"))
			})
		}},
	{"lends", `A task lends its slot while it blocks.

worker 0   runs the task "first", which calls Blocking, and waits there for the second
worker 1   is woken for the place, and runs the task "second"

There is one place. Worker 0 takes it again when the function returns, an extra one if need be. Then
worker 1 is one too many, and leaves when it is done.`,
		"places, worker", 1, nil, func(s *stage) {
			s.run.Go(func() {
				s.pool.Go(background, func(ctx context.Context) {
					filch.Blocking(ctx, func() { s.until(event.Started, 2) })
				}, filch.Named("first"))
				s.pool.Go(background, s.waiting(event.Resumed, 1), filch.Named("second"))
			})
		}},
	{"shutdown", `Shutdown waits for a task and for one that this submits.

worker 0   runs the tasks, and is the last to leave

The pool is closed while "first" runs. A task may still submit another, with its context; a stranger
may not. The pool ends when the last place is given up and nothing is queued.`,
		"places", 1, nil, func(s *stage) {
			s.run.Go(func() {
				s.pool.Go(background, func(ctx context.Context) {
					s.until(event.Closed, 1)
					s.pool.Go(ctx, nothingToDo, filch.Named("second"))
				}, filch.Named("first"))
				s.until(event.Started, 1)
				s.remark("Shutdown is called")
				s.pool.Shutdown(background)
				s.remark("Shutdown returns")
			})
			s.run.Go(func() {
				s.until(event.Closed, 1)
				s.pool.Go(background, nothingToDo, filch.Named("stranger"))
			})
		}},
	{"room", `A submitter waits for room in a queue of one.

worker 0   runs one task after the other

The task that an idle worker is about to take does not count. So "a" and "b" are accepted at once, and
"c" when the worker has taken "b". Each task waits until the next was accepted.`,
		"places", 1, []filch.Option{filch.WithQueueLimit(1, filch.Block)}, func(s *stage) {
			s.run.Go(func() {
				for i, name := range []string{"a", "b", "c"} {
					s.remark(fmt.Sprintf("Go is called with %q", name))
					s.pool.Go(background, s.waiting(event.Submitted, min(i+2, 3)), filch.Named(name))
				}
				s.remark("all were accepted")
			})
		}},
}
