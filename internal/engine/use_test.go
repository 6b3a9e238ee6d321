package engine

import (
	"testing"

	"github.com/filch-go/filch/internal/race"
)

// Without the race detector, the use of a Worker is not looked at.
func TestUseIsLookedAtIfThatIsFree(t *testing.T) {
	w := testWorker(newPool(1), 0)
	if s := recoveredFrom(w.CheckUse); s != "" {
		t.Errorf("a free worker: %s", s)
	}
	w.blocking = true
	if s := recoveredFrom(w.CheckUse); (s != "") != race.Enabled {
		t.Errorf("checked: %t; %q", race.Enabled, s)
	}
}
