package strand

import "github.com/filch-go/filch/internal/views"

// A segment is what one worker runs without a break; see internal/engine/views.go. A strand whose continuation is not
// stolen continues in the segment in which its child ends. A steal makes a boundary: the thief begins a segment, and
// the child ends the one before it in serial order. The strand keeps its boundaries in that order. Its Sync folds the
// segments before each boundary, and then its own.

// boundary is where a continuation was stolen.
type boundary struct {
	views *views.Table // of the segment before it; the child that ends it writes, the Sync reads
	next  *boundary    // of the same strand, which alone touches it
}

// crosses notes that the continuation of s was stolen at b. The goroutine that runs s calls it.
func (s *Strand) crosses(b *boundary) {
	if s.bounds == nil {
		s.bounds = b
	} else {
		s.lastBound.next = b
	}
	s.lastBound = b
}

// fold folds the segments of s, whose children have all ended, into its current one.
func (s *Strand) fold() {
	b := s.bounds
	if b == nil {
		return
	}
	s.bounds, s.lastBound = nil, nil
	w := s.c.l.w
	own := w.SetViewsAside()
	for ; b != nil; b = b.next {
		w.JoinViews(b.views)
	}
	w.JoinViews(own)
}

// foldQuietly is fold where a reducer's panic has nowhere to go.
func (s *Strand) foldQuietly() {
	defer func() { _ = recover() }()
	s.fold()
}
