package engine

import (
	"strings"
	"testing"
)

// What a worker is at is packed into a word and told from it.
func TestDoingIsToldFromAWord(t *testing.T) {
	p := newPool(1)
	w, first, last := testWorker(p, 7), testWorker(p, 0), testWorker(p, 1<<21-2)
	upper := EntryOf(strings.ToUpper)
	for _, c := range []struct {
		kind  DoingKind
		other *Worker
		entry uintptr
		id    int
	}{
		{AtTasks, nil, 0, -1},
		{AtDo, nil, upper, -1},
		{AtDo, nil, EntryOf(NameOf), -1},
		{AtCall, nil, upper, -1},
		{AtFork, first, upper, 0},
		{AtFork, first, upper | 1, 0}, // inside of the same function
		{AtFork, last, 0, 1<<21 - 2},
		{AtFork, last, upper, 1<<21 - 2},
		{AtJoin, first, 0, 0},
		{AtSearch, nil, 0, -1},
		{AtWay, nil, 0, -1},
	} {
		w.Note(c.kind, c.other, c.entry)
		w.since.Store(5)
		if got, want := w.Doing(), (Doing{c.kind, c.id, c.entry, 5}); got != want {
			t.Errorf("%+v, not %+v", got, want)
		}
	}
	for _, from := range []uint64{0, 1, 1<<39 + 5, 1<<40 - 1} {
		if uint64(uintptr(origin+from)) != origin+from {
			continue // there is no such function in 32 bits
		}
		if d := makeDoing(AtDo, nil, uintptr(origin+from)); d>>24 != from {
			t.Errorf("a function %#x above the origin is noted as %#x", from, d>>24)
		}
	}
	for _, entry := range []uint64{0, origin - 1, origin + 1<<40, origin + 1<<40 + 1} {
		if uint64(uintptr(entry)) != entry {
			continue
		}
		if d := makeDoing(AtDo, nil, uintptr(entry)); d>>24 != 0 {
			t.Errorf("%#x is too far from the origin, and is noted as %#x", entry, d>>24)
		}
	}
}
