package task

import (
	"context"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/line"
	"github.com/filch-go/filch/internal/tell"
)

// Nothing is said of a circle of which the stacks do not show all.
func TestCirclesAreSeenAsAWhole(t *testing.T) {
	task := func(address string) []tell.TaskCall {
		return []tell.TaskCall{{Address: address, Function: "f" + address}}
	}
	a := tell.TaskStack{WaitsFor: "2", By: "1", Lasts: true, Tasks: task("1")}
	b := tell.TaskStack{WaitsFor: "1", By: "2", Lasts: true, Tasks: task("2")}
	short := b
	short.Lasts = false
	other := b
	other.WaitsFor = "2"
	for name, c := range map[string]struct {
		all  tell.Stacks
		want string
	}{
		"all":             {tell.Stacks{a, b}, "task f1 waits for task f2 waits for task f1"},
		"nothing":         {nil, ""},
		"no task":         {tell.Stacks{{WaitsFor: "2", By: "1", Lasts: true}, b}, ""},
		"one has ended":   {tell.Stacks{a}, ""},
		"one does not":    {tell.Stacks{a, short}, ""},
		"another circle":  {tell.Stacks{a, other}, ""},
		"of itself":       {tell.Stacks{{WaitsFor: "1", By: "1", Lasts: true, Tasks: task("1")}}, "task f1 waits for task f1"},
		"on top of other": {tell.Stacks{a, {WaitsFor: "1", By: "3", Lasts: true, Tasks: append(task("3"), task("2")...)}}, "task f1 waits for task f2 waits for task f3 waits for task f1"},
	} {
		got := ""
		if err := circleOn(c.all, &wait{}, nil); err != nil {
			got = strings.TrimPrefix(err.Error(), strings.Replace(ErrInside.Error(), "filch: ", "filch: Wait: ", 1)+": ")
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// The notes of a worker that was let go are nobody's. Those of others are found, if it was.
func TestNotesAreFoundByNumber(t *testing.T) {
	p := newPool(3, LIFO)
	ws := []*Worker{newWorker(p, 0), newWorker(p, 5), newWorker(p, 2)}
	var engines []*engine.Worker
	for _, w := range ws {
		engines = append(engines, &w.Engine)
	}
	p.Engine.Workers.Store(&engines)
	c := p.newContext(context.Background(), Seat{})
	for number, want := range map[uint32]*waits{0: nil, 1: &ws[0].waits, 2: nil, 3: &ws[2].waits, 4: nil, 6: &ws[1].waits} {
		if got := c.notes(number); got != want {
			t.Errorf("number %d: %p, not %p", number, got, want)
		}
		if want == nil && c.waitsFor(number) != nil {
			t.Errorf("number %d waits", number)
		}
	}
	if c.waitsFor(1) != nil {
		t.Error("worker 0 waits")
	}
	older, newer := &wait{by: c}, &wait{by: c}
	for _, w := range []*wait{older, newer} {
		ws[0].waits.line.Add(&line.Turn[*wait]{Of: w})
	}
	if c.waitsFor(1) != newer {
		t.Error("the newest wait is another")
	}
	c.needExtras().options.Name = "c"
	if c.notes(0) != &c.needExtras().waits || c.Name() != "c" {
		t.Error("a task without a seat has notes of its own")
	}
}
