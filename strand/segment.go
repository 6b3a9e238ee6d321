package strand

import "github.com/filch-go/filch/internal/views"

// A segment is what one worker runs one thing after the other; see internal/engine/views.go. A strand whose
// continuation is not stolen goes on in the segment in which its child ends. Where it is stolen there is a
// boundary: the thief begins a segment, and the child ends the one that comes before it in the serial order. The
// strand keeps its boundaries in that order, and its Sync folds the segments: those before each boundary, and then its
// own.

// boundary is where a continuation was stolen.
type boundary struct {
	views *views.Table // of the segment before it; the child that ends it writes, the Sync reads
	next  *boundary    // the next of the same strand, which alone touches it
}

// crosses notes that the continuation of s was stolen at b. What runs s calls it.
func (s *Strand) crosses(b *boundary) {
	if s.bounds == nil {
		s.bounds = b
	} else {
		s.lastBound.next = b
	}
	s.lastBound = b
}

// fold folds the segments of s, all of whose children have ended, into the one that it runs in.
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

// foldQuietly is fold where a panic of a reducer has nowhere to go.
func (s *Strand) foldQuietly() {
	defer func() { _ = recover() }()
	s.fold()
}
