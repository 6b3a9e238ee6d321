package filch

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
)

// A wait for a key that waits in turn closes no circle, whatever others wait for.
func TestMemoWaitsBesideOneAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(WithWorkers(2))
		defer p.Close()
		goOn, end := make(chan bool), make(chan bool)
		var m *Memo[string, int]
		m = NewMemo(p, func(ctx context.Context, k string) (int, error) {
			switch k {
			case "top":
				return m.Get(ctx, "middle")
			case "middle":
				<-goOn
				return m.Get(ctx, "bottom")
			}
			<-end
			return 7, nil
		})
		got := make(chan int, 2)
		go m.Get(context.Background(), "bottom")
		go func() { v, _ := m.Get(context.Background(), "middle"); got <- v }()
		synctest.Wait()
		go func() { v, _ := m.Get(context.Background(), "top"); got <- v }()
		synctest.Wait()
		close(goOn) // top waits for middle, and now middle for bottom
		synctest.Wait()
		close(end)
		if a, b := <-got, <-got; a != 7 || b != 7 {
			t.Errorf("%d and %d", a, b)
		}
	})
}

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
