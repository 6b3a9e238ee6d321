package filch

import (
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/engine"
)

// Workers has the limit of GOMAXPROCS, and Resize that it was given; bad numbers are told.
func TestLimitsOfResize(t *testing.T) {
	p := New(WithWorkers(3))
	for _, n := range []int{1, 2, engine.MaxWorkers} {
		if p.Resize(n); p.Workers() != n || p.Idle() != n {
			t.Errorf("resized to %d: %d, %d are idle", n, p.Workers(), p.Idle())
		}
	}
	for _, n := range []int{0, -1, engine.MaxWorkers + 1} {
		if s := recoveredFrom(func() { p.Resize(n) }); !strings.Contains(s, "from 1 to 1048575") {
			t.Errorf("Resize(%d): %q", n, s)
		}
	}
	p.Resize(1)
	p.tasks.Engine.TakePlace()
	p.tasks.Engine.TakePlace()
	p.Pause()
	_ = p.tasks.Engine.Places.Enter() // more than there are
	if n := p.Idle(); n != 0 {
		t.Errorf("%d are idle", n)
	}
	if n := p.tasks.Takers(); n != 0 {
		t.Errorf("%d could take a task in a pause", n)
	}
	p.tasks.Paused.Store(false)
	if n := p.tasks.Takers(); n != 0 {
		t.Errorf("%d could take a task", n)
	}
	p.tasks.Engine.SetLimit(5, true)
	if n := p.tasks.Takers(); n != p.Idle() || n == 0 {
		t.Errorf("%d could take a task, and %d are idle", n, p.Idle())
	}
}
