package event

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Columns, so that lines that follow one another are easy to read.
const (
	timeWidth = 11 // at the right
	who       = 11 // at the left
)

// String returns the event as [Event.Append] writes it.
func (e Event) String() string { return string(e.Append(nil)) }

// Append appends the event to b, in one line without its end:
//
//	   time  who        verb object of another worker name
//	12.300us  worker 1   steals fork 2.1 from worker 2
//	12.450us  pool       accepts task 7 "index"
//
// The time is in microseconds since the program began, and left out with the spaces behind it
// if it is 0. Who it happens to is a worker, or the pool if there is none. A fork has the number
// of its owner and that of the publication, a task that of its worker, if that has counted it; see [ForkID] and [TaskID]. An ID that the kind has no use for
// follows a #. The name is quoted as in Go. [Parse] reads the line. The kind must be one of
// those above.
func (e Event) Append(b []byte) []byte {
	if e.At != 0 {
		return e.AppendTimed(b)
	}
	return e.appendDeed(b)
}

// AppendTimed is [Event.Append] of an event whose time is known, also if it is 0.
func (e Event) AppendTimed(b []byte) []byte {
	return e.appendDeed(append(appendTime(b, e.At), "  "...))
}

// appendDeed appends the event without its time.
func (e Event) appendDeed(b []byte) []byte {
	begin := len(b)
	if e.Worker >= 0 {
		b = appendWorker(b, e.Worker)
	} else {
		b = append(b, "pool"...)
	}
	for ok := true; ok; ok = len(b)-begin < who {
		b = append(b, ' ')
	}
	p := &phrases[e.Kind]
	b = append(b, p.verb...)
	b = p.id.append(b, e.ID)
	if e.Other >= 0 {
		b = append(b, ' ')
		b = append(b, p.with...)
		b = append(b, ' ')
		b = appendWorker(b, e.Other)
	}
	if e.Name != "" {
		b = append(b, ' ')
		b = strconv.AppendQuote(b, e.Name)
	}
	return b
}

// append appends the ID.
func (o object) append(b []byte, id uint64) []byte {
	switch o {
	case aTask:
		b = append(b, " task "...)
		if w, n := Fork(id); w > 0 {
			b = strconv.AppendInt(b, int64(w-1), 10)
			b = append(b, '.')
			return strconv.AppendUint(b, n, 10)
		}
	case aFork:
		w, n := Fork(id)
		b = append(b, " fork "...)
		b = strconv.AppendInt(b, int64(w), 10)
		b = append(b, '.')
		return strconv.AppendUint(b, n, 10)
	case aNumber:
		b = append(b, ' ')
	default:
		if id == 0 {
			return b
		}
		b = append(b, " #"...)
	}
	return strconv.AppendUint(b, id, 10)
}

func appendWorker(b []byte, n int) []byte {
	return strconv.AppendInt(append(b, "worker "...), int64(n), 10)
}

// appendTime appends a time in microseconds.
func appendTime(b []byte, at int64) []byte {
	u, sign := uint64(at), ""
	if at < 0 {
		u, sign = -u, "-"
	}
	return fmt.Appendf(b, "%*s", timeWidth, fmt.Sprintf("%s%d.%03dus", sign, u/1000, u%1000))
}

// Parse returns the event of a line that [Event.Append] has made. The spaces that only make
// columns may be others.
func Parse(line string) (Event, error) {
	s := scanner{rest: strings.TrimSpace(line)}
	e := Event{Worker: -1, Other: -1}
	if at, rest, ok := strings.Cut(s.rest, "us "); ok && !strings.Contains(at, " ") {
		e.At = s.time(at)
		s.rest = strings.TrimLeft(rest, " ")
	}
	if !s.skip("pool") {
		s.want("worker")
		e.Worker = s.worker()
	}
	p := s.phrase(&e.Kind)
	switch p.id {
	case aNumber:
		e.ID = s.uint(math.MaxUint64)
	case aTask:
		if w, n, ok := strings.Cut(s.word(), "."); ok {
			e.ID = TaskID(int(s.number(w, mostWorker-1)), s.number(n, mostCount))
		} else {
			e.ID = s.number(w, mostCount)
		}
	case aFork:
		w, n, _ := strings.Cut(s.word(), ".")
		e.ID = ForkID(int(s.number(w, mostWorker)), s.number(n, mostCount))
	default:
		if s.rest = strings.TrimLeft(s.rest, " "); strings.HasPrefix(s.rest, "#") {
			s.rest = s.rest[1:]
			e.ID = s.uint(math.MaxUint64)
		}
	}
	if s.skip(p.with) {
		s.want("worker")
		e.Other = s.worker()
	}
	if s.rest = strings.TrimSpace(s.rest); s.rest != "" {
		name, err := strconv.Unquote(s.rest)
		s.check(err == nil, s.rest)
		e.Name = name
	}
	if s.failed {
		return Event{}, fmt.Errorf("event: Parse(%q): %q is not expected", line, s.wrong)
	}
	return e, nil
}

// The most that the parts of an ID hold.
const (
	mostWorker = 1<<(64-publicationBits) - 1
	mostCount  = 1<<publicationBits - 1
)

// A scanner reads a line from the left.
type scanner struct {
	rest   string
	failed bool
	wrong  string // what failed first
}

func (s *scanner) check(ok bool, what string) {
	if !ok && !s.failed {
		s.failed, s.wrong = true, strings.TrimSpace(what)
	}
}

// word returns the next word.
func (s *scanner) word() string {
	word, rest, _ := strings.Cut(strings.TrimLeft(s.rest, " "), " ")
	s.rest = rest
	return word
}

// skip skips words, and reports false if they do not come next.
func (s *scanner) skip(words string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s.rest, " "), words)
	if !ok || rest != "" && rest[0] != ' ' {
		return false
	}
	s.rest = rest
	return true
}

func (s *scanner) want(words string) { s.check(s.skip(words), s.rest) }

func (s *scanner) uint(most uint64) uint64 { return s.number(s.word(), most) }

func (s *scanner) worker() int { return int(s.uint(math.MaxInt)) }

func (s *scanner) number(word string, most uint64) uint64 {
	n, err := strconv.ParseUint(word, 10, 64)
	s.check(err == nil && n <= most, word)
	return n
}

// time returns a time in microseconds as nanoseconds.
func (s *scanner) time(word string) int64 {
	number, negative := strings.CutPrefix(word, "-")
	us, ns, _ := strings.Cut(number, ".")
	s.check(len(ns) == 3, word+"us")
	n := s.number(us, math.MaxInt64/1000+1)*1000 + s.number(ns, 999)
	if negative {
		s.check(n <= 1<<63, word+"us")
		return -int64(n)
	}
	s.check(n < 1<<63, word+"us")
	return int64(n)
}

// phrase finds out the kind.
func (s *scanner) phrase(k *Kind) *phrase {
	before := s.rest
	for i := range phrases {
		p := &phrases[i]
		if s.skip(p.verb) {
			if p.id == nothing || p.id == aNumber || p.id == aTask && s.skip("task") || p.id == aFork && s.skip("fork") {
				*k = Kind(i)
				return p
			}
			s.rest = before
		}
	}
	s.check(false, s.rest)
	return &phrases[0]
}
