package engine

import (
	"errors"
	"testing"

	"github.com/filch-go/filch/internal/event"
)

var errTest = errors.New("test")

// noAsyncs is the body of a piece without any.
type noAsyncs struct{ released int }

func (b *noAsyncs) Run(*Worker, *Finish) {}
func (b *noAsyncs) Release()             { b.released++ }

// A worker that waits for a Finish helps the thief of the piece that was begun last, in the run
// for that Finish and in no other: a piece is used again, for any Finish.
func TestAPieceIsCarriedInOneRunOnly(t *testing.T) {
	for _, c := range []struct {
		what string
		then func(p *Piece, f, g *Finish, thief *Worker) // after the piece runs for f
		help bool
	}{
		{"it runs", func(*Piece, *Finish, *Finish, *Worker) {}, true},
		{"it has run", func(p *Piece, f, g *Finish, thief *Worker) { p.finish(thief) }, false},
		{"it runs for another", func(p *Piece, f, g *Finish, thief *Worker) {
			p.finish(thief)
			p.Offer(g, 0)
			p.thief.Store(thief)
			p.begin(thief)
		}, false},
		{"it is published for this again", func(p *Piece, f, g *Finish, thief *Worker) {
			p.finish(thief)
			p.Offer(f, 0)
		}, false},
	} {
		p := newPool(2)
		w, v := testWorker(p, 0), testWorker(p, 1)
		var f, g Finish
		f.Open(w)
		g.Open(v)
		var piece Piece
		piece.Init(&noAsyncs{})
		piece.Offer(&f, 0)
		piece.thief.Store(v)
		piece.begin(v)
		c.then(&piece, &f, &g, v)
		ran := false
		v.own.Push(&Job{run: func(*Worker) { ran = true }, owner: v, level: Nothing})
		if got := w.help(&f.end); got != c.help || ran != c.help {
			t.Errorf("%s: helped: %t, and what the thief had has run: %t", c.what, got, ran)
		}
		if !c.help && v.own.Len() != 1 {
			t.Errorf("%s: what does not belong to the Finish was stolen", c.what)
		}
	}
}

// What was stolen while the piece came to its end is handed on.
func TestWhatMayNotBelongToAFinishIsHandedOn(t *testing.T) {
	p := newPool(2)
	var f Finish
	w, v := testWorker(p, 0), testWorker(p, 1)
	f.Open(w)
	var piece Piece
	piece.Init(&noAsyncs{})
	piece.Offer(&f, 0)
	piece.thief.Store(v)
	piece.begin(v)
	c, round := f.end.carrier()
	if c != &piece.Job || !f.end.carriedBy(c, round) {
		t.Error("it is not carried")
	}
	piece.finish(v)
	if f.end.carriedBy(c, round) {
		t.Error("it is carried when it has ended")
	}
	piece.Offer(&f, 0)
	piece.thief.Store(v)
	piece.begin(v)
	if f.end.carriedBy(c, round) {
		t.Error("another run is taken for the first")
	}
	// The piece ends right after w has stolen something else from its thief.
	by := make(chan *Worker, 1)
	v.own.Push(&Job{run: func(w *Worker) { by <- w }, owner: v, level: Nothing})
	p.AddHook(afterSteals(func() { piece.finish(v) }))
	if w.help(&f.end) || <-by == w {
		t.Error("it has run on top of the wait")
	}
}

// afterSteals is a hook that calls itself after each steal.
type afterSteals func()

func (f afterSteals) Event(e event.Event) {
	if e.Kind == event.Stolen {
		f()
	}
}

// A Finish is over when all pieces are done, published or taken back, and may be used again.
func TestAFinishCountsItsPieces(t *testing.T) {
	p := newPool(2)
	w, v := testWorker(p, 0), testWorker(p, 1)
	var f Finish
	for range 2 {
		f.Open(w)
		f.Wait(w) // nothing was published
		body := &noAsyncs{}
		var one, two Piece
		one.Init(body)
		two.Init(body)
		for _, piece := range []*Piece{&one, &two} {
			j := piece.Offer(&f, 0)
			j.owner = w
			w.own.Push(j)
		}
		j := v.steal(w)
		if j != &one.Job {
			t.Fatal("not the oldest was stolen")
		}
		if got := f.TakeBack(w); got != &two {
			t.Error("the newest was not taken back")
		}
		if got := f.TakeBack(w); got != nil {
			t.Error("what was stolen was taken back")
		}
		v.execute(j)
		if n := f.left.Load(); n != 1 || body.released != 1 || f.end.state.isDone() {
			t.Errorf("%d are left, %d released", n, body.released)
		}
		f.Wait(w)
		if n := f.left.Load(); n != 1 {
			t.Errorf("then %d are left", n)
		}
	}
}

// The first failure of a Finish counts.
func TestTheFirstFailureCounts(t *testing.T) {
	var f Finish
	if f.Failed() || f.Failure() != nil {
		t.Error("it has failed")
	}
	f.Fail(nil)
	f.Fail(errTest)
	if !f.Failed() || f.Failure() != nil {
		t.Errorf("a Goexit, and then %v", f.Failure())
	}
	var g Finish
	g.Fail(errTest)
	g.Fail(nil)
	if g.Failure() != errTest {
		t.Errorf("%v", g.Failure())
	}
}

// A piece is found below forks that are younger, and those stay.
func TestAPieceIsTakenBackFromBelowForks(t *testing.T) {
	p := newPool(2)
	w := testWorker(p, 0)
	var f Finish
	f.Open(w)
	var piece Piece
	piece.Init(&noAsyncs{})
	j := piece.Offer(&f, 0)
	forks := []*Job{{}, {}}
	for _, k := range []*Job{j, forks[0], forks[1]} {
		k.owner = w
		w.own.Push(k)
	}
	if got := f.TakeBack(w); got != &piece {
		t.Error("it was not found")
	}
	for _, want := range []*Job{forks[1], forks[0]} {
		if got, ok := w.own.Pop(); !ok || got != want {
			t.Error("a fork is not where it was")
		}
	}
}
