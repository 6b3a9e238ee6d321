package filch

import "testing"

// A size that was asked for stays, whatever the pool was about to take over.
func TestResizeIsNotLostAgainstFollowing(t *testing.T) {
	p := New()
	n := p.Workers()
	p.Resize(n)
	if p.tasks.Engine.SetLimit(int32(n+1), false) || p.Workers() != n {
		t.Errorf("%d workers, not %d", p.Workers(), n)
	}
}
