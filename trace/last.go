package trace

import (
	"fmt"
	"time"

	"github.com/filch-go/filch/internal/event"
)

// Last returns the part of t that is no more than d before its end. Spans that began before are in it
// from there on. Times are still since Start. It panics if d is negative.
func (t *Trace) Last(d time.Duration) *Trace {
	if d < 0 {
		panic(fmt.Sprintf("trace: Last(%v): the time must not be negative", d))
	}
	last := *t
	last.began = max(t.began, t.ended-int64(d))
	last.Begun = t.Begun.Add(time.Duration(last.began - t.began))
	return &last // it has all events: what began before tells what a worker is at
}

// Len returns how many events there are.
func (t *Trace) Len() (n int) {
	for _, e := range t.events {
		if t.has(e) {
			n++
		}
	}
	return n
}

// has reports whether e is in the part that t is.
func (t *Trace) has(e event.Event) bool { return e.At >= t.began }

// clip takes out what was over when line begins.
func (line *timeline) clip() {
	for i := range line.spans {
		s := &line.spans[i]
		s.begin = max(s.begin, min(s.end, line.begin))
	}
	begin := line.begin
	line.spans = kept(line.spans, func(s span) bool { return s.end >= begin })
	line.arrows = kept(line.arrows, func(a arrow) bool { return a.out >= begin })
	line.marks = kept(line.marks, func(m mark) bool { return m.at >= begin })
	line.counts = kept(line.counts, func(c count) bool { return c.at >= begin })
}

// kept returns those of all that f keeps.
func kept[T any](all []T, f func(x T) bool) (some []T) {
	for _, x := range all {
		if f(x) {
			some = append(some, x)
		}
	}
	return some
}
