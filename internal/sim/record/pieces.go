package record

import (
	"errors"
	"slices"

	"github.com/filch-go/filch/internal/sim"
)

// piece is a part of a graph that is being made.
type piece struct {
	kind  sim.PartKind
	done  bool  // nothing will change in it
	work  int64 // of all of it
	parts []*piece
	part  *sim.Part
}

func (p *piece) empty() bool  { return p.done && p.work == 0 }
func (p *piece) isStep() bool { return p.done && p.kind == sim.Step }

// strand is what runs one after the other, with children that run at the same time.
type strand struct {
	into  *piece   // what it becomes
	parts []*piece // since the newest fork
	open  []fork   // those that are not joined
}

type fork struct {
	before []*piece // since the fork before
	child  *piece   // nothing until it has run
}

// step makes s longer.
func (s *strand) step(work int64) {
	s.parts = longer(s.parts, work)
}

// longer appends a step to a series. Steps become one: each piece is in one place.
func longer(series []*piece, work int64) []*piece {
	last := len(series) - 1
	switch {
	case work == 0:
		return series
	case last >= 0 && series[last].isStep():
		series[last].work += work
		return series
	}
	return append(series, &piece{done: true, work: work})
}

// fork notes a child.
func (s *strand) fork() *piece {
	child := &piece{}
	s.open = append(s.open, fork{s.parts, child})
	s.parts = nil
	return child
}

// with appends a piece to a series.
func with(series []*piece, p *piece) []*piece {
	switch {
	case p.isStep():
		return longer(series, p.work)
	case p.done && p.kind == sim.Series:
		for _, q := range p.parts {
			series = with(series, q)
		}
		return series
	}
	return append(series, p)
}

// finest merges what takes no longer than so many nanoseconds into one step.
type finest int64

// of makes one piece of several.
func (f finest) of(kind sim.PartKind, parts []*piece) *piece {
	if len(parts) == 1 {
		return parts[0]
	}
	p := &piece{kind: kind, done: true, parts: parts}
	for _, q := range parts {
		p.work += q.work
		p.done = p.done && q.done
	}
	if p.done && p.work <= int64(f) {
		return &piece{done: true, work: p.work}
	}
	return p
}

func (f finest) parallel(branches []*piece) *piece {
	return f.of(sim.Parallel, slices.DeleteFunc(branches, (*piece).empty))
}

// halves makes a balanced tree of branches.
func (f finest) halves(branches []*piece) *piece {
	if len(branches) <= 2 {
		return f.parallel(branches)
	}
	mid := len(branches) / 2
	return f.parallel([]*piece{f.halves(branches[:mid:mid]), f.halves(branches[mid:])})
}

// share makes at most so many series of branches, each of neighbours, of about the same work. 0 stands for any number.
func (f finest) share(branches []*piece, most int) []*piece {
	if most == 0 || len(branches) <= most {
		return branches
	}
	total := int64(0)
	for _, p := range branches {
		total += p.work
	}
	shares := make([][]*piece, most)
	before := int64(0)
	for _, p := range branches {
		i := min(before*int64(most)/max(total, 1), int64(most)-1)
		shares[i] = with(shares[i], p)
		before += p.work
	}
	var all []*piece
	for _, series := range shares {
		all = append(all, f.of(sim.Series, series))
	}
	return all
}

// join makes s wait for the children since the first mark forks, of which at most so many run at once.
//
// A child runs beside all that follows its fork. If the strand has hardly done anything between two forks, it does
// so before the first of them: then their children are of one place, and make a balanced tree.
func (f finest) join(s *strand, mark, most int) {
	var group []*piece
	between := int64(0)
	for i := len(s.open) - 1; i >= mark; i-- {
		at := s.open[i]
		if work, done := sum(s.parts); len(group) == 0 && done && at.child.done && work+at.child.work <= int64(f) {
			s.parts = longer(at.before, work+at.child.work) // as what is below would come to
			continue
		}
		group = append(group, at.child)
		if work, done := sum(at.before); i > mark && done && between+work <= int64(f) {
			between += work
			continue
		}
		slices.Reverse(group)
		branches := f.halves(f.share(group, most))
		p := f.parallel([]*piece{branches, f.of(sim.Series, s.parts)})
		s.parts = with(longer(at.before, between), p)
		group, between = nil, 0
	}
	s.open = s.open[:min(mark, len(s.open))]
}

func sum(series []*piece) (work int64, done bool) {
	done = true
	for _, p := range series {
		work += p.work
		done = done && p.done
	}
	return work, done
}

// end ends s, which waits for all its children.
func (f finest) end(s *strand) {
	f.join(s, 0, 0)
	if p := f.of(sim.Series, s.parts); p.done {
		*s.into = *p
		return
	}
	*s.into = piece{kind: sim.Series, parts: s.parts} // of which some are filled in later
}

// graph makes a graph of all that there is.
func (f finest) graph(name string, root *piece) (*sim.Graph, error) {
	root.walk(func(p *piece) {
		if p.done {
			return
		}
		var parts []*piece
		for _, q := range p.parts {
			q.done = true // what has not run by now never does
			if p.kind == sim.Series {
				parts = with(parts, q)
			} else if !q.empty() {
				parts = append(parts, q)
			}
		}
		*p = *f.of(p.kind, parts)
	})
	if root.work == 0 {
		return nil, errors.New("nothing was recorded that took time")
	}
	root.walk(func(p *piece) {
		p.part = &sim.Part{Kind: p.kind}
		if p.kind == sim.Step {
			p.part.Work = p.work
		}
		for _, q := range p.parts {
			p.part.Parts = append(p.part.Parts, q.part)
		}
	})
	return sim.NewGraph(name, root.part)
}

// walk calls leave for all pieces, each after its parts. It does not recur: a recording may be deep.
func (p *piece) walk(leave func(p *piece)) {
	type visit struct {
		*piece
		next int
	}
	for way := []visit{{piece: p}}; len(way) > 0; {
		v := &way[len(way)-1]
		if v.next < len(v.parts) {
			v.next++
			way = append(way, visit{piece: v.parts[v.next-1]})
			continue
		}
		leave(v.piece)
		way = way[:len(way)-1]
	}
}
