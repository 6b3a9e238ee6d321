package filch

import (
	"context"
	"errors"
	"math"
	"testing"
)

// Keys that equal nothing, and those without a value, leave no entry.
func TestMemoLeavesNoEntries(t *testing.T) {
	p := New(WithWorkers(1))
	defer p.Close()
	m := NewMemo(p, func(_ context.Context, k float64) (int, error) {
		if k == 1 {
			return 0, errors.New("one")
		}
		return 0, nil
	})
	m.Get(context.Background(), math.NaN())
	m.Get(context.Background(), 1)
	m.Get(context.Background(), 2)
	m.Forget(2)
	for i := range m.shards {
		if n := len(m.shards[i].entries); n != 0 {
			t.Errorf("%d entries", n)
		}
	}
}
