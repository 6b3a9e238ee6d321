package task

import (
	"context"
	"testing"

	"github.com/filch-go/filch/internal/engine"
)

// A task begins where its function does, whatever kind it is.
func TestWhereTasksBegin(t *testing.T) {
	plain, failing := func(context.Context) {}, func(context.Context) error { return nil }
	for _, c := range []struct {
		b    Body
		want uintptr
	}{{Plain(plain), engine.EntryOf(plain)}, {&groupTask{f: failing}, engine.EntryOf(failing)}, {&errTask{f: failing}, engine.EntryOf(failing)}} {
		if got := entryOf(c.b); got != c.want || got == 0 {
			t.Errorf("%T begins at %#x, not at %#x", c.b, got, c.want)
		}
	}
}
