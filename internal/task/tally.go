package task

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/filch-go/filch/internal/tell"
)

// Counted are the queued and held tasks with the same name and priority.
type Counted struct {
	Name     string // or the function's, or "" if unknown
	Priority int
	Count    int           // of entries in queues
	Oldest   time.Duration // time in the queue of the oldest
	Held     int           // not queued yet
}

// Tally counts queued and held tasks, sorted by priority and then name.
func (p *Pool) Tally() []Counted {
	t := tally{found: map[tallied]*Counted{}}
	p.Walk(t.add)
	for _, h := range p.AllHeld(math.MaxInt) {
		t.of(h.extras.options.Priority, h.Body).Held++
	}
	all := make([]Counted, 0, len(t.found))
	for k, q := range t.found {
		q.Name = tell.Function(k.name, k.function)
		all = append(all, *q)
	}
	slices.SortFunc(all, func(a, b Counted) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// tally counts tasks as they are found; consecutive ones are often alike.
type tally struct {
	found map[tallied]*Counted
	last  tallied // counts at in
	in    *Counted
}

type tallied struct {
	name     string
	function uintptr
	priority int
}

func (t *tally) add(priority int, d time.Duration, b Body) {
	q := t.of(priority, b)
	q.Count++
	q.Oldest = max(q.Oldest, d)
}

func (t *tally) of(priority int, b Body) *Counted {
	name, function := about(b)
	k := tallied{name, function, priority}
	if t.in == nil || k != t.last {
		t.last, t.in = k, t.found[k]
		if t.in == nil {
			t.in = &Counted{Priority: priority}
			t.found[k] = t.in
		}
	}
	return t.in
}

// about returns the name of b, or if it has none, its function, if known.
func about(b Body) (name string, function uintptr) {
	name, f := b.About()
	if name == "" && f != nil {
		function = reflect.ValueOf(f).Pointer()
	}
	return name, function
}

// Name returns the name of b, or its function's, or "".
func Name(b Body) string { return tell.Function(about(b)) }

// Describe identifies the task b.
func Describe(b Body) string {
	if name := Name(b); name != "" {
		return "task " + name
	}
	return tell.WithoutName
}
