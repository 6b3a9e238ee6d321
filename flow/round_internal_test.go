package flow

import (
	"context"
	"math"
	"testing"

	"github.com/filch-go/filch"
)

// After 2^32 runs, rounds begin anew: no result of an old one is taken for new.
func TestRoundsBeginAnew(t *testing.T) {
	g := New("g")
	which := 0
	choice := Choose(g, "c", func(context.Context) (int, error) { return which, nil })
	a := Node(g, "a", func(context.Context) (int, error) { return 1, nil })
	choice.To(a)
	run := func() {
		if err := g.Run(context.Background(), filch.Default()); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if g.kept.round != 1 || !g.kept.has(a.index) {
		t.Fatal("the first round is not 1")
	}
	g.kept.round, which = math.MaxUint32, Stop
	if run(); g.kept.round == 0 || g.kept.has(a.index) {
		t.Error("a result of an old round is taken for new")
	}
}
