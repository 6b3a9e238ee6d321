package views

// Segment is what runs on a worker without a break, with its views.
type Segment struct {
	Views *Table // since it was begun on this worker; nil if there are none
}

// SetViewsAside has what runs next begin without views, and returns those of before, for
// JoinViews or RestoreViews.
func (s *Segment) SetViewsAside() (before *Table) {
	before, s.Views = s.Views, nil
	return before
}

// RestoreViews gives back what was set aside, and returns what it has had since.
func (s *Segment) RestoreViews(before *Table) (since *Table) {
	since, s.Views = s.Views, before
	return since
}

// JoinViews folds later views, which may be nil, into those that are there.
func (s *Segment) JoinViews(later *Table) {
	if later != nil {
		s.Views = Merge(s.Views, later)
	}
}

// EndViews hands the views to their hyperobjects, at the end of an outermost call.
func (s *Segment) EndViews() {
	if s.Views != nil {
		s.SetViewsAside().End()
	}
}
