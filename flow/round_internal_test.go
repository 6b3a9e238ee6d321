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
			t.Fatal("g.Run(context.Background(), filch.Default()):", err)
		}
	}
	run()
	if g.kept.round != 1 || !g.kept.has(a.index) {
		t.Fatal("the first round is not 1")
	}
	g.kept.round, which = math.MaxUint32, End
	if run(); g.kept.round == 0 || g.kept.has(a.index) {
		t.Error("a result of an old round is taken for new")
	}
}

// A carrier joins the run that it was submitted for, and no other that has its state.
func TestCarriersJoinTheirRun(t *testing.T) {
	st, before, now := &state{}, &run{}, &run{}
	st.now.Store(now)
	if st.join(before, context.Background()) || st.running != 0 || now.task != nil {
		t.Errorf("a carrier of the run before has joined: %d run", st.running)
	}
	if !st.join(now, context.Background()) || st.running != 1 || now.task == nil {
		t.Errorf("a carrier of the run has not joined: %d run", st.running)
	}
	st.now.Store(nil)
	if st.join(now, context.Background()) || st.running != 1 {
		t.Errorf("a carrier has joined when the run was over: %d run", st.running)
	}
}
