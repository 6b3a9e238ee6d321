package trace

import (
	"fmt"
	"time"

	"github.com/filch-go/filch/internal/event"
)

// Last returns the last part of t, of duration d. Spans that began earlier are clipped to it. Times are still since
// Start. Last panics if d is negative.
func (t *Trace) Last(d time.Duration) *Trace {
	if d < 0 {
		panic(fmt.Sprintf("trace: Last(%v): the time must not be negative", d))
	}
	last := *t
	last.began = max(t.began, t.ended-int64(d))
	last.Begun = t.Begun.Add(time.Duration(last.began - t.began))
	return &last // it keeps all events: earlier ones tell what a worker is doing
}

// Len returns the number of events.
func (t *Trace) Len() (n int) {
	for _, e := range t.events {
		if t.has(e) {
			n++
		}
	}
	return n
}

// has reports whether t includes e.
func (t *Trace) has(e event.Event) bool { return e.At >= t.began }

// clip removes what ended before line begins.
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

// kept returns the elements of all that f accepts.
func kept[T any](all []T, f func(x T) bool) (some []T) {
	for _, x := range all {
		if f(x) {
			some = append(some, x)
		}
	}
	return some
}
