package record

import (
	"errors"
	"slices"

	"github.com/filch-go/filch/internal/sim/dag"
)

// piece is a part of a graph that is being made.
type piece struct {
	kind  dag.PartKind
	done  bool  // nothing will change in it
	work  int64 // of all of it
	parts []*piece
	part  *dag.Part
}

func (p *piece) empty() bool  { return p.done && p.work == 0 }
func (p *piece) isStep() bool { return p.done && p.kind == dag.Step }

// series is a series that is being made: parts, and a step behind them.
type series struct {
	parts []*piece
	last  int64 // what the step takes, or 0 for none
}

// add appends a piece. Steps become one.
func (s *series) add(p *piece) {
	switch {
	case p.isStep():
		s.last += p.work
	case p.done && p.kind == dag.Series:
		for _, q := range p.parts {
			s.add(q)
		}
	default:
		s.parts = append(s.all(), p)
	}
}

// all returns all parts.
func (s *series) all() []*piece {
	if s.last > 0 {
		s.parts = append(s.parts, &piece{done: true, work: s.last})
		s.last = 0
	}
	return s.parts
}

// sum returns the work so far, and whether nothing will change in it.
func (s *series) sum() (work int64, done bool) {
	work, done = s.last, true
	for _, p := range s.parts {
		work += p.work
		done = done && p.done
	}
	return work, done
}

// strand is what runs one after the other, with children that run at the same time.
type strand struct {
	series        // since the newest fork
	into   *piece // what it becomes
	open   []fork // those that are not joined
}

type fork struct {
	before series // since the fork before
	child  *piece // nothing until it has run
}

// maker makes pieces.
type maker struct {
	finest int64 // what takes no longer becomes one step
	// Garbage would disturb a run that is measured. So pieces that were merged are used again, if nothing else
	// knows them.
	reuses bool
	free   []*piece
}

// fork notes a child of s.
func (m *maker) fork(s *strand) *piece {
	var child *piece
	if n := len(m.free); n > 0 {
		child, m.free = m.free[n-1], m.free[:n-1]
		*child = piece{}
	} else {
		child = &piece{}
	}
	s.open = append(s.open, fork{s.series, child})
	s.series = series{}
	return child
}

// of makes one piece of several.
func (m *maker) of(kind dag.PartKind, parts []*piece) *piece {
	if len(parts) == 1 {
		return parts[0]
	}
	p := &piece{kind: kind, done: true, parts: parts}
	for _, q := range parts {
		p.work += q.work
		p.done = p.done && q.done
	}
	if p.done && p.work <= m.finest {
		return &piece{done: true, work: p.work}
	}
	return p
}

func (m *maker) parallel(branches []*piece) *piece {
	return m.of(dag.Parallel, slices.DeleteFunc(branches, (*piece).empty))
}

// halves makes a balanced tree of branches.
func (m *maker) halves(branches []*piece) *piece {
	if len(branches) <= 2 {
		return m.parallel(branches)
	}
	mid := len(branches) / 2
	return m.parallel([]*piece{m.halves(branches[:mid:mid]), m.halves(branches[mid:])})
}

// share makes at most so many series of branches, each of neighbours, of about the same work. 0 stands for any number.
func (m *maker) share(branches []*piece, most int) []*piece {
	if most == 0 || len(branches) <= most {
		return branches
	}
	total := int64(0)
	for _, p := range branches {
		total += p.work
	}
	shares := make([]series, most)
	before := int64(0)
	for _, p := range branches {
		shares[min(before*int64(most)/max(total, 1), int64(most)-1)].add(p)
		before += p.work
	}
	var all []*piece
	for i := range shares {
		all = append(all, m.of(dag.Series, shares[i].all()))
	}
	return all
}

// join makes s wait for the children since the first mark forks, of which at most so many run at once.
//
// A child runs beside all that follows its fork. If the strand has hardly done anything between two forks, it does
// so before the first of them: then their children are of one place, and make a balanced tree.
func (m *maker) join(s *strand, mark, most int) {
	var group []*piece
	between := int64(0)
	for i := len(s.open) - 1; i >= mark; i-- {
		at := s.open[i]
		if len(group) == 0 && m.merge(s, at) {
			continue
		}
		group = append(group, at.child)
		if work, done := at.before.sum(); i > mark && done && between+work <= m.finest {
			between += work
			continue
		}
		slices.Reverse(group)
		branches := m.halves(m.share(group, most))
		p := m.parallel([]*piece{branches, m.of(dag.Series, s.all())})
		s.series = at.before
		s.last += between
		s.add(p)
		group, between = nil, 0
	}
	s.open = s.open[:min(mark, len(s.open))]
}

// merge joins the newest child of s, if it and what runs beside it are one step.
func (m *maker) merge(s *strand, newest fork) bool {
	work, done := s.sum()
	if work += newest.child.work; !done || !newest.child.done || work > m.finest {
		return false
	}
	s.series = newest.before
	s.last += work
	if m.reuses {
		m.free = append(m.free, newest.child)
	}
	return true
}

// end ends s, which waits for all its children.
func (m *maker) end(s *strand) {
	m.join(s, 0, 0)
	if len(s.parts) == 0 {
		*s.into = piece{done: true, work: s.last}
		return
	}
	if p := m.of(dag.Series, s.all()); p.done {
		*s.into = *p
		return
	}
	*s.into = piece{kind: dag.Series, parts: s.parts} // of which some are filled in later
}

// graph makes a graph of all that there is.
func (m *maker) graph(name string, root *piece) (*dag.Graph, error) {
	root.walk(func(p *piece) {
		if p.done {
			return
		}
		var s series
		for _, q := range p.parts {
			q.done = true // what has not run by now never does
			if p.kind == dag.Series {
				s.add(q)
			} else if !q.empty() {
				s.parts = append(s.parts, q)
			}
		}
		*p = *m.of(p.kind, s.all())
	})
	if root.work == 0 {
		return nil, errors.New("nothing was recorded that took time")
	}
	root.walk(func(p *piece) {
		p.part = &dag.Part{Kind: p.kind}
		if p.kind == dag.Step {
			p.part.Work = p.work
		}
		for _, q := range p.parts {
			p.part.Parts = append(p.part.Parts, q.part)
		}
	})
	return dag.NewGraph(name, root.part)
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
